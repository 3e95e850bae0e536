"""Locality-sensitive hashing: near points fall in one bucket, so a search looks in a few buckets only."""

from __future__ import annotations

import numpy as np

from ..kernels import rbf

LARGEST_CELL = 2.0**52


class PStableHashes:
    """Hashes for Euclidean distance: ``h(x) = floor((a'x + b) / w)``, a normal, b uniform in [0, w).

    Points at distance r agree in one hash with probability
    ``1 - 2 Phi(-w/r) - 2 r / (sqrt(2 pi) w) (1 - exp(-w^2 / (2 r^2)))`` (Datar et al. 2004).

    Parameters
    ----------
    d : int
        Number of features.
    n_hashes : int
    width : float
        w, in the units of the data.
    rng : RandomState
    """

    def __init__(self, d, n_hashes, width, rng):
        self.directions = rng.normal(size=(d, n_hashes))
        self.offsets = rng.uniform(size=n_hashes)
        self.width = width

    def __call__(self, X):
        """Hashes of each row of X, int array of shape (len(X), n_hashes)."""
        # einsum, not BLAS: a hash must not depend on which rows are hashed along.
        projected = np.einsum("ij,jk->ik", X / self.width, self.directions)
        return np.floor(np.clip(projected + self.offsets, -LARGEST_CELL, LARGEST_CELL)).astype(np.int64)


class KernelHashes:
    """Hashes for a kernel: the sign of a random projection in feature space (Kulis & Grauman 2009).

    With K the centred RBF matrix of p anchors and e_S the indicator of t of them drawn at random,

        h(x) = sign( sum_i w_i k(x, x_i) ),      w = K^(-1/2) (e_S - t/p).

    By the central limit theorem the direction sum_i w_i Phi(x_i) is close to normal with the identity
    covariance on the anchors' span: two points agree in one hash with probability about 1 - angle / pi, the
    angle between their projections to it, taken from the anchors' mean.

    Parameters
    ----------
    anchors : array of shape (p, d)
    n_hashes : int
    t : int
        Less than p.
    sigma : float
        Bandwidth of the kernel ``exp(-|x - x'|^2 / sigma^2)``.
    rng : RandomState
    """

    def __init__(self, anchors, n_hashes, t, sigma, rng):
        self.anchors, self.sigma = anchors, sigma
        p = len(anchors)
        K = rbf(anchors, anchors, sigma)
        self.column_means = K.mean(axis=0)
        centred = K - self.column_means - self.column_means[:, None] + K.mean()
        values, vectors = np.linalg.eigh(centred)
        kept = values > 1e-8 * values[-1]  # the centred matrix is singular by construction
        chosen = np.array([rng.permutation(p) < t for _ in range(n_hashes)]).T - t / p
        self.weights = (vectors[:, kept] / np.sqrt(values[kept])) @ (vectors[:, kept].T @ chosen)

    def __call__(self, X):
        """Hashes of each row of X, int array of shape (len(X), n_hashes)."""
        K = rbf(X, self.anchors, self.sigma) - self.column_means
        K -= K.mean(axis=1, keepdims=True)
        # einsum, not BLAS: a hash must not depend on which rows are hashed along.
        return (np.einsum("ij,jk->ik", K, self.weights) > 0).astype(np.int64)


class HashTables:
    """Buckets of points that agree in all hashes of a table.

    Parameters
    ----------
    hashes : callable
        Takes rows to ``n_tables * m`` hashes each, m for every table.
    n_tables : int
    X : array of shape (n, d)
        Points to index.
    """

    def __init__(self, hashes, n_tables, X):
        self.hashes, self.n_tables = hashes, n_tables
        keys = self._keys(X)
        self.members = np.argsort(keys, axis=0, kind="stable").T
        self.sorted_keys = np.sort(keys, axis=0).T

    def bucket_sizes(self, X):
        """Count the points in the bucket of each row of X in each table, shape (len(X), n_tables)."""
        start, stop = self._ranges(X)
        return stop - start

    def candidates(self, X):
        """Yield for each row of X the sorted indices of the points that share a bucket with it."""
        start, stop = self._ranges(X)
        tables = range(self.n_tables)
        for first, last in zip(start, stop, strict=True):
            yield np.unique(np.concatenate([self.members[t, first[t] : last[t]] for t in tables]))

    def _ranges(self, X):
        keys = self._keys(X)
        tables = list(zip(self.sorted_keys, keys.T, strict=True))
        start = [np.searchsorted(table, key, side="left") for table, key in tables]
        stop = [np.searchsorted(table, key, side="right") for table, key in tables]
        return np.transpose(start), np.transpose(stop)

    def _keys(self, X):
        """One number for the hashes of a table. Unequal ones that mix to one only add a candidate."""
        hashes = self.hashes(X).reshape(len(X), self.n_tables, -1).astype(np.uint64)
        keys = np.zeros(hashes.shape[:2], dtype=np.uint64)
        for column in range(hashes.shape[2]):
            keys = (keys ^ hashes[:, :, column]) * np.uint64(0x9E3779B97F4A7C15)
            keys ^= keys >> np.uint64(29)
        return keys
