"""A ring in the plane: minimum-volume sets are annuli, with a hole that a detector has to find."""

from functools import cached_property

import numpy as np

from .base import Density
from .checks import checked_points, checked_positive, checked_probability, checked_size

HALVINGS = 64
"""Steps of bisection, from some forty widths to the last digit."""


class Ring(Density):
    """The density f(x) = exp(-(|x| - R)^2 / (2 s^2)) / N in the plane, a ridge along the circle |x| = R.

    Parameters
    ----------
    radius : float
        R, positive.
    width : float
        s, positive: the standard deviation across the ridge.

    Raises
    ------
    ValueError
        If a parameter is not positive and finite.

    Notes
    -----
    {f >= c} is the annulus ||x| - R| <= t, a disc once t >= R. Let phi and Q be the density and the upper
    tail of N(0, 1), and h(t) = s phi(t / s) + R Q(t / s) the integral of (R + u) phi(u / s) / s over u > t.
    The mass beyond half-width t is

        p = h(t) / h(-R)                                   for t >= R,
        p = (2 R Q(t / s) - R Q(R / s) + s phi(R / s)) / h(-R)   for t < R,

    and N = (2 pi)^(3/2) s h(-R).

    Examples
    --------
    >>> ring = Ring(radius=3.0, width=0.5)
    >>> ring.p_value([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]]).round(4)
    array([1.    , 0.0455, 0.    ])
    """

    d = 2

    def __init__(self, radius, width):
        self.radius, self.width = checked_positive("radius", radius), checked_positive("width", width)

    @cached_property
    def _law(self):
        return _RingLaw(self.radius, self.width)

    def sample(self, n, random_state=None):
        """Draw n independent points: p-values uniform on (0, 1), then the side of the ridge and the angle."""
        rng = np.random.default_rng(random_state)
        p, side, turn = rng.random((3, checked_size(n)))
        t = self._law.half_width(1 - p)
        # Circles at R + t and R - t are equally dense, and have mass in proportion to their lengths.
        outside = 2 * self.radius * side < self.radius + t
        r = np.where(outside, self.radius + t, self.radius - t)
        return r[:, None] * np.column_stack([np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)])

    def logpdf(self, X):
        """Return log f at the rows of X, without overflow however far away; see `Density.logpdf`."""
        X = checked_points(X, self.d)
        with np.errstate(over="ignore"):
            return self._law.log_peak - ((np.hypot(*X.T) - self.radius) / self.width) ** 2 / 2

    def bounds(self, tail=1e-6):
        """Return a square around all but at most `tail` of the mass; see `Density.bounds`."""
        reach = self.radius + self._law.half_width(checked_probability("tail", tail))
        return np.array([[-reach, -reach], [reach, reach]])


class _RingLaw:
    """The law of f(Z), by the half-width t of {f >= c}."""

    def __init__(self, radius, width):
        self.radius, self.width = radius, width
        self._total = self._beyond(-radius)
        self.log_peak = -1.5 * np.log(2 * np.pi) - np.log(width * self._total)

    def mass_below(self, log_f):
        return self._mass_beyond(self.width * np.sqrt(2 * np.maximum(self.log_peak - log_f, 0)))

    def level(self, alpha):
        return np.exp(self.log_peak - (self.half_width(alpha) / self.width) ** 2 / 2)

    def volume_above(self, alpha):
        t = self.half_width(alpha)
        return np.pi * ((self.radius + t) ** 2 - np.maximum(self.radius - t, 0) ** 2)

    def half_width(self, p):
        low, high = np.zeros_like(p), np.full_like(p, self.radius + 40 * self.width)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            heavier = self._mass_beyond(middle) > p
            low, high = np.where(heavier, middle, low), np.where(heavier, high, middle)
        return (low + high) / 2

    def _mass_beyond(self, t):
        from scipy.special import ndtr  # slow to import, and not needed before now

        R, s = self.radius, self.width
        around = 2 * R * ndtr(-t / s) - R * ndtr(-R / s) + s * _phi(R / s)
        return np.where(t < R, around, self._beyond(t)) / self._total

    def _beyond(self, t):
        from scipy.special import ndtr

        return self.width * _phi(t / self.width) + self.radius * ndtr(-t / self.width)


def _phi(z):
    with np.errstate(over="ignore"):
        return np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
