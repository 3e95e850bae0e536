"""Nearest neighbours, exactly, by whichever of two searches is the quicker.

A k-d tree looks at few points where the data have few dimensions, and at most of them where there are ten or
more. There scikit-learn's brute force, a matrix product, is several times as fast. But it rounds: its
``|x|^2 + |y|^2 - 2 x'y`` loses digits, and copies are no longer at one distance. So it only proposes
candidates. Their distances are then worked out from coordinate differences, to the very bits of the tree, and
what its rounding could have hidden is searched by the tree.
"""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import KDTree, NearestNeighbors

PROBES = 32
"""Queries on which the tree's work is counted before it is chosen or not."""

CALLS = 5000, 0.06
"""Distances that the tree may work out a query: so many and this share of n. Measured for k = 21 and 63."""

SPARE = 2
"""Candidates beyond the k nearest: without them the k-th could not be told from the next."""

BLOCK = 2**19
"""Candidates whose distances are worked out at a time."""

U = float(np.finfo(float).eps) / 2


class NeighborSearch:
    """Search among the rows of X.

    Parameters
    ----------
    X : array of shape (n, d)
        Of a scale at which squares neither overflow nor vanish.

    Attributes
    ----------
    order : int array of shape (n,)
        Rows of X, neighbours in turn: searched in this order they are found in the caches.
    """

    def __init__(self, X):
        self.X = X
        self._tree = KDTree(X)
        self._origin = X.mean(axis=0)
        self.order = np.asarray(self._tree.idx_array)

    def prefers_tree(self, queries, k):
        """Whether the tree is expected to be the quicker for these, by its work on some of them."""
        if len(self.X) < CALLS[0]:
            return True
        some = queries[:: max(1, len(queries) // PROBES)]
        self._tree.reset_n_calls()
        self._tree.query(some, k, return_distance=False)
        return self._tree.get_n_calls() <= len(some) * (CALLS[0] + CALLS[1] * len(self.X))

    def by_tree(self, queries, k):
        """Distances to the k nearest rows of X, ascending, and which they are; shape (q, k) each."""
        return self._tree.query(queries, k)

    def by_force(self, queries, k):
        """Return the same distances, bit for bit; among rows at one distance the order may be another."""
        n, d = self.X.shape
        centred, around = self.X - self._origin, queries - self._origin
        search = NearestNeighbors(n_neighbors=min(n, k + SPARE), algorithm="brute").fit(centred)
        proposed, index = search.kneighbors(around)
        # No row that was not proposed is nearer than the last that was, but for this.
        norms = np.sqrt(np.einsum("ij,ij->i", around, around))
        largest = np.sqrt(np.einsum("ij,ij->i", centred, centred).max())
        lost = (4 * d + 40) * U * (norms + largest) ** 2
        certain = proposed[:, -1] ** 2 - lost if k + SPARE < n else np.full(len(queries), np.inf)

        distances = np.empty((len(queries), k))
        rows = max(1, BLOCK // index.shape[1])
        for start in range(0, len(queries), rows):
            block = slice(start, start + rows)
            squared = self._squared_distances(queries[block], index[block])
            order = np.argsort(squared, axis=1, kind="stable")[:, :k]
            distances[block] = np.sqrt(np.take_along_axis(squared, order, axis=1))
            index[block, :k] = np.take_along_axis(index[block], order, axis=1)
        index = np.ascontiguousarray(index[:, :k])
        hidden = np.flatnonzero(distances[:, -1] ** 2 * (1 + 4 * U) >= certain)
        if len(hidden):
            distances[hidden], index[hidden] = self.by_tree(queries[hidden], k)
        return distances, index

    def _squared_distances(self, queries, index):
        """Sum over the coordinates one after the other, as the tree does."""
        squared = np.zeros(index.shape)
        for feature, values in zip(self.X.T, queries.T, strict=True):
            difference = values[:, None] - feature.take(index)
            squared += np.square(difference, out=difference)
        return squared
