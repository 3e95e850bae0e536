"""What is repeated: draw a sample, fit RankAD, work out the true false-alarm rate at every threshold."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..calibration import CALIBRATIONS
from ..densities import DENSITIES
from ..detector import RankAD
from ..kernels import kernel_sum_on_grid
from ..levelsets import Grid, TrueSets
from ..neighbors import check_k, knn_statistic, largest_k

GRID = 300
"""Cells along each side of the plane; 200 miss a heavy tail's rates by a hundredth."""

RESAMPLES = 20
LEVELS = 3

LEAST, MOST = 20, 20_000
"""Sample sizes that an experiment takes."""

REFERENCE = 2015
"""Sets the stream of the reference sample apart from those of the repetitions."""


@dataclass(frozen=True)
class Design:
    """A density, a sample size and the parameters of RankAD, all fixed before any sample is seen.

    The kernel too: sigma is a multiple of D_K of a *reference* sample of the same size as the training
    points, drawn once and used for nothing else. So what bounds for trained scores assume of it is true.

    Parameters
    ----------
    density : str
        A name in :data:`workbench.densities.DENSITIES`.
    n : int
        Points in each sample, from 20 to 20000; with ``calibration="split"`` half of them train.
    k : int
        Neighbours in Eq. 2.
    sigma_over_DK : float
        Bandwidth in multiples of D_K, the mean average k-NN distance of the reference sample.
    C_times_n : float
        Price of a violated pair in multiples of 1 / (number of training points).
    calibration : {"in-sample", "split"}

    Raises
    ------
    ValueError
        If there is no such density, or a parameter is out of range.
    """

    density: str
    n: int
    k: int = 20
    sigma_over_DK: float = 1.0
    C_times_n: float = 1.0
    calibration: str = "in-sample"

    def __post_init__(self):
        if self.density not in DENSITIES:
            raise ValueError(f"There is no density {self.density!r}: choose from {', '.join(DENSITIES)}.")
        if not _is_integer(self.n) or not LEAST <= self.n <= MOST:
            raise ValueError(f"n must be a whole number from {LEAST} to {MOST}, got {self.n!r}.")
        for name in ("sigma_over_DK", "C_times_n"):
            value = getattr(self, name)
            if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
                raise ValueError(f"{name} must be a number, got {value!r}.")
            if not 1e-6 <= value <= 1e6:
                raise ValueError(f"{name} must lie between 1e-6 and 1e6, got {value!r}: 1 is usual.")
            object.__setattr__(self, name, float(value))  # 1 and 1.0 are one design, and are kept as one
        if self.calibration not in CALIBRATIONS:
            raise ValueError(
                f"calibration must be one of {', '.join(CALIBRATIONS)}, got {self.calibration!r}."
            )
        check_k(self.k, largest_k(self.n_train, RESAMPLES), f"{self.n_train} training points")

    @property
    def split(self):
        """Whether thresholds are held-out scores."""
        return self.calibration == "split"

    @property
    def n_train(self):
        """Number of points that g is trained on."""
        return self.n - self.n // 2 if self.split else self.n

    @property
    def n_scores(self):
        """Number of scores that thresholds are chosen from."""
        return self.n // 2 if self.split else self.n

    @property
    def sigma(self):
        """Bandwidth in the units of the data."""
        return self.sigma_over_DK * _reference_DK(self.density, self.n_train, self.k)

    @property
    def C(self):
        """Price of a violated pair."""
        return self.C_times_n / self.n_train

    def detector(self, random_state):
        """Return the detector to be fitted."""
        return RankAD(
            k=self.k,
            m=LEVELS,
            sigma=self.sigma,
            C=self.C,
            resamples=RESAMPLES,
            calibration=self.calibration,
            random_state=random_state,
        )


@dataclass(frozen=True, eq=False)
class Repetition:
    """What one fitted detector does at every threshold.

    Attributes
    ----------
    rates : array of shape (n_scores,)
        At index m - 1 the true false-alarm rate of ``{g < g^(m)}``, g^(m) the m-th smallest of the scores
        that thresholds are chosen from. Worked out on a grid of GRID by GRID cells: good to about 2e-3
        at levels up to 1/2, 4e-3 for the heavy tail.
    scores : array of shape (n_train,)
        g at the training points.
    norm : float
        ``|g|``.
    support : int
        Points in a pair, or a pair with the anchor, whose margin is at most 1: no other can have a dual
        weight.
    """

    rates: np.ndarray
    scores: np.ndarray
    norm: float
    support: int


def repeat(design, repetition, random_state=0, callback=None):
    """Draw one sample, fit, and work out the true rates.

    Parameters
    ----------
    design : Design
    repetition : int
        Number of the repetition, from 0; each has a random stream of its own.
    random_state : int
        Seed of the whole experiment.
    callback : callable, optional
        Called after each step of the solver; what it raises ends the fit.

    Returns
    -------
    Repetition
    """
    truth = true_sets(design.density)
    rng = np.random.default_rng([random_state, repetition])
    X = truth.density.sample(design.n, rng)
    detector = design.detector(int(rng.integers(2**31)))
    with warnings.catch_warnings():
        # Too few scores for an alarm at RankAD's own alpha, which nobody asked about here; and a gap of
        # 2e-6 in the place of 1e-6 moves no rate.
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        detector.fit(X, callback=callback)
    support = detector.beta_ != 0
    x, y = truth.grid.x, truth.grid.y
    values = kernel_sum_on_grid(x, y, detector.support_vectors_, detector.beta_[support], detector.sigma_)
    return Repetition(
        rates=truth.false_alarm_rate(values, detector.calibration_scores_),
        scores=detector.solution_.scores,
        norm=detector.solution_.norm,
        support=points_in_tight_pairs(detector.solution_.scores, detector.levels_),
    )


@lru_cache(maxsize=len(DENSITIES))
def true_sets(name):
    """Work out the truth about a density of the menu on its grid, once."""
    return TrueSets(DENSITIES[name], Grid.covering(DENSITIES[name], GRID))


@lru_cache(maxsize=256)
def _reference_DK(name, n, k):
    """D_K of a sample that serves no other purpose."""
    X = DENSITIES[name].sample(n, np.random.default_rng([n, 0, REFERENCE]))
    return float(knn_statistic(X, k=k).mean())


def points_in_tight_pairs(g, levels):
    """Count points in a pair of levels, or a pair with the anchor, of margin at most 1.

    No other point can have a dual weight; points with one can be more than those with a coefficient, where
    weights cancel. What :func:`workbench.bounds.sample_compression` asks for is at most this.

    Parameters
    ----------
    g : array of shape (n,)
        Scores of the training points.
    levels : int array of shape (n,)

    Returns
    -------
    int
    """
    slack = 1 + 1e-6 * max(1.0, np.abs(g).max())
    tight = g <= slack  # the anchor: level below all others, score 0
    for level in np.unique(levels):
        here = levels == level
        if (below := levels < level).any():
            tight[here] |= g[here] - g[below].max() <= slack
        if (above := levels > level).any():
            tight[here] |= g[above].min() - g[here] <= slack
    return int(tight.sum())


def _is_integer(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
