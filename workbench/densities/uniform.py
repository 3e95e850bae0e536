"""A uniform density: all points inside are alike, and minimum-volume sets are not unique."""

import numpy as np

from .base import Density
from .checks import checked_points, checked_probability, checked_size

MARGIN = 1 / 8
"""Of each side, left around the box: a tenth of the widened side, so that cells in tens fit the edges."""


class UniformBox(Density):
    """The density f = 1 / vol B on a box B, and 0 outside.

    Parameters
    ----------
    lower, upper : array_like of shape (d,)
        The corners: finite, and lower < upper in every coordinate.

    Raises
    ------
    ValueError
        If the corners are not as stated above.

    Notes
    -----
    f(Z) is the constant 1 / vol B. So p(x) is 1 inside and 0 outside, and c(alpha) = 1 / vol B for every
    alpha, where {f >= c(alpha)} is B itself, of mass 1. Every subset of B of volume
    v(alpha) = (1 - alpha) vol B has mass 1 - alpha, and no smaller set has: each is a minimum-volume set.

    Examples
    --------
    >>> square = UniformBox([-2.0, -2.0], [2.0, 2.0])
    >>> square.p_value([[1.9, 0.0], [2.1, 0.0]]), float(square.level(0.1)), float(square.volume(0.1))
    (array([1., 0.]), 0.0625, 14.4)
    """

    def __init__(self, lower, upper):
        self.lower, self.upper = np.array(lower, dtype=float), np.array(upper, dtype=float)
        self.d = d = self.lower.size
        if d == 0 or not self.lower.shape == self.upper.shape == (d,):
            raise ValueError(
                f"lower and upper must have the same shape (d,), got {self.lower.shape} and "
                f"{self.upper.shape}: give one number a coordinate."
            )
        sides = self.upper - self.lower
        if not (np.isfinite(sides).all() and (sides > 0).all()):
            raise ValueError(
                f"lower must be below upper in every coordinate, and both finite, got {self.lower.tolist()} "
                f"and {self.upper.tolist()}: swap or replace them."
            )
        for corner in (self.lower, self.upper):
            corner.setflags(write=False)  # the closed form would go stale
        self._law = _UniformLaw(float(np.prod(sides)))

    def sample(self, n, random_state=None):
        """Draw n independent points; see `Density.sample`."""
        rng = np.random.default_rng(random_state)
        return rng.uniform(self.lower, self.upper, (checked_size(n), self.d))

    def logpdf(self, X):
        """Return log f at the rows of X, minus infinity outside the box; see `Density.logpdf`."""
        X = checked_points(X, self.d)
        inside = ((self.lower <= X) & (self.upper >= X)).all(axis=1)
        return np.where(inside, -np.log(self._law.total), -np.inf)

    def bounds(self, tail=1e-6):
        """Return the box with a margin, whatever the tail: its edges are to be seen; see `Density.bounds`."""
        checked_probability("tail", tail)
        margin = MARGIN * (self.upper - self.lower)
        return np.stack([self.lower - margin, self.upper + margin])


class _UniformLaw:
    """The law of f(Z), one number."""

    def __init__(self, total):
        self.total = total

    def mass_below(self, log_f):
        return np.where(log_f > -np.inf, 1.0, 0.0)

    def level(self, alpha):
        return np.full_like(alpha, 1 / self.total)[()]

    def volume_above(self, alpha):
        return (1 - alpha) * self.total
