"""What every density can do, and the truth where no closed form is known."""

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from .checks import checked_probability
from .levels import LevelTable

CELLS = 2**19
"""Cells, or random points, that the truth rests on: p to about 1e-5 in a quarter of a second."""

BATCHES = 32
"""Independent samples that a Monte Carlo standard error rests on."""


class Density(ABC):
    """A probability density that knows its true p-values and minimum-volume sets.

    A subclass sets `d`, the dimension, and supplies `sample`, `logpdf` and `bounds`. The truth is computed
    once, at the first question: for d <= 2 by quadrature over the box of `bounds` (p to about 1e-4, if 700
    cells along each side resolve the density, but on the crest of a ridge only to the mass of a row of cells
    along it), for d >= 3 by Monte Carlo with a seed of its own (p to 1e-3). A subclass that knows the law of
    f(Z) in closed form overrides `_law`, and the errors are 0.

    Attributes
    ----------
    d : int
        Dimension.
    negligible : float
        Mass that a grid may leave out. A heavy tail has more of it than others: a box that held all but 1e-6
        would be so wide that its cells missed the middle.
    """

    d: int
    negligible = 1e-6

    @abstractmethod
    def sample(self, n, random_state=None):
        """Draw n independent points.

        Parameters
        ----------
        n : int
            How many, at least 1.
        random_state : None, int or numpy.random.Generator
            The same seed gives the same points.

        Returns
        -------
        X : ndarray of shape (n, d)

        Raises
        ------
        ValueError
            If n is not a whole number, at least 1.
        """

    @abstractmethod
    def logpdf(self, X):
        """Return log f at the rows of X, without overflow however far away they are.

        Parameters
        ----------
        X : array_like of shape (n, d)
            The points, all finite.

        Returns
        -------
        log_f : ndarray of shape (n,)
            Minus infinity where f is 0.

        Raises
        ------
        ValueError
            If X has not shape (n, d), or holds a value that is not finite.
        """

    @abstractmethod
    def bounds(self, tail=1e-6):
        """Return the lower and upper corner of a box with at most `tail` mass outside it.

        Parameters
        ----------
        tail : float
            Probability, strictly between 0 and 1.

        Returns
        -------
        corners : ndarray of shape (2, d)

        Raises
        ------
        ValueError
            If tail is not strictly between 0 and 1.
        """

    def pdf(self, X):
        """Return f at the rows of X, shape (n,)."""
        return np.exp(self.logpdf(X))

    def p_value(self, X, return_error=False):
        """Return the true p-value p(x) = P{f(Z) <= f(x)}, Z ~ f: small for an anomaly.

        Parameters
        ----------
        X : array_like of shape (n, d)
            The points, all finite.
        return_error : bool
            Whether to return the error as well.

        Returns
        -------
        p : ndarray of shape (n,)
            In [0, 1]; without a closed form, 0 beyond a tail of mass about 1e-13.
        error : ndarray of shape (n,), only with ``return_error=True``
            0 for a closed form. Otherwise, for d <= 2 the difference from a rule with a quarter of the cells,
            a cautious estimate; for d >= 3 the Monte Carlo standard error.

        Raises
        ------
        ValueError
            If X has not shape (n, d), or holds a value that is not finite.
        """
        log_f = self.logpdf(X)
        return self._answer(lambda law: law.mass_below(log_f), return_error)

    def level(self, alpha, return_error=False):
        """Return c(alpha), the alpha-quantile of f(Z): {f >= c(alpha)} has mass 1 - alpha and least volume.

        Where {f = c(alpha)} has mass of its own, {f >= c(alpha)} may have more than 1 - alpha; see `volume`.

        Parameters
        ----------
        alpha : float or array_like
            False-alarm level, strictly between 0 and 1.
        return_error : bool
            Whether to return the error as well, as for `p_value`.

        Returns
        -------
        level : float or ndarray
            A value of the density f, in units of 1 / volume.
        error : float or ndarray, only with ``return_error=True``

        Raises
        ------
        ValueError
            If alpha is not strictly between 0 and 1.
        """
        alpha = checked_probability("alpha", alpha)
        return self._answer(lambda law: law.level(alpha), return_error)

    def volume(self, alpha, return_error=False):
        """Return v(alpha), the least Lebesgue measure of a set of mass 1 - alpha.

        {f >= c(alpha)} attains it. Where that set has more mass, {f > c(alpha)} with a part of {f = c(alpha)}
        does, and any part of the right mass serves: the minimum-volume set is not unique.

        Parameters and errors are those of `level`; the unit is that of the coordinates to the power d.
        """
        alpha = checked_probability("alpha", alpha)
        return self._answer(lambda law: law.volume_above(alpha), return_error)

    def _answer(self, read, return_error):
        value = read(self._law)
        if not return_error:
            return value
        if not isinstance(self._law, LevelTable):
            return value, np.zeros_like(value)
        departures = [(read(table) - value) ** 2 for table in self._checks]
        return value, np.sqrt(np.mean(departures, axis=0) / len(departures))

    @cached_property
    def _law(self):
        """What answers `mass_below(log_f)`, `level(alpha)` and `volume_above(alpha)`."""
        return LevelTable(*self._cells(CELLS, seed=0))

    @cached_property
    def _checks(self):
        """Cheaper tables, whose root mean square departure over the root of their number is the error."""
        if self.d <= 2:
            return [LevelTable(*self._cells(CELLS // 4, seed=0))]
        return [LevelTable(*self._cells(CELLS // BATCHES, seed)) for seed in range(1, BATCHES + 1)]

    def _cells(self, size, seed):
        """Return mean log f, half-width of log f, and mass of about `size` cells: a box, or random points."""
        if self.d > 2:
            # A seed of its own: a user's sample(n, 0) must not be the sample that the truth rests on.
            log_f = self.logpdf(self.sample(size, np.random.default_rng([2015, seed])))
            return log_f, np.zeros(size), np.full(size, 1 / size)
        n = round(size ** (1 / self.d))
        lower, upper = self.bounds(tail=1e-7)
        steps = (upper - lower) / n
        axes = [low + step * (np.arange(n) + 0.5) for low, step in zip(lower, steps, strict=True)]
        log_f = self._logpdf_on_grid(axes)
        with np.errstate(invalid="ignore"):
            slopes = [np.gradient(log_f, axis=axis) for axis in range(self.d)]
            bends = [np.gradient(slope, axis=axis) for axis, slope in enumerate(slopes)]
        # Where f falls to 0 at the edge of its support, the cell inside is taken as flat.
        slopes, bends = (np.nan_to_num(each, nan=0, posinf=0, neginf=0) for each in (slopes, bends))
        steepness, bend = np.sum(slopes**2, axis=0), np.sum(bends, axis=0)
        # Taylor's formula: the mass of the cell, and the mean of log f over that mass.
        mass = np.exp(log_f) * np.prod(steps) * (1 + (steepness + bend) / 24)
        if not abs(mass.sum() - 1) < 1e-3:
            raise ValueError(
                f"The box of bounds(tail=1e-7) holds mass {mass.sum():.6g} instead of 1: widen the bounds, "
                "or normalise logpdf, or override _cells for a density too fine for a regular grid."
            )
        return log_f + steepness / 12 + bend / 24, np.sqrt(steepness) / 2, mass

    def _logpdf_on_grid(self, axes):
        """Return log f on the grid of these axes, one dimension an axis."""
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        return self.logpdf(points.reshape(-1, self.d)).reshape(points.shape[:-1])
