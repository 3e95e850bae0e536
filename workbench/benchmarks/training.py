"""Training end to end: seconds by stage and peak memory of `RankAD.fit`, ranks to sorted scores.

Standard normal points in d dimensions, defaults but for sigma. *wide*: sigma = 2.5 sqrt(d), where pairs of
points in the bulk have kernel values that differ and the kernel's rank stays far below n. *auto*: the
default, half of the mean 20-NN distance, a rank near n. Each fit has a fresh process to itself.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd

from .. import detector, ranksvm
from ..detector import RankAD
from . import pages
from .timing import growth, peak_megabytes, table

CASES = (
    (2000, 10, "wide", 1e-6),
    (10_000, 10, "wide", 1e-6),
    (100_000, 10, "wide", 1e-6),
    (100_000, 10, "wide", 1e-3),
    (10_000, 2, "wide", 1e-6),
    (100_000, 2, "wide", 1e-6),
    (1_000_000, 2, "wide", 1e-6),
    (2000, 10, "auto", 1e-6),
    (5000, 10, "auto", 1e-6),
    (100_000, 10, "auto", 1e-3),
)
"""Points, features, bandwidth and the gap asked for."""

WIDE = 2.5

STAGES = {
    "ranks": (detector, "ranks"),
    "D_K": (detector, "mean_distance"),
    "factor": (ranksvm.newton, "factorise"),
    "Newton": (ranksvm.newton, "solve"),
    "certificate": (ranksvm, "conclude"),
    "scores": (RankAD, "_calibration"),
}
"""Stage -> whose function it is; that of the factor is inside that of Newton."""

COLUMNS = ["n", "d", "sigma", "tol", *STAGES, "total", "cpu", "megabytes", "gap", "landmarks", "support"]


def run(largest=100_000, report=print):
    """Fit once in every case, each in a process of its own.

    Parameters
    ----------
    largest : int
        Largest n to try.
    report : callable
        Called with a line of text as each case is done.

    Returns
    -------
    data frame with columns n, d, sigma, tol, seconds by stage and in total, cpu (seconds that the process was
    given, all threads together), megabytes (its peak), the certified relative gap, landmarks (of a kernel
    that memory cut, else 0) and support (vectors)
    """
    rows = []
    for case in (case for case in CASES if case[0] <= largest):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            rows.append(pool.submit(fit, *case).result())
        row = rows[-1]
        report(
            f"n={row['n']:>9,} d={row['d']:>3} {row['sigma']:4} {row['total']:9.1f} s "
            f"{row['megabytes']:9,.0f} MB   gap {row['gap']:.1e}"
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def fit(n, d, sigma, tol):
    """Fit, and return the row that :func:`run` describes; the stages' functions stay wrapped."""
    X = np.random.default_rng(0).normal(size=(n, d))
    seconds = dict.fromkeys(STAGES, 0.0)
    for stage, (owner, name) in STAGES.items():
        setattr(owner, name, _timed(getattr(owner, name), seconds, stage))
    ranksvm.SOLVERS["newton"] = ranksvm.newton.solve
    model = RankAD(sigma=WIDE * np.sqrt(d) if sigma == "wide" else sigma, tol=tol, random_state=0)
    started, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the gap is in the table
        model.fit(X)
    total, cpu = time.perf_counter() - started, time.process_time() - cpu
    seconds["Newton"] -= seconds["factor"]
    solution = model.solution_
    return {"n": n, "d": d, "sigma": sigma, "tol": tol, **seconds, "total": total, "cpu": cpu} | {
        "megabytes": peak_megabytes(),
        "gap": solution.gap,
        "landmarks": solution.cut or 0,
        "support": len(model.support_),
    }


def _timed(function, seconds, stage):
    def timed(*args, **kwargs):
        started = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            seconds[stage] += time.perf_counter() - started

    return timed


def save(frame, folder):
    """Write the table as JSON and Markdown, and return the folder."""
    return pages.write(sys.modules[__name__], frame.to_dict("records"), markdown(frame), folder)


def markdown(frame):
    """Write findings, and a table of seconds by stage."""
    head = ["n", "d", "σ", "asked", *STAGES, "all", "CPU", "peak MB", "gap", "landmarks", "support vectors"]
    rows = [
        (
            f"{row.n:,}",
            row.d,
            row.sigma,
            f"{row.tol:.0e}",
            *(f"{getattr(row, stage):.3g}" for stage in STAGES),
            f"{row.total:.3g} s",
            f"{row.cpu:.3g} s",
            f"{row.megabytes:,.0f}",
            f"{row.gap:.1e}",
            f"{row.landmarks:,}" if row.landmarks else "",
            f"{row.support:,}",
        )
        for row in frame.itertuples()
    ]
    return "\n".join([*_findings(frame), "", table(head, rows), ""])


def _findings(frame):
    """Sentences that the table supports."""
    lines = []
    for (d, sigma, tol), part in frame.groupby(["d", "sigma", "tol"], sort=False):
        largest = part.loc[part["n"].idxmax()]
        slowest = largest[list(STAGES)].astype(float).idxmax()
        lines.append(
            f"- d = {d}, {sigma}, asked for {tol:.0e}: n = {largest['n']:,} takes {largest['total']:.3g} s, "
            f"{largest['cpu']:.3g} of CPU, and "
            f"{largest['megabytes']:,.0f} MB at the peak, to a gap of {largest['gap']:.1e}; "
            f"{slowest} takes longest, {largest[slowest]:.3g} s."
        )
        if len(part) > 1:
            lines.append(
                f"- d = {d}, {sigma}, asked for {tol:.0e}: seconds grow like "
                f"n^{growth(part['n'], part['total']):.2f}."
            )
    return lines
