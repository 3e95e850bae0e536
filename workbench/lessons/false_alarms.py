"""Lesson 9: exercises on the law of the false-alarm rate; its figure is the false-alarm lab."""

from __future__ import annotations

from math import ceil, log

from .. import bounds
from .exercises import Exercise
from .judges import choice, number


def fewest_points(rate, delta):
    """Fewest held-out points that let the lowest of their scores promise a false-alarm rate.

    The rate of ``{g < g^(1)}`` has the law Beta(1, n), so that it exceeds `rate` with probability
    ``(1 - rate)^n``; this is at most `delta` from ``n = log(delta) / log(1 - rate)`` on.

    Parameters
    ----------
    rate, delta : float
        In (0, 1).

    Returns
    -------
    int
    """
    return ceil(log(delta) / log(1 - rate))


EXERCISES = (
    Exercise(
        judge=number(
            lambda: bounds.beta_law(10, 199).mean(),
            0.0001,
            [
                (10 / 199, "Nearly. The mean of Beta(a, b) is a/(a + b). What is a + b here?"),
                (
                    9 / 199,
                    "That is the share of the calibration scores below the threshold. A new point "
                    "has one place more where it can fall: 199 scores leave 200 gaps.",
                ),
                (10 / 190, "That is a/b. The mean of Beta(a, b) is a/(a + b)."),
                (10, "That is m. The rate is a probability."),
            ],
        ),
        because="Beta(10, 190) has mean 10/200 = 0.05. The 199 scores cut the line into 200 gaps, and a "
        "new score is as likely to fall into any of them: ten of the gaps are below the tenth score. "
        "That is where the +1 in the split p-value comes from.",
        hint="The law is Beta(m, n + 1 - m), and the mean of Beta(a, b) is a/(a + b).",
        words="The mean of Beta(10, 199 + 1 - 10).",
        code="answer = bounds.beta_law(10, 199).mean()",
    ),
    Exercise(
        judge=number(
            lambda: fewest_points(0.1, 0.05),
            0,
            [
                (28, "With 28 points the chance of a rate above 10% is 0.9^28 = 0.052. Just too much."),
                (
                    9,
                    "With 9 points the rate is 10% on average, and so too large in about four samples of "
                    "ten.",
                ),
                (10, "About 1/n is the rate on average. Here it must be below 10% in 95% of the samples."),
                (
                    19,
                    "19 points make 5% on average possible. The question asks for 10%, in 95% of the "
                    "samples.",
                ),
                (
                    2,
                    "That is where 0.1^n falls below 0.05: the chance that all points are in the "
                    "outermost tenth. The promise breaks when none of them is there.",
                ),
            ],
        ),
        because="The promise breaks if none of the n points falls into the outermost 10% of the mass: "
        "with probability 0.9^n, and 0.9^29 = 0.047. The rate is then 1/30 on average. So much is "
        "paid for being sure.",
        hint="Alarm means: below all n scores. The rate exceeds 10% exactly if no calibration point is "
        "among the lowest 10% of the law. What is the probability of that? It is what Beta(1, n) "
        "says, too.",
        words="0.9^n ≤ 0.05 from n = log 0.05 / log 0.9 = 28.4 on.",
        code="answer = next(n for n in range(1, 1000) if bounds.beta_law(1, n).sf(0.1) <= 0.05)",
    ),
    Exercise(
        judge=choice(
            "c",
            {
                "a": "That bound is for held-out scores. In the lab's first view it is the last row of "
                "the table: look how often it is broken.",
                "b": "As printed, Theorem 3 is false even for one function fixed beforehand, where "
                "nothing is trained.",
                "d": "More points narrow the law of held-out thresholds. Did the in-sample rates come "
                "down to α at n = 2000?",
            },
        ),
        because="The law Beta(m, n + 1 - m) needs scores of points that g was not trained on. What holds "
        "for trained scores must hold for every g at once, and is a multiple of α or says nothing.",
        hint="Which of these bounds assume that the scores are held out? The column `assumes` of the "
        "table of all bounds says it.",
        words="All limits of the Beta law assume held-out scores; Theorem 3 as printed is refuted; the "
        "shift stays as n grows. What is left are bounds that hold for every g.",
        code='answer = "c"',
    ),
)
"""The mean of the law, a sample size by hand, and which promise a trained threshold has."""
