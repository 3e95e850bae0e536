import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import bounds
from workbench.bounds import needed

DELTA = 0.05


def limit(n, method, alpha, **arguments):
    m = bounds.order(alpha, n)
    if method in ("clopper_pearson", "dkw"):
        return getattr(bounds, method)(m, n, DELTA)
    return getattr(bounds, method)(m, n, arguments["log_covering"], DELTA)


def test_the_example():
    assert doctest.testmod(needed).failed == 0


@settings(max_examples=40, deadline=None)
@given(
    method=st.sampled_from(["theorem3_corrected", "theorem3_printed", "clopper_pearson", "dkw"]),
    alpha=st.floats(0.01, 0.5),
    extra=st.floats(0.1, 0.9),
    log_covering=st.floats(0, 20),
)
def test_it_is_the_first_of_all_n_that_one_could_try(method, alpha, extra, log_covering):
    target = alpha + extra * (1 - alpha)
    arguments = {"log_covering": log_covering} if method.startswith("theorem3") else {}
    n = bounds.points_needed(target, alpha=alpha, delta=DELTA, method=method, **arguments)
    assert limit(n, method, alpha, **arguments) <= target
    for fewer in range(1, min(n, 400)):
        assert limit(fewer, method, alpha, **arguments) > target
    for fewer in range(max(1, n - 200), n):
        assert limit(fewer, method, alpha, **arguments) > target


@pytest.mark.parametrize(
    ("log_covering", "target", "noted"),
    [(133, 0.5, 290), (133, 0.1, 8.7e3), (417, 0.5, 860), (417, 0.1, 2.6e4), (1059, 0.5, 2.2e3)],
)
def test_the_corrected_theorem_needs_what_was_worked_out_by_hand(log_covering, target, noted):
    n = bounds.points_needed(target, alpha=0.05, delta=DELTA, log_covering=log_covering, radii=32)
    assert n == pytest.approx(noted, rel=0.04)


@pytest.mark.parametrize(("log_covering", "noted"), [(133, 430), (417, 1.3e3), (1059, 3.3e3)])
def test_so_does_the_printed_one(log_covering, noted):
    n = bounds.points_needed(
        1 - 1e-9, alpha=0.05, delta=DELTA, log_covering=log_covering, method="theorem3_printed"
    )
    assert n == pytest.approx(noted, rel=0.04)


def test_more_than_anyone_has():
    assert (
        bounds.points_needed(0.1, alpha=0.05, delta=DELTA, log_covering=1e9, method="theorem3_printed")
        == np.inf
    )


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"target": 0.05}, "target must be above alpha=0.05"),
        ({"target": np.nan}, "target must be a number strictly between"),
        ({"target": 1}, "strictly between 0 and 1"),
        ({"alpha": 0}, "alpha must be"),
        ({"delta": 1.5}, "delta must be"),
        ({"log_covering": None}, "theorem3_corrected needs log_covering"),
        ({"method": "dkw"}, "dkw has no use for log_covering"),
        ({"log_covering": -1.0}, "log_covering must be finite and non-negative"),
        ({"radii": 0}, "radii must be an integer"),
        ({"method": "luck"}, "method must be one of theorem3_corrected"),
    ],
)
def test_mistakes_are_answered_in_words(change, match):
    arguments = {"target": 0.2, "alpha": 0.05, "delta": DELTA, "log_covering": 5.0} | change
    with pytest.raises(ValueError, match=match):
        bounds.points_needed(arguments.pop("target"), **arguments)
