"""The law of the one number f(Z), Z ~ f, as a table."""

import numpy as np

KNOTS = 2**17
"""About as many rows of the table are kept."""


class LevelTable:
    """The law of f(Z), Z ~ f, from cells of known mass, mean log f and half-width of log f.

    In each cell f is taken as uniform between its two ends, which is exact for a Gaussian in the plane, with
    the ends set so that the mean of log f is right. Between consecutive ends, from the top down, let S be the
    sum of mass / (f_top - f_bottom) over the cells that are open there; then

        dP{f(Z) <= f} = S df,        d vol{z : f(z) >= f} = -S dlog f.
    """

    def __init__(self, log_f, spread, mass):
        log_f, spread, mass = (values[mass > 0] for values in (log_f, spread, mass))
        self.log_scale = log_f.max()
        width = np.maximum(spread, 1e-6)
        # The mean of log f, for f uniform on [exp(-w), exp(w)], is w coth w - 1.
        top = log_f - self.log_scale - (width / np.tanh(width) - 1) + spread
        # Where f is constant a sliver below it keeps the ends apart and {f <= that constant} whole.
        bottom = np.minimum(top - 2 * spread, top - 1e-9)
        slope = mass * np.exp(-top) / -np.expm1(bottom - top)

        ends = np.concatenate([top, bottom])
        order = np.argsort(-ends)
        ends = ends[order]
        # S grows as f falls, so that summed from the top the rounding of earlier terms cannot swamp it.
        S = np.maximum(np.cumsum(np.concatenate([slope, -slope])[order])[:-1], 0)
        steps = -np.diff(ends)
        volume = np.cumsum(S * steps)
        below = np.cumsum((S * np.exp(ends[:-1]) * -np.expm1(-steps))[::-1])

        thin = slice(None, None, max(1, ends.size // KNOTS))
        self.log_f = ends[::-1][thin]
        self.f = np.exp(self.log_f)
        self.below = np.concatenate([[0.0], below / below[-1]])[thin]
        self.volume = np.concatenate([[0.0], volume])[::-1][thin]

    def mass_below(self, log_f):
        """Return P{log f(Z) <= log_f}."""
        return np.interp(np.exp(log_f - self.log_scale), self.f, self.below, right=1.0)

    def level(self, alpha):
        """Return the alpha-quantile of f(Z)."""
        return np.interp(alpha, self.below, self.f) * np.exp(self.log_scale)

    def volume_above(self, alpha):
        """Return the volume of {f >= level(alpha)}, but for the mass in excess of 1 - alpha."""
        log_level = np.log(np.interp(alpha, self.below, self.f))
        return np.interp(log_level, self.log_f, self.volume) * np.exp(-self.log_scale)
