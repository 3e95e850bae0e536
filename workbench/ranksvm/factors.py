"""Where K does not fit memory: a pivoted-Cholesky factor of a large sample.

Taking the pivots one by one, each where the residual is largest, passes over all of Phi for every column.
Instead some thousand points are factored among themselves, in memory, and the pivots found there give their
columns to all points at once, by matrix products. Then it is the turn of the points that these pivots serve
worst, until none is left above the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack, solve_triangular
from sklearn.utils import gen_batches

from ..kernels import Factor, rbf
from ..threads import spread

SAMPLE = 2000
"""Points that are factored among themselves."""

PHI_BYTES = 2**30
"""Memory for Phi ..."""

FIRST_PIVOTS = 1500
"""Pivots to try first: a product with all of K often certifies that they are enough, when a bound cannot."""

FEWEST_PIVOTS = 400
"""... but so many pivots may always be taken: smooth kernels in the plane need 250 at n = 1,000,000."""

PROGRESS = 1e-3
"""By so much the largest residual is brought down at a time."""

ROWS = 2048
"""Rows of Phi worked out at a time."""


@dataclass(frozen=True)
class CutFactor(Factor):
    """A factor that was ended early: its residual is above the tolerance asked for."""

    def as_if_whole(self):
        """Return the factor of ``Phi Phi'`` itself, which has no residual."""
        return replace(self, residual=np.zeros_like(self.residual))


def most_pivots(n):
    """Return how many columns Phi may have."""
    return min(n, max(FEWEST_PIVOTS, PHI_BYTES // (8 * n)))


def factor(kernel, tol, at_most=None):
    """Pivoted-Cholesky factor of a kernel matrix, to a residual diagonal of `tol` or to a number of pivots.

    Parameters
    ----------
    kernel : KernelMatrix
    tol : float
    at_most : int, optional
        Where the matrix does not fit memory; as many pivots as do if not given.

    Returns
    -------
    Factor, or CutFactor where the number of pivots was the limit
    """
    if kernel.is_dense:
        return kernel.factor(tol)
    X, n = kernel.X, len(kernel)
    limit = min(at_most or n, most_pivots(n))
    residual, parts, pivots = np.ones(n), [], np.empty(0, dtype=int)
    candidates = np.random.default_rng(0).permutation(n)
    while len(pivots) < limit and len(candidates):
        some = candidates[:SAMPLE]
        # Not all the way at once: far from the sample the same pivots would extrapolate, which costs digits.
        goal = max(tol, PROGRESS * residual[some[0]])
        K = rbf(X[some], X[some], kernel.sigma)
        for part in parts:
            K -= part[some] @ part[some].T
        packed, order, rank, _ = lapack.dpstrf(K.T, lower=1, tol=goal, overwrite_a=True)
        if rank == 0:
            break
        rank = min(rank, limit - len(pivots))
        new = some[order[:rank] - 1]
        L = np.tril(packed[:rank, :rank])
        columns = np.empty((n, rank))

        def work(block, new=new, L=L, columns=columns):
            K = rbf(X[block], X[new], kernel.sigma)
            for part in parts:
                K -= part[block] @ part[new].T
            columns[block] = solve_triangular(L, K.T, lower=True, check_finite=False).T
            residual[block] -= np.einsum("ij,ij->i", columns[block], columns[block])

        spread(work, list(gen_batches(n, ROWS)))
        pivots = np.concatenate([pivots, new])
        # By construction: keeps Phi[pivots] exactly triangular.
        columns[pivots[: -len(new)]] = 0.0
        columns[new] = L
        residual[pivots] = 0.0
        parts.append(columns)
        above = np.flatnonzero(residual > tol)
        candidates = above[np.argsort(-residual[above], kind="stable")]
    Phi = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
    kind = CutFactor if len(candidates) else Factor
    return kind(Phi, pivots, np.maximum(residual, 0.0))
