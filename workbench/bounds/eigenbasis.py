"""The eigenbasis cover: the unit ball and an ellipsoid inside the sup-norm ball, compared by volume."""

from __future__ import annotations

import numpy as np

from .harmonics import RadialBasis, degree_for, spread, weigh
from .mesh import n_rings, ring_radii
from .taylor import n_cells, taylor

RING_SHARE = 0.01
"""Share of rho that goes into interpolation between the spheres where the conditions are checked."""

MAX_RINGS = 10_000
"""More spheres than this would take minutes; a smaller rho is left to the Taylor features."""


def eigenbasis(rho, d, radius):
    """Cover in a rotation-invariant eigenbasis of the kernel.

    With e_1, ..., e_D orthonormal in H, a gauge q and s the radius that remains,

        log N <= V(1 / (q_i ((1-eta) s)^2)) + log(1 + V(4 / (q_i (eta s)^2))),   eta = 1 / (D + 1),
        V(a) = min_c sum_i log((1 + c) a_i + 1 + 1/c) / 2.

    *The sup norm.* On spheres of radii r_0 < ... < r_J let ``sum q_i e_i^2 <= 1``; then by Cauchy-Schwarz the
    ellipsoid E = {sum_i y_i e_i: sum y_i^2 / q_i <= 1} is bounded by 1 there. Let tau^2 be the largest ``1 -
    sum e_i^2`` on the spheres: what f has outside the span is at most tau. Linear interpolation along rays
    carries a bound from the spheres to the ball (`mesh.py`) at a cost of h^2 sqrt(12) / (8 sigma^2), h the
    distance of the spheres. So s = rho - tau - that cost, with no need for a Lipschitz constant of the
    conditions.

    *Covering.* T is the unit ball in the span. T + t E is inside the ellipsoid with squared axes (1 + c) + (1
    + 1/c) q_i t^2, for any c > 0, so exp V(1 / (q t^2)) bounds its volume over that of t E. Centres uniform
    in T + (1-eta) s E hit each point of a net S of T with probability at least exp(-V(1 / (q ((1-eta)
    s)^2))); S is a maximal set in T of gauge distances above eta s, whose ellipsoids of half the size are
    disjoint. The rest is as in `gaussian`.

    *The choice.* e_i are eigenfunctions of int k dw in the span of degrees below T (`harmonics.py`), by
    decreasing eigenvalue mu_i, and q_i proportional to 1 / mu_i, scaled so that the condition holds. D is
    searched for; every choice gives a valid bound. Beyond radius / sigma of about 8 the ball is cut into
    cubes as in `cells`. The answer is never above `taylor`, which is the case q = 1.
    """
    return min(taylor(rho, d, radius), on_small_cells(_eigenbasis, rho, d, radius))


def on_small_cells(cover, rho, d, radius):
    """Return ``cover(rho, d, radius)``, or if that is out of reach the same on cubes, one by one."""
    value = cover(rho, d, radius)
    if value is not None:
        return value
    for circumradius in (6.0, 4.0, 2.0):
        value = cover(rho, d, circumradius) if circumradius < radius else None
        if value is not None:
            return n_cells(circumradius / np.sqrt(d), d, radius) * value
    return np.inf


def _eigenbasis(rho, d, radius):
    T = degree_for((0.02 * rho) ** 2, d, radius)
    if T is None or n_rings(RING_SHARE * rho, radius) > MAX_RINGS:
        return None
    basis = RadialBasis(d, T)
    mu, U = spread(basis, radius, b=10 / rho**2)
    rings = ring_radii(RING_SHARE * rho, radius)
    few = rings[np.unique(np.linspace(0, len(rings) - 1, 100).astype(int))]
    squares = basis.squares(few, U)

    def rough(level):
        return _bound(rho, basis, mu, level, few, lambda factors: weigh(squares, factors))

    levels = np.unique(mu[mu > 1e-14 * mu.max()])[::-1]
    candidates = levels[np.unique(np.geomspace(1, len(levels), 60).astype(int)) - 1]
    level = min(candidates, key=rough)
    return _bound(rho, basis, mu, level, rings, lambda factors: basis.weighted_squares(rings, U, factors))


def _bound(rho, basis, mu, level, rings, weighted):
    """Return the bound that keeps the eigenvalues from `level` on; `weighted` sums squares on the rings."""
    kept = mu >= level
    inside, outside = weighted(
        np.stack([np.where(kept, 1 / np.maximum(mu, level), 0), np.where(kept, 0.0, 1)])
    )
    kappa = inside.max()  # q_i = 1 / (kappa mu_i)
    tau = np.sqrt((outside + basis.tail(rings)).max())
    s = (1 - RING_SHARE) * rho - tau
    if s <= 0:
        return np.inf
    count = np.broadcast_to(basis.multiplicity[:, None], mu.shape)[kept]
    eta = 1 / (1 + count.sum())
    hit = _log_volume(count, kappa * mu[kept] / ((1 - eta) * s) ** 2)
    net = _log_volume(count, 4 * kappa * mu[kept] / (eta * s) ** 2)
    return float(hit + np.log1p(net))


def _log_volume(count, a):
    """Return V(a) = min_c sum_i count_i log((1 + c) a_i + 1 + 1/c) / 2, an upper bound at any c."""
    from scipy.optimize import minimize_scalar

    return minimize_scalar(
        lambda log_c: count @ np.log((1 + np.exp(log_c)) * a + 1 + np.exp(-log_c)) / 2,
        bounds=(-40, 5),
        method="bounded",
    ).fun
