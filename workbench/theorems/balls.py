"""The mass of a ball, P(B(x, r)): by it the law of every k-NN distance is known exactly."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import gammaln

NODES = 16
DIRECTIONS = 32
RADII = 32


def unit_ball(d):
    """Return c_d, the volume of the unit ball in d dimensions."""
    return float(np.exp(d / 2 * np.log(np.pi) - gammaln(d / 2 + 1)))


class BallMass:
    """The mass of balls about one point, and their radii by mass.

    ``P(B(x, r)) = d c_d int_0^r s^(d-1) mean_u f(x + s u) ds``, u over the unit sphere. The mean is over plus
    and minus the axes of random orthonormal frames, which is exact for terms of third order in s: the first
    departure from ``c_d f(x) r^d``, ``r^2 Lap f(x) / (2 (d+2) f(x))`` of it, has no sampling error.

    Parameters
    ----------
    density : Density
        Twice differentiable about x.
    x : array of shape (d,)
        With f(x) > 0.
    largest : float
        Largest mass that radii will be asked for, in (0, 1).
    random_state : int or numpy.random.Generator
        Draws the frames.

    Attributes
    ----------
    f : float
        Density at x.
    """

    def __init__(self, density, x, largest, random_state=0):
        rng = np.random.default_rng(random_state)
        self._density, self._x, self.d = density, np.asarray(x, dtype=float), density.d
        frames = rng.standard_normal((-(-DIRECTIONS // (2 * self.d)), self.d, self.d))
        axes = np.linalg.qr(frames)[0].reshape(-1, self.d)
        self._directions = np.concatenate([axes, -axes])
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        self._t = (nodes + 1) / 2
        self._weights = weights / 2 * self._t ** (self.d - 1) * self.d
        self.f = float(density.pdf(self._x[None])[0])
        reach = float(self.radius_of_flat(largest))
        while self.mass(np.array([reach]))[0] < largest:
            reach *= 1.25
        r = reach * np.arange(1, RADII + 1) / RADII
        rho = self.radius_of_flat(self.mass(r))
        # r is an odd function of rho, so that r / rho starts off flat.
        self._ratio = CubicSpline(np.append(0, rho), np.append(1, r / rho), bc_type=((1, 0.0), "not-a-knot"))

    def radius_of_flat(self, mass):
        """Return ``(mass / (c_d f(x)))^(1/d)``: the radius were f constant about x, and A(x) at mass l/m."""
        return (mass / (unit_ball(self.d) * self.f)) ** (1 / self.d)

    def mass(self, r):
        """Return P(B(x, r)) for each radius, by quadrature; shape (q,)."""
        steps = np.asarray(r, dtype=float)[:, None] * self._t
        points = self._x + steps[..., None, None] * self._directions
        f = self._density.pdf(points.reshape(-1, self.d)).reshape(points.shape[:-1]).mean(axis=-1)
        return unit_ball(self.d) * np.asarray(r) ** self.d * (f @ self._weights)

    def ratio(self, mass):
        """Return the radius of the ball of this mass over that of a constant density's; 1 at mass 0."""
        return self._ratio(self.radius_of_flat(mass))
