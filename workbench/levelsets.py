"""Level sets in the plane: grids, level curves, and how far an estimated set is from the true one."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from contourpy import FillType, LineType, contour_generator

from .densities import Density

PLATEAU = 1e-8
"""Cells whose log f is so close to that of the level are taken to lie on a plateau of the density."""


@dataclass(frozen=True, eq=False)
class Grid:
    """A regular grid in the plane, each point the centre of a cell.

    Values on it are arrays of shape (ny, nx): the row is y, the column x.

    Parameters
    ----------
    x : array_like of shape (nx,)
        Ascending and equally spaced, at least two.
    y : array_like of shape (ny,)
        The same.

    Raises
    ------
    ValueError
        If an axis is not as stated above.
    """

    x: np.ndarray
    y: np.ndarray

    def __post_init__(self):
        for name in ("x", "y"):
            axis = np.array(getattr(self, name), dtype=float)
            steps = np.diff(axis) if axis.ndim == 1 and axis.size > 1 else np.array([np.nan])
            if not (np.isfinite(axis).all() and steps.min() > 0 and np.ptp(steps) < 1e-3 * steps.mean()):
                raise ValueError(
                    f"{name} must be an ascending, equally spaced axis of two or more finite numbers, got "
                    f"{axis}: use numpy.linspace, or Grid.covering."
                )
            object.__setattr__(self, name, axis)

    @classmethod
    def covering(cls, target, n=200):
        """Return a grid of n by n cells over a density or a sample.

        Parameters
        ----------
        target : Density with d = 2, or array_like of shape (N, 2)
            A density is covered but for its negligible mass, 1e-6 unless the tail is heavy; a sample, with a
            margin of a tenth of its extent on every side.
        n : int
            Cells along each side, at least 2.

        Returns
        -------
        Grid

        Raises
        ------
        ValueError
            If the density is not in the plane, or the sample has not shape (N, 2), is not finite or does not
            extend in both directions; if n < 2.
        """
        if isinstance(target, Density):
            _check_planar(target)
            lower, upper = target.bounds(tail=target.negligible)
        else:
            X = np.asarray(target, dtype=float)
            if X.ndim != 2 or X.shape[1] != 2 or len(X) == 0 or not np.isfinite(X).all():
                bad = np.count_nonzero(~np.isfinite(X))
                raise ValueError(
                    f"A grid covers finite points of shape (N, 2), got shape {X.shape} with {bad} values not "
                    "finite: choose two columns and drop such rows."
                )
            lower, upper = X.min(axis=0), X.max(axis=0)
            if (lower == upper).any():
                raise ValueError(
                    f"A grid needs points that differ in both columns, got extents {upper - lower}: choose "
                    "columns that are not constant."
                )
            lower, upper = lower - 0.1 * (upper - lower), upper + 0.1 * (upper - lower)
        if n < 2:
            raise ValueError(f"n must be at least 2 cells a side, got {n}: 200 serve well.")
        fractions = (np.arange(n) + 0.5) / n
        return cls(*(lower + np.outer(fractions, upper - lower)).T)

    @property
    def shape(self):
        """(ny, nx), the shape of values on the grid."""
        return self.y.size, self.x.size

    @property
    def points(self):
        """The cell centres, shape (ny * nx, 2), x running fastest."""
        return np.stack(np.meshgrid(self.x, self.y), axis=-1).reshape(-1, 2)

    @property
    def cell_area(self):
        """Area of one cell, in the product of the two units."""
        return float((self.x[1] - self.x[0]) * (self.y[1] - self.y[0]))

    def evaluate(self, function):
        """Return function(points), of shape (N,), as an array of shape (ny, nx).

        Raises
        ------
        ValueError
            If the function does not return one value a point.
        """
        values = np.asarray(function(self.points))
        if values.shape != (self.x.size * self.y.size,):
            raise ValueError(
                f"The function must return one value for each of {self.x.size * self.y.size} points, got "
                f"shape {values.shape}: it is called once, with all points as rows."
            )
        return values.reshape(self.shape)


def contour_lines(grid, values, level):
    """Return the curves {values = level}, interpolated linearly between the grid's points.

    Parameters
    ----------
    grid : Grid
    values : array_like of shape (ny, nx)
        Finite.
    level : float

    Returns
    -------
    lines : list of ndarray of shape (k, 2)
        A closed curve ends where it begins; the list is empty where the level is never crossed.

    Raises
    ------
    ValueError
        If the values have another shape or are not finite, or the level is NaN.
    """
    return _contours(grid, values, level).lines(level)


def filled_region(grid, values, level):
    """Return the boundary of {values >= level} within the grid, to be filled.

    Parameters and errors are those of `contour_lines`.

    Returns
    -------
    rings : list of ndarray of shape (k, 2)
        Closed: the outer ones counter-clockwise, holes clockwise; the list is empty where the region is.
    """
    lower = min(level, np.finfo(float).max)  # an empty region, too, needs a lower level below the upper one
    points, offsets = _contours(grid, values, level).filled(lower, np.inf)
    return [ring for p, o in zip(points, offsets, strict=True) for ring in np.split(p, o[1:-1].astype(int))]


@dataclass(frozen=True)
class SetDistance:
    """How far an estimated nominal region E is from the true minimum-volume set T of mass 1 - alpha.

    Where f is constant at the level of T, as under a uniform density, T is not unique: any part of that
    plateau with the mass still wanting serves. T is then the minimum-volume set nearest to E.

    Attributes
    ----------
    symmetric_difference_volume : float
        Lebesgue measure of the points that are in one of E and T only.
    symmetric_difference_mass : float
        Their probability under the density.
    volume_ratio : float
        vol E / vol T.
    false_alarm_rate : float
        The probability outside E; alpha, if E = T.
    clipped : bool
        Whether E or {f >= c(alpha)} reaches the border of the grid, so that the volumes are but those within.
    """

    symmetric_difference_volume: float
    symmetric_difference_mass: float
    volume_ratio: float
    false_alarm_rate: float
    clipped: bool


class TrueSets:
    """The true minimum-volume sets of a density on a grid, worked out once for many comparisons.

    Parameters
    ----------
    density : Density with d = 2
    grid : Grid, optional
        By default ``Grid.covering(density)``.

    Attributes
    ----------
    density : Density
    grid : Grid
    log_f : array of shape (ny, nx)
        log f at the cells' centres.
    mass : array of shape (ny, nx)
        Probability of each cell.

    Raises
    ------
    ValueError
        If the density is not in the plane, or the grid's cells miss or misjudge more than a twentieth of
        the mass.
    """

    def __init__(self, density, grid=None):
        _check_planar(density)
        self.density = density
        self.grid = Grid.covering(density) if grid is None else grid
        self.log_f = self.grid.evaluate(density.logpdf)
        self.mass = np.exp(self.log_f) * self.grid.cell_area
        if not abs(self.mass.sum() - 1) < 0.05:
            raise ValueError(
                f"The cells of the grid carry mass {self.mass.sum():.3g} instead of 1: use a grid that is "
                "wider, or finer than the density's details, as Grid.covering(density, n) for a large n."
            )

        self._known = lru_cache(maxsize=64)(self._work_out)

    def boundary(self, alpha):
        """Boundary of the minimum-volume set of mass 1 - alpha: a list of arrays of shape (k, 2)."""
        self._known(float(alpha))  # refuses what is no level
        return contour_lines(self.grid, self._p, alpha)

    @cached_property
    def _p(self):
        return self.grid.evaluate(self.density.p_value)

    def false_alarm_rate(self, values, thresholds):
        """Probability of {values < threshold}, for each of many thresholds.

        Parameters
        ----------
        values : array of shape (ny, nx)
            Scores on the grid; cells count as a whole.
        thresholds : array of shape (q,)

        Returns
        -------
        array of shape (q,)

        Raises
        ------
        ValueError
            If the values have another shape or are not finite, or a threshold is NaN.
        """
        values, thresholds = _checked_field(self.grid, values), np.asarray(thresholds, dtype=float)
        if np.isnan(thresholds).any():
            raise ValueError("thresholds must be numbers, got nan: no rate belongs to it.")
        order = np.argsort(values, axis=None)
        below = np.concatenate([[0.0], np.cumsum(self.mass.ravel()[order])])
        return below[np.searchsorted(values.ravel()[order], thresholds)] / below[-1]

    def distance(self, alpha, accepted):
        """Compare an estimated nominal region with the true set: see :func:`set_distance`."""
        grid, mass = self.grid, self.mass
        accepted = grid.evaluate(accepted) if callable(accepted) else np.asarray(accepted)
        boolean = accepted.dtype == bool
        accepted = _checked_field(grid, accepted)
        level, volume, share = self._known(float(alpha))
        truth = self.log_f - level
        # Like against like, so that a boolean region does not differ from its own smoothed boundary.
        E, T = (accepted, truth >= 0) if boolean else (_coverage(accepted), share)
        differing = np.abs(E - T)
        plateau = np.abs(truth) < PLATEAU
        if plateau.any():
            # A T that contains E there, or is contained in E, differs from it by the excess alone.
            wanting = 1 - alpha - mass[(truth > 0) & ~plateau].sum()
            part = np.clip(wanting / mass[plateau].sum(), 0, 1)
            differing[plateau] = abs(E[plateau].mean() - part)
        return SetDistance(
            symmetric_difference_volume=float(differing.sum() * grid.cell_area),
            symmetric_difference_mass=float((differing * mass).sum()),
            volume_ratio=float(E.sum() * grid.cell_area / volume),
            false_alarm_rate=float(max(0.0, 1 - (E * mass).sum())),
            clipped=_reaches_border(E + T > 0),
        )

    def _work_out(self, alpha):
        """Return the logarithm of the level, the volume, and the share of each cell in the true set."""
        level = np.log(self.density.level(alpha))
        return level, self.density.volume(alpha), _coverage(self.log_f - level)


def set_distance(density, alpha, accepted, grid=None):
    """Compare an estimated nominal region with the true minimum-volume set, cell by cell.

    Parameters
    ----------
    density : Density with d = 2
    alpha : float
        False-alarm level of the true set, strictly between 0 and 1.
    accepted : callable, or array of shape (ny, nx)
        The region: an array on the grid, or a function of points (N, 2) that returns one of shape (N,).
        Real: nominal where positive, as ``scores - threshold``; the cells along the boundary count in part,
        and masses are good to some 1e-4 on the default grid, 1e-3 under a heavy tail. Boolean: nominal where
        True; cells count as a whole, and masses are good to some 1e-3.
    grid : Grid, optional
        By default ``Grid.covering(density)``. Nothing beyond it counts as accepted: where a detector accepts
        the far field, the volume is that within the grid, and the result says that it is ``clipped``.

    Returns
    -------
    SetDistance

    Raises
    ------
    ValueError
        If the density is not in the plane, alpha is not in (0, 1), the region is not finite or has another
        shape than the grid, or the grid's cells miss or misjudge more than a twentieth of the mass.
    """
    return TrueSets(density, grid).distance(alpha, accepted)


def _coverage(values):
    """Return the share of each cell in which a field is positive.

    Within a cell the field is taken as linear, its values uniform on an interval of the right variance.
    """
    with np.errstate(invalid="ignore"):
        slope = np.hypot(*np.gradient(values))
    # Plateaus, and cells at the edge of a density's support, where its logarithm jumps, count as a whole.
    sloping = (slope > 0) & np.isfinite(slope)
    share = np.clip(0.5 + values / np.where(sloping, slope, 1), 0, 1)
    return np.where(sloping, share, values > 0)


def _check_planar(density):
    if density.d != 2:
        raise ValueError(f"Grids cover the plane, got a density with d = {density.d}: d must be 2.")


def _checked_field(grid, values):
    values = np.asarray(values, dtype=float)
    if values.shape != grid.shape:
        raise ValueError(
            f"values must have the grid's shape {grid.shape}, got {values.shape}: rows are y, columns x."
        )
    if not np.isfinite(values).all():
        raise ValueError(
            f"values must be finite, got {values[~np.isfinite(values)][0]}: clip or replace them."
        )
    return values


def _contours(grid, values, level):
    values = _checked_field(grid, values)
    if np.isnan(level):
        raise ValueError("level must be a number, got nan: no curve can be drawn there.")
    return contour_generator(
        grid.x, grid.y, values, line_type=LineType.Separate, fill_type=FillType.OuterOffset
    )


def _reaches_border(region):
    return bool(region[[0, -1]].any() or region[:, [0, -1]].any())
