"""Lesson 6: which level curves two levels teach, and which three."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd

from ..densities import FIG1
from ..detector import RankAD
from ..experiments.fig1 import ALPHAS, QUANTISATIONS, SIGMA
from ..experiments.shapes import column, differences
from ..levelsets import Grid, TrueSets
from .exercises import Exercise
from .judges import choice, number

N = 400

TWO, THREE = QUANTISATIONS


@lru_cache(maxsize=1)
def truth():
    """Return the true sets of the density of Fig. 1."""
    return TrueSets(FIG1, Grid.covering(FIG1, 120))


@lru_cache(maxsize=256)
def fitted(levels, C_times_n, seed=0):
    """Return a detector without the anchor, as in the paper, trained on N points of the density of Fig. 1.

    Parameters
    ----------
    levels : str
        :data:`TWO` or :data:`THREE`.
    C_times_n : float
    seed : int
    """
    detector = RankAD(sigma=SIGMA, C=C_times_n / N, anchor=False, random_state=seed, **QUANTISATIONS[levels])
    return detector.fit(FIG1.sample(N, random_state=seed))


def contrast(C_times_n, samples=6):
    """Mass on which the learned and the true set differ, for two levels and three, over several samples.

    The learned sets are cut so that they hold the right mass: shapes are compared. Samples are the same for
    both detectors.

    Parameters
    ----------
    C_times_n : float
    samples : int

    Returns
    -------
    data frame
        A row for each level alpha; means for both, their mean difference ("two less three") and half of its
        95% interval by Student's law ("±").
    """
    from scipy.stats import t

    fields = {
        levels: [
            differences(truth(), truth().grid.evaluate(fitted(levels, C_times_n, seed).score_samples), ALPHAS)
            for seed in range(samples)
        ]
        for levels in QUANTISATIONS
    }
    rows = {}
    for alpha in ALPHAS:
        two, three = (np.array([each[column(alpha)] for each in fields[levels]]) for levels in (TWO, THREE))
        half = t.ppf(0.975, samples - 1) * (two - three).std(ddof=1) / np.sqrt(samples)
        rows[alpha] = [two.mean(), three.mean(), (two - three).mean(), half]
    return pd.DataFrame.from_dict(
        rows, orient="index", columns=["two levels", "three levels", "two less three", "±"]
    ).rename_axis("alpha")


@lru_cache(maxsize=1)
def two_sets():
    """Return, for 2000 nominal points, whether the learned and the true set at alpha = 0.5 accept them."""
    X = FIG1.sample(2000, random_state=99)
    g = fitted(TWO, 100.0).score_samples(X)
    return g >= np.quantile(g, 0.5), FIG1.p_value(X) > 0.5


def _differing():
    learned, true = two_sets()
    return float((learned != true).mean())


EXERCISES = (
    Exercise(
        judge=number(
            _differing,
            0.002,
            [
                (
                    lambda: abs(two_sets()[0].mean() - two_sets()[1].mean()),
                    "That is the difference of the two masses. Two sets of equal mass can have no point "
                    "in common.",
                ),
                (
                    lambda: (two_sets()[0] & ~two_sets()[1]).mean(),
                    "These are the points that the learned set accepts wrongly. Those that it leaves out "
                    "wrongly count too.",
                ),
                (
                    lambda: (~two_sets()[0] & two_sets()[1]).mean(),
                    "These are the points that the learned set leaves out wrongly. Those that it accepts "
                    "wrongly count too.",
                ),
                (lambda: (two_sets()[0] == two_sets()[1]).mean(), "That is the share on which they agree."),
                (
                    lambda: (two_sets()[0] != two_sets()[1]).sum(),
                    "That is a count. Divide it by the number of points.",
                ),
            ],
        ),
        because="A share of nominal points is an estimate of a mass, so this estimates the mass of the "
        "symmetric difference.",
        hint="Which points are in one of the two sets only? `learned != true` marks them.",
        words="Count the points on which the two disagree.",
        code="learned, true = curves.two_sets()\nanswer = (learned != true).mean()",
    ),
    Exercise(
        judge=choice(
            "b",
            {
                "a": "Look at its inner curves with a large C: do they find both peaks?",
                "c": "It was told which points are the outermost 3%, and nothing about the rest.",
                "d": "One of its curves is even better than that of three levels. Which line was it told?",
            },
        ),
        because="The edge at 3% is a direct question about the outermost curve. Inside it no pair says "
        "anything, and "
        "the curves are whatever makes ‖g‖ small.",
        hint="The left detector of the explorer was told one bit a point: is it among the outermost 3%?",
        words="The column `two less three` is negative where two levels are better.",
        code='less = curves.contrast(1000.0)["two less three"]\n'
        'answer = "b" if less[0.03] < 0 < less[0.8] else "d"',
    ),
    Exercise(
        judge=choice(
            "c",
            {
                "a": "The certificates below the panels say that both are solved.",
                "b": "σ is the same in both rows of the table.",
                "d": "The pairs are the same; what changes with C is how much each of them may pull.",
            },
        ),
        because="Each multiplier lies between 0 and C (lesson 5). With C small all pairs stay violated and "
        "all "
        "multipliers equal C: g is a fixed sum of kernels, in which each point weighs as many times C as "
        "there are "
        "points in lower levels less points in higher ones. Two such sums look much alike, whatever the "
        "levels are.",
        hint="In lesson 5: what do the multipliers of violated pairs equal? How many pairs are violated at a "
        "tiny C?",
        words="At a tiny C every multiplier is at its bound.",
        code="g = curves.fitted(curves.THREE, 0.01).score_samples(FIG1.sample(200, random_state=1))\n"
        'answer = "c" if g.max() - g.min() < 1 else "d"  # no pair reaches its margin of 1',
    ),
)
