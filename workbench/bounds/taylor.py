"""Taylor features: covers from the power series of the kernel, over the whole ball or cell by cell."""

from __future__ import annotations

import numpy as np

from .harmonics import poisson_tail


def taylor(rho, d, radius):
    """Cover by the Taylor features of degree below T, minimised over T.

    ``log N <= D log(1 + 1/((1-eta) s)) + log(1 + D log(1 + 2/(eta s)))`` with D = C(T - 1 + d, d), s = rho -
    tau, tau^2 = P{Poisson(2 radius^2 / sigma^2) >= T} and eta = 1 / (D + 1).

    The features exp(-|x|^2 / sigma^2) ((2 / sigma^2)^|v| / v!)^(1/2) x^v are orthonormal in H. By
    Cauchy-Schwarz the part of f of degree T and above is at most tau in the ball, and a change of the D
    coefficients by a vector of length s changes f by at most s. It remains to cover the Euclidean unit ball
    of dimension D by balls of radius s: centres uniform in the ball of radius 1 + (1 - eta) s hit each point
    of a net, eta s fine with at most (1 + 2/(eta s))^D points, with probability ((1-eta) s / (1 + (1-eta)
    s))^D; then as in `gaussian`.
    """
    from scipy.special import gammaln

    # The first T with tau < rho lies within a few deviations of the mean; a longer search gains nothing.
    mean = 2 * radius**2
    spread = 10 * np.sqrt(mean) + 20 * np.log1p(1 / rho) + 60
    T = np.unique(np.round(np.linspace(max(1.0, mean - spread), mean + spread, 2000)))
    tau = np.sqrt(poisson_tail(T, radius))
    T, s = T[tau < rho], (rho - tau)[tau < rho]
    with np.errstate(over="ignore", divide="ignore"):
        D = np.exp(gammaln(T + d) - gammaln(T) - gammaln(d + 1)) * (1 + 1e-9)
        eta = 1 / (D + 1)
        return float(np.min(_ball_by_balls(D, s, eta), initial=np.inf))


def _ball_by_balls(D, s, eta):
    return D * np.log1p(1 / ((1 - eta) * s)) + np.log1p(D * np.log1p(2 / (eta * s)))


def cells(rho, d, radius):
    """Cover on cubes one by one: ``log N <= #cells * log N_cell``, minimised over the side of the cubes.

    A cube of half-side h lies in a ball of radius h sqrt(d), where `taylor` applies, as k is invariant under
    translations; one centre for each cube, chosen independently, makes a centre on the ball. (The idea of
    Steinwart and Fischer 2021, with explicit constants.)
    """
    sides = radius / np.sqrt(d) / np.geomspace(1.01, max(2.0, 8 * radius), 40)
    with np.errstate(over="ignore"):
        by_side = [n_cells(h, d, radius) * taylor(rho, d, h * np.sqrt(d)) for h in sides]
    return min(taylor(rho, d, radius), *by_side)


def n_cells(h, d, radius):
    """Return the number of cubes of half-side h over a ball: best of two lattices and the bounding cube."""
    s = radius / h
    log_count = d * np.log(np.ceil(s))
    count = np.exp(log_count) if log_count < 700 else np.inf
    if s < 64 and d <= 200:
        # How far from the centre a layer of cubes begins, in units of h: origin at a corner, or in a cube.
        corner = {2 * k: 2 for k in range(int(s / 2) + 1)}
        middle = {0: 1} | {2 * k - 1: 2 for k in range(1, int((s + 1) / 2) + 1)}
        count = min(count, _lattice(corner, d, s), _lattice(middle, d, s))
    return count


def _lattice(layers, d, s):
    """Count the cubes whose squared distances, added over the d axes, are at most s^2."""
    size = int(np.floor(s**2 * (1 + 1e-12))) + 1
    counts = np.eye(1, size)[0]
    for _ in range(d):
        shifted = np.zeros(size)
        for distance, number in layers.items():
            if distance**2 < size:
                shifted[distance**2 :] += number * counts[: size - distance**2]
        counts = shifted
    return counts.sum()
