"""The RBF kernel: its Gram matrix, products with it, and its pivoted-Cholesky factor.

Notation: ``k(x, x') = exp(-|x - x'|^2 / sigma^2)`` as the paper prints it, with no factor 2
(scikit-learn's ``gamma`` is ``1 / sigma^2``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack, solve_triangular
from scipy.spatial.distance import cdist
from sklearn.utils import gen_batches

DENSE_LIMIT = 5000
"""Up to this many points the whole Gram matrix (200 MB) is kept in memory."""

BLOCK_BYTES = 2**25
"""Memory for one block of a kernel product; about what the caches of one core still serve well."""

LEAST_EXPONENT = -700.0
"""From -708 on exponentials are denormal or 0, and take up to two hundred times as long."""


def rbf(X, Y, sigma):
    """Gram matrix of the RBF kernel.

    Distances come from coordinate differences of the points as they are, not from
    ``|x|^2 + |y|^2 - 2 x'y``: the latter loses all digits on data far from the origin, and an entry would
    depend on the block it is computed in. A value below ``exp(-700)``, about 1e-304, is 0.

    Parameters
    ----------
    X : array of shape (p, d)
    Y : array of shape (q, d)
    sigma : float
        Bandwidth, in the units of the data.

    Returns
    -------
    array of shape (p, q), entries in [0, 1]
    """
    # Scaling first keeps the squares of huge or tiny data from overflowing or vanishing; by a power of two
    # it loses no digit, where X / sigma loses as many as the data have before those that differ.
    mantissa, exponent = np.frexp(sigma)
    K = cdist(np.ldexp(X, -exponent), np.ldexp(Y, -exponent), "sqeuclidean")
    K *= -1 / mantissa**2
    if K.min(initial=0.0) >= LEAST_EXPONENT:
        return np.exp(K, out=K)
    within = K >= LEAST_EXPONENT
    np.maximum(K, LEAST_EXPONENT, out=K)
    np.exp(K, out=K)
    K *= within
    return K


def kernel_sum(X, centres, coefficients, sigma):
    """``sum_j coefficients_j k(x, centres_j)`` for every row x of X, in blocks of bounded memory.

    Returns
    -------
    array of shape (len(X),)
    """
    out = np.empty(len(X))
    if len(centres) == 0:
        out[:] = 0.0
        return out
    for block in gen_batches(len(X), max(1, BLOCK_BYTES // (8 * len(centres)))):
        out[block] = rbf(X[block], centres, sigma) @ coefficients
    return out


def kernel_sum_on_grid(x, y, centres, coefficients, sigma):
    """``sum_j coefficients_j k((x, y), centres_j)`` at every point of a rectangular grid in the plane.

    The kernel is a product over the coordinates, so that nx + ny exponentials a centre and one matrix
    product do the work of nx ny exponentials.

    Parameters
    ----------
    x : array of shape (nx,)
    y : array of shape (ny,)
    centres : array of shape (s, 2)
    coefficients : array of shape (s,)
    sigma : float

    Returns
    -------
    array of shape (ny, nx)
    """
    along_x, along_y = (rbf(axis[:, None], centres[:, [column]], sigma) for column, axis in enumerate((x, y)))
    return (along_y * coefficients) @ along_x.T


class KernelMatrix:
    """``K_ij = k(x_i, x_j)`` of a sample: products and factors, never larger in memory than need be.

    Parameters
    ----------
    X : array of shape (n, d)
    sigma : float
    """

    def __init__(self, X, sigma):
        self.X = X
        self.sigma = sigma

    def __len__(self):
        return len(self.X)

    @property
    def is_dense(self):
        """Whether the whole matrix is held in memory."""
        return len(self) <= DENSE_LIMIT

    @cached_property
    def dense(self):
        """The whole matrix, shape (n, n)."""
        return rbf(self.X, self.X, self.sigma)

    def columns(self, index):
        """``K[:, index]``, shape (n, len(index))."""
        return self.dense[:, index] if self.is_dense else rbf(self.X, self.X[index], self.sigma)

    def dot(self, beta):
        """``K beta``, at the cost of the non-zero coefficients only."""
        support = np.flatnonzero(beta)
        if self.is_dense:
            if 2 * len(support) < len(self):
                return self.dense[:, support] @ beta[support]
            return self.dense @ beta
        return kernel_sum(self.X, self.X[support], beta[support], self.sigma)

    def factor(self, tol, at_most=None):
        """Pivoted Cholesky factor whose residual diagonal is at most `tol`, or that has `at_most` pivots."""
        if self.is_dense and at_most is None:
            return _dense_factor(self.dense, tol)
        return pivoted_factor(self, tol, len(self) if at_most is None else at_most)


@dataclass(frozen=True)
class Factor:
    """``K ~ Phi Phi'``, exact on the pivots' rows and columns: ``K[:, pivots] = Phi Phi[pivots]'``.

    Attributes
    ----------
    Phi : array of shape (n, r)
        Row i is the feature vector of point i in an orthonormal basis of span{k(x_p, .), p a pivot}.
    pivots : int array of shape (r,)
    residual : array of shape (n,)
        ``k(x_i, x_i) - |Phi_i|^2 >= 0``, the squared distance of k(x_i, .) from that span.
    """

    Phi: np.ndarray
    pivots: np.ndarray
    residual: np.ndarray

    @property
    def rank(self):
        """Number of pivots r."""
        return len(self.pivots)

    def coefficients(self, w):
        """Coefficients of ``g = sum_p c_p k(x_p, .)`` over the first len(w) pivots, g of coordinates w."""
        r = len(w)
        return solve_triangular(self.Phi[self.pivots[:r], :r], w, lower=True, trans="T")


def _dense_factor(K, tol):
    packed, order, rank, _ = lapack.dpstrf(K.T, lower=1, tol=tol)  # in LAPACK's order, and K is symmetric
    order = order - 1
    Phi = np.empty((len(K), rank))
    Phi[order] = np.tril(packed[:, :rank])
    return Factor(Phi, order[:rank], _residual(Phi))


def pivoted_factor(kernel, tol, at_most, choose=np.argmax):
    """Pivoted Cholesky, one column of K a step: O(n r) memory, where the whole matrix would not fit.

    Parameters
    ----------
    kernel : KernelMatrix
    tol : float
    at_most : int
        Number of pivots to end with.
    choose : callable
        Next pivot, from the residual diagonal; it ends where that of the pivot is `tol` or less.

    Returns
    -------
    Factor
    """
    n = len(kernel)
    residual = np.ones(n)
    Phi = np.empty((n, 64), order="F")
    pivots = []
    while len(pivots) < min(at_most, n):
        pivot = int(choose(residual))
        if residual[pivot] <= tol:
            break
        r = len(pivots)
        if r == Phi.shape[1]:
            Phi = np.concatenate([Phi, np.empty((n, r), order="F")], axis=1)
        column = kernel.columns([pivot])[:, 0]
        column -= Phi[:, :r] @ Phi[pivot, :r]
        column /= np.sqrt(residual[pivot])
        column[pivots] = 0.0  # zero by construction: keeps Phi[pivots] exactly triangular
        Phi[:, r] = column
        residual -= column**2
        pivots.append(pivot)
        residual[pivots] = 0.0
    Phi = np.ascontiguousarray(Phi[:, : len(pivots)])
    return Factor(Phi, np.array(pivots, dtype=int), _residual(Phi))


def _residual(Phi):
    return np.maximum(1.0 - np.einsum("ij,ij->i", Phi, Phi), 0.0)
