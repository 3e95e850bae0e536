"""ORCA: the top outliers by nested loops, randomisation and a pruning rule."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import gen_batches

from ..neighbors import power_of_two_above
from .base import Detector, check_count, resolve_k

BLOCK = 256
CHUNK = 64


class TopOutliers(NamedTuple):
    """Result of :func:`top_outliers`.

    Attributes
    ----------
    index : int array of shape (L,)
        Rows of X, the most outlying first.
    distance : array of shape (L,)
        Their average distances to the k nearest other points, exact.
    n_distances : int
        Distances that the pruning rule looked at, n^2 without pruning. (Computing them in chunks adds at most
        63 a point.)
    """

    index: np.ndarray
    distance: np.ndarray
    n_distances: int


def top_outliers(X, k, L, order, reference=None):
    """Find the L points with the largest average distance to their k nearest others (Bay & Schwabacher).

    Points are taken in blocks and compared with one reference point after the other. Their average distance
    to the k nearest *so far* only shrinks; a point is dropped as soon as it is below the cutoff, the L-th
    largest exact average found yet. No point of the answer is ever dropped, whatever the order.

    Parameters
    ----------
    X : array of shape (n, d)
    k : int
        In 1..n - 1.
    L : int
        In 1..n.
    order : int array of shape (n,)
        Order in which points are taken. The sooner outliers come, the sooner the cutoff is high.
    reference : int array of shape (n,), optional
        Order in which they are compared with others; `order` if not given. Random is best.

    Returns
    -------
    TopOutliers
    """
    reference = order if reference is None else reference
    best, best_distance, n_distances = np.empty(0, dtype=int), np.empty(0), 0
    for block in gen_batches(len(order), BLOCK):
        rows = order[block]
        cutoff = best_distance[-1] if len(best) == L else -np.inf
        average, computed = scan(X[rows], X[reference], k, cutoff, _where(reference, rows))
        n_distances += computed
        kept = average >= cutoff
        best, best_distance = np.append(best, rows[kept]), np.append(best_distance, average[kept])
        first = np.argsort(-best_distance, kind="stable")[:L]
        best, best_distance = best[first], best_distance[first]
    return TopOutliers(best, best_distance, n_distances)


def scan(queries, reference, k, cutoff, itself=None):
    """Average distance to the k nearest reference points; for a pruned query, of those seen until then.

    Parameters
    ----------
    queries : array of shape (q, d)
    reference : array of shape (n, d)
        Scanned in this order.
    k : int
    cutoff : float
        A query is pruned once its average is below this.
    itself : int array of shape (q,), optional
        Which reference point a query is, so as to leave it out.

    Returns
    -------
    average : array of shape (q,)
        Exact if at least `cutoff`; otherwise the first that was below it, no less than the exact average.
    n_distances : int
    """
    average = np.full(len(queries), np.inf)
    closest = np.full((len(queries), k), np.inf)
    active = np.arange(len(queries))
    n_distances = 0
    for chunk in gen_batches(len(reference), CHUNK):
        distances = cdist(queries[active], reference[chunk])
        if itself is not None:
            column = itself[active] - chunk.start
            mine = np.flatnonzero((column >= 0) & (column < distances.shape[1]))
            distances[mine, column[mine]] = np.inf
        before = closest[active]
        closest[active] = np.partition(np.hstack([before, distances]), k - 1, axis=1)[:, :k]
        average[active] = np.sort(closest[active], axis=1).mean(axis=1)
        pruned = average[active] < cutoff
        if pruned.any():
            average[active[pruned]], seen = _when_pruned(before[pruned], distances[pruned], cutoff)
            n_distances += seen
        active = active[~pruned]
        n_distances += len(active) * distances.shape[1]
        if len(active) == 0:
            break
    return average, n_distances


def _when_pruned(closest, distances, cutoff):
    """Averages at the very distance that brought each below the cutoff, and how many were looked at."""
    average, seen = np.full(len(closest), np.inf), 0
    stepping = np.arange(len(closest))
    for distance in distances.T:
        farthest = closest[stepping].argmax(axis=1)
        closest[stepping, farthest] = np.minimum(closest[stepping, farthest], distance[stepping])
        average[stepping] = np.sort(closest[stepping], axis=1).mean(axis=1)
        seen += len(stepping)
        stepping = stepping[average[stepping] >= cutoff]
        if len(stepping) == 0:
            break
    return average, seen


class ORCA(Detector):
    """ORCA as an anomaly detector: exact k-NN distances for outliers, early estimates for the others.

    ORCA (Bay & Schwabacher 2003) finds the L points of a data set with the largest average distance to
    their k nearest others, and is quick because it stops looking at a point once its running estimate falls
    below the L-th largest found so far. To use it as a detector, the paper notes, one falls back on these
    intermediate estimates for all other points, and they are poor: below the cutoff the order of scores is
    mostly chance.

    Fitting runs ORCA on the training points. ORCA itself ranks one closed set, in which a point's score
    would depend on the points tested along with it; here the cutoff reached in training stays fixed, and a
    new point is compared with the training points in one fixed random order until its estimate falls below
    it. The score is minus the estimate. With ``L=n`` next to nothing is pruned and ORCA is aK-LPE.

    Cost: near linear in n for the training search if L is small, O(d n^2) at worst; a new point O(d) if
    pruned at once, O(d n) if an outlier.

    Parameters
    ----------
    k : int or "auto", default "auto"
        "auto" is 10, or the largest that fewer training points allow.
    L : int or "auto", default "auto"
        Number of outliers to find among the training points; "auto" is n/8, at least 1.
    alpha, calibration, random_state
        As for every system, see :class:`workbench.baselines.Detector`.

    Attributes
    ----------
    k_, L_ : int
    outliers_ : TopOutliers
        Indices count the training points.
    cutoff_ : float
        Average k-NN distance of the L-th outlier: estimates at least this large are exact.

    References
    ----------
    S. D. Bay, M. Schwabacher. Mining distance-based outliers in near linear time with randomization and a
    simple pruning rule. KDD 2003.
    """

    def __init__(self, *, k="auto", L="auto", alpha=0.05, calibration="in-sample", random_state=None):
        self.k = k
        self.L = L
        self.alpha = alpha
        self.calibration = calibration
        self.random_state = random_state

    def _train(self, X, rng):
        n = len(X)
        self.k_ = resolve_k(self.k, n - 1, n, default=10)
        self.L_ = max(1, n // 8) if isinstance(self.L, str) and self.L == "auto" else check_count("L", self.L)
        if n < self.L_:
            raise ValueError(f"L={self.L_} outliers are more than the {n} training points. Lower L.")
        self._order = rng.permutation(n)
        self._scale = power_of_two_above(X)
        self._reference = X[self._order] / self._scale
        found = top_outliers(X / self._scale, self.k_, self.L_, self._order)
        self._cutoff = found.distance[-1]
        self.outliers_ = found._replace(distance=found.distance * self._scale)
        self.cutoff_ = float(self.outliers_.distance[-1])

    def _scores(self, X):
        return self._in_blocks(X, np.full(len(X), -1))

    def _training_scores(self, X):
        return self._in_blocks(X, _where(self._order, np.arange(len(X))))

    def _in_blocks(self, X, itself):
        average = np.empty(len(X))
        for block in gen_batches(len(X), 16 * BLOCK):
            queries = X[block] / self._scale
            average[block], _ = scan(queries, self._reference, self.k_, self._cutoff, itself[block])
        return -self._scale * average


def _where(order, rows):
    """Positions of `rows` in the permutation `order`."""
    position = np.empty(len(order), dtype=int)
    position[order] = np.arange(len(order))
    return position[rows]
