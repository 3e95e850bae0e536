"""Table 3, upper half: AUC of every system on the eight data sets, features raw and standardised."""

from __future__ import annotations

import time
from functools import lru_cache

from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from ..datasets import DATASETS, load_dataset, nominal_split
from . import paper
from .comparison import against_print, mean_and_interval, rank_table
from .contenders import CONTENDERS, COUNTERPART, SELECTED
from .tables import pipes
from .tasks import SCALINGS

VERSION = 1

FULL = {"n_train": 2000, "max_nominal_test": 80_000}
QUICK = {"n_train": 400, "max_nominal_test": 4000}


def cells(quick, runs=None):
    """List the cells: a data set, a scaling, a system and a seed; those that select come last.

    Parameters
    ----------
    quick : bool
        400 training points instead of the paper's 2000, 4000 nominal test points instead of 80,000, one run.
    runs : int, optional
        Instead of the paper's five.
    """
    size, runs = (QUICK, runs or 1) if quick else (FULL, runs or paper.RUNS)
    rounds = [[system for system in CONTENDERS if system not in SELECTED], *([system] for system in SELECTED)]
    return [
        {"dataset": dataset, "scaling": scaling, "system": system, "seed": seed} | size
        for systems in rounds
        for seed in range(runs)
        for system in systems
        for dataset in DATASETS
        for scaling in SCALINGS
    ]


def run(dataset, scaling, system, seed, n_train, max_nominal_test):
    """Measure a system on one of the paper's data sets: see :func:`evaluate`."""
    return evaluate(load(dataset), scaling, CONTENDERS[system], seed, n_train, max_nominal_test)


def evaluate(dataset, scaling, factory, seed, n_train=2000, max_nominal_test=80_000):
    """Train on nominal points alone and measure the AUC on the others and all anomalies (Sec. 6.3).

    Parameters
    ----------
    dataset : workbench.datasets.Dataset
        The paper's or your own.
    scaling : {"raw", "standardised"}
        Standardised features have mean 0 and variance 1 on the training points.
    factory : callable
        Takes `random_state` and returns a detector, as the values of `CONTENDERS` do.
    seed : int
        Of the split and of the detector.
    n_train, max_nominal_test : int
        As for :func:`workbench.datasets.nominal_split`.

    Returns
    -------
    dict
        ``auc``, ``fit_seconds``, ``score_seconds``, ``n_test`` and ``n_anomalies``; ``chosen_sigma`` and
        ``chosen_C`` of a detector that selects them.
    """
    split = nominal_split(dataset, n_train, max_nominal_test, random_state=seed)
    X_train, X_test = split.X_train, split.X_test
    if scaling == "standardised":
        scaler = StandardScaler().fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    started = time.perf_counter()
    detector = factory(random_state=seed).fit(X_train)
    fitted = time.perf_counter()
    scores = detector.score_samples(X_test)
    result = {
        "auc": float(roc_auc_score(split.y_test, -scores)),
        "fit_seconds": fitted - started,
        "score_seconds": time.perf_counter() - fitted,
        "n_test": len(X_test),
        "n_anomalies": int(split.y_test.sum()),
    }
    chosen = getattr(detector, "best_params_", {})
    return result | {f"chosen_{name}": value for name, value in chosen.items()}


def report(records):
    """Write the comparison with print, the AUC of every system, and their ranks over the sets."""
    lines = [_sizes(records), ""]
    lines += [
        "## Paper and here",
        "",
        "Print names no scaling, so both are compared. The interval is 95% for the difference of two "
        "means of runs, "
        "print's spread taken to be ours. *Matches*: it covers 0; *undecided*: it does, and is wider "
        "than .03 to each side; *close*: the difference is under .01 "
        "all the "
        "same. Where nothing matches, the last column names which relatives of the system come within .005.",
        "",
        pipes(against_print(records, paper.TABLE3_SYSTEMS, paper.TABLE3_AUC, COUNTERPART)),
        "",
    ]
    for scaling in SCALINGS:
        part = records[records["scaling"] == scaling]
        if part.empty:
            continue
        lines += [f"## AUC, {scaling} features", "", "Mean over the runs ± half of its 95% interval.", ""]
        lines += [pipes(mean_and_interval(part, "system", "dataset", "auc")), ""]
        lines += [f"## Ranks, {scaling} features", "", *rank_table(part)]
    return "\n".join(lines)


def figures(records):
    """AUC by system and set, as figures by name."""
    from .. import plots

    return {
        f"table3-{scaling}": plots.dots_by_row(
            part.groupby(["system", "dataset"], sort=False)["auc"].mean().unstack(),
            "AUC",
            best=1.0,
        )
        for scaling, part in records.groupby("scaling")
    }


def _sizes(records):
    n_train, most = records[["n_train", "max_nominal_test"]].iloc[0]
    runs = records["seed"].nunique()
    return (
        f"{runs} {'run' if runs == 1 else 'runs'}: {n_train:,} nominal points to train on, at most {most:,} "
        f"nominal points and all anomalies to test on. {len(records):,} cells, "
        f"{records['seconds'].sum() / 3600:.2f} core hours."
    )


@lru_cache(maxsize=1)
def load(name):
    """Load a data set, and keep it for the next cell."""
    return load_dataset(name)
