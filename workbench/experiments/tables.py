"""Tables of AUC over tasks, with intervals by a bootstrap over tasks."""

from __future__ import annotations

import warnings

import numpy as np

BOOTSTRAPS = 2000


def difference_table(auc, base, *, oracle=None, what=None):
    """Mean AUC of each column, and its difference from column `base` with a 95% interval.

    The bootstrap draws tasks anew within each group, since tasks of a group are alike.

    Parameters
    ----------
    auc : pandas.DataFrame
        A row for each task, indexed by group and task; a column for each system.
    base : str
        The column to compare with.
    oracle : str, optional
        The column that regret is measured from.
    what : dict from str to str, optional
        What a column is.

    Returns
    -------
    pandas.DataFrame
        A row for each column of `auc`, the best first.
    """
    import pandas as pd  # slow to import, and not needed before now

    groups = auc.index.get_level_values(0)
    rng = np.random.default_rng(0)
    strata = [np.flatnonzero(groups == group) for group in dict.fromkeys(groups)]
    draws = [np.concatenate([rng.choice(rows, len(rows)) for rows in strata]) for _ in range(BOOTSTRAPS)]
    table = pd.DataFrame(index=auc.columns)
    if what is not None:
        table["what"] = [what.get(column, "") for column in auc.columns]
    table["mean AUC"] = [f"{value:.4f}" for value in auc.mean()]
    table["mean rank"] = [f"{value:.1f}" for value in auc.rank(axis=1, ascending=False).mean()]
    if oracle is not None:
        table["regret"] = _with_intervals(-auc.sub(auc[oracle], axis=0), draws)
    difference = auc.sub(auc[base], axis=0)
    table[f"less {base}"] = _with_intervals(difference, draws)
    table["worst task"] = [f"{value:+.3f}" for value in difference.min()]
    return table.loc[auc.mean().sort_values(ascending=False).index]


def pipes(table):
    """Write a data frame as a Markdown table."""
    header = ["", *map(str, table.columns)]
    rows = [[str(name), *map(str, row)] for name, row in zip(table.index, table.to_numpy(), strict=True)]
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _with_intervals(values, draws):
    array = values.to_numpy()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Mean of empty slice")  # a system that refused every sample
        means = np.array([np.nanmean(array[rows], axis=0) for rows in draws])
        centre = np.nanmean(array, axis=0)
    # Where a system refused so many tasks that a draw holds none, no interval is stated.
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    return [
        f"{mean:+.4f} [{lower:+.4f}, {upper:+.4f}]"
        for mean, lower, upper in zip(centre, low, high, strict=True)
    ]
