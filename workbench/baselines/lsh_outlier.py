"""k-NN distances by locality-sensitive hashing, and the ranking that it gives for free."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from ..neighbors import nearest, power_of_two_above
from .base import Detector, check_count, resolve_k
from .hashing import HashTables, KernelHashes, PStableHashes

HASHINGS = {"p-stable": 4, "kernel": 8}  # and the hashes a table that "auto" takes
PROBES = 100
MOST_ANCHORS = 300


class LSHOutlier(Detector):
    """Average k-NN distance with a hashed neighbour search (Wang et al. 2011; Kulis & Grauman 2009).

    A point is compared only with the training points that share a bucket with it in some table. The score
    is minus the average distance to the k nearest of these, or to the true k nearest where the buckets hold
    fewer than k: an outlier's buckets are nearly empty, and then it is compared with all. Estimates are never
    below the true average.

    Points in small buckets are probably outliers. `ranking_` orders the training points by that, and ORCA's
    search, run in this order (:func:`workbench.baselines.top_outliers`), has a high cutoff at once and
    prunes more: that is the use that Wang et al. make of it. The paper names both hashings as ways to speed
    up, and runs neither; every parameter below is chosen here.

    Cost: O(T m d) hashes a point, and d for each candidate; kernel hashes cost O(p (d + T m)), p <= 300.

    Parameters
    ----------
    k : int or "auto", default "auto"
        "auto" is 20, or the largest that fewer training points allow.
    hashing : {"p-stable", "kernel"}, default "p-stable"
        Projections of the data, four times the median k-NN distance wide; or signs of projections in the
        feature space of an RBF kernel, whose bandwidth is the median distance between anchors.
    n_tables : int, default 8
        T: more find more neighbours and cost more.
    n_hashes : int or "auto", default "auto"
        Hashes a table, m: more make smaller buckets. "auto" is 4, or 8 for "kernel".
    alpha, calibration, random_state
        As for every system, see :class:`workbench.baselines.Detector`.

    Attributes
    ----------
    k_ : int
    tables_ : workbench.baselines.hashing.HashTables
    ranking_ : int array of shape (n_train,)
        Training points from the emptiest buckets to the fullest.
    recall_ : float
        Share of the true k nearest neighbours that were found, over at most 100 training points.

    References
    ----------
    Y. Wang, S. Parthasarathy, S. Tatikonda. Locality sensitive outlier detection: a ranking driven approach.
    ICDE 2011.
    B. Kulis, K. Grauman. Kernelized locality-sensitive hashing for scalable image search. ICCV 2009.
    M. Datar, N. Immorlica, P. Indyk, V. Mirrokni. Locality-sensitive hashing scheme based on p-stable
    distributions. SoCG 2004.
    """

    def __init__(
        self,
        *,
        k="auto",
        hashing="p-stable",
        n_tables=8,
        n_hashes="auto",
        alpha=0.05,
        calibration="in-sample",
        random_state=None,
    ):
        self.k = k
        self.hashing = hashing
        self.n_tables = n_tables
        self.n_hashes = n_hashes
        self.alpha = alpha
        self.calibration = calibration
        self.random_state = random_state

    def _train(self, X, rng):
        n = len(X)
        self.k_ = resolve_k(self.k, n - 1, n)
        self._scale = power_of_two_above(X)
        if self.hashing not in HASHINGS:
            raise ValueError(f"hashing must be one of {', '.join(HASHINGS)}, got {self.hashing!r}.")
        n_tables = check_count("n_tables", self.n_tables)
        auto = isinstance(self.n_hashes, str) and self.n_hashes == "auto"
        n_hashes = n_tables * (HASHINGS[self.hashing] if auto else check_count("n_hashes", self.n_hashes))
        probes = np.sort(rng.permutation(n)[:PROBES])
        distances, neighbours = nearest(X, X[probes], self.k_ + 1)
        if self.hashing == "p-stable":
            hashes = PStableHashes(X.shape[1], n_hashes, _positive(4 * np.median(distances[:, -1])), rng)
        else:
            anchors = X[rng.permutation(n)[:MOST_ANCHORS]]
            sigma = _positive(np.median(pdist(anchors / self._scale)) * self._scale)
            hashes = KernelHashes(anchors, n_hashes, max(1, len(anchors) // 10), sigma, rng)
        self._X = X / self._scale
        self.tables_ = HashTables(hashes, n_tables, X)
        self.ranking_ = np.argsort(self.tables_.bucket_sizes(X).sum(axis=1), kind="stable")
        found = zip(neighbours, self.tables_.candidates(X[probes]), probes, strict=True)
        self.recall_ = float(
            np.mean([np.isin(_others(true, row, self.k_), seen).mean() for true, seen, row in found])
        )

    def _scores(self, X):
        return self._search(X, np.full(len(X), -1))

    def _training_scores(self, X):
        return self._search(X, np.arange(len(X)))

    def _search(self, X, itself):
        average = np.empty(len(X))
        scaled = X / self._scale
        for i, candidates in enumerate(self.tables_.candidates(X)):
            candidates = candidates[candidates != itself[i]]
            if len(candidates) < self.k_:
                candidates = np.delete(np.arange(len(self._X)), itself[i]) if itself[i] >= 0 else slice(None)
            with np.errstate(over="ignore"):  # infinitely far is as anomalous as can be
                distances = np.linalg.norm(self._X[candidates] - scaled[i], axis=1)
            average[i] = np.sort(np.partition(distances, self.k_ - 1)[: self.k_]).mean()
        return -self._scale * average


def _others(neighbours, row, k):
    """First k neighbours that are not the point itself, which need not come first among its copies."""
    return neighbours[neighbours != row][:k]


def _positive(scale):
    return scale if scale > 0 else 1.0  # exact copies share a bucket at any width
