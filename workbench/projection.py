r"""A kernel expansion through landmarks: its projection on their span, with a computable error.

For landmarks S among the centres of g let :math:`g_s = P g` be the orthogonal projection of g on
:math:`\mathrm{span}\{k(y, \cdot) : y \in S\}`, and :math:`\phi(x)` the coordinates of
:math:`P k(x, \cdot)` in an orthonormal basis. What is left of either is orthogonal to the span, hence

.. math:: |g(x) - g_s(x)| = |\langle g - g_s,\ k(x, \cdot) - P k(x, \cdot) \rangle|
          \le |g - g_s|_H \sqrt{k(x, x) - |\phi(x)|^2} .

Either factor alone, times the norm of the other function, is a weaker bound. Equality holds where g has one
centre more than S, at that centre. Every number that enters is rounded up by what its computation may lose.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils import gen_batches

from .expansions import BLOCK_BYTES, FEWEST_ROWS, REACH, UNIT_ROUNDOFF, KernelExpansion
from .kernels import KernelMatrix, rbf
from .landmarks import random_factor
from .threads import one_blas_thread

PIVOT_TOL = 1e-10
"""Squared distance in the RKHS of a landmark from the span of those before, at least."""

U = UNIT_ROUNDOFF[np.float64]


@dataclass(frozen=True)
class Projection:
    """``g_s``, and how far it is from g.

    Attributes
    ----------
    expansion : KernelExpansion
        g_s; its centres are the landmarks.
    index : int array of shape (s,)
        Which centres of g the landmarks are.
    distance : float
        At least ``|g - g_s|_H``, and so at least ``|g(x) - g_s(x)|`` at any x.
    slope : float
        At least ``|P (g - g_s)|_H``, which is 0 but for rounding.
    L : array of shape (s, s)
        Lower Cholesky factor of the kernel matrix of the landmarks.
    """

    expansion: KernelExpansion
    index: np.ndarray
    distance: float
    slope: float
    L: np.ndarray

    def error(self, X):
        """Upper bound of ``|g(x) - g_s(x)|`` at the rows x of X, of shape (len(X),); O(s^2) a point."""
        out = np.empty(len(X))
        s = len(self.index)
        with one_blas_thread():
            for block in gen_batches(len(X), max(FEWEST_ROWS, BLOCK_BYTES // (8 * s))):
                across = np.sqrt(self._squared_distance_from_span(X[block]))
                out[block] = np.minimum(self.distance, self.distance * across + self.slope)
        return out

    def _squared_distance_from_span(self, X):
        """Upper bound of ``k(x, x) - |phi(x)|^2``.

        It is the squared distance of ``k(x, .)`` from ``sum_j a_j k(y_j, .)``, which bounds that from the
        span whatever a is: so what has been lost in a does not matter.
        """
        g = self.expansion
        k = rbf(g.centred(X), g.centred(g.centres), 1.0).T
        phi = solve_triangular(self.L, k, lower=True)
        a = solve_triangular(self.L, phi, lower=True, trans="T")
        squared = 1 - 2 * np.einsum("ij,ij->j", a, k) + np.einsum("ij,ij->j", phi, phi)
        lost = 2 * g.difference_rounding + (2 * len(k) + 20) * U
        return np.clip(squared, 0.0, 1.0) + lost * (1 + np.abs(a).sum(axis=0)) ** 2


class Projector:
    """Projections of an expansion g on the spans of more and more of its centres.

    Where their number is given the centres are drawn by randomly pivoted Cholesky (:mod:`.landmarks`).
    Otherwise they are taken in the order of the pivoted Cholesky factor, each time the one that is farthest,
    in the RKHS, from the span of those before, which meets a tolerance with the fewer.

    Parameters
    ----------
    g : KernelExpansion
    at_most : int, optional
        Number of landmarks wanted at most; all that are linearly independent if not given.

    Attributes
    ----------
    largest : int
        Number of landmarks there are.
    """

    def __init__(self, g, at_most=None):
        self.g = g
        self._kernel = KernelMatrix(g.centred(g.centres), 1.0)
        if at_most is None:
            self._factor = self._kernel.factor(PIVOT_TOL)
        else:
            self._factor = random_factor(self._kernel, at_most, PIVOT_TOL)
        self.largest = self._factor.rank

    @cached_property
    def _w(self):
        """Coordinates of P g; the r-th is what landmark r adds, orthogonal to what those before gave."""
        pivots = self._factor.pivots
        values = self._kernel.dot(self.g.coefficients)[pivots]
        return solve_triangular(self._factor.Phi[pivots], values, lower=True)

    def enough(self, tol):
        """Return the least number of landmarks for which ``|g - g_s|_H <= tol``, but for rounding."""
        squared_distance = np.cumsum(self._w[::-1] ** 2)[::-1]  # before landmark r is there
        return max(1, int(np.sum(squared_distance > tol**2)))

    def onto(self, r):
        """Project on the span of the first r landmarks.

        Returns
        -------
        Projection
        """
        g, pivots = self.g, self._factor.pivots[:r]
        L = self._factor.Phi[pivots, :r]
        c = self._factor.coefficients(self._w[:r])
        rest = g.coefficients.copy()
        rest[pivots] -= c
        values, sizes = self._kernel.dot(rest), self._kernel.dot(np.abs(rest))
        n, d = g.centres.shape
        # Relative error of a kernel value within reach, and of two sums over n.
        kappa = np.expm1((REACH * (8 * g.radius + (d + 4) * REACH) + 2 * n + 20) * U)
        distance = np.sqrt(max(rest @ values, 0.0) + kappa * (np.abs(rest) @ sizes))
        slope = np.linalg.norm(solve_triangular(L, values[pivots], lower=True))
        inverse = np.linalg.norm(solve_triangular(L, np.eye(r), lower=True))
        slope = (1 + 1e-6) * slope + inverse * kappa * np.linalg.norm(sizes[pivots])
        return Projection(
            KernelExpansion(g.centres[pivots], c, g.sigma), pivots, float(distance), float(slope), L
        )
