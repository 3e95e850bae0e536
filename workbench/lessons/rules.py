"""Lesson 8's study: every bandwidth and price on two moons, its worth, and what each rule says of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.model_selection import KFold

from .. import densities, ranksvm
from ..criteria import excess_mass, mass_volume, separation, synthetic_anomalies
from ..kernels import rbf
from ..neighbors import mean_distance, ranks
from ..preferences import disagreement, quantize

DENSITY = densities.MOONS
HALF_SIDE = 6.0
"""Anomalies are uniform on the square of twice this side about 0."""

SAMPLE = 6
"""Seed of the lesson's sample."""

N, NEIGHBOURS, FOLDS = 120, 10, 4

FACTORS = (0.125, 0.25, 0.5, 0.71, 1.0, 1.4, 2.0, 2.8, 4.0, 5.7, 8.0, 16.0, 32.0)
"""Bandwidths, in units of D_K, the mean distance to the ten nearest neighbours."""

PRICES = (0.1, 1.0, 10.0)

DETECTORS = ("as printed", "with the anchor")

RULES = ("disagreement", "synthetic anomalies", "mass-volume", "excess-mass")
"""What settings are compared by; each is turned so that small is good."""


@dataclass(frozen=True)
class Study:
    """Every setting of a grid: what it is worth, and what each rule says of it.

    Attributes
    ----------
    X : array of shape (n, 2)
        The sample.
    nominal, anomalies : arrays of shape (2000, 2)
        What settings are judged by in truth, and no rule may see.
    D_K : float
        Unit of the bandwidths.
    auc : array of shape (len(FACTORS), len(PRICES))
        Area under the ROC curve of `nominal` against `anomalies`.
    rules : dict from str to array of that shape
        Means over four folds; small is good.
    betas : array of shape (len(FACTORS), len(PRICES), n)
        Coefficients of g, trained on the whole sample.
    """

    X: np.ndarray
    nominal: np.ndarray
    anomalies: np.ndarray
    D_K: float
    auc: np.ndarray
    rules: dict
    betas: np.ndarray

    def chosen(self, rule, price=None):
        """Place of a rule's choice on the grid, or along the bandwidths at one price.

        Parameters
        ----------
        rule : str
            One of :data:`RULES`, or "oracle", which takes the largest AUC.
        price : float, optional
            One of :data:`PRICES`.

        Returns
        -------
        i, j : int
            Ties go to the largest sigma, then to the smallest C.
        """
        columns = range(len(PRICES)) if price is None else [PRICES.index(price)]
        cells = [(i, j) for i in range(len(FACTORS)) for j in columns]
        value = -self.auc if rule == "oracle" else self.rules[rule]
        return min(cells, key=lambda cell: (value[cell], -cell[0], cell[1]))

    def regret(self, rule, price=None):
        """Best AUC of the grid, or of the bandwidths at one price, less that of the rule's choice."""
        return float(self.auc[self.chosen("oracle", price)] - self.auc[self.chosen(rule, price)])


def study(detector, sample=SAMPLE):
    """Fit every setting, on the whole sample and on three quarters of it, four times.

    Parameters
    ----------
    detector : {"as printed", "with the anchor"}
    sample : int
        Seed of the sample.

    Returns
    -------
    Study
        Takes some seconds, once.

    Raises
    ------
    ValueError
        If there is no such detector.
    """
    if detector not in DETECTORS:
        raise ValueError(f"There is no detector {detector!r}: choose one of {', '.join(DETECTORS)}.")
    return _study(detector, sample)


@cache
def _study(detector, sample):
    anchor = float(DETECTORS.index(detector))
    rng = np.random.RandomState(sample)
    X = DENSITY.sample(N, rng)
    levels = quantize(ranks(X, NEIGHBOURS, 20, rng), 3)
    D_K = mean_distance(X, NEIGHBOURS)
    nominal, anomalies = DENSITY.sample(2000, rng), rng.uniform(-HALF_SIDE, HALF_SIDE, (2000, 2))

    shape = len(FACTORS), len(PRICES)
    auc, betas, rules = np.empty(shape), np.empty((*shape, N)), {rule: np.zeros(shape) for rule in RULES}
    for cell, beta, (own, other) in _fits(X, levels, D_K, anchor, [nominal, anomalies]):
        betas[cell], auc[cell] = beta, separation(own, other)
    for train, held_out in KFold(FOLDS, shuffle=True, random_state=rng).split(X):
        made = synthetic_anomalies(X[train], random_state=rng)
        queries = [X[held_out], *made.values()]
        for cell, _, (own, *others) in _fits(X[train], levels[train], D_K, anchor, queries):
            for rule, value in _judge(own, levels[held_out], dict(zip(made, others, strict=True))).items():
                rules[rule][cell] += value / FOLDS
    return Study(X, nominal, anomalies, D_K, auc, rules, betas)


def _fits(X, levels, D_K, anchor, queries):
    """Yield the place of each setting, its coefficients, and its scores of several sets of points."""
    sigmas = D_K * np.array(FACTORS)
    path = ranksvm.path(X, levels, sigmas=sigmas, Cs=PRICES, anchor=anchor * len(X), tol=1e-3)
    ends = np.cumsum([len(points) for points in queries])[:-1]
    stacked = np.concatenate(queries)
    for i, sigma in enumerate(sigmas):
        K = rbf(stacked, X, sigma)
        for j in range(len(PRICES)):
            _, _, solution = next(path)
            yield (i, j), solution.beta, np.split(K @ solution.beta, ends)


def _judge(own, levels, others):
    """Each rule's value from held-out scores, their levels, and scores of synthetic anomalies by kind."""
    return {
        "disagreement": disagreement(own, levels),
        "synthetic anomalies": 1 - separation(own, np.concatenate([*others.values()])),
        "mass-volume": mass_volume(own, others["uniform"]),
        "excess-mass": -excess_mass(own, others["uniform"]),
    }


def regrets(samples=(SAMPLE,)):
    """Regret of each rule on the whole grid, averaged over samples.

    Parameters
    ----------
    samples : sequence of int
        Seeds; each takes some seconds.

    Returns
    -------
    data frame
        A row for each rule, a column for each detector.
    """
    import pandas as pd

    return pd.DataFrame(
        {
            detector: {rule: np.mean([study(detector, s).regret(rule) for s in samples]) for rule in RULES}
            for detector in DETECTORS
        }
    )


def table(detector, price):
    """AUC and what the rules say for each bandwidth at one price, as a data frame."""
    import pandas as pd

    found, j = study(detector), PRICES.index(price)
    columns = {"AUC": found.auc[:, j]} | {rule: found.rules[rule][:, j] for rule in RULES[:3]}
    return pd.DataFrame(columns, index=pd.Index(FACTORS, name="sigma / D_K"))
