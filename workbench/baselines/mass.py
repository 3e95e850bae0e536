"""Mass estimation (massAD)."""

from __future__ import annotations

import numpy as np

from .base import Detector, check_count


class MassAD(Detector):
    """MassAD: average one-dimensional mass over random features and small random samples (Ting et al. 2010).

    For sorted values ``x_1 <= ... <= x_psi`` a random split falls between x_i and x_{i+1} with probability
    ``p_i = (x_{i+1} - x_i) / (x_psi - x_1)``, and leaves i points on its left and psi - i on its right. The
    (level-1) mass of x_a is the expected number of points on its own side,

        mass(x_a) = sum_{i >= a} i p_i + sum_{i < a} (psi - i) p_i:

    large in the middle, small at the fringe, and concave whatever the density. The score is the mean mass
    over t pairs of a random feature and psi random training points. Where all psi values agree the mass is
    psi.

    Between sample values, mass is that of the nearer one, and beyond the outermost that of the outermost:
    a point far away has the least mass of its side and no less. The paper uses the authors' program "with the
    same configuration as" Ting et al. and prints none; psi = 8, t = 1000 and level 1 are chosen here.

    Cost: training O(t psi log psi), O(t log psi) a point, whatever n and d.

    Parameters
    ----------
    t : int, default 1000
        Number of one-dimensional mass estimates.
    psi : int, default 8
        Points drawn for each, all of them if there are fewer.
    alpha, calibration, random_state
        As for every system, see :class:`workbench.baselines.Detector`.

    Attributes
    ----------
    features_ : int array of shape (t,)
    samples_ : array of shape (t, psi)
        Ascending values drawn for each estimate.
    mass_ : array of shape (t, psi)
        Mass at these values.

    References
    ----------
    K. M. Ting, G.-T. Zhou, F. T. Liu, S. C. Tan. Mass estimation and its applications. KDD 2010.
    """

    def __init__(self, *, t=1000, psi=8, alpha=0.05, calibration="in-sample", random_state=None):
        self.t = t
        self.psi = psi
        self.alpha = alpha
        self.calibration = calibration
        self.random_state = random_state

    def _train(self, X, rng):
        n, d = X.shape
        psi = min(check_count("psi", self.psi, least=2), n)
        self.features_ = rng.randint(d, size=check_count("t", self.t))
        rows = np.array([rng.choice(n, psi, replace=False) for _ in self.features_])
        self.samples_ = np.sort(X[rows, self.features_[:, None]], axis=1)
        self.mass_ = mass(self.samples_)
        self._splits = self.samples_[:, :-1] / 2 + self.samples_[:, 1:] / 2

    def _scores(self, X):
        total = np.zeros(len(X))
        for feature, splits, values in zip(self.features_, self._splits, self.mass_, strict=True):
            total += values[np.searchsorted(splits, X[:, feature])]
        return total / len(self.features_)


def mass(samples):
    """Level-1 mass at each value of each ascending sample, by the formula of :class:`MassAD`.

    Parameters
    ----------
    samples : array of shape (t, psi), ascending along the rows

    Returns
    -------
    array of shape (t, psi), from 1 to psi
    """
    psi = samples.shape[1]
    lowest, highest = samples[:, :1], samples[:, -1:]
    spread = np.where(highest > lowest, highest - lowest, 1.0)
    p = np.diff(samples, axis=1) / spread
    i = np.arange(1, psi)
    zero = np.zeros_like(lowest)
    from_the_right = np.hstack([np.cumsum((i * p)[:, ::-1], axis=1)[:, ::-1], zero])
    from_the_left = np.hstack([zero, np.cumsum((psi - i) * p, axis=1)])
    return np.where(highest > lowest, from_the_right + from_the_left, psi)
