"""GEM: geometric entropy minimisation by a leave-one-out k-NN graph."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import gen_batches

from ..neighbors import nearest, power_of_two_above
from .base import Detector, check_positive, resolve_k

BLOCK_ENTRIES = 2**21


class GEM(Detector):
    """GEM: a point is anomalous if leaving it out shortens the k-NN graph by much (Hero 2006).

    The k-NN graph of a set V has length ``L(V) = sum_{v in V} sum_{l<=k} D_(l)(v)^gamma``, D_(l)(v) the
    distance to the l-th nearest other point of V. GEM proper takes the K of n points with the shortest graph
    as the estimate of the set of least entropy and mass K/n; finding it is combinatorial. This is the
    leave-one-out version (L1O-kNNG) that Hero proposes and that comparisons run: with

        Delta(eta) = L(X + eta) - L(X)    and    Delta(x_i) = L(X) - L(X - x_i),

    ``p(eta) = #{i: Delta(x_i) >= Delta(eta)} / n``, and the score is -Delta. All Deltas are exact: a point's
    own edges less what it spares those who have it among their k nearest,

        Delta(eta) = sum_{l<=k} D_(l)(eta)^gamma
                     - sum_{u: |u - eta| < D_(k)(u)} (D_(k)(u)^gamma - |u - eta|^gamma).

    Hero also repeats this on subsets drawn anew; that is left out, as the AISTATS paper says nothing of it.

    Cost: O(d n) a point, for the points that would take eta as a neighbour; training O(d n log n) for
    moderate d.

    Parameters
    ----------
    k : int or "auto", default "auto"
        "auto" is 20, or the largest that fewer training points allow: n - 2.
    gamma : float or "auto", default "auto"
        Power of the edge lengths, less than d: the length of the graph grows as n^(1 - gamma/d), so that at
        gamma = d a new point does not change it on average, wherever it is. "auto" is 1, or 1/2 for d = 1.
    alpha, calibration, random_state
        As for every system, see :class:`workbench.baselines.Detector`.

    Attributes
    ----------
    k_ : int
    gamma_ : float

    References
    ----------
    A. O. Hero. Geometric entropy minimization (GEM) for anomaly detection and localization. NIPS 2006.
    """

    def __init__(self, *, k="auto", gamma="auto", alpha=0.05, calibration="in-sample", random_state=None):
        self.k = k
        self.gamma = gamma
        self.alpha = alpha
        self.calibration = calibration
        self.random_state = random_state

    def _train(self, X, rng):
        n, d = X.shape
        self.k_ = resolve_k(self.k, n - 2, n)
        auto = isinstance(self.gamma, str) and self.gamma == "auto"
        self.gamma_ = min(1.0, d / 2) if auto else check_positive("gamma", self.gamma, '"auto"')
        if self.gamma_ >= d:
            raise ValueError(
                f"gamma={self.gamma_:g} must be less than the number of features, {d}: otherwise the length "
                'of the graph does not grow where the data are sparse. Lower gamma, or use gamma="auto".'
            )
        self._X = X
        self._scale = power_of_two_above(X)
        distances, neighbours = nearest(X, k=self.k_ + 1)
        self._reach = distances[:, -2]
        edges = distances**self.gamma_
        spared = np.bincount(
            neighbours[:, :-1].ravel(), weights=(edges[:, -1:] - edges[:, :-1]).ravel(), minlength=n
        )
        self._delta = edges[:, :-1].sum(axis=1) - spared

    def _scores(self, X):
        own = (nearest(self._X, X, self.k_)[0] ** self.gamma_).sum(axis=1)
        spared = np.empty(len(X))
        for block in gen_batches(len(X), max(1, BLOCK_ENTRIES // len(self._X))):
            distances = self._scale * cdist(X[block] / self._scale, self._X / self._scale)
            distances = np.minimum(distances, self._reach)
            spared[block] = (self._reach**self.gamma_ - distances**self.gamma_).sum(axis=1)
        return spared - own

    def _training_scores(self, X):
        return -self._delta
