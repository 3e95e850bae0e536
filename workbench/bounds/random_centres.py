"""Zhang's bound, dual Sudakov, and Gaussian random centres: covers that do not look at the dimension much.

All three cover vectors (f(x_1), ..., f(x_N)), |f| <= 1, by cubes of half-side rho. With N points given they
hold for every sample of N points anywhere. Without, the points are the mesh of `mesh.py` and the cover is one
in sup norm.
"""

from __future__ import annotations

import numpy as np

from .mesh import log_mesh_size

MESH_SHARE = 0.05
"""Share of rho that goes into the error of interpolation from the mesh."""

NET_SHARE = 0.005
"""Share of rho that goes into the net whose points are hit one by one."""


def points_and_radius(rho, d, radius, n):
    """Return log N and the half-side of the cubes: `n` points and rho, or a mesh and what is left of rho."""
    if n is not None:
        return np.log(n), rho
    return log_mesh_size(MESH_SHARE * rho, d, radius), (1 - MESH_SHARE) * rho


def zhang(rho, d, radius, n=None):
    """Zhang (2002), Theorem 4 with p = q = 2 and a b = 1.

    ``log2 N <= 36 rho^-2 log2(2 ceil(4 / rho + 2) n + 1)``. Quoted, not proved here; the idea is that
    an online algorithm that makes few mistakes shows how few examples fix a linear function to within rho.
    T. Zhang, *Covering number bounds of certain regularized linear function classes*, JMLR 2 (2002) 527-550.
    """
    log_n, rho = points_and_radius(rho, d, radius, n)
    return 36 / rho**2 * np.logaddexp(0, np.log(2 * np.ceil(4 / rho + 2)) + log_n)


def sudakov(rho, d, radius, n=None):
    """Dual Sudakov inequality: ``log N <= min_l 2 l^2 / rho^2 - n log(2 Phi(l) - 1)``.

    Let y_i be a maximal set in the unit ball with sup distances above rho, which is also a cover, and let G
    be the Gaussian process with covariance k. The cubes t y_i + (t rho / 2) [-1, 1]^n are disjoint, and each
    has Gaussian measure at least exp(-t^2 / 2) P{max |G(x_j)| <= t rho / 2} (Cameron-Martin and symmetry),
    where by Sidak's lemma the probability is at least (2 Phi(l) - 1)^n, l = t rho / 2. The measures add up to
    at most 1. (Pajor and Tomczak-Jaegermann 1986; Ledoux and Talagrand 1991, (3.15).)
    """
    log_n, rho = points_and_radius(rho, d, radius, n)
    return hitting_cost(rho / 2, log_n)


def gaussian(rho, d, radius, n=None):
    """Gaussian random centres: ``log N <= log 1/p + log(1 + log |S|)``.

    ``log 1/p = min_l l^2 / (2 s^2) - n log(2 Phi(l) - 1)``, s = (1 - eta) rho, and log |S| is `sudakov` at
    eta rho.

    S is a net of the unit ball, eta rho fine. A centre drawn from the Gaussian process with covariance (s /
    l)^2 k is within s of any given point of S with probability at least p (as in `sudakov`). So p^-1 times
    the law of the centre is a fractional cover of S, and a greedy cover has at most (1 + log |S|) / p members
    (Lovasz 1975, Stein 1974). A function is within eta rho of S, hence within rho of a centre. (Kuelbs and Li
    1993 link small balls and entropy in this way.)
    """
    log_n, rho = points_and_radius(rho, d, radius, n)
    net = hitting_cost(NET_SHARE * rho / 2, log_n)
    return hitting_cost((1 - NET_SHARE) * rho, log_n) + np.log1p(net)


def hitting_cost(s, log_n):
    """Return ``min_l l^2 / (2 s^2) - n log(2 Phi(l) - 1)``, an upper bound at whatever l the search ends."""
    from scipy.optimize import minimize_scalar

    # A convex function of l, and increasing where n exp(-l^2 / 2) is small: s < 1.
    largest = 3 + np.sqrt(2 * log_n)

    def cost(ell):
        return ell**2 / (2 * s**2) - log_inside(ell, log_n)

    return float(minimize_scalar(cost, bounds=(0, largest), method="bounded", options={"xatol": 1e-6}).fun)


def log_inside(ell, log_n):
    """Return Sidak's ``sum n log(2 Phi(l) - 1)``, a lower bound on log P{|G_i| <= l_i for all i}."""
    from scipy.special import logsumexp, ndtr

    with np.errstate(divide="ignore"):
        log_cost = np.log(-np.log1p(-2 * ndtr(-np.asarray(ell, dtype=float))))
    return -np.exp(np.minimum(logsumexp(log_cost + log_n), 600))
