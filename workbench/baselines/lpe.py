"""K-LPE and aK-LPE: p-values from the rank of a k-NN distance."""

from __future__ import annotations

import numpy as np
from sklearn.utils import gen_batches

from ..neighbors import largest_k, nearest, rank
from .base import Detector, resolve_k


class KLPE(Detector):
    """K-LPE: the p-value is the share of training points whose k-NN distance is as large (Zhao & Saligrama).

    ``p(eta) = #{i: D_(k)(x_i) >= D_(k)(eta)} / n``, D_(k) the Euclidean distance to the k-th nearest training
    point, a training point itself excluded. The score is -D_(k).

    Cost: one tree search a point, O(d n) at worst.

    Parameters
    ----------
    k : int or "auto", default "auto"
        "auto" is 20, or the largest that fewer training points allow.
    alpha, calibration, random_state
        As for every system, see :class:`workbench.baselines.Detector`.

    Attributes
    ----------
    k_ : int

    References
    ----------
    M. Zhao, V. Saligrama. Anomaly detection with score functions based on nearest neighbor graphs. NIPS 2009.
    """

    def __init__(self, *, k="auto", alpha=0.05, calibration="in-sample", random_state=None):
        self.k = k
        self.alpha = alpha
        self.calibration = calibration
        self.random_state = random_state

    def _train(self, X, rng):
        self.k_ = resolve_k(self.k, len(X) - 1, len(X))
        self._X = X

    def _scores(self, X):
        return -nearest(self._X, X, self.k_)[0][:, -1]

    def _training_scores(self, X):
        return -nearest(X, k=self.k_)[0][:, -1]


class AKLPE(Detector):
    """aK-LPE: the rank of the average k-NN distance G (Eq. 2, 3; Qian & Saligrama).

    ``p(eta) = #{i: G(x_i) >= G(eta)} / n`` with the score -G. With ``resamples=B`` the score is instead
    the resampled rank of Sec. 6.1 (1): the sample is split B times at random into halves S and T, a point's
    G against S is ranked among those of T and the other way round, and the ranks are averaged. A training
    point is ranked in the half that it is in, as :func:`workbench.neighbors.ranks` does; a new point, which
    is in neither, in both. The paper says how training ranks are resampled but not how a new point is
    scored; so the two get ranks of nearly the same mean if both are nominal. A point farther out than all
    training points gets rank 0 and ties with those of them that were outermost in every split, so that its
    p-value is not quite 0.

    Cost: one search a point, and 2B passes over its list of about 2k + 6 sqrt(2k) neighbours.

    Parameters
    ----------
    k : int or "auto", default "auto"
        "auto" is the paper's 20, or the largest that fewer training points allow.
    resamples : int, default 0
        Number of random splits B; the paper uses 20.
    alpha, calibration, random_state
        As for every system, see :class:`workbench.baselines.Detector`.

    Attributes
    ----------
    k_ : int

    References
    ----------
    J. Qian, V. Saligrama. New statistic in p-value estimation for anomaly detection. IEEE SSP 2012.
    """

    def __init__(self, *, k="auto", resamples=0, alpha=0.05, calibration="in-sample", random_state=None):
        self.k = k
        self.resamples = resamples
        self.alpha = alpha
        self.calibration = calibration
        self.random_state = random_state

    def _train(self, X, rng):
        n = len(X)
        self.k_ = resolve_k(self.k, largest_k(n, self.resamples), n)
        self._X = X
        self._halves = []  # a half, and the sorted G of the other half's points against it
        self._ranks = np.zeros(n)
        if self.resamples == 0:
            return
        lists = nearest(X, k=min(n - 1, self._list_length()))
        for _ in range(self.resamples):
            in_S = np.zeros(n, dtype=bool)
            in_S[rng.permutation(n)[: n // 2]] = True
            for half in (in_S, ~in_S):
                G = self._distance_to(half, X[~half], *(part[~half] for part in lists))
                self._halves.append((half, np.sort(G)))
                self._ranks[~half] += rank(G, G)
        self._ranks /= self.resamples

    def _scores(self, X):
        if not self._halves:
            return -nearest(self._X, X, self.k_)[0].mean(axis=1)
        total = np.zeros(len(X))
        for block in gen_batches(len(X), 4096):
            lists = nearest(self._X, X[block], min(len(self._X), self._list_length()))
            for half, reference in self._halves:
                total[block] += rank(self._distance_to(half, X[block], *lists), reference)
        return total / len(self._halves)

    def _training_scores(self, X):
        return self._ranks if self._halves else -nearest(X, k=self.k_)[0].mean(axis=1)

    def _list_length(self):
        return 2 * self.k_ + int(6 * np.sqrt(2 * self.k_))  # six deviations: a list rarely runs out

    def _distance_to(self, half, X, distances, neighbours):
        """Average distance to the k nearest of a half, from sorted lists of neighbours in both halves."""
        inside = half[neighbours]
        position = np.cumsum(inside, axis=1, dtype=np.int32)
        complete = position[:, -1] >= self.k_
        first_k = inside & (position <= self.k_) & complete[:, None]
        G = np.empty(len(X))
        G[complete] = distances[first_k].reshape(-1, self.k_).mean(axis=1)
        if not complete.all():  # these lists ran out: search the half itself
            G[~complete] = nearest(self._X[half], X[~complete], self.k_)[0].mean(axis=1)
        return G
