"""Seconds for ranks over 20 random half splits next to one k-NN query of the same points.

Standard normal points. The query is for 20 neighbours of every point, in two ways: scikit-learn's k-d tree,
on one thread as it comes, and our own search, which ranks rest on as well: the tree on all threads, or brute
force where there are many points in many dimensions.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from ..neighbors import nearest, ranks
from . import pages
from .timing import growth, in_turn, table

SIZES = ((2000, 2), (2000, 4), (2000, 10), (20_000, 10), (100_000, 2), (100_000, 4), (100_000, 10))
"""Points and features."""

MOST_FOR_TREE = 4
"""Features up to which the tree is tried at 20,000 points and more: beyond, it takes minutes."""

K, RESAMPLES = 20, 20

COLUMNS = ["n", "d", "tree", "query", "ranks", "ratio", "lowest", "highest"]


def run(largest=100_000, repetitions=5, report=print):
    """Time both on standard normal points.

    Parameters
    ----------
    largest : int
        Largest n to try.
    repetitions : int
        Runs of each, in turn.
    report : callable
        Called with a line of text as each size is done.

    Returns
    -------
    data frame with columns n, d, tree, query and ranks (median seconds), and ratio, lowest and highest:
    median and extremes of ranks over our query, run by run
    """
    rows = []
    for n, d in ((n, d) for n, d in SIZES if n <= largest):
        X = np.random.default_rng(0).normal(size=(n, d))
        contenders = {"query": lambda X=X: nearest(X, k=K), "ranks": lambda X=X: _ranks(X)}
        if n < 20_000 or d <= MOST_FOR_TREE:
            contenders["tree"] = lambda X=X: _tree(X)
        timed = in_turn(contenders, repetitions)
        ratio = timed["ranks"] / timed["query"]
        medians = (np.median(timed.get(name, np.nan)) for name in ("tree", "query", "ranks"))
        rows.append((n, d, *medians, np.median(ratio), ratio.min(), ratio.max()))
        report(f"n={n:>8,} d={d:>3} ranks cost {rows[-1][5]:.2f} times one k-NN query")
    return pd.DataFrame(rows, columns=COLUMNS)


def save(frame, folder):
    """Write the table as JSON and Markdown, and return the folder."""
    return pages.write(sys.modules[__name__], frame.to_dict("records"), markdown(frame), folder)


def markdown(frame):
    """Write growth with n, and a table of seconds and ratios."""
    lines = []
    for d, part in frame.groupby("d"):
        if part["n"].nunique() > 1:
            lines.append(f"- d = {d}: seconds for ranks grow like n^{growth(part['n'], part['ranks']):.2f}.")
    cells = [
        (
            f"{row.n:,}",
            row.d,
            "" if np.isnan(row.tree) else f"{row.tree:.3g} s",
            f"{row.query:.3g} s",
            f"{row.ranks:.3g} s",
            "" if np.isnan(row.tree) else f"{row.ranks / row.tree:.2f}",
            f"{row.ratio:.2f} ({row.lowest:.2f} to {row.highest:.2f})",
        )
        for row in frame.itertuples()
    ]
    head = ["n", "d", "tree", "our query", f"ranks, {RESAMPLES} splits", "ranks / tree", "ranks / our query"]
    return "\n".join([*lines, "", table(head, cells)])


def _tree(X):
    NearestNeighbors(n_neighbors=K, algorithm="kd_tree").fit(X).kneighbors()


def _ranks(X):
    ranks(X, K, RESAMPLES, random_state=0)
