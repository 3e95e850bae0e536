"""Seconds for ranks over 20 random half splits next to one k-NN query of the same points."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from ..neighbors import ranks
from .timing import in_turn, table

SIZES = ((2000, 2), (2000, 4), (2000, 10), (100_000, 2), (100_000, 4))
"""Points and features."""

K, RESAMPLES = 20, 20

COLUMNS = ["n", "d", "query", "ranks", "ratio", "lowest", "highest"]


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
    data frame with columns n, d, query and ranks (median seconds), and ratio, lowest and highest: median and
    extremes of ranks over query, run by run
    """
    rows = []
    for n, d in ((n, d) for n, d in SIZES if n <= largest):
        X = np.random.default_rng(0).normal(size=(n, d))
        timed = in_turn({"query": lambda X=X: _query(X), "ranks": lambda X=X: _ranks(X)}, repetitions)
        ratio = timed["ranks"] / timed["query"]
        medians = (np.median(values) for values in (timed["query"], timed["ranks"], ratio))
        rows.append((n, d, *medians, ratio.min(), ratio.max()))
        report(f"n={n:>8,} d={d:>3} ranks cost {rows[-1][4]:.2f} times one k-NN query")
    return pd.DataFrame(rows, columns=COLUMNS)


def save(frame, folder):
    """Write the table as JSON and Markdown, and return the folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ranks.json").write_text(json.dumps(frame.to_dict("records"), indent=1))
    cells = [
        (f"{row.n:,}", row.d, f"{row.query:.3g} s", f"{row.ranks:.3g} s", f"{row.ratio:.2f}")
        for row in frame.itertuples()
    ]
    head = ["n", "d", f"k-NN query, k = {K}", f"ranks, {RESAMPLES} splits", "ratio"]
    (folder / "ranks.md").write_text(table(head, cells) + "\n")
    return folder


def _query(X):
    # The search that our own ranks rest on; scikit-learn's brute force is quicker in high dimension.
    NearestNeighbors(n_neighbors=K, algorithm="kd_tree").fit(X).kneighbors()


def _ranks(X):
    ranks(X, K, RESAMPLES, random_state=0)
