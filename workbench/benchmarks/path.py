"""Minutes for the paper's whole cross-validation grid (Sec. 6.1, item 3) on standardised mammography."""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from tqdm.auto import tqdm

from .. import ranksvm
from ..datasets import load_dataset
from ..neighbors import knn_statistic, ranks
from ..preferences import quantize
from . import pages

CS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""The paper's 13 prices."""

FACTORS = tuple(2.0**e for e in range(-10, 11))
"""The paper's 21 bandwidths, in units of D_K."""

FOLDS = 4


def run(n=2000, factors=FACTORS, Cs=CS, tol=1e-3, n_jobs=2):
    """Solve Eq. 5, anchored, for every bandwidth, price and fold.

    Parameters
    ----------
    n : int
        Nominal points; each fit sees three quarters of them.
    factors, Cs : sequences of float
    tol : float
    n_jobs : int
        Processes.

    Returns
    -------
    dict with n, fits, seconds, the largest gap, and the number of fits whose gap is above `tol`
    """
    dataset = load_dataset("mammography")
    nominal = dataset.X[dataset.y == 0]
    chosen = np.random.default_rng(0).choice(len(nominal), n, replace=False)
    X = StandardScaler().fit_transform(nominal[chosen])
    started, gaps = time.perf_counter(), []
    with tqdm(total=FOLDS * len(factors) * len(Cs), unit="fit", leave=False) as bar:
        for train, _ in KFold(FOLDS, shuffle=True, random_state=0).split(X):
            fold = X[train]
            D_K = knn_statistic(fold, k=20).mean()
            levels = quantize(ranks(fold, k=20, random_state=0))
            path = ranksvm.path(
                fold,
                levels,
                sigmas=D_K * np.array(factors),
                Cs=Cs,
                anchor=len(fold),
                tol=tol,
                n_jobs=n_jobs,
            )
            for _, _, solution in path:
                gaps.append(solution.gap)
                bar.update()
    return {
        "n": n,
        "fits": len(gaps),
        "seconds": time.perf_counter() - started,
        "tol": tol,
        "largest gap": max(gaps),
        "above tol": sum(gap > tol for gap in gaps),
    }


def save(record, folder):
    """Write the record as JSON and Markdown, and return the folder."""
    return pages.write(sys.modules[__name__], [record], sentence(record), folder)


def sentence(record):
    """Say what came out."""
    return (
        f"{record['fits']} fits at n = {record['n']} in {record['seconds'] / 60:.1f} minutes, largest "
        f"relative gap {record['largest gap']:.1e}, {record['above tol']} fits above tol = {record['tol']:g}."
    )
