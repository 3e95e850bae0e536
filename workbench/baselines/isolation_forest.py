"""Isolation forest."""

from __future__ import annotations

import numpy as np
from sklearn import ensemble

from .base import Detector, check_count


class IsolationForest(Detector):
    """Isolation forest: anomalies take few random splits to isolate (Liu, Ting & Zhou 2008).

    The score is ``-2^(-E[h(x)] / c(psi))``, h the depth of x in a tree grown on psi points and c(psi) the
    mean depth of an unsuccessful search: scikit-learn's ``score_samples``.

    Cost: training O(t psi log psi), O(t log psi) a point.

    Parameters
    ----------
    t : int, default 100
        Number of trees.
    psi : int, default 256
        Points drawn for a tree, all of them if there are fewer.
    alpha, calibration, random_state
        As for every system, see :class:`workbench.baselines.Detector`.

    Attributes
    ----------
    forest_ : sklearn.ensemble.IsolationForest

    References
    ----------
    F. T. Liu, K. M. Ting, Z.-H. Zhou. Isolation forest. ICDM 2008.
    """

    def __init__(self, *, t=100, psi=256, alpha=0.05, calibration="in-sample", random_state=None):
        self.t = t
        self.psi = psi
        self.alpha = alpha
        self.calibration = calibration
        self.random_state = random_state

    def _train(self, X, rng):
        psi = min(check_count("psi", self.psi, least=2), len(X))
        t = check_count("t", self.t)
        self.forest_ = ensemble.IsolationForest(n_estimators=t, max_samples=psi, random_state=rng).fit(X)

    def _scores(self, X):
        limit = np.finfo(np.float32).max  # trees compare in single precision
        return self.forest_.score_samples(np.clip(X, -limit, limit))
