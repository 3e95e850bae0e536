"""Lesson 10: the ladder, the cloud of ranks and p-values, and the exercises."""

from itertools import product

import numpy as np
import pytest
import replies

from workbench import densities, theorems
from workbench.lessons import consistency
from workbench.theorems.statistics import Interval


@pytest.fixture(scope="module")
def result():
    return theorems.CLAIMS["theorem_1"].run(ns=(60, 120, 240), repetitions=6)


def test_the_cloud_against_a_slow_count():
    """R counts the training points whose mean distance to K neighbours is at least that of eta."""
    n, K = 60, 5
    rng = np.random.default_rng([10, n])
    eta, X = densities.FIG1.sample(400, rng), densities.FIG1.sample(n, rng)
    p, R = consistency.cloud("K = 5", n)
    assert np.array_equal(p, densities.FIG1.p_value(eta))

    def G(x, others):
        return np.sort(np.linalg.norm(others - x, axis=1))[:K].mean()

    at_X = np.array([G(X[i], np.delete(X, i, axis=0)) for i in range(n)])
    for i in range(0, 400, 25):
        assert R[i] == pytest.approx(np.mean(G(eta[i], X) <= at_X), abs=1e-12)


def test_numbers_of_neighbours():
    assert [consistency.neighbours(rule, 1000) for rule in consistency.RULES] == [5, 20, 32, 100]
    assert consistency.neighbours("K = 20", 15) == 14


def test_every_position_of_the_scene_draws(result):
    scene = consistency.ladder(result)
    traces = len(scene.figures[0].data)
    for rule, n in product(consistency.RULES, (60, 120, 240)):
        scene.set(rule=rule, n=n)
        assert scene.message == ""
        assert len(scene.figures[0].data) == traces
        assert f"With {rule} and n = {n} the ranks are" in scene.words


def test_the_scene_shows_what_was_measured(result):
    scene = consistency.ladder(result)
    scene.set(rule="K = n^(2/3)", n=120)
    frame = result.frame[result.frame["rule"] == "K = n^(2/3)"]
    curve = next(trace for trace in scene.figures[0].data if trace.name == "K = n^(2/3)")
    assert curve.y == pytest.approx([part["rmse"].mean() for _, part in frame.groupby("n")])
    slope = result.summary.loc["slope, K = n^(2/3)"]
    assert (
        f"to the power {slope['estimate']:.2f}, with 99% confidence between {slope['low']:.2f}" in scene.words
    )
    p, R = consistency.cloud("K = n^(2/3)", 120)
    assert scene.words.count(f"{np.sqrt(np.mean((R - p) ** 2)):.3f}") == 1


def test_sentences_follow_the_verdict():
    """A run with the neighbours of each rule given, so that all three outcomes occur."""
    sizes = np.array([100, 1000])
    p = R = np.zeros(3)
    for slope, words in (
        ((-0.3, -0.4, -0.2), "beyond doubt"),
        ((0.0, -0.02, 0.02), "No decline is seen"),
        ((-0.1, -0.4, 0.2), "cannot tell"),
    ):
        said = consistency._words("K = 5", 100, p, R, Interval(*slope), 0.0, sizes)
        assert words in said


def test_the_lessons_sizes_are_sizes_that_claims_take():
    assert consistency.QUICK.keys() <= theorems.CLAIMS.keys()
    for name, arguments in consistency.QUICK.items():
        claim = theorems.CLAIMS[name]
        claim._checked(densities.FIG1, arguments["ns"], None, 0)
        assert max(arguments["ns"]) <= max(claim.ns)


def test_quick_sizes_tell_a_theorem_from_its_control():
    """The quickest of the claims with sizes of their own; the notebook asserts it of all."""
    for name in ("theorem_3", "theorem_3_printed"):
        claim = theorems.CLAIMS[name]
        assert claim.run(**consistency.QUICK[name]).verdict == claim.expected
        assert claim.control(**consistency.QUICK[name]).verdict == claim.control_expected


@pytest.mark.parametrize(
    ("number", "answer", "state", "words"),
    [
        ("10.1", -0.25, "right", "K = n^(1/2)"),
        ("10.1", 0.25, "not yet", "mind the sign"),
        ("10.1", -0.5, "not yet", "sixteenfold"),
        ("10.1", -4.0, "not yet", "over log"),
        ("10.1", -1.6e-5, "not yet", "without logarithms"),
        ("10.1", "-1/4", "not yet", "The answer is a number"),
        ("10.2", "b", "right", "K = 5"),
        ("10.2", "a", "not yet", "second line"),
        ("10.2", "c", "not yet", "below 0"),
        ("10.2", "d", "not yet", "named beforehand"),
        ("10.3", "c", "right", "of anything"),
        ("10.3", "a", "not yet", "1 - p"),
        ("10.3", "b", "not yet", "More points"),
        ("10.3", "d", "not yet", "on purpose"),
        ("10.3", {"c"}, "not yet", "Choose one of the letters"),
        ("10.3", None, "not answered", "three dots"),
    ],
)  # fmt: skip
def test_answers_meet_words(number, answer, state, words):
    replies.expect(number, answer, state, words)
