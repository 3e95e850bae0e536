"""Nominal densities that know the truth: the true p-value, and the minimum-volume set at every level.

An estimate can be judged only against the truth. For a nominal density ``f`` and ``Z ~ f`` that is

    p(x)      = P{f(Z) <= f(x)}              the p-value that the detectors estimate, small for an anomaly
    c(alpha)  = the alpha-quantile of f(Z)   {f >= c(alpha)} is the smallest set of mass 1 - alpha
    v(alpha)  = the Lebesgue measure of {f >= c(alpha)}

All three follow from the law of the one number ``f(Z)``, since vol{f >= t} = E[1{f(Z) >= t} / f(Z)].
"""

from abc import ABC, abstractmethod
from functools import cached_property
from numbers import Integral

import numpy as np

CELLS = 2**19
"""Cells, or random points, that the truth rests on: p to about 1e-5 in a quarter of a second."""

KNOTS = 2**17
"""About as many rows of the table are kept."""

BATCHES = 32
"""Independent samples that a Monte Carlo standard error rests on."""


class _LevelTable:
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
        return np.interp(np.exp(log_f - self.log_scale), self.f, self.below, right=1.0)

    def level(self, alpha):
        return np.interp(alpha, self.below, self.f) * np.exp(self.log_scale)

    def volume_above(self, alpha):
        log_level = np.log(np.interp(alpha, self.below, self.f))
        return np.interp(log_level, self.log_f, self.volume) * np.exp(-self.log_scale)


class Density(ABC):
    """A probability density that knows its true p-values and minimum-volume sets.

    A subclass sets `d`, the dimension, and supplies `sample`, `logpdf` and `bounds`. The truth is computed
    once, at the first question: for d <= 2 by quadrature over the box of `bounds` (p to about 1e-4, if 700
    cells along each side resolve the density), for d >= 3 by Monte Carlo with a seed of its own (p to 1e-3).
    """

    d: int

    @abstractmethod
    def sample(self, n, random_state=None):
        """Draw n independent points, shape (n, d)."""

    @abstractmethod
    def logpdf(self, X):
        """Return log f at the rows of X, shape (n,); minus infinity where f is 0."""

    @abstractmethod
    def bounds(self, tail=1e-6):
        """Return the lower and upper corner, shape (2, d), of a box with at most `tail` mass outside it."""

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
            In [0, 1]; 0 beyond a tail of mass about 1e-13.
        error : ndarray of shape (n,), only with ``return_error=True``
            For d <= 2 the difference from a rule with a quarter of the cells, a cautious estimate; for d >= 3
            the Monte Carlo standard error.

        Raises
        ------
        ValueError
            If X has not shape (n, d), or holds a value that is not finite.
        """
        log_f = self.logpdf(X)
        return self._answer(lambda table: table.mass_below(log_f), return_error)

    def level(self, alpha, return_error=False):
        """Return c(alpha): {f >= c(alpha)} is the minimum-volume set of mass 1 - alpha.

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
        alpha = _checked_probability("alpha", alpha)
        return self._answer(lambda table: table.level(alpha), return_error)

    def volume(self, alpha, return_error=False):
        """Return the Lebesgue measure of the minimum-volume set {f >= c(alpha)}.

        Parameters and errors are those of `level`; the unit is that of the coordinates to the power d.
        """
        alpha = _checked_probability("alpha", alpha)
        return self._answer(lambda table: table.volume_above(alpha), return_error)

    def _answer(self, read, return_error):
        value = read(self._table)
        if not return_error:
            return value
        departures = [(read(table) - value) ** 2 for table in self._checks]
        return value, np.sqrt(np.mean(departures, axis=0) / len(departures))

    @cached_property
    def _table(self):
        return _LevelTable(*self._cells(CELLS, seed=0))

    @cached_property
    def _checks(self):
        """Cheaper tables, whose root mean square departure over the root of their number is the error."""
        if self.d <= 2:
            return [_LevelTable(*self._cells(CELLS // 4, seed=0))]
        return [_LevelTable(*self._cells(CELLS // BATCHES, seed)) for seed in range(1, BATCHES + 1)]

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
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        log_f = self.logpdf(points.reshape(-1, self.d)).reshape(points.shape[:-1])
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


class GaussianMixture(Density):
    """The mixture f(x) = sum_k w_k N(x; mu_k, Sigma_k).

    Parameters
    ----------
    weights : array_like of shape (K,)
        The w_k: non-negative, with sum 1.
    means : array_like of shape (K, d)
        The mu_k.
    covariances : array_like of shape (K, d, d)
        The Sigma_k (covariances, not standard deviations): symmetric and positive definite.

    Raises
    ------
    ValueError
        If the shapes disagree or a parameter is not as stated above.

    Notes
    -----
    For d <= 2 every component is integrated in polar coordinates of its own, x = mu_k + r L_k u with
    L_k L_k' = Sigma_k and |u| = 1, so that components of any scale and shape are resolved alike: p to about
    1e-5 (1e-4 where a component is a needle, a hundred times thinner than another it sits in).

    Examples
    --------
    >>> disc = GaussianMixture([1.0], [[0.0, 0.0]], [[[1.0, 0.0], [0.0, 1.0]]])
    >>> float(disc.p_value([[3.0, 0.0]])[0].round(6)), float(disc.volume(0.05).round(4))
    (0.011109, 18.8227)
    """

    def __init__(self, weights, means, covariances):
        self.weights = np.array(weights, dtype=float)
        self.means = np.array(means, dtype=float)
        self.covariances = np.array(covariances, dtype=float)
        self._check_parameters()
        self.d = self.means.shape[1]
        try:
            self._factors = np.linalg.cholesky(self.covariances)
        except np.linalg.LinAlgError:
            smallest = np.linalg.eigvalsh(self.covariances).min()
            raise ValueError(
                f"A covariance is not positive definite (smallest eigenvalue {smallest:.3g}): drop redundant "
                "coordinates or add a little to its diagonal."
            ) from None
        self._whiteners = np.linalg.inv(self._factors)
        log_determinants = np.log(np.diagonal(self._factors, axis1=1, axis2=2)).sum(axis=1)
        with np.errstate(divide="ignore"):
            self._log_peaks = np.log(self.weights) - log_determinants - self.d / 2 * np.log(2 * np.pi)
        for parameter in (self.weights, self.means, self.covariances):
            parameter.setflags(write=False)  # the cached truth would go stale

    def _check_parameters(self):
        shapes = self.weights.shape, self.means.shape, self.covariances.shape
        K, d = self.means.shape if self.means.ndim == 2 else (0, 0)
        if K * d == 0 or shapes != ((K,), (K, d), (K, d, d)):
            raise ValueError(
                "weights, means and covariances must have shapes (K,), (K, d) and (K, d, d), got "
                f"{shapes[0]}, {shapes[1]} and {shapes[2]}: give one weight, row and matrix a component."
            )
        for name in ("weights", "means", "covariances"):
            values = getattr(self, name)
            if not np.isfinite(values).all():
                raise ValueError(f"{name} must be finite, got {values[~np.isfinite(values)][0]}: replace it.")
        if self.weights.min() < 0 or abs(self.weights.sum() - 1) > 1e-9:
            raise ValueError(
                f"weights must be non-negative with sum 1, got {self.weights.tolist()} with sum "
                f"{self.weights.sum():.6g}: divide them by their sum."
            )
        for S in self.covariances:
            if not np.allclose(S, S.T, rtol=0, atol=1e-9 * np.abs(S).max()):
                raise ValueError(f"covariances must be symmetric, got {S.tolist()}: use (S + S.T) / 2.")

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
        if not isinstance(n, Integral) or n < 1:
            raise ValueError(f"n must be a whole number, at least 1, got {n!r}: ask for one point or more.")
        rng = np.random.default_rng(random_state)
        component = rng.choice(len(self.weights), size=n, p=self.weights)
        X = rng.standard_normal((n, self.d))
        for k, (mean, factor) in enumerate(zip(self.means, self._factors, strict=True)):
            X[component == k] = mean + X[component == k] @ factor.T
        return X

    def logpdf(self, X):
        """Return log f at the rows of X, without overflow however far away they are.

        Parameters
        ----------
        X : array_like of shape (n, d)
            The points, all finite.

        Returns
        -------
        log_f : ndarray of shape (n,)

        Raises
        ------
        ValueError
            If X has not shape (n, d), or holds a value that is not finite.
        """
        X = _checked_points(X, self.d)
        log_f = np.empty((len(self.weights), len(X)))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for k, (mean, whitener) in enumerate(zip(self.means, self._whiteners, strict=True)):
                z = (X - mean) @ whitener.T
                log_f[k] = self._log_peaks[k] - np.einsum("ij,ij->i", z, z) / 2
            # Beyond 1e150 the squares overflow, and infinities that cancel leave NaN: f is 0 there.
            log_f[np.isnan(log_f)] = -np.inf
            largest = np.maximum(log_f.max(axis=0), -1e300)
            return largest + np.log(np.exp(log_f - largest).sum(axis=0))

    def bounds(self, tail=1e-6):
        """Return the lower and upper corner of a box with at most `tail` mass outside it.

        Each component is cut at z standard deviations in each coordinate, d exp(-z^2 / 2) = tail, since
        P(|N(0, 1)| > z) <= exp(-z^2 / 2).

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
        tail = _checked_probability("tail", tail)
        deviations = np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))
        reach = np.sqrt(2 * np.log(self.d / tail)) * deviations
        return np.stack([(self.means - reach).min(axis=0), (self.means + reach).max(axis=0)])

    def _cells(self, size, seed):
        if self.d > 2:
            return super()._cells(size, seed)
        from scipy.special import gammaincc, gammainccinv  # slow to import, and not needed before now

        K = len(self.weights)
        n_rays = 2 if self.d == 1 else round(np.sqrt(size / K))
        n_shells = size // (K * n_rays)
        angles = 2 * np.pi * np.arange(n_rays) / n_rays
        directions = np.column_stack([np.cos(angles), np.sin(angles)])[:, : self.d]
        # s = r^2 / 2 has the law Gamma(d / 2); shells are equally wide in r, and read at their mean s.
        s = np.linspace(0, np.sqrt(gammainccinv(self.d / 2, 1e-13)), n_shells + 1) ** 2
        shell_mass = -np.diff(gammaincc(self.d / 2, s))
        mean_s = -np.diff(gammaincc(self.d / 2 + 1, s)) * (self.d / 2) / shell_mass
        r = np.sqrt(2 * np.clip(mean_s, s[:-1], s[1:]))

        rays = directions @ self._factors.transpose(0, 2, 1)
        points = self.means[:, None, None, :] + r[:, None] * rays[:, :, None, :]
        log_f = self.logpdf(points.reshape(-1, self.d)).reshape(points.shape[:-1])
        slope = np.gradient(log_f, r**2 / 2, axis=2)
        bend = np.gradient(slope, r**2 / 2, axis=2) * np.diff(s) ** 2
        spread = np.abs(slope) * np.diff(s) / 2
        if self.d == 2:
            before, after = np.roll(log_f, 1, axis=1), np.roll(log_f, -1, axis=1)
            bend += before - 2 * log_f + after
            spread = np.hypot(spread, (after - before) / 4)
        mass = self.weights[:, None, None] * np.broadcast_to(shell_mass / n_rays, log_f.shape)
        return log_f + bend / 24, spread, mass  # log f at the middle, and its mean over the cell


def _checked_points(X, d):
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] != d:
        raise ValueError(f"X must have shape (n, {d}), got {X.shape}: one row a point, one column a feature.")
    if not np.isfinite(X).all():
        raise ValueError(f"X must be finite, got {X[~np.isfinite(X)][0]}: drop or impute such rows.")
    return X


def _checked_probability(name, value):
    value = np.asarray(value, dtype=float)
    if not ((value > 0) & (value < 1)).all():
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value}: 0.05, for instance.")
    return value


FIG1 = GaussianMixture([0.5, 0.5], [[4, 1], [4, -1]], [np.eye(2) / 2] * 2)
"""Figure 1 of the paper: two equal components that overlap."""

FIG2 = GaussianMixture([0.2, 0.8], [[5, 0], [-5, 0]], [np.diag([1, 9]), np.diag([9, 1])])
"""Figure 2 and Table 1 of the paper: two elongated components, at right angles."""
