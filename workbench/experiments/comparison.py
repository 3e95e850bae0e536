"""Means with intervals, verdicts against print, and ranks over data sets with critical differences."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from . import paper
from .tables import pipes

CONFIDENCE = 0.95
ROUNDING = 0.0005  # of a printed AUC
CLOSE = 0.01
WIDE = 0.03  # half of an interval that covers print without saying much
REACHED = 0.005


def half_width(values, other_runs=np.inf):
    """Half of Student's 95% interval for the mean of `values`, or for its difference from another mean.

    ``t s sqrt(1/n + 1/other_runs)``: the other mean is taken to be of `other_runs` runs with the same
    spread. NaN for a single value.
    """
    n = len(values)
    if n < 2:
        return np.nan
    t = stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)
    return float(t * np.std(values, ddof=1) * np.sqrt(1 / n + 1 / other_runs))


def plus_minus(values, digits=3):
    """Write a mean ± half of its 95% interval, or the mean alone where it is of one value."""
    half = half_width(values)
    return f"{np.mean(values):.{digits}f}" + ("" if np.isnan(half) else f" ± {half:.{digits}f}")


def verdict(values, printed):
    """Compare runs with a printed mean: difference, half of its interval, and a word for it.

    Parameters
    ----------
    values : array of shape (runs,)
    printed : float

    Returns
    -------
    difference : float
        Mean less print.
    half : float
        NaN for a single run.
    word : {"matches", "undecided", "close", "higher", "lower"}
        "matches" where the interval, widened by print's rounding, covers 0, "undecided" if it is wider than
        .03 to each side; "close" where it does not, and the difference is less than .01 all the same.
    """
    difference = float(np.mean(values) - printed)
    half = half_width(values, paper.RUNS)
    if abs(difference) <= np.nan_to_num(half) + ROUNDING:
        return difference, half, "undecided" if half > WIDE else "matches"
    if abs(difference) < CLOSE:
        return difference, half, "close"
    return difference, half, "higher" if difference > 0 else "lower"


def against_print(records, systems, printed, counterpart):
    """Table of paper | ours | difference, interval and verdict, for each scaling, and what reaches print.

    Parameters
    ----------
    records : data frame
        With columns dataset, scaling, system and auc.
    systems : sequence of str
        The paper's columns.
    printed : dict from dataset to values in the order of `systems`
    counterpart : dict from str to str
        Which system stands for a column of the paper, where the names differ.

    Returns
    -------
    data frame
    """
    scalings = list(dict.fromkeys(records["scaling"]))
    runs = {key: part["auc"].to_numpy() for key, part in records.groupby(["dataset", "system", "scaling"])}
    rows, index = [], []
    for column, system in enumerate(systems):
        ours = counterpart.get(system, system)
        for dataset, values in printed.items():
            target = values[column]
            row = {"set": dataset, "paper": f"{target:.3f}"}
            words = []
            for scaling in scalings:
                found = runs.get((dataset, ours, scaling))
                if found is None:
                    row[scaling] = row[f"{scaling}: difference"] = row[f"{scaling}: verdict"] = ""
                    continue
                difference, half, word = verdict(found, target)
                row[scaling] = f"{found.mean():.3f}"
                row[f"{scaling}: difference"] = f"{difference:+.3f}" + (
                    "" if np.isnan(half) else f" ± {half:.3f}"
                )
                row[f"{scaling}: verdict"] = word
                words.append(word)
            row["print is reached by"] = (
                ""
                if {"matches", "undecided"} & set(words)
                else _reaching(runs, dataset, target, system, ours)
            )
            rows.append(row)
            index.append(system)
    return pd.DataFrame(rows, index=index)


def _reaching(runs, dataset, target, system, ours):
    """Name the relatives of a system that come within .005 of print."""
    family = [ours, *([name for name in _names(runs) if name.startswith(system)])]
    found = [
        f"{name}, {scaling}" if name != ours else scaling
        for (where, name, scaling), values in runs.items()
        if where == dataset and name in family and abs(values.mean() - target) <= REACHED
    ]
    return "; ".join(found) or "nothing here"


def _names(runs):
    return dict.fromkeys(name for _, name, _ in runs)


def mean_and_interval(records, rows, columns, value):
    """Table of means ± half of the 95% interval over the runs, and the mean over the columns."""
    cells = records.groupby([rows, columns], sort=False)[value]
    means = cells.mean().unstack()
    table = cells.agg(plus_minus).unstack().fillna("")
    table["mean"] = ["" if np.isnan(m) else f"{m:.4f}" for m in means.mean(axis=1, skipna=False)]
    return table.iloc[np.argsort(-means.mean(axis=1, skipna=False).to_numpy(), kind="stable")]


def mean_ranks(records):
    """Mean rank of each system over the data sets (1 the best), Friedman's test and Nemenyi's difference.

    Parameters
    ----------
    records : data frame
        With columns dataset, system and auc. Systems that lack a data set are left out.

    Returns
    -------
    ranks : Series
        Ascending.
    critical : float
        Mean ranks that are further apart differ at the 5% level (Nemenyi; Demsar, JMLR 2006):
        ``q_.05 sqrt(k (k + 1) / (6 N))`` for k systems on N sets.
    p : float
        Of Friedman's test that all systems rank alike.
    """
    auc = records.groupby(["dataset", "system"], sort=False)["auc"].mean().unstack().dropna(axis=1)
    n_sets, k = auc.shape
    ranks = auc.rank(axis=1, ascending=False).mean().sort_values()
    if k < 3 or n_sets < 2:
        return ranks, np.nan, np.nan
    critical = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n_sets))
    return ranks, float(critical), float(stats.friedmanchisquare(*auc.to_numpy().T).pvalue)


def rank_table(records):
    """Lines of Markdown: mean ranks, and what can be said of their differences."""
    ranks, critical, p = mean_ranks(records)
    n_sets = records["dataset"].nunique()
    within = [name for name, rank in ranks.items() if rank - ranks.iloc[0] <= critical]
    sentence = (
        f"Mean rank over {n_sets} sets, 1 the best. Friedman's test that all rank alike: p = {p:.2g}. Two "
        f"systems differ at the 5% level where their mean ranks are {critical:.2f} apart (Nemenyi), "
        "which tells "
        f"{ranks.index[0]} from {len(ranks) - len(within)} of the {len(ranks) - 1} others."
    )
    return [sentence, "", pipes(pd.DataFrame({"mean rank": ranks.map("{:.2f}".format)})), ""]
