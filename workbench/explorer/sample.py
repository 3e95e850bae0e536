"""From settings to a sample, and what is known about where it came from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from .. import datasets
from ..densities import DENSITIES
from ..levelsets import Grid, TrueSets
from .settings import DRAWN

GRID = 160
"""Cells along each side of the plane."""

FRESH = 1000
"""Nominal points to check with that no detector has seen."""

BOARD = np.array([[0.0, 0.0], [10.0, 10.0]])
"""Corners of the plane that points are drawn in by hand."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The training points, and what is known about where they come from.

    Attributes
    ----------
    X : array of shape (n, 2)
    truth : TrueSets or None
        What the density says, where it is known; its grid is `grid`.
    fresh : array of shape (q, 2)
        Other nominal points; none where points were drawn by hand.
    grid : Grid
        Where scores are evaluated; covers all but a negligible mass.
    view : array of shape (2, 2)
        Lower and upper corner of what is shown.
    labels : (str, str)
    """

    X: np.ndarray
    truth: TrueSets | None
    fresh: np.ndarray
    grid: Grid
    view: np.ndarray
    labels: tuple[str, str]


def column_names(data):
    """Columns to choose from: those of a data set, none for other data."""
    return list(_load(data).feature_names) if data in datasets.DATASETS else []


def draw_sample(settings):
    """Draw the training sample that the settings describe.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    Sample

    Raises
    ------
    ValueError
        If there is no such sample; the message says what to change.
    """
    if settings.data in DENSITIES:
        return _from_density(settings.data, settings.n, settings.seed)
    if settings.data == DRAWN:
        return _drawn(settings.points)
    return _from_columns(settings.data, (settings.x_column, settings.y_column), settings.n, settings.seed)


def _from_density(name, n, seed):
    density, truth = DENSITIES[name], _truth(name)
    fresh = density.sample(FRESH, np.random.default_rng([seed, 1]))  # not a continuation of the sample
    return Sample(density.sample(n, seed), truth, fresh, truth.grid, _view(density), ("x", "y"))


def _view(density):
    return density.bounds(tail=3e-3)


@cache
def _truth(name):
    density = DENSITIES[name]
    return TrueSets(density, Grid.covering(density, GRID))


def _drawn(points):
    if len(points) < 10:
        raise ValueError(
            f"{len(points)} points are drawn, and 10 are the least to learn from: click into the panels."
        )
    return Sample(np.array(points), None, np.empty((0, 2)), Grid.covering(BOARD, GRID), BOARD, ("x", "y"))


def _from_columns(data, columns, n, seed):
    names = column_names(data)
    for column in columns:
        if column not in names:
            raise ValueError(f"{data} has no column {column!r}: choose from {', '.join(names)}.")
    if columns[0] == columns[1]:
        raise ValueError(f"Both axes show the column {columns[0]!r}. Choose two different columns.")
    nominal = _nominal(data, columns)
    if n > len(nominal) // 2:
        raise ValueError(
            f"{data} has {len(nominal)} nominal points; n={n} would leave too few to check with."
        )
    order = check_random_state(seed).permutation(len(nominal))
    fresh = nominal[order[n : n + 2 * FRESH]]
    box = np.quantile(nominal, [0.002, 0.998], axis=0)
    labels = tuple(f"{name} (standardised)" for name in columns)
    return Sample(nominal[order[:n]], None, fresh, Grid.covering(box, GRID), box, labels)


@lru_cache(maxsize=4)
def _load(name):
    return datasets.load_dataset(name)


@lru_cache(maxsize=8)
def _nominal(name, columns):
    """Two columns of a data set's nominal points, standardised."""
    dataset = _load(name)
    index = [dataset.feature_names.index(column) for column in columns]
    return StandardScaler().fit_transform(dataset.X[dataset.y == 0][:, index])
