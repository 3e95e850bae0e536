"""Lower bounds on the covering number: how much of an upper bound may be ignorance."""

from __future__ import annotations

import numpy as np

from .harmonics import RadialBasis, degree_for, spread

CANDIDATES = 1200
"""Points among which those with a large determinant are picked."""

SMALLEST_PIVOT = 1e-10
"""Pivots and eigenvalues below this of the largest are too close to rounding to prove anything."""


def by_points(rho, d, radius):
    """Volume at points: ``log N >= max_M log det(K_M) / 2 + log vol(B_M) - M log(2 rho)``.

    The vectors (f(x_1), ..., f(x_M)), |f| <= 1, fill the ellipsoid K^(1/2) B_M, and each element of a cover
    takes at most a cube of side 2 rho of it. The points are picked one by one for the largest determinant
    (Cholesky factor with pivots), so that the bound for every M costs no more than for the last.
    """
    from scipy.linalg import lapack
    from scipy.spatial.distance import pdist, squareform
    from scipy.special import gammaln

    d = min(d, 200)  # the ball holds balls of lower dimension
    rng = np.random.default_rng(0)
    X = rng.standard_normal((CANDIDATES, d))
    X *= radius * rng.uniform(size=(CANDIDATES, 1)) ** (0.7 / d) / np.linalg.norm(X, axis=1, keepdims=True)
    factor, _, rank, _ = lapack.dpstrf(np.exp(-squareform(pdist(X, "sqeuclidean"))), tol=SMALLEST_PIVOT)
    log_det = 2 * np.cumsum(np.log(np.diag(factor)[:rank]))
    M = np.arange(1, rank + 1)
    return np.max(log_det / 2 + M / 2 * np.log(np.pi) - gammaln(M / 2 + 1) - M * np.log(2 * rho))


def by_spectrum(rho, d, radius):
    """Volume in an eigenspace: ``log N >= max_M sum_{i <= M} (log mu_i / 2 - log(rho c_M))``.

    Let psi_i = e_i / mu_i^(1/2) be orthonormal in L2 of a probability measure w on the ball, e_i orthonormal
    in H. The map f -> (int f psi_i dw)_i takes the unit ball onto a set that contains the ellipsoid with axes
    mu_i^(1/2). An element of a cover has, in a direction t of R^M, width at most ``2 rho int |sum t_i psi_i|
    dw``, on average over t at most 2 rho c_M with ``c_M = M^(1/2) E|t_1| = M^(1/2) Gamma(M/2) / (pi^(1/2)
    Gamma((M+1)/2))``, by Jensen and int sum psi_i^2 dw = M. By Urysohn's inequality its volume is at most
    that of a ball of radius rho c_M.
    """
    from scipy.special import gammaln

    radius = min(radius, 6.0)  # a cover of the ball covers a smaller ball too
    T = degree_for(rho**2 / 100, d, radius)
    if T is None:
        return 0.0
    basis = RadialBasis(d, T)
    mu, _ = spread(basis, radius, b=1 / rho**2)
    reliable = mu > SMALLEST_PIVOT * mu.max(axis=1, keepdims=True)
    count = np.broadcast_to(basis.multiplicity[:, None], mu.shape)[reliable]
    order = np.argsort(mu[reliable])[::-1]
    count, mu = count[order], mu[reliable][order]
    M = np.cumsum(count)
    log_c = np.log(M / np.pi) / 2 + gammaln(M / 2) - gammaln((M + 1) / 2)
    return np.max(np.cumsum(count * np.log(mu)) / 2 - M * (np.log(rho) + log_c))


def lower(rho, d, radius):
    """Return the best of `by_points`, `by_spectrum` and ceil(1 / rho), at least 2.

    The functions k(x, .) and -k(x, .) are 2 apart at x, and the values f(x) fill [-1, 1].
    """
    one_point = max(np.log(2), np.log(np.ceil(1 / rho * (1 - 1e-12))))
    return float(max(one_point, by_points(rho, d, radius), by_spectrum(rho, d, radius)))
