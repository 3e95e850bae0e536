"""AUC against scoring time: RankAD through more and fewer landmarks, its teacher, and what else is quick."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import pandas as pd
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from ..baselines import AKLPE, OneClassSVM
from ..datasets import DATASETS, nominal_split
from ..detector import RankAD
from ..expansions import KernelExpansion
from ..ranksvm import solve_in_span
from .comparison import plus_minus
from .table3 import load
from .tables import pipes

VERSION = 1
ALONE = True  # whether nothing else may run beside a cell

FULL = {"n_train": 2000, "max_nominal_test": 20_000}
QUICK = {"n_train": 400, "max_nominal_test": 2000}
RUNS = 3
REPETITIONS = 3

LANDMARKS = (25, 50, 100, 200, 400, 800)
TREES = (10, 30, 100, 300)
COMPRESSED, TRAINED = "RankAD, compressed afterwards", "RankAD, trained on landmarks"
DIALS = {
    COMPRESSED: "landmarks",
    TRAINED: "landmarks",
    "aK-LPE, k=20": "",
    "aK-LPE, k=5": "",
    "one-class SVM": "",
    "isolation forest": "trees",
}
"""System -> what its dial counts."""


def cells(quick, runs=None):
    """List the cells: a data set and a seed; every system sees the same split."""
    size, runs = (QUICK, runs or 1) if quick else (FULL, runs or RUNS)
    return [{"dataset": dataset, "seed": seed} | size for seed in range(runs) for dataset in DATASETS]


def run(dataset, seed, n_train, max_nominal_test):
    """Measure AUC and microseconds a point, on one thread, of every system at every setting of its dial.

    Microseconds are of processor time, the least of three runs: other work on the machine does not count.
    """
    split = nominal_split(load(dataset), n_train, max_nominal_test, random_state=seed)
    scaler = StandardScaler().fit(split.X_train)
    X_train, X_test = scaler.transform(split.X_train), scaler.transform(split.X_test)
    result = {"n_test": len(X_test), "n_anomalies": int(split.y_test.sum())}
    for system, dial, score in scorers(X_train, seed):
        seconds = []
        for _ in range(REPETITIONS):
            started = time.process_time()
            scores = score(X_test)
            seconds.append(time.process_time() - started)
        name = f"{system} | {dial}"
        result[f"AUC: {name}"] = float(roc_auc_score(split.y_test, -scores))
        result[f"us: {name}"] = 1e6 * min(seconds) / len(X_test)
    return result


def scorers(X, seed):
    """Yield system, setting of its dial and a function that scores, large where nominal."""
    whole = RankAD(random_state=seed).fit(X)
    yield COMPRESSED, len(X), whole.score_samples
    for s in (s for s in LANDMARKS if s < len(X)):
        yield COMPRESSED, s, whole.compress(landmarks=s).score_samples
        yield TRAINED, s, trained_on_landmarks(X, whole, s)
    for k in (20, 5):
        yield f"aK-LPE, k={k}", "", AKLPE(k=k, random_state=seed).fit(X).score_samples
    yield "one-class SVM", "", OneClassSVM(random_state=seed).fit(X).score_samples
    for trees in TREES:
        forest = IsolationForest(n_estimators=trees, random_state=seed).fit(X)
        yield "isolation forest", trees, forest.score_samples


def trained_on_landmarks(X, whole, s):
    """Return g that solves Eq. 5 among the expansions over s landmarks, otherwise posed as `whole` was."""
    beta = solve_in_span(X, whole.levels_, s, sigma=whole.sigma_, C=whole.C_, anchor=float(len(X)))
    support = np.flatnonzero(beta)
    return partial(_score, KernelExpansion(X[support], beta[support], whole.sigma_))


def _score(g, X):
    return g(X)


def tidy(records):
    """One row a data set, seed, system and setting: columns system, dial, auc and us."""
    rows = []
    for record in records.to_dict("records"):
        for column, value in record.items():
            if column.startswith("AUC: ") and pd.notna(value):
                system, dial = column.removeprefix("AUC: ").split(" | ")
                us = record["us: " + column.removeprefix("AUC: ")]
                rows.append((record["dataset"], record["seed"], system, dial, value, us))
    table = pd.DataFrame(rows, columns=["dataset", "seed", "system", "dial", "auc", "us"])
    order = {system: i for i, system in enumerate(DIALS)}
    return table.sort_values(
        ["system", "dial"],
        key=lambda column: column.map(order) if column.name == "system" else pd.to_numeric(column).fillna(0),
        kind="stable",
    )


def summary(records):
    """Mean AUC over sets and runs, geometric mean of microseconds, and who is on the frontier.

    A setting is on the frontier if none that is at least as good takes less time.

    Returns
    -------
    data frame indexed by system and dial, with columns auc, us, frontier and sets (on how many of the data
    sets it is on that one's frontier)
    """
    flat = tidy(records)
    by = ["system", "dial"]
    table = flat.groupby(by, sort=False).agg(auc=("auc", "mean"), us=("us", lambda us: geometric_mean(us)))
    table["frontier"] = on_frontier(table)
    table["sets"] = sum(
        on_frontier(part.groupby(by, sort=False)[["auc", "us"]].mean()).loc[table.index].astype(int)
        for _, part in flat.groupby("dataset")
    )
    return table


def geometric_mean(values):
    """``exp(mean(log(values)))``."""
    return float(np.exp(np.mean(np.log(values))))


def on_frontier(table):
    """Whether no other row has at least the AUC in less time, or more AUC in the same time."""
    auc, us = table["auc"].to_numpy(), table["us"].to_numpy()
    beaten = (auc[None] >= auc[:, None]) & (us[None] <= us[:, None])
    beaten &= (auc[None] > auc[:, None]) | (us[None] < us[:, None])
    return pd.Series(~beaten.any(axis=1), index=table.index)


def report(records):
    """Write the table, who is on the frontier, and where RankAD is not."""
    table, flat = summary(records), tidy(records)
    per_run = flat.groupby(["system", "dial", "seed"], sort=False)["auc"].mean()
    per_run = {key: each.to_numpy() for key, each in per_run.groupby(["system", "dial"])}
    n_sets, runs = records["dataset"].nunique(), records["seed"].nunique()
    shown = pd.DataFrame(
        {
            "dial": [f"{dial} {DIALS[system]}".strip() for system, dial in table.index],
            "mean AUC": [plus_minus(per_run[key], 4) for key in table.index],
            "µs a point": table["us"].map("{:.2f}".format).to_list(),
            "on the frontier": np.where(table["frontier"], "yes", ""),
            f"of {n_sets} sets": table["sets"].to_list(),
        },
        index=[system for system, _ in table.index],
    )
    return "\n".join(
        [
            f"{runs} {'run' if runs == 1 else 'runs'} on {n_sets} sets, standardised features, "
            f"{records['n_train'].iloc[0]:,} training points. AUC: mean over sets ± half of the 95% interval "
            "over the runs. µs a point: processor time on one thread, least of three, geometric mean over "
            "the sets. On the frontier: no setting with at least this AUC takes less time; the last column "
            "counts the single sets on whose own frontier a setting is.",
            "",
            *_findings(table),
            *_behind(flat),
            "",
            pipes(shown),
            "",
            "## AUC by set",
            "",
            pipes(_by_set(flat)),
        ]
    )


def _findings(table):
    """Sentences that the table supports."""
    best = table.sort_values("us")[table.sort_values("us")["frontier"]]
    chain = "; ".join(
        f"{_name(key)} ({row.auc:.4f} in {row.us:.2f} µs)"
        for key, row in zip(best.index, best.itertuples(), strict=True)
    )
    lines = [f"- On the frontier of the means, from quick to slow: {chain}."]
    for key, row in table.iterrows():
        if key[0] in (COMPRESSED, TRAINED) and not row["frontier"]:
            other = table[(table["us"] <= row["us"]) & (table["auc"] >= row["auc"])].drop(key)
            if len(other):
                by = other["auc"].idxmax()
                lines.append(
                    f"- {_name(key)} is not ({row['auc']:.4f} in {row['us']:.2f} µs): {_name(by)} has "
                    f"{table.loc[by, 'auc']:.4f} in {table.loc[by, 'us']:.2f} µs."
                )
    return lines


def _behind(flat):
    """Sentences on the sets where the best of ours, at any setting, is behind another system."""
    lines = []
    for dataset, part in flat.groupby("dataset"):
        means = part.groupby(["system", "dial"])["auc"].mean()
        ours = means[means.index.get_level_values("system").isin([COMPRESSED, TRAINED])]
        others = means.drop(ours.index)
        if others.max() > ours.max():
            lines.append(
                f"- On {dataset} {_name(others.idxmax())} has more AUC than RankAD at any setting: "
                f"{others.max():.4f} against {ours.max():.4f}."
            )
    return lines


def _name(key):
    system, dial = key
    return f"{system}, {dial} {DIALS[system]}" if dial else system


def _by_set(flat):
    means = flat.groupby(["system", "dial", "dataset"], sort=False)["auc"].mean().unstack()
    means.index = [_name(key) for key in means.index]
    return means.map("{:.3f}".format)


def figures(records):
    """Mean AUC against microseconds, a curve for each system."""
    from .. import plots

    table = summary(records).sort_values("us")
    curves = {
        system: (part["us"], part["auc"], [str(dial) for _, dial in part.index])
        for system, part in table.groupby(level="system")
    }
    ordered = {system: curves[system] for system in DIALS if system in curves}
    return {"frontier": plots.frontier(ordered, "µs a point, one thread", "mean AUC over the data sets")}
