"""Lesson 9: the exercises, their truths by simulation, and what is said of likely mistakes."""

import numpy as np
import pytest
import replies

from workbench import bounds
from workbench.lessons import false_alarms


def test_the_mean_rate_by_simulation():
    lowest = np.sort(np.random.default_rng(0).random((20_000, 199)), axis=1)[:, 9]
    assert abs(lowest.mean() - 0.05) < 5 * lowest.std() / np.sqrt(len(lowest))


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("delta", [0.01, 0.05, 0.2])
def test_fewest_points_is_the_least_that_keeps_the_promise(rate, delta):
    n = false_alarms.fewest_points(rate, delta)
    assert bounds.beta_law(1, n).sf(rate) <= delta
    assert bounds.beta_law(1, n - 1).sf(rate) > delta
    assert bounds.clopper_pearson(1, n, delta) <= rate < bounds.clopper_pearson(1, n - 1, delta)


def test_what_is_said_of_nine_points():
    """A rate of 10% on average is exceeded in four samples of ten: 0.9^9 is 0.387."""
    assert bounds.beta_law(1, 9).mean() == pytest.approx(0.1)
    assert round(bounds.beta_law(1, 9).sf(0.1), 1) == 0.4


@pytest.mark.parametrize(
    ("number", "answer", "state", "words"),
    [
        ("9.1", 0.05, "right", "200 gaps"),
        ("9.1", 10 / 199, "not yet", "What is a + b"),
        ("9.1", 9 / 199, "not yet", "one place more"),
        ("9.1", 10 / 190, "not yet", "That is a/b"),
        ("9.1", 10, "not yet", "That is m"),
        ("9.1", [0.05], "not yet", "The answer is a number"),
        ("9.2", 29, "right", "0.9^29"),
        ("9.2", 28, "not yet", "Just too much"),
        ("9.2", 9, "not yet", "on average"),
        ("9.2", 10, "not yet", "1/n"),
        ("9.2", 19, "not yet", "19 points"),
        ("9.2", 2, "not yet", "when none of them"),
        ("9.2", np.nan, "not yet", "finite"),
        ("9.3", "c", "right", "every g at once"),
        ("9.3", "(C)", "right", ""),
        ("9.3", "a", "not yet", "held-out scores"),
        ("9.3", "b", "not yet", "As printed"),
        ("9.3", "d", "not yet", "n = 2000"),
        ("9.3", 3, "not yet", 'letters "a", "b", "c", "d"'),
        ("9.3", ..., "not answered", "three dots"),
    ],
)
def test_answers_meet_words(number, answer, state, words):
    replies.expect(number, answer, state, words)
