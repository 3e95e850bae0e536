"""Seconds to a certified solution of Eq. 5 against n: ours and the quadratic-programming solvers.

Three families of problems, all with three levels by the average 20-NN distance, C = 1/n and the anchor of
weight n: a *smooth* kernel (the density of Fig. 1, sigma = 1.5 as there, rank about 200), and two on the
density of Fig. 2 whose sigma shrinks with n, 4 D_K and D_K (rank near n). All contenders solve the same
problem in one process, in turn, and are judged by the same certificate. A contender that would pass the
time limit sits out the larger n. (scikit-survival's ranking SVM is not among them: it breaks ties of its
target at random, and levels are nothing but ties.)
"""

from __future__ import annotations

import json
import multiprocessing
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from .. import densities, plots, ranksvm
from ..neighbors import knn_statistic, rank
from ..preferences import quantize
from ..ranksvm.solution import conclude
from .timing import peak_megabytes

FAMILIES = {
    "smooth": (20, 50, 100, 200, 400, 800, 2000, 5000, 20_000, 100_000),
    "4 D_K": (300, 1000, 2000),
    "D_K": (300, 1000, 2000),
}
"""Sizes n of each family."""

COLUMNS = ["family", "loss", "solver", "n", "pairs", "seconds", "fastest", "slowest", "gap", "megabytes"]

TOL = 1e-6
FIRST_ANSWER = 1e-2
OURS, OURS_FIRST = "newton", "newton, gap 1e-2"

# Tolerances at which each solver comes near a relative gap of 1e-6, where it can at all.
QP_OPTIONS = {
    "CLARABEL": {"tol_gap_abs": 1e-8, "tol_gap_rel": 1e-8, "tol_feas": 1e-8},
    "PIQP": {"eps_abs": 1e-8, "eps_rel": 1e-8},
    "OSQP": {"eps_abs": 1e-6, "eps_rel": 1e-6, "max_iter": 100_000},
    "SCS": {"eps_abs": 1e-6, "eps_rel": 1e-6, "max_iters": 100_000},
}


def run(largest=100_000, repetitions=3, limit=30.0, report=print):
    """Time every contender at every size it can take.

    Parameters
    ----------
    largest : int
        Largest n to try.
    repetitions : int
        Runs of each contender at each size, in turn.
    limit : float
        Seconds; a contender that its last size lets expect more sits out the larger ones.
    report : callable
        Called with a line of text as each contender is done.

    Returns
    -------
    data frame with columns family, loss, solver, n, pairs, seconds (median), fastest, slowest, gap (the
    largest), and megabytes: the peak memory of a process that does nothing else, where n is 20,000 or more
    """
    rows = []
    contenders = _contenders()
    for family, sizes in FAMILIES.items():
        # The squared hinge is timed on the smooth family alone.
        for loss in ranksvm.LOSSES if family == "smooth" else ("hinge",):
            last = {}
            for n in (n for n in sizes if n <= largest):
                for row in _run_size(family, loss, n, contenders, last, repetitions, limit):
                    rows.append(row)
                    report(f"{family:7}{loss:14}n={n:>7,} {row[2]:17}{row[5]:9.3f} s   gap {row[8]:.1e}")
    return pd.DataFrame(rows, columns=COLUMNS)


def _run_size(family, loss, n, contenders, last, repetitions, limit):
    """Yield a row for each contender that is expected to stay within the limit."""
    problem = make_problem(family, n, loss)
    present = [name for name in contenders if _forecast(n, last.get(name)) <= limit]
    measured = {name: [] for name in present}
    for _ in range(repetitions):
        for name in present:
            measured[name].append(_timed(contenders[name], problem))
    for name, runs in measured.items():
        seconds, gaps = np.transpose(runs)
        median, gap = np.median(seconds), gaps.max()
        last[name] = (n, median if np.isfinite(gap) else np.inf)
        memory = _peak_memory(family, n, loss) if name == OURS and n >= 20_000 else np.nan
        yield family, loss, name, n, problem.n_pairs, median, seconds.min(), seconds.max(), gap, memory


def make_problem(family, n, loss="hinge"):
    """Return the problem of one family, size and loss."""
    density = densities.FIG1 if family == "smooth" else densities.FIG2
    X = density.sample(n, random_state=0)
    G = knn_statistic(X, k=min(20, n // 4))
    sigma = {"smooth": 1.5, "4 D_K": 4 * G.mean(), "D_K": G.mean()}[family]
    return ranksvm.make_problem(X, quantize(rank(G, G)), sigma=sigma, C=1 / n, loss=loss, anchor=n)


def save(frame, folder):
    """Write the table as JSON and Markdown and the figure as HTML, and return the folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "solver.json").write_text(json.dumps(frame.to_dict("records"), indent=1))
    (folder / "solver.md").write_text(markdown(frame))
    curves = {
        f"{solver} ({loss.replace('_', ' ')})": (part["n"].to_numpy(), part["seconds"].to_numpy())
        for (loss, solver), part in frame[frame["family"] == "smooth"].groupby(["loss", "solver"], sort=False)
    }
    plots.log_log(curves, "n", "seconds to the solution").write_html(folder / "solver.html")
    return folder


def markdown(frame):
    """Medians in seconds with the certified relative gap, one row a size, one column a contender."""
    lines = [*_findings(frame), ""]
    for (family, loss), part in frame.groupby(["family", "loss"], sort=False):
        solvers = list(part["solver"].unique())
        lines += [f"### {family}, {loss.replace('_', ' ')}", ""]
        lines += ["| n | pairs | " + " | ".join(solvers) + " |", "|" + " --: |" * (2 + len(solvers))]
        for n, size in part.groupby("n"):
            cell = {row.solver: _cell(row) for row in size.itertuples()}
            cells = [cell.get(solver, "-") for solver in solvers]
            lines.append(f"| {n:,} | {size['pairs'].iloc[0]:,} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def _findings(frame):
    """Sentences that the table supports: the ratio to the best other solver, growth with n, and memory."""
    smooth = frame[(frame["family"] == "smooth") & (frame["loss"] == "hinge")]
    ours = smooth[smooth["solver"] == OURS].set_index("n")
    others = smooth[~smooth["solver"].isin([OURS, OURS_FIRST]) & smooth["gap"].notna()]
    others = others[others["n"].isin(ours.index)]
    lines = []
    for n, size in others.groupby("n"):
        best = size.loc[size["seconds"].idxmin()]
        ratio = best["seconds"] / ours.loc[n, "seconds"]
        lines.append(f"- n = {n:,}: {ratio:.3g} times as fast as the best other solver ({best['solver']}).")
    large = ours[ours.index >= 2000]
    if len(large) > 1:
        growth = np.polyfit(np.log(large.index), np.log(large["seconds"]), 1)[0]
        lines.append(
            f"- From n = {large.index[0]:,} to {large.index[-1]:,} seconds grow like n^{growth:.2f}."
        )
    for n, megabytes in ours["megabytes"].dropna().items():
        lines.append(f"- Peak memory at n = {n:,}: {megabytes:,.0f} MB, Python and libraries included.")
    return lines


def _cell(row):
    return "failed" if np.isnan(row.gap) else f"{row.seconds:.3g} s ({row.gap:.0e})"


def _forecast(n, last):
    """Seconds to expect at n from the last size measured; the quadratic programs grow like n^3 at least."""
    if last is None:
        return 0.0
    n_last, seconds = last
    return seconds * (n / n_last) ** (3 if n_last < 2000 else 1)


def _contenders():
    """Functions from a problem to a relative gap, by name; those that are installed."""
    import cvxpy

    installed = [name for name in QP_OPTIONS if name in cvxpy.installed_solvers()]
    ours = {OURS: _newton, OURS_FIRST: partial(_newton, tol=FIRST_ANSWER)}
    return ours | {f"cvxpy {name}": _qp(name) for name in installed}


def _timed(solve, problem):
    # A fresh kernel each time: nobody profits from a matrix worked out in the run before.
    problem = problem.with_kernel(type(problem.kernel)(problem.kernel.X, problem.kernel.sigma))
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            gap = solve(problem)
        except Exception:  # a contender that gives up is a result, not an accident
            gap = np.nan
    return time.perf_counter() - started, gap


def _newton(problem, tol=TOL):
    solution = ranksvm.solve(
        problem.kernel.X,
        problem.levels,
        sigma=problem.kernel.sigma,
        C=problem.C,
        loss=problem.loss,
        anchor=problem.anchor,
        solver="newton",
        tol=tol,
    )
    return solution.gap


def _qp(name):
    def solve(problem):
        from ..ranksvm import exact

        candidate = exact.solve(problem, TOL, qp_solver=name, **QP_OPTIONS[name])
        return conclude(problem, candidate, TOL, name, "", time.perf_counter()).gap

    return solve


def _peak_memory(family, n, loss):
    """Megabytes at the peak of a fresh process that poses the problem and solves it."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_solve_and_weigh, family, n, loss).result()


def _solve_and_weigh(family, n, loss):
    _newton(make_problem(family, n, loss))
    return peak_megabytes()
