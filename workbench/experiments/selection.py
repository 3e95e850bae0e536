"""Does selection select well? Regret of sigma and C chosen without anomalies, by several criteria.

Every setting of a grid is fitted. The oracle takes the one with the best test AUC; a criterion takes the one
that it prefers, from cross-validation on the nominal training points alone; its regret is the difference.
"""

from __future__ import annotations

import warnings
from itertools import islice

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from .. import criteria, ranksvm
from ..detector import RankAD
from ..kernels import rbf
from ..neighbors import mean_distance, ranks
from ..preferences import disagreement, n_pairs, quantize
from .tables import difference_table, pipes
from .tasks import JUDGES, SCALINGS, TUNING, draw, group_of

VERSION = 1

SIGMA_FACTORS = tuple(2.0**i for i in range(-3, 6))
"""Bandwidths in units of D_20."""

CS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
"""Every other price of the paper's grid."""

FOLDS = 4
LEVELS = 3
NEIGHBOURS = 20
TOL = 1e-3
SUBSPACE = 5
"""Volumes are compared in at most so many features: in more, no uniform point falls near the data."""

CRITERIA = {
    "pairs": "disagreement without the anchor's pairs: the paper's rule",
    "pairs and anchor": "disagreement with the anchor's pairs",
    "redrawn": "AUC against points with a quarter of the features redrawn",
    "uniform": "AUC against uniform points",
    "permuted": "AUC against points whose features are drawn independently",
    "noise": "AUC against nominal points with Gaussian noise of one standard deviation",
    "mean of kinds": "mean AUC against these four kinds",
    "mass-volume": "area under the mass-volume curve",
    "excess-mass": "area under the excess-mass curve",
}
"""Name of a criterion, and what it is."""


def cells(quick, runs=None):
    """List the cells: a task, a scaling, a seed and a sample size each.

    Parameters
    ----------
    quick : bool
        A dozen small cells, or all: the tasks to tune on once, the paper's data sets three times.
    runs : int, optional
        Instead of these numbers.

    Returns
    -------
    list of dict
    """
    if quick:
        return [
            {"task": task, "scaling": "standardised", "seed": seed, "n_train": 120}
            for task in (*TUNING[::8], "mammography", "satellite", "mulcross")
            for seed in range(runs or 1)
        ]
    return [
        {"task": task, "scaling": scaling, "seed": seed, "n_train": n}
        for tasks, seeds, n in ((TUNING, 1, 300), (JUDGES, 3, 600))
        for task in tasks
        for scaling in (SCALINGS if tasks is JUDGES else SCALINGS[1:])
        for seed in range(runs or seeds)
    ]


def run(*, task, scaling, seed, n_train):
    """Fit every setting of the grid and let each criterion choose.

    Parameters
    ----------
    task, scaling, seed, n_train
        As :func:`workbench.experiments.tasks.draw` takes them.

    Returns
    -------
    dict from str to float
        Test AUC of the oracle's setting, of RankAD's default, and of each criterion's choice; and the
        choices, as log2 of sigma / D_20 and log10 of C.
    """
    split = draw(task, scaling=scaling, seed=seed, n_train=n_train)
    X, rng = split.X_train, np.random.RandomState(seed)
    k = min(NEIGHBOURS, len(X) // 2 - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        levels = quantize(ranks(X, k, 20, rng), LEVELS)
        sigmas = mean_distance(X, k) * np.array(SIGMA_FACTORS)
        nominal = split.y_test == 0
        test = _scores(X, levels, sigmas, split.X_test)
        values = _cross_validate(X, levels, sigmas, k, rng)
        default = RankAD(k=k, tol=TOL, random_state=seed).fit(X).score_samples(split.X_test)
    grid = np.array([[criteria.separation(g[nominal], g[~nominal]) for g in row] for row in test])
    out = {
        "n": len(X),
        "d": X.shape[1],
        "AUC oracle": float(grid.max()),
        "AUC default": criteria.separation(default[nominal], default[~nominal]),
    }
    for name, value in values.items():
        # Ties go to the largest sigma, then the smallest C, as in RankADCV.
        i, j = min(np.ndindex(grid.shape), key=lambda cell: (value[cell], -cell[0], cell[1]))
        out |= {
            f"AUC {name}": float(grid[i, j]),
            f"log2 sigma {name}": float(np.log2(SIGMA_FACTORS[i])),
            f"log10 C {name}": float(np.log10(CS[j])),
        }
    return out


def report(records):
    """Say how much each criterion loses to the oracle, and how it does next to the default.

    Parameters
    ----------
    records : pandas.DataFrame
        A row for each cell: its parameters, and what `run` returned.

    Returns
    -------
    str
        Markdown.
    """
    parts = ["## Does selection select well?", ""]
    for title, auc in mean_auc(records).items():
        parts += [
            f"On {title} ({len(auc)} tasks): regret is the AUC of the best of {len(SIGMA_FACTORS)} x "
            f"{len(CS)} settings, which only labels tell, less that of the setting chosen without them; "
            "95% intervals by bootstrap over tasks. The default is one setting for all and not of the "
            "grid. The last columns compare each with the default: positive is better.",
            "",
            pipes(compared(auc)),
            "",
        ]
    return "\n".join(parts)


def mean_auc(records):
    """Mean test AUC of the oracle, of the default, and of each criterion's choice on each task.

    Parameters
    ----------
    records : pandas.DataFrame
        As for :func:`report`.

    Returns
    -------
    dict from str to pandas.DataFrame
        For "the tasks to tune on" and "the paper's data sets": a row for each group and task.
    """
    frame = records.assign(group=records["task"].map(group_of))
    names = ["oracle", "default", *CRITERIA]
    paper = frame["group"] == "paper"
    found = {}
    for title, part in (("the tasks to tune on", frame[~paper]), ("the paper's data sets", frame[paper])):
        if len(part):
            auc = part.groupby(["group", "task"])[[f"AUC {name}" for name in names]].mean()
            found[title] = auc.set_axis(names, axis=1)
    return found


def compared(auc):
    """Mean AUC, regret, and the difference from the default, of each column, with 95% intervals.

    Parameters
    ----------
    auc : pandas.DataFrame
        One of those that :func:`mean_auc` returns.

    Returns
    -------
    pandas.DataFrame
        A row for each column of `auc`, the best first.
    """
    return difference_table(auc, "default", oracle="oracle", what=CRITERIA)


def _scores(X, levels, sigmas, queries):
    """Scores of the queries at every setting, shape (len(sigmas), len(CS), len(queries))."""
    out = np.empty((len(sigmas), len(CS), len(queries)))
    path = ranksvm.path(X, levels, sigmas=sigmas, Cs=CS, anchor=float(len(X)), tol=TOL)
    for row, sigma in zip(out, sigmas, strict=True):
        betas = np.column_stack([solution.beta for _, _, solution in islice(path, len(CS))])
        row[:] = (rbf(queries, X, sigma) @ betas).T
    return out


def _cross_validate(X, levels, sigmas, k, rng):
    """Mean over folds of each criterion at every setting, turned so that small is good."""
    shape = (len(sigmas), len(CS))
    values = {name: np.zeros(shape) for name in CRITERIA}
    d = X.shape[1]
    for train, held_out in KFold(FOLDS, shuffle=True, random_state=rng).split(X):
        made = criteria.synthetic_anomalies(X[train], random_state=rng)
        g = _scores(X[train], levels[train], sigmas, np.concatenate([X[held_out], *made.values()]))
        parts = np.split(g, len(held_out) + criteria.SYNTHETIC * np.arange(len(made)), axis=2)
        own, made = parts[0], dict(zip(made, parts[1:], strict=True))
        for cell in np.ndindex(shape):
            others = {name: other[cell] for name, other in made.items()}
            for name, value in _judge(own[cell], levels[held_out], others).items():
                values[name][cell] += value / FOLDS
        uniform = made["uniform"]
        if d > SUBSPACE:
            own, uniform = _in_a_subspace(X[train], X[held_out], k, rng)
        for cell in np.ndindex(shape):
            values["mass-volume"][cell] += criteria.mass_volume(own[cell], uniform[cell]) / FOLDS
            excess = min(criteria.excess_mass(own[cell], uniform[cell]), 1e6)
            values["excess-mass"][cell] -= excess / FOLDS
    return values


def _in_a_subspace(X, held_out, k, rng):
    """Scores of held-out and of uniform points, by detectors trained on a few of the features."""
    features = rng.permutation(X.shape[1])[:SUBSPACE]
    X, held_out = X[:, features], held_out[:, features]
    k = min(k, len(X) // 2 - 1)
    box = criteria.redraw(X, criteria.SYNTHETIC, share=1.0, random_state=rng)
    sigmas = max(mean_distance(X, k), np.finfo(float).tiny) * np.array(SIGMA_FACTORS)
    levels = quantize(ranks(X, k, 20, rng), LEVELS)
    g = _scores(X, levels, sigmas, np.concatenate([held_out, box]))
    return np.split(g, [len(held_out)], axis=2)


def _judge(g, levels, others):
    """Criteria from held-out scores and those of synthetic anomalies: small is good."""
    count = n_pairs(levels)
    wrong = disagreement(g, levels) if count else 0.5
    anchor = float(len(g))
    missed = np.mean((g < 0) + (g == 0) / 2)
    against = {name: 1 - criteria.separation(g, other) for name, other in others.items()}
    return {
        "pairs": wrong,
        "pairs and anchor": (wrong * count + anchor * len(g) * missed) / (count + anchor * len(g)),
        **against,
        "mean of kinds": float(np.mean(list(against.values()))),
    }
