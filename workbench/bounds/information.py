"""Random centres with the law of a Gaussian process after an experiment: the tightest of the covers.

Lengths are in units of sigma, H is the RBF space on the ball, T its unit ball.

*Setting.* Let e_i be orthonormal in H, mu_i and b >= 0 numbers, m(i) = b mu_i, and alpha > 0. Z is the
Gaussian process with covariance alpha k. W is Z after each coordinate along e_i has been measured with
precision m(i) / alpha: the coordinate's variance falls from alpha to alpha / (1 + m(i)), and at a point x

    Var W(x) = alpha u(x),    u(x) = 1 - sum_i e_i(x)^2 + sum_i e_i(x)^2 / (1 + m(i)) <= 1.

Take the mesh of `mesh.py` and let K be the event that a process is at most s in absolute value at all nodes.

*Claim.* For each y in T, log 1/P{Z - y in K} is at most

    1 / (2 alpha) + G + (X (1 - P) / (2 P))^(1/2) - log P,      P any lower bound on P{W in K},
    G = sum_i (log(1 + m(i)) - m(i) / (1 + m(i))) / 2,      X = sum_i (m(i) / (1 + m(i)))^2.

*Proof.* By Cameron and Martin the density of Z - y with respect to Z is exp(-|y|^2 / (2 alpha) - I(Z)), I
linear. The density of W with respect to Z is ``prod (1 + m(i))^(1/2) exp(-m(i) z_i^2 / (2 alpha))``, z_i the
coordinates. So

    P{Z - y in K} = P{W in K} E[exp(-|y|^2 / (2 alpha) - I(W) + Q(W) / 2) | K] prod (1 + m(i))^(-1/2),

with Q(W) = sum m(i) w_i^2 / alpha. Jensen's inequality takes the expectation into the exponent. There I(W)
vanishes as K and W are symmetric. Q(W) has mean A = sum m(i) / (1 + m(i)) and variance 2 X. By
Cauchy-Schwarz for the covariance of Q and the indicator of K, A - E[Q | K] <= (2 X (1 - P) / P)^(1/2). So

    log 1/P{Z - y in K} <= |y|^2 / (2 alpha) + sum log(1 + m(i)) / 2
                           - (A - (2 X (1 - P) / P)^(1/2)) / 2 - log P,

which is the claim, as |y| <= 1. QED.

*The cover.* By Sidak's lemma P{W in K} >= prod_j (2 Phi(s / (alpha u_j)^(1/2)) - 1)^(n_j), with n_j nodes on
the sphere of radius r_j. With l = s / (alpha max u)^(1/2) the first term is l^2 max u / (2 s^2). Fractional
covers become covers as in `random_centres.gaussian`: with s = (1 - eta - kappa) rho, kappa the share of the
mesh,

    log N <= log 1/p(s) + log(1 + log 1/p(eta rho / 2)),

as points of T more than eta rho apart on the mesh have disjoint cubes of half that size, each with measure at
least p(eta rho / 2) under the law of Z: there are at most 1/p of them.

*What it means.* b = 0 is `gaussian`, W = Z. In general 1 / (2 alpha) + G is least when alpha A = 1 and is
then sum log(1 + m(i)) / 2, the information gained by the experiment: the unit ball costs no more nats than it
takes to learn Z until the error is rho / l everywhere, l being about (2 log n)^(1/2). The ellipsoids of
`eigenbasis` need the dimension D in the place of l^2.

*The choice.* e_i and mu_i are the eigenfunctions of a measure on the ball, moved by the rule of optimal
design to where u is largest; b and l minimise the bound. Every choice is valid, as is any finite set of the
e_i.
"""

from __future__ import annotations

import numpy as np

from .eigenbasis import MAX_RINGS, on_small_cells
from .harmonics import RadialBasis, degree_for, spread, weigh
from .mesh import log_nodes, n_rings, ring_radii
from .random_centres import MESH_SHARE, NET_SHARE, gaussian, log_inside
from .taylor import taylor


def information(rho, d, radius):
    """Cover by centres drawn from a Gaussian process, judged by how much there is to learn about it.

    The formula and its proof are at the head of this module. Beyond radius / sigma of about 8 the ball is cut
    into cubes as in `cells`. The answer is never above `gaussian` and `taylor`.
    """
    return min(gaussian(rho, d, radius), taylor(rho, d, radius), on_small_cells(_information, rho, d, radius))


def _information(rho, d, radius):
    T = degree_for((NET_SHARE * rho / 20) ** 2, d, radius)
    step_error = MESH_SHARE * rho / d
    if T is None or n_rings(step_error, radius) > MAX_RINGS:
        return None
    basis = RadialBasis(d, T)
    rings = ring_radii(step_error, radius)
    log_n = log_nodes(d, rings, step_error, radius)
    s = (1 - MESH_SHARE - NET_SHARE) * rho

    few, log_n_few = _thin(rings, log_n)
    b = 20 / rho**2
    for _ in range(2):
        mu, U = spread(basis, radius, b)
        squares, tail = basis.squares(few, U), basis.tail(few)

        def rough(s, b, mu=mu, squares=squares, tail=tail):
            u = tail + weigh(squares, 1 / (1 + b * mu))
            return _hitting_cost(s, b * mu, basis.multiplicity, u, log_n_few)

        b = _best(lambda b: rough(s, b), b)
    b_net = _best(lambda b: rough(NET_SHARE * rho / 2, b), b / NET_SHARE**2)

    def cost(s, b):
        u = basis.tail(rings) + basis.weighted_squares(rings, U, 1 / (1 + b * mu))
        return _hitting_cost(s, b * mu, basis.multiplicity, u, log_n)

    return float(cost(s, b) + np.log1p(cost(NET_SHARE * rho / 2, b_net)))


def _thin(rings, log_n, count=100):
    """Return at most `count` of the rings, each with the nodes of those that follow it."""
    kept = np.unique(np.linspace(0, len(rings) - 1, count).astype(int))
    return rings[kept], np.logaddexp.reduceat(log_n, kept)


def _best(cost, b):
    """Return a b that makes cost(b) small, within a factor e^6 of the first guess."""
    from scipy.optimize import minimize_scalar

    span = np.log(b) + np.array([-6, 6])
    return np.exp(
        minimize_scalar(lambda t: cost(np.exp(t)), bounds=span, method="bounded", options={"xatol": 0.02}).x
    )


def _hitting_cost(s, m, multiplicity, u, log_n):
    """Return the claim's bound on log 1/P{Z - y in K}, with the best l that a search finds."""
    from scipy.optimize import minimize_scalar

    G = multiplicity @ (np.log1p(m) - m / (1 + m)).sum(axis=1) / 2
    X = multiplicity @ ((m / (1 + m)) ** 2).sum(axis=1)
    depth = np.sqrt(u.max() / u)

    def cost(ell):
        log_P = log_inside(ell * depth, log_n)
        if log_P < -300:
            return -1e30 * log_P  # far from the best l, where exp(-log_P) may overflow
        return ell**2 * u.max() / (2 * s**2) + G + np.sqrt(X / 2 * np.expm1(-log_P)) - log_P

    largest = 4 + np.sqrt(2 * np.logaddexp.reduce(log_n))
    return minimize_scalar(cost, bounds=(0.1, largest), method="bounded", options={"xatol": 1e-4}).fun
