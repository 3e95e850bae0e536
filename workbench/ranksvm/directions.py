"""How a Newton direction is found: ``(I + s Phi' L Phi) step = -gradient``.

A product with the Hessian costs ``4 n r`` operations and needs no matrix but Phi; a factor of the Hessian
costs of the order of ``n r^2``. All eigenvalues are at least 1 and, as the kernel gets narrower, they
approach those of a diagonal matrix. So conjugate gradients take few products just where factors are dear.
They stop at a modest accuracy (inexact Newton: the line search and the certificate are exact all the
same), and give up at a number of products that costs a fraction of the factor.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lu_factor, lu_solve

from .factors import CutFactor
from .windows import Zone

# One product is allowed for so many rows of the matrix to factor ...
ROWS_A_PRODUCT = 15
# ... and with fewer allowed than these, as for smooth kernels, the factor is as fast.
FEWEST_PRODUCTS = 10


class Span:
    """The span of the first `rank` pivots: leading columns of a pivoted factor are a factor themselves.

    Parameters
    ----------
    kernel : KernelMatrix
    factor : Factor
    rank : int

    Attributes
    ----------
    Phi : array of shape (n, rank)
    rank : int
    complete : bool
        Whether all pivots are in.
    K : array of shape (n, n) or None
        The kernel matrix where it is at hand and equal to ``Phi Phi'``.
    """

    def __init__(self, kernel, factor, rank):
        self.rank = rank
        self.complete = rank == factor.rank
        self.Phi = factor.Phi if self.complete else np.ascontiguousarray(factor.Phi[:, :rank])
        stands_for_K = self.complete and kernel.is_dense and not isinstance(factor, CutFactor)
        self.K = kernel.dense if stands_for_K else None
        self._single = {}
        self._diagonal_serves = True
        self._solve = None

    # Finite rows times a finite vector have been seen to raise the flag of an invalid operation once in
    # thousands of runs, and not again. A step that is not finite is noticed by who asked for it.
    @np.errstate(invalid="ignore")
    def direction(self, s, sums, gradient, precision, accuracy):
        """Solve ``(I + s Phi' L Phi) step = -gradient``, L the Laplacian of the zone pairs.

        The diagonal preconditions until it fails in this span; from then on the last factor does, which
        Newton steps near each other share, and a new one is worked out when that fails as well.

        Parameters
        ----------
        s : float
        sums : PairSums
        gradient : array of shape (rank,)
        precision : numpy.float32 or numpy.float64
            Of the arithmetic.
        accuracy : float
            Relative residual that will do.

        Returns
        -------
        array of shape (rank,), NaN where rounding made the Hessian indefinite
        """
        norm = np.linalg.norm(gradient)
        if norm == 0:
            return np.zeros(self.rank)
        zone = Zone(sums)
        rows = self._cast("Phi", precision)
        if len(zone.active) < len(rows):
            rows = rows[zone.active]
        rhs = (-gradient / norm).astype(precision)
        budget = min(len(zone.active), self.rank) // ROWS_A_PRODUCT
        step = None
        if budget >= FEWEST_PRODUCTS:
            step = self._iterate(s, zone, rows, rhs, accuracy, budget)
        if step is None:
            self._solve = self._factorise(s, zone, rows)
            step = self._solve(rhs)
        return norm * step.astype(float)

    def _iterate(self, s, zone, rows, rhs, accuracy, budget):
        """Return what conjugate gradients find, or None if they do not get there."""

        def product(p):
            return p + s * (rows.T @ zone.product(rows @ p))

        if self._diagonal_serves:
            diagonal = 1 + s * np.einsum("i,ij,ij->j", zone.degree.astype(rows.dtype), rows, rows)
            step = _conjugate_gradients(product, rhs, accuracy, budget, lambda r: r / diagonal)
            self._diagonal_serves = step is not None
            return step
        if self._solve is not None:  # twice to three times the cost of a product
            return _conjugate_gradients(product, rhs, accuracy, budget // 3, self._solve)
        return None

    def _factorise(self, s, zone, rows):
        """Return a function that multiplies by the inverse of the Hessian.

        L is zero outside the rows A of the points that are in some zone, so that (Woodbury)

            (I + s Phi' L Phi)^-1 = I - s Phi_A' (I + s L_A K_A)^-1 L_A Phi_A,    K_A = Phi_A Phi_A',

        a system of order |A|. It is the cheaper one where few points are in a zone, as towards the end, or
        where Phi has nearly |A| columns and K_A is at hand, as for narrow kernels.
        """
        precision = rows.dtype
        if len(zone.active) < (0.7 if self.K is None else 1.6) * self.rank:
            M = zone.product(self._gram(zone.active, rows))
            M *= s
            M[np.diag_indices_from(M)] += 1.0
            factored = lu_factor(M, overwrite_a=True, check_finite=False)

            def solve(r):
                y = zone.product(rows @ r.astype(precision))
                return r - s * (rows.T @ lu_solve(factored, y, check_finite=False))

            return solve
        H = zone.congruence(rows)
        H *= s
        H[np.diag_indices_from(H)] += 1.0
        try:
            factored = cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:  # rounding made H indefinite
            return lambda r: np.full(self.rank, np.nan)
        return lambda r: cho_solve(factored, r.astype(precision), check_finite=False)

    def _gram(self, active, rows):
        """``Phi_A Phi_A'`` in the precision of rows."""
        if self.K is None:
            return rows @ rows.T
        return self._cast("K", rows.dtype)[np.ix_(active, active)]

    def _cast(self, name, precision):
        matrix = getattr(self, name)
        if precision == matrix.dtype:
            return matrix
        if name not in self._single:
            self._single[name] = matrix.astype(precision)
        return self._single[name]


def _conjugate_gradients(product, rhs, accuracy, budget, precondition):
    """Solve to a relative residual, or return None after `budget` products; rhs has norm 1."""
    x, r = np.zeros_like(rhs), rhs
    p = precondition(r).astype(rhs.dtype)
    rz = r @ p
    for _ in range(budget):
        q = product(p)
        t = rz / (p @ q)
        x += t * p
        r = r - t * q
        if np.linalg.norm(r) <= accuracy:
            return x
        z = precondition(r).astype(rhs.dtype)
        rz, before = r @ z, rz
        p = z + (rz / before) * p
    return None
