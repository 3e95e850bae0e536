"""Table 3, lower half: seconds of the test stage. Cells run one at a time, on one thread."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from ..datasets import DATASETS, nominal_split
from . import paper
from .contenders import CONTENDERS, DEFAULT
from .table3 import FULL, QUICK, load
from .tables import pipes

VERSION = 1
ALONE = True  # whether nothing else may run beside a cell

SYSTEMS = (DEFAULT, *paper.TABLE3_SYSTEMS[1:])
REPETITIONS = 3


def cells(quick, runs=None):
    """List the cells: a data set and a system each, with raw features; `runs` seeds, 1 by default."""
    size = QUICK if quick else FULL
    return [
        {"dataset": dataset, "system": system, "seed": seed} | size
        for seed in range(runs or 1)
        for dataset in DATASETS
        for system in SYSTEMS
    ]


def run(dataset, system, seed, n_train, max_nominal_test):
    """Time the p-values of all test points: the median of three times."""
    split = nominal_split(load(dataset), n_train, max_nominal_test, random_state=seed)
    detector = CONTENDERS[system](random_state=seed).fit(split.X_train)
    seconds = []
    for _ in range(REPETITIONS):
        started = time.perf_counter()
        detector.p_value(split.X_test)
        seconds.append(time.perf_counter() - started)
    return {"test_seconds": float(np.median(seconds)), "n_test": len(split.X_test)}


def report(records):
    """Write print's seconds beside ours, and how many times as long as RankAD each system takes."""
    seconds = (
        records.groupby(["dataset", "system"], sort=False)["test_seconds"].mean().unstack()[list(SYSTEMS)]
    )
    here, ratio = seconds.map("{:.3f}".format), seconds.div(seconds[DEFAULT], axis=0)
    printed = pd.DataFrame(paper.TABLE3_SECONDS, index=paper.TABLE3_SYSTEMS).T
    printed_ratio = printed.div(printed["RankAD"], axis=0)
    both = pd.DataFrame(
        {
            name: [f"{ratio.loc[row, name]:.2g} ({printed_ratio.loc[row, name]:.2g})" for row in ratio.index]
            for name in SYSTEMS[1:]
        },
        index=ratio.index,
    )
    points = records.groupby("dataset", sort=False)["n_test"].first()
    here.insert(0, "points", [f"{points[name]:,}" for name in here.index])
    return "\n".join(
        [
            "Seconds for the p-values of all test points, on one thread, alone on the machine; median of "
            f"{REPETITIONS}. Raw features.",
            "",
            pipes(here),
            "",
            "Times as long as RankAD; in brackets as printed.",
            "",
            pipes(both),
        ]
    )
