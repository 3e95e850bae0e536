"""Anything at all in: a correct result out, or one error that says what was wrong.

Quick here; `.ci/fuzz MINUTES` runs the same with as many examples as fit in that time.
"""

import os
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from workbench import RankAD, RankADCV
from workbench.pvalues import p_value

HUGE = 10**400  # an integer that no float holds
NAN, INF = float("nan"), float("inf")
NOT_NUMBERS = [None, "x", True, False, 1j, [1.0], (), {}, object, np.array([1.0, 2.0]), np.bool_(True)]
REALS = [1e-300, 5e-324, 1e-12, 1e-3, 1, 10, 1e12, 1e300, 1.7e308, 0, 0.0, -0.0, -1, NAN, INF, -INF, HUGE]
REALS += [np.float32(0.5), np.float64(2.0), np.int64(1), np.float16(1.0), np.longdouble(1.0)]
WHOLE = [0, 1, 2, 3, 7, 24, 25, 49, 50, 10**9, 10**30, -1, 1.0, 1.5, NAN, INF, HUGE, np.int64(2), np.uint8(3)]
RATES = [0.05, 0.5, 1e-300, 1e-15, 1 - 1e-16, np.float32(0.1), 0, 1, 1.0, -0.1, NAN, INF, HUGE]

PARAMETERS = {
    "k": ["auto", "D_K", *WHOLE, *NOT_NUMBERS],
    "m": [*WHOLE, *NOT_NUMBERS],
    "edges": [
        *(
            [
                None,
                0.5,
                (0.5,),
                (0.1, 0.9),
                (1e-300,),
                (1 - 1e-16,),
                np.linspace(0.01, 0.99, 60),
                [[0.1, 0.2]],
            ]
        ),
        *(
            [
                (),
                (0.0,),
                (1.0,),
                (0.5, 0.5),
                (0.9, 0.1),
                (NAN,),
                (HUGE,),
                (None,),
                ("a", "b"),
                "x",
                {},
                object,
            ]
        ),
    ],
    "sigma": ["auto", "D_K", *REALS, *NOT_NUMBERS],
    "C": ["auto", "D_K", *REALS, *NOT_NUMBERS],
    "loss": ["hinge", "squared_hinge", "logistic", 1, *NOT_NUMBERS],
    "anchor": [True, False, *REALS, *NOT_NUMBERS],
    "resamples": [n for n in WHOLE if not n > 100] + NOT_NUMBERS,
    "solver": ["auto", "newton", "simplex", 1, *NOT_NUMBERS],
    "tol": [*RATES, *NOT_NUMBERS],
    "alpha": [*RATES, *NOT_NUMBERS],
    "calibration": ["in-sample", "leave-one-out", "split", "jackknife", 1, *NOT_NUMBERS],
    "random_state": [
        0,
        None,
        2**32 - 1,
        2**32,
        -1,
        1.5,
        "x",
        np.random.RandomState(0),
        np.int64(3),
        (),
        HUGE,
    ],
}
OF_CV = {
    "criterion": ["synthetic", "disagreement", 1, *NOT_NUMBERS],
    "sigma_factors": [(1.0,), [0.5, 2], 1.0, *REALS, [1e-300, 1e300], [HUGE], *NOT_NUMBERS],
    "Cs": [(1.0,), [0.5, 2], 1.0, *REALS, [1e-300, 1e300], [HUGE], *NOT_NUMBERS],
    "cv": [*WHOLE, *NOT_NUMBERS],
    "search": ["grid", "coarse-to-fine", 1, *NOT_NUMBERS],
    "cv_tol": [*RATES, *NOT_NUMBERS],
    "n_jobs": [1, 0, 1.0, 1.5, NAN, *NOT_NUMBERS],
    "verbose": [False, *NOT_NUMBERS[:2]],
}

FUZZ = "WORKBENCH_FUZZ"
"""Names the number of examples of each test; without it they are few, and the same every time."""
examples = settings(
    max_examples=int(os.environ.get(FUZZ, 30)),
    derandomize=FUZZ not in os.environ,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
KNOWN = r"Only .* levels occur|\d+ calibration points are too few for any alarm"


@st.composite
def numbers(draw, finite=False):
    """Tables of every size, place, scale and type, some of them not of numbers."""
    n, d = draw(st.integers(0, 50)), draw(st.integers(0, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from([1.0, 1.0, 1e-300, 1e-160, 1e-9, 1e9, 1e150, 1e300, 1e307, 0.0]))
    X = rng.normal(size=(n, d)) * scale
    X += draw(st.sampled_from([0.0, 0.0, 1.0, 1e9, -1e9, 1e16])) * scale
    if n and draw(st.booleans()):
        X = X[rng.integers(0, draw(st.integers(1, n)), size=n)]  # copies
    if d and draw(st.booleans()):
        X[:, rng.integers(d)] = draw(st.sampled_from([0.0, 1.0, -1e300, 1e-310]))
    if not finite and n and d and draw(st.integers(0, 9)) == 0:
        X[rng.integers(n), rng.integers(d)] = draw(st.sampled_from([NAN, INF, -INF]))
    dtype = draw(st.sampled_from([float, float, float, np.float32, np.float16, int, np.uint8, bool, object]))
    with np.errstate(all="ignore"):
        return X.astype(dtype)


@st.composite
def tables(draw):
    """Tables, and what is none."""
    X = draw(numbers())
    if draw(st.integers(0, 9)):
        return X
    kinds = [
        X.tolist(),
        X.astype(str),
        X[None],
        X.ravel(),
        X.astype(complex),
        None,
        1.0,
        "x",
        {},
        [[1], [1, 2]],
    ]
    kinds += [[["a", 1.0]] * 5, [[None]] * 5, [[HUGE]] * 5, np.array([["1", "2"]] * 30, dtype=object)]
    return draw(st.sampled_from(kinds))


def some(pools, at_most):
    """A few parameters, the others as they are."""
    return st.lists(st.sampled_from(sorted(pools)), max_size=at_most, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: st.sampled_from(pools[name]) for name in names})
    )


@contextmanager
def strictly():
    """Warnings are errors, but for those that say something about the result."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=KNOWN, category=UserWarning)
        yield


def refused(error):
    """That an error is one for the user: a sentence, of a kind that says who is at fault."""
    text = str(error)
    assert type(error) in (ValueError, TypeError), repr(error)
    assert text.rstrip().endswith((".", ")")), text
    assert len(text.split()) >= 4, text
    event("refused")


def fitted(make, X, **options):
    """The fitted detector, or None if it was refused in words."""
    with strictly():
        try:
            return make().fit(X, **options)
        except (ValueError, TypeError) as error:
            refused(error)
            return None


def sound(detector, X):
    """That scores are finite, p-values in [0, 1], and decisions follow from them."""
    with strictly():
        g, p = detector.score_samples(X), detector.p_value(X)
        assert g.shape == p.shape == (len(X),)
        assert np.isfinite(g).all()
        assert ((p >= 0) & (p <= 1)).all()
        np.testing.assert_array_equal(detector.predict(X), np.where(p <= detector.alpha, -1, 1))
        lower, upper = detector.p_interval(X)
        assert ((lower <= p) & (p <= upper)).all()
    assert np.isfinite(detector.offset_)
    assert np.isfinite(detector.calibration_scores_).all()
    assert np.isfinite(detector.score_error_)
    assert np.isfinite([detector.solution_.primal, detector.solution_.dual]).all()
    assert detector.solution_.converged == (detector.solution_.gap <= detector.tol)
    event("fitted")


@examples
@given(X=tables(), parameters=some(PARAMETERS, 2))
def test_fit(X, parameters):
    detector = fitted(lambda: RankAD(**{"random_state": 0} | parameters), X)
    if detector is not None:
        sound(detector, X)


@examples
@given(X=numbers(finite=True), parameters=some(OF_CV, 2))
def test_selection(X, parameters):
    few = {"sigma_factors": (0.5, 1.0), "Cs": (0.01,), "cv": 2, "resamples": 0, "random_state": 0}
    detector = fitted(lambda: RankADCV(**few | parameters), X)
    if detector is not None:
        sound(detector, X)


@examples
@given(
    X=numbers(finite=True),
    weights=st.lists(st.sampled_from([0, 1, 1, 1, 2, 3.0, True, *REALS]), max_size=60),
    whole=st.booleans(),
)
def test_weights(X, weights, whole):
    if whole:
        weights = (weights * 60)[: len(X)]
    detector = fitted(lambda: RankAD(random_state=0), X, sample_weight=weights)
    if detector is not None:
        sound(detector, X)


TRAINED = RankAD(random_state=0).fit(np.random.default_rng(0).normal(size=(40, 2)))


@examples
@given(X=tables())
def test_scoring(X):
    with strictly():
        try:
            TRAINED.score_samples(X)
        except (ValueError, TypeError) as error:
            return refused(error)
    return sound(TRAINED, X)


@st.composite
def grids(draw):
    """Points whose differences and multiples by powers of two are exact, copies among them."""
    n, d = draw(st.integers(6, 50)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = np.round(rng.normal(size=(n, d)) * draw(st.sampled_from([4, 64, 2**12]))) / 64
    assume(len(np.unique(X, axis=0)) > 1)
    return X


SETTINGS = st.fixed_dictionaries(
    {
        "m": st.integers(1, 3),
        "loss": st.sampled_from(["hinge", "squared_hinge"]),
        "anchor": st.sampled_from([True, 1.0]),
        "resamples": st.sampled_from([0, 20]),
        "calibration": st.sampled_from(["in-sample", "leave-one-out", "split"]),
        "C": st.sampled_from(["auto", 1e-3, 10.0]),
    }
)


def fit_quietly(X, **parameters):
    with strictly():
        try:
            return RankAD(random_state=0, **parameters).fit(X)
        except ValueError as error:  # too few points for the parameters
            refused(error)
            return assume(False)


@examples
@given(X=grids(), parameters=SETTINGS, exponent=st.integers(-400, 400))
def test_a_power_of_two_changes_no_bit(X, parameters, exponent):
    one = fit_quietly(X, **parameters)
    other = fit_quietly(np.ldexp(X, exponent), **parameters)
    queries = np.vstack([X, X[::-1] * 3])
    assert one.score_samples(queries).tobytes() == other.score_samples(np.ldexp(queries, exponent)).tobytes()
    np.testing.assert_array_equal(one.p_value(queries), other.p_value(np.ldexp(queries, exponent)))


@examples
@given(X=grids(), parameters=SETTINGS, places=st.integers(-(2**30), 2**30))
def test_the_place_does_not_matter(X, parameters, places):
    one, other = fit_quietly(X, **parameters), fit_quietly(X + places, **parameters)
    assert one.beta_.tobytes() == other.beta_.tobytes()
    assert one.sigma_ == other.sigma_
    queries = np.vstack([X, X[::-1] * 3])
    # Only the mean of the centres is rounded in another place; scores that differ by no more may swap.
    g, p = other.score_samples(queries + places), one.p_value(queries)
    margin = 6 * max(one.g_.rounding, other.g_.rounding)
    lower, upper = (
        p_value(end, other.calibration_scores_, split=parameters["calibration"] == "split")
        for end in (g - margin, g + margin)
    )
    assert ((lower <= p) & (p <= upper)).all()
    np.testing.assert_allclose(one.score_samples(queries), g, rtol=0, atol=margin)


@examples
@given(X=grids(), parameters=SETTINGS, seed=st.integers(0, 2**32 - 1))
def test_the_order_of_the_rows_does_not_matter(X, parameters, seed):
    """Two solutions are as near each other as their gaps say: ``|g - g*|^2 <= 2 (primal - dual)``."""
    parameters |= {"resamples": 0}
    assume(parameters["calibration"] != "split")
    shuffled = np.random.default_rng(seed).permutation(X)
    one, other = fit_quietly(X, **parameters), fit_quietly(shuffled, **parameters)
    solutions = one.solution_, other.solution_
    apart = sum(np.sqrt(2 * max(s.primal - s.dual, 0)) for s in solutions)
    size = np.abs(one.beta_).sum() + np.abs(other.beta_).sum()
    difference = np.abs(one.score_samples(X) - other.score_samples(X)).max()
    assert difference <= apart + 1e-6 * np.sqrt(solutions[0].primal) + 1e-12 * size


def test_the_checks_see_what_is_wrong():
    with pytest.raises(AssertionError):
        refused(ValueError("bad"))
    with pytest.raises(AssertionError):
        refused(OverflowError("int too large to convert to float, which is no sentence for anyone."))
    with strictly(), pytest.raises(RuntimeWarning):
        np.float64(1e300) * 1e300
    broken = RankAD(random_state=0).fit(np.random.default_rng(0).normal(size=(40, 2)))
    broken.calibration_scores_ = broken.calibration_scores_ + NAN
    with pytest.raises(AssertionError):
        sound(broken, np.zeros((3, 2)))
