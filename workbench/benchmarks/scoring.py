"""Seconds to score new points against n training points in d dimensions: ours and what else there is.

Training and new points are standard normal. Every training point is a support vector of ours, which is the
worst case: the price C is so small that every pair is violated. The others have their defaults, k-NN and
LOF 20 neighbours, the linear one-class SVM as many Nystroem features as we have landmarks. All contenders
score in one process, in turn.
"""

from __future__ import annotations

import sys
import tracemalloc
import warnings
from functools import partial
from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn.ensemble import IsolationForest
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDOneClassSVM
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.svm import OneClassSVM

from .. import expansions
from ..detector import RankAD
from ..threads import one_blas_thread, spread
from . import pages
from .timing import growth, in_turn, table

CASES = (
    (2000, 10, 100_000),
    (2000, 10, 1),
    (500, 10, 10_000),
    (2000, 10, 10_000),
    (5000, 10, 10_000),
    (2000, 2, 10_000),
    (5000, 2, 10_000),
    (2000, 36, 10_000),
)
"""Training points, features and points to score."""

LANDMARKS = 200
CALLS_FOR_ONE = 200

EXACT, FEW = "RankAD, exact", f"RankAD, {LANDMARKS} landmarks"
FEW_32 = FEW + ", float32"
UNCHECKED = " unchecked"
FLOOR = ": product and exp alone"
KNN = ("k-NN, brute", "k-NN, tree")
PYOD = ("KNN", "HBOS", "ECOD")

COLUMNS = ["n", "d", "points", "contender", "seconds", "fastest", "slowest", "megabytes"]


def run(repetitions=3, report=print):
    """Time every contender in every case.

    Parameters
    ----------
    repetitions : int
        Runs of each contender in each case, in turn.
    report : callable
        Called with a line of text as each case is done.

    Returns
    -------
    data frame with columns n, d, points, contender, seconds (median), fastest, slowest, and megabytes: the
    most that scoring held at a time beside the points, as far as numpy allocates it
    """
    if find_spec("pyod") is None:
        report(f"PyOD is not installed: its {', '.join(PYOD)} are left out.")
    rows = []
    for n, d, points in CASES:
        rng = np.random.default_rng(0)
        X, queries = rng.normal(size=(n, d)), rng.normal(size=(points, d))
        calls = CALLS_FOR_ONE if points == 1 else 1
        contenders = make_contenders(X, queries)
        timed = in_turn(contenders, repetitions, calls)
        for name, runs in timed.items():
            megabytes = (
                _peak_megabytes(contenders[name]) if points > 1 and not name.endswith(FLOOR) else np.nan
            )
            rows.append((n, d, points, name, np.median(runs), runs.min(), runs.max(), megabytes))
            report(f"n={n:>6,} d={d:>3} points={points:>8,} {name:44}{np.median(runs):12.6f} s")
    return pd.DataFrame(rows, columns=COLUMNS)


def make_contenders(X, queries):
    """Fit all contenders to X and return, by name, functions without arguments that score `queries`."""
    exact = RankAD(C=1e-9, m=2, resamples=0, tol=1e-3, random_state=0).fit(X)
    few = exact.compress(landmarks=min(LANDMARKS, len(X)))
    single = queries.astype(np.float32)
    scorers = {
        EXACT: (exact.score_samples, queries),
        EXACT + UNCHECKED: (exact.g_, queries),
        FEW: (few.score_samples, queries),
        FEW + UNCHECKED: (few.g_, queries),
        FEW_32: (few.score_samples, single),
    }
    for name, detector in {EXACT: exact, FEW: few}.items():
        scorers[name + FLOOR] = (_floor(detector.g_, queries), queries)
    for name, score in _peers(X).items():
        scorers[name] = (score, queries)
    return {name: partial(score, points) for name, (score, points) in scorers.items()}


def _peers(X):
    nystroem = make_pipeline(
        Nystroem(gamma=1 / X.shape[1], n_components=min(LANDMARKS, len(X)), random_state=0),
        SGDOneClassSVM(random_state=0),
    )
    peers = {
        "IsolationForest": IsolationForest(random_state=0).fit(X).score_samples,
        "OneClassSVM": OneClassSVM().fit(X).score_samples,
        f"SGDOneClassSVM, {LANDMARKS} Nystroem features": nystroem.fit(X).score_samples,
        "LocalOutlierFactor": LocalOutlierFactor(n_neighbors=20, novelty=True).fit(X).score_samples,
    }
    for name, algorithm in zip(KNN, ("brute", "kd_tree"), strict=True):
        peers[name] = NearestNeighbors(n_neighbors=20, algorithm=algorithm).fit(X).kneighbors
    if find_spec("pyod") is not None:
        from pyod.models import ecod, hbos, knn

        for name, model in zip(PYOD, (knn.KNN(n_neighbors=20), hbos.HBOS(), ecod.ECOD()), strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                peers[f"PyOD {name}"] = model.fit(X).decision_function
    return peers


def _floor(g, queries):
    """Return what cannot be saved of scoring: the product with the centres and the exponential, in blocks."""
    s, d = g.centres.shape
    Y = g.centred(g.centres)
    right = np.ascontiguousarray(np.column_stack([2 * Y, np.full(s, -1.0), -np.sum(Y**2, axis=1)]).T)
    rows = min(len(queries), max(1, expansions.BLOCK_BYTES // (8 * (s + d + 2))))
    Z = g.centred(queries[:rows])
    # Small exponents: numpy takes far longer where the exponential vanishes, which can be saved.
    left = 1e-3 * np.column_stack([Z, np.sum(Z**2, axis=1), np.ones(rows)])

    def work(blocks):
        K = np.empty((rows, s))
        for _ in blocks:
            np.exp(np.matmul(left, right, out=K), out=K)

    def run(_):
        blocks = np.arange(-(-len(queries) // rows))
        if len(queries) * s < expansions.SPREAD_FROM:
            with one_blas_thread():
                work(blocks)
        else:
            spread(work, np.array_split(blocks, 20))

    def bare(_):
        work((0,))

    return bare if len(queries) * s < expansions.ONE_THREAD_FROM else run


def _peak_megabytes(contender):
    tracemalloc.start()
    try:
        contender()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def save(frame, folder):
    """Write the table as JSON and Markdown, and return the folder."""
    return pages.write(sys.modules[__name__], frame.to_dict("records"), markdown(frame), folder)


def markdown(frame):
    """Write findings, and a table for each case: medians in seconds, and as multiples of ours."""
    lines = [*_findings(frame), ""]
    for (n, d, points), case in frame.groupby(["n", "d", "points"], sort=False):
        seconds = case.set_index("contender")["seconds"]
        rows = [
            (
                row.contender,
                f"{row.seconds:.3g}",
                f"{row.seconds / seconds[EXACT]:.3g}",
                f"{row.seconds / seconds[FEW]:.3g}",
                "" if np.isnan(row.megabytes) else f"{row.megabytes:.0f}",
            )
            for row in case.itertuples()
        ]
        head = ["contender", "seconds", "of exact", f"of {LANDMARKS} landmarks", "MB"]
        lines += [f"### n = {n:,}, d = {d}, {points:,} to score", "", table(head, rows), ""]
    return "\n".join(lines)


def _findings(frame):
    """Sentences that the table supports."""
    by_case = frame.groupby(["n", "d", "points"], sort=False)
    cases = {case: part.set_index("contender")["seconds"] for case, part in by_case}
    lines, faster, quickest = [], [], {}
    for (n, d, points), seconds in cases.items():
        where = f"n = {n:,}, d = {d}, {points:,} to score"
        if points == 1:
            for name in (EXACT, FEW):
                bare, checked = (
                    1e6 * (seconds[way] - seconds[name + FLOOR]) for way in (name + UNCHECKED, name)
                )
                lines.append(
                    f"- {where}: {name} takes {bare:.0f} microseconds beyond product and exp through `g_`, "
                    f"{checked:.0f} with the checks of `score_samples`."
                )
            continue
        own = [seconds[name] / seconds[name + FLOOR] for name in (EXACT, FEW)]
        forest, svm = (seconds[peer] / seconds[FEW] for peer in ("IsolationForest", "OneClassSVM"))
        best = seconds[list(KNN)].idxmin()
        ratio = seconds[best] / seconds[EXACT]
        lines.append(
            f"- {where}: exact scoring takes {own[0]:.2f} and landmark scoring {own[1]:.2f} times its "
            f"product and exp. Landmarks are {forest:.3g} times as fast as IsolationForest and {svm:.3g} "
            f"times as fast as OneClassSVM. Exact scoring is {ratio:.3g} times as fast as {best}, the better "
            "k-NN."
        )
        if ratio < 1:
            faster.append(f"n = {n:,}, d = {d}")
        for name in seconds.index[seconds < seconds[FEW]]:
            if not name.startswith("RankAD"):
                quickest.setdefault(name, []).append(f"n = {n:,}, d = {d}, {points:,} to score")
    crossover = "; ".join(faster) if faster else "nowhere in the cases measured"
    lines.append(f"- k-NN is faster than exact scoring at: {crossover}.")
    lines += [
        f"- {name} is faster than landmarks at: {'; '.join(where)}." for name, where in quickest.items()
    ]
    return [*lines, *_growth(cases)]


def _growth(cases):
    lines = []
    for axis, other, symbol in ((0, 1, "n"), (1, 0, "d")):
        for fixed in sorted({(case[other], case[2]) for case in cases if case[2] > 1}):
            along = sorted(case for case in cases if (case[other], case[2]) == fixed)
            if len(along) > 1:
                exact, few = (
                    growth([case[axis] for case in along], [cases[case][name] for case in along])
                    for name in (EXACT, FEW)
                )
                lines.append(
                    f"- Seconds grow like {symbol}^{exact:.2f} (exact) and {symbol}^{few:.2f} (landmarks) "
                    f"at {'dn'[axis]} = {fixed[0]:,}, {fixed[1]:,} to score."
                )
    return lines
