"""From a ball to finitely many points: functions that agree on a mesh agree everywhere.

Lengths are in units of sigma. Let |f| <= 1 in H. Along a straight line f'' = <f, D^2 k>, so that ``|f''| <=
|D^2 k| = sqrt(12)``: the fourth derivative of exp(-t^2) at 0 is 12. Along a circle of radius r, by angle,
``f'' = r^2 f_tt - r f_n``, at most ``hypot(sqrt(12) r^2, sqrt(2) r)``, as <D_tt k, D_n k> = 0 and |D_n k|^2 =
2. Linear interpolation over a step h has error at most h^2 / 8 times such a bound.

Take spheres of radii r_0 = 0 < ... < r_J = radius. On a sphere take circles of latitude, on each of them (a
sphere of one dimension less) circles of latitude again, down to a circle with nodes at equal angles, or to
two points. All nodes lie in the ball. Interpolation first along the ray, then along one angle after another
gives f(x) = sum_i beta_i(x) f(x_i) + error, beta >= 0 with sum 1, and the d errors add up to at most `error`.

So if values v_i are within s of f(x_i) at all nodes, the function ``sum_i beta_i(x) v_i`` is within s + error
of f in the whole ball, and covering the vectors (f(x_i)) by cubes of half-side s covers the unit ball of H in
sup norm with radius s + error.
"""

from __future__ import annotations

import numpy as np

GRID = 200
"""Radii at which the number of nodes on a sphere is tabulated; between them it is rounded up."""


def ring_radii(step_error, radius):
    """Return equally spaced radii from 0 to `radius`; linear interpolation errs by at most `step_error`."""
    steps = np.ceil(radius * np.sqrt(np.sqrt(12) / (8 * step_error)))
    return np.linspace(0, radius, int(max(1, steps)) + 1)


def n_rings(step_error, radius):
    """Return the number of radii `ring_radii` would give, without making them."""
    return 2 + radius * np.sqrt(np.sqrt(12) / (8 * step_error))


def log_mesh_size(error, d, radius):
    """Return an upper bound on the log of the number of nodes; cheap for any error, radius and d."""
    return float(np.log(n_rings(error / d, radius)) + log_nodes(d, np.array([radius]), error / d, radius)[0])


def log_nodes(d, r, step_error, radius):
    """Return the log of the number of nodes on spheres of radius r <= radius in dimension d, shape of r.

    From d = 3 on a sphere has the angles of the next larger one in a table, up to d = 12 with the circles of
    latitude added up, beyond with each taken as large as the equator: more nodes than needed, never fewer.
    """
    if d == 1:
        return np.where(r > 0, np.log(2.0), 0.0)
    if d == 2:
        return np.where(r > 0, np.log(np.ceil(2 * np.pi / _angle(r, step_error))), 0.0)
    grid = np.linspace(0, radius, GRID + 1)
    table = log_nodes(2, grid, step_error, radius)
    for _ in range(3, min(d, 12) + 1):
        table = np.array([_stacked(each, table, step_error, radius) for each in grid])
    circles = np.log(np.ceil(np.pi / _angle(grid, step_error)) + 1)
    table = table + max(d - 12, 0) * circles
    return np.where(r > 0, table[_round_up(r, radius)], 0.0)


def _angle(r, step_error):
    """Return the largest step in angle on a circle of radius r; at most pi, which is never too fine."""
    with np.errstate(divide="ignore"):
        return np.minimum(np.sqrt(8 * step_error / np.hypot(np.sqrt(12) * r**2, np.sqrt(2) * r)), np.pi)


def _stacked(r, table, step_error, radius):
    """Add up the nodes on circles of latitude, each with the angles of a circle that is not smaller."""
    from scipy.special import logsumexp

    if r == 0:
        return 0.0
    steps = int(np.ceil(np.pi / _angle(r, step_error)))
    bands = min(steps, 4 * GRID)  # neighbours are counted together, all as the largest of their band
    edges = np.linspace(0, np.pi, bands + 1)
    nearest = np.clip(np.pi / 2, edges[:-1], edges[1:]) if bands < steps else edges[1:-1]
    in_band = steps // bands + 1 if bands < steps else 1
    largest = table[_round_up(r * np.sin(nearest), radius)]
    return logsumexp(np.append(largest + np.log(in_band), np.log(2.0)))


def _round_up(r, radius):
    return np.minimum(np.ceil(np.maximum(r, 0) / radius * GRID), GRID).astype(int)
