"""An explicit basis of the RBF space on a ball, sorted by spherical harmonics.

Everything rests on the power series of the kernel. With lengths in units of sigma, z = 2 |x| |y|, u the
cosine of the angle between x and y, and P_l the Legendre polynomial of dimension d, P_l(1) = 1,

    k(x, y) = exp(-|x|^2 - |y|^2) sum_t z^t u^t / t!,
    u^t     = sum_{l + 2j = t} N(d, l) b(l, j) P_l(u),     b = t! Gamma(d/2) / (2^t j! Gamma(l + j + d/2)),

and on the addition theorem ``N(d, l) P_l(u) = sum_k Y_lk(x / |x|) Y_lk(y / |y|)`` (Mueller 1966, *Spherical
Harmonics*). Hence

    e_ljk(x) = phi_lj(|x|) Y_lk(x / |x|),     phi_lj(r) = exp(-r^2) ((2 r^2)^t b(l, j) / t!)^(1/2)

is an orthonormal basis of the space H: k(x, y) = sum e(x) e(y), and the e are linearly independent, with
square summable coefficients too, as a power series has its coefficients only once. The squares of all
functions of degree l + 2j = t add up to the probability that a Poisson variable of mean 2 |x|^2 is t.

No integral is computed numerically, so what rests on floating point is the value of these formulas and that
the matrices U below, from LAPACK, are orthogonal.
"""

from __future__ import annotations

import numpy as np

MAX_DEGREE = 200
"""Larger degrees (radius / sigma beyond about 8) would take more than a few seconds."""

BLOCK_VALUES = 2**22
"""Values of basis functions that are held at once, to bound the memory."""


class RadialBasis:
    """The functions e_ljk of degree l + 2j < T.

    Parameters
    ----------
    d : int
        Dimension, at least 1.
    T : int
        At least 1.

    Attributes
    ----------
    order : array of shape (L,)
        The l with N(d, l) > 0.
    multiplicity : array of shape (L,)
        N(d, l).
    """

    def __init__(self, d, T):
        self.d, self.T = d, T
        self.order = np.arange(min(T, 2) if d == 1 else T)
        self.multiplicity = multiplicity(d, self.order)

    def radial(self, r, orders=slice(None)):
        """Return phi_lj(r), shape (L, len(r), (T + 1) // 2), zero where l + 2j >= T."""
        from scipy.special import gammaln, xlogy

        ell, j = self.order[orders, None], np.arange((self.T + 1) // 2)
        t = ell + 2 * j
        log_b = gammaln(self.d / 2) - t * np.log(2) - gammaln(j + 1) - gammaln(ell + j + self.d / 2)  # b / t!
        square = 2 * np.asarray(r, dtype=float)[:, None] ** 2
        log_square = xlogy(t[:, None], square) + log_b[:, None] - square
        return np.where(t[:, None] < self.T, np.exp(log_square / 2), 0.0)

    def eigen(self, r, weights):
        """Diagonalise ``int e e' dw``, where w has mass weights[i] spread evenly on the sphere |x| = r[i].

        Returns
        -------
        mu : array of shape (L, J)
            Eigenvalues, each to be counted N(d, l) times; about 0 for the padding of short blocks.
        U : array of shape (L, J, J)
            Orthogonal matrices; ``phi U`` are the radial parts of the eigenfunctions, orthonormal in H.
        """
        root = self.radial(r) * np.sqrt(weights)[:, None]
        mu, U = np.linalg.eigh(root.transpose(0, 2, 1) @ root)
        return np.maximum(mu, 0), U

    def squares(self, r, U):
        """Return ``sum_k e_lik(x)^2`` of the eigenfunctions at |x| = r, shape (L, len(r), J)."""
        return np.concatenate([self._squares(r, U, orders) for orders in self._blocks(r)])

    def weighted_squares(self, r, U, factors):
        """Return ``sum_li factors[..., l, i] sum_k e_lik(x)^2`` at |x| = r, in little memory."""
        blocks = self._blocks(r)
        return sum(weigh(self._squares(r, U, orders), factors[..., orders, :]) for orders in blocks)

    def tail(self, r):
        """Return the sum of e_ljk(x)^2 over the degrees l + 2j >= T, at |x| = r."""
        return poisson_tail(self.T, r)

    def _blocks(self, r):
        size = max(1, BLOCK_VALUES // (len(r) * (self.T + 1) // 2))
        return [slice(start, start + size) for start in range(0, len(self.order), size)]

    def _squares(self, r, U, orders):
        return self.multiplicity[orders, None, None] * (self.radial(r, orders) @ U[orders]) ** 2


def weigh(squares, factors):
    """Return ``sum_li factors[..., l, i] squares[l, r, i]``, shape (..., len(r))."""
    return np.einsum("lri,...li->...r", squares, factors, optimize=True)


def multiplicity(d, ell):
    """Return N(d, l) = C(l+d-1, d-1) - C(l+d-3, d-1), the number of spherical harmonics of order l."""
    from scipy.special import comb

    lower = np.where(ell >= 2, comb(np.maximum(ell + d - 3, 0), d - 1), 0)
    return np.round(comb(ell + d - 1, d - 1) - lower)


def poisson_tail(T, r):
    """Return P{Poisson(2 r^2) >= T}, T >= 1: the share of k(x, x) = 1 in the degrees from T on."""
    from scipy.special import gammainc

    return gammainc(T, 2 * np.square(r, dtype=float))


def degree_for(tail, d, radius):
    """Return the smallest T with ``poisson_tail(T, radius) <= tail``, or None if it is out of reach."""
    from scipy.special import gammaln

    T = np.arange(1, MAX_DEGREE + 1)
    small = np.flatnonzero(poisson_tail(T, radius) <= tail)
    if len(small) == 0:
        return None
    T = int(T[small[0]])
    log_dimension = gammaln(T + d) - gammaln(T) - gammaln(d + 1)
    return T if log_dimension < 600 else None  # beyond, N(d, l) overflows


def nodes(radius, basis):
    """Return radii and weights, denser towards the edge, on which a measure over the ball can be built."""
    count = max(24, basis.T // 2 + 8)
    r = radius * np.append(np.sin(np.pi / 2 * (np.arange(count) + 0.5) / count), 1.0)
    weights = (r / radius) ** (basis.d - 1)
    return r, weights / weights.sum()


def spread(basis, radius, b, rounds=3):
    """Return (mu, U) of a measure w on the ball, moved towards where the eigenfunctions say least.

    The multiplicative rule of optimal design: w(r) is multiplied by the variance left at r,
    ``sum e_i(r)^2 / (1 + b mu_i)``, which is level at the optimum. Every w gives a valid bound.
    """
    r, weights = nodes(radius, basis)
    for _ in range(rounds):
        mu, U = basis.eigen(r, weights)
        left = basis.tail(r) + basis.weighted_squares(r, U, 1 / (1 + b * mu))
        weights = weights * left / (weights @ left)
    return basis.eigen(r, weights)
