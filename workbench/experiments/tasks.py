"""Anomaly detection tasks for studies of defaults and of selection: to tune on, and the paper's to judge by.

Nothing may be tuned on the judges, the paper's eight data sets. The tasks to tune on are others: classes
of scikit-learn's small data sets, each nominal in turn; the densities in the plane; and generated densities
in 5 to 30 dimensions, with anomalies of three kinds.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from sklearn import datasets as small
from sklearn.preprocessing import StandardScaler

from ..datasets import DATASETS, Split, load_dataset, nominal_split
from ..densities import DENSITIES

SCALINGS = ("raw", "standardised")

MOST_TESTED = 1000
"""Most nominal points, and most anomalies, that a task is tested on."""

HELD_BACK = 0.3
"""Share of the nominal points of a small set that are tested on."""

_LOADERS = {
    "digits": small.load_digits,
    "wine": small.load_wine,
    "breast cancer": small.load_breast_cancer,
    "iris": small.load_iris,
}
_CLASSES = {"digits": 10, "wine": 3, "breast cancer": 2, "iris": 3}
_OTHERS = (0, 3, 8)  # "all but this digit", for a nominal set of many parts
_SHAPES = ("blobs", "correlated", "heavy tail", "mixed units")
_KINDS = ("uniform", "scattered", "clustered")

GROUPS = {
    "digits": tuple(f"digits {c}" for c in range(10)) + tuple(f"digits but {c}" for c in _OTHERS),
    "small sets": tuple(
        f"{name} {c}" for name, classes in _CLASSES.items() if name != "digits" for c in range(classes)
    ),
    "plane": tuple(f"{name}, {kind}" for name in DENSITIES for kind in ("uniform", "clustered")),
    "generated": tuple(
        f"{shape} in {d}, {kind}"
        for d in (5, 10, 30)
        for shape in _SHAPES
        for kind in _KINDS
        if kind != "uniform" or d == 5  # in more dimensions uniform anomalies are found by every system
    ),
    "paper": DATASETS,
}
"""Names of tasks by group."""

JUDGES = GROUPS["paper"]
TUNING = tuple(name for group, names in GROUPS.items() if group != "paper" for name in names)


def group_of(task):
    """Return the group of a task.

    Raises
    ------
    ValueError
        If there is no such task.
    """
    for group, names in GROUPS.items():
        if task in names:
            return group
    raise ValueError(f"There is no task {task!r}: choose from {', '.join((*TUNING, *JUDGES))}.")


def draw(task, *, scaling, seed, n_train):
    """Draw the training and test points of a task.

    Parameters
    ----------
    task : str
        A name in `TUNING` or `JUDGES`.
    scaling : {"raw", "standardised"}
        Standardised features have mean 0 and variance 1 on the training points.
    seed : int
        The same seed gives the same points.
    n_train : int
        Most nominal points to train on; of a small class 70% are.

    Returns
    -------
    workbench.datasets.Split
        With at most 1000 nominal points and 1000 anomalies to test on.

    Raises
    ------
    ValueError
        If there is no such task or scaling.
    """
    group = group_of(task)
    if scaling not in SCALINGS:
        raise ValueError(f"scaling must be one of {', '.join(SCALINGS)}, got {scaling!r}.")
    rng = np.random.default_rng([seed, 2015])
    if group == "paper":
        split = nominal_split(_paper(task), n_train, MOST_TESTED, random_state=seed)
        X_train, nominal = split.X_train, split.X_test[split.y_test == 0]
        anomalies = split.X_test[split.y_test == 1]
    elif group in ("digits", "small sets"):
        pool, anomalies = _classes(task)
        pool = rng.permutation(pool)
        n_train = min(n_train, len(pool) - int(HELD_BACK * len(pool)))
        X_train, nominal = pool[:n_train], pool[n_train:]
    elif group == "plane":
        name, kind = task.split(", ")
        density = DENSITIES[name]
        X = density.sample(n_train + MOST_TESTED, rng)
        X_train, nominal = X[:n_train], X[n_train:]
        anomalies = _anomalies(kind, X, rng)
    else:
        X = _generated(task, n_train + MOST_TESTED, seed)
        X_train, nominal = X[:n_train], X[n_train:]
        anomalies = _anomalies(task.split(", ")[1], X, rng)
    nominal, anomalies = (rng.permutation(points)[:MOST_TESTED] for points in (nominal, anomalies))
    X_test = np.concatenate([nominal, anomalies])
    if scaling == "standardised":
        scaler = StandardScaler().fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    return Split(X_train, X_test, np.repeat([0, 1], [len(nominal), len(anomalies)]))


@lru_cache(maxsize=2)
def _paper(name):
    return load_dataset(name)


def _classes(task):
    """Nominal points and anomalies of "digits 3", "digits but 3", "wine 0" and their like."""
    name, label = task.rsplit(" ", 1)
    others = name.endswith(" but")
    X, y = _LOADERS[name.removesuffix(" but")](return_X_y=True)
    nominal = (y == int(label)) != others
    return X[nominal], X[~nominal]


def _generated(task, n, seed):
    """Nominal points of "blobs in 5, uniform" and their like; the seed draws the density too."""
    shape, d = task.split(", ")[0].split(" in ")
    d = int(d)
    rng = np.random.default_rng([seed, _SHAPES.index(shape), d])
    if shape == "blobs":
        centres = 2.5 * rng.standard_normal((4, d))
        widths = rng.uniform(0.5, 1.5, (4, d))
        part = rng.integers(4, size=n)
        return centres[part] + widths[part] * rng.standard_normal((n, d))
    if shape == "correlated":
        # A few factors and little noise: the data lie near a subspace.
        loadings = rng.standard_normal((max(2, d // 5), d))
        return rng.standard_normal((n, len(loadings))) @ loadings + 0.3 * rng.standard_normal((n, d))
    if shape == "heavy tail":
        return rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3)
    # Units that differ by up to a thousand, and half of the features skewed.
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.5 * rng.standard_normal((d, d)) / np.sqrt(d))
    X[:, : d // 2] = np.exp(X[:, : d // 2])
    return X * 10.0 ** rng.uniform(-1.5, 1.5, d)


def _anomalies(kind, X, rng, n=MOST_TESTED):
    """Anomalies among nominal points X, of one kind.

    "uniform": in the box of the middle 99.8% of each feature, widened by a tenth on each side. "scattered":
    nominal points with noise of one and a half standard deviations in a random third of the features.
    "clustered": three tight clusters about such points.
    """
    low, high = np.quantile(X, [0.001, 0.999], axis=0)
    if kind == "uniform":
        margin = 0.1 * (high - low)
        return rng.uniform(low - margin, high + margin, (n, X.shape[1]))
    spread = (np.quantile(X, 0.84, axis=0) - np.quantile(X, 0.16, axis=0)) / 2
    base = X[rng.integers(len(X), size=n if kind == "scattered" else 3)]
    d = X.shape[1]
    chosen = rng.random(base.shape).argsort(axis=1) < max(1, d // 3)
    moved = base + np.where(chosen, 1.5 * spread * rng.standard_normal(base.shape), 0)
    if kind == "scattered":
        return moved
    moved = base + np.where(chosen, 2.5 * spread * rng.choice([-1, 1], size=base.shape), 0)
    return moved[np.arange(n) % 3] + 0.2 * spread * rng.standard_normal((n, d))
