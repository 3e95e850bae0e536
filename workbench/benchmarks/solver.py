"""Seconds to a certified solution of Eq. 5 against n: ours and the quadratic-programming solvers.

One problem family: the density of Fig. 1, sigma = 1.5 as there, three levels by the average 20-NN
distance, C = 1/n, the anchor of weight n. All contenders solve the same problem in one process, in turn,
and are judged by the same certificate. A contender that would pass the time limit sits out the larger n.
(scikit-survival's ranking SVM is not among them: it breaks ties of its target at random, and levels
are nothing but ties.)
"""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from .. import densities, plots, ranksvm
from ..neighbors import knn_statistic, rank
from ..preferences import quantize
from ..ranksvm.solution import conclude

SIZES = (100, 200, 400, 800, 2000, 5000, 20_000, 100_000)
TOL = 1e-6

# Tolerances at which each solver comes near a relative gap of 1e-6, where it can at all.
QP_OPTIONS = {
    "CLARABEL": {"tol_gap_abs": 1e-8, "tol_gap_rel": 1e-8, "tol_feas": 1e-8},
    "PIQP": {"eps_abs": 1e-8, "eps_rel": 1e-8},
    "OSQP": {"eps_abs": 1e-6, "eps_rel": 1e-6, "max_iter": 100_000},
    "SCS": {"eps_abs": 1e-6, "eps_rel": 1e-6, "max_iters": 100_000},
}


def run(sizes=SIZES, repetitions=3, limit=30.0, report=print):
    """Time every contender at every size it can take.

    Parameters
    ----------
    sizes : sequence of int
    repetitions : int
        Runs of each contender at each size, in turn.
    limit : float
        Seconds; a contender that its last size lets expect more sits out the larger ones.
    report : callable
        Called with a line of text as each size is done.

    Returns
    -------
    data frame with columns loss, solver, n, pairs, seconds (median), fastest, slowest, gap (the largest)
    """
    rows = []
    last = {}
    contenders = _contenders()
    for n in sizes:
        for loss in ranksvm.LOSSES:
            problem = _problem(n, loss)
            present = {
                name: solve
                for name, solve in contenders.items()
                if _forecast(n, last.get((loss, name))) <= limit
            }
            measured = {name: [] for name in present}
            for _ in range(repetitions):
                for name, solve in present.items():
                    measured[name].append(_timed(solve, problem))
            for name, runs in measured.items():
                seconds, gaps = np.transpose(runs)
                median, gap = np.median(seconds), gaps.max()
                rows.append((loss, name, n, problem.n_pairs, median, seconds.min(), seconds.max(), gap))
                last[loss, name] = (n, median if np.isfinite(gap) else np.inf)
                report(f"n={n:>7,} {loss:13} {name:15} {median:9.3f} s   gap {gap:.1e}")
    columns = ["loss", "solver", "n", "pairs", "seconds", "fastest", "slowest", "gap"]
    return pd.DataFrame(rows, columns=columns)


def save(frame, folder):
    """Write the table as JSON and Markdown and the figure as HTML, and return the folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "solver.json").write_text(json.dumps(frame.to_dict("records"), indent=1))
    (folder / "solver.md").write_text(markdown(frame))
    curves = {
        f"{solver} ({loss.replace('_', ' ')})": (part["n"].to_numpy(), part["seconds"].to_numpy())
        for (loss, solver), part in frame.groupby(["loss", "solver"], sort=False)
    }
    plots.log_log(curves, "n", "seconds to the solution").write_html(folder / "solver.html")
    return folder


def markdown(frame):
    """Medians in seconds with the certified relative gap, one row a size, one column a contender."""
    lines = []
    for loss, part in frame.groupby("loss", sort=False):
        solvers = list(part["solver"].unique())
        lines += [f"### {loss.replace('_', ' ')}", "", "| n | pairs | " + " | ".join(solvers) + " |"]
        lines += ["|" + " --: |" * (2 + len(solvers))]
        for n, size in part.groupby("n"):
            cell = {row.solver: _cell(row) for row in size.itertuples()}
            cells = [cell.get(solver, "-") for solver in solvers]
            lines.append(f"| {n:,} | {size['pairs'].iloc[0]:,} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def _cell(row):
    return "failed" if np.isnan(row.gap) else f"{row.seconds:.3g} s ({row.gap:.0e})"


def _forecast(n, last):
    """Seconds to expect at n from the last size measured; the quadratic programs grow like n^3 at least."""
    if last is None:
        return 0.0
    n_last, seconds = last
    return seconds * (n / n_last) ** (3 if n_last < 2000 else 1)


def _problem(n, loss):
    X = densities.FIG1.sample(n, random_state=0)
    G = knn_statistic(X, k=20)
    return ranksvm.make_problem(X, quantize(rank(G, G)), sigma=1.5, C=1 / n, loss=loss, anchor=n)


def _contenders():
    """Functions from a problem to a relative gap, by name; those that are installed."""
    import cvxpy

    installed = [name for name in QP_OPTIONS if name in cvxpy.installed_solvers()]
    return {"newton": _newton} | {f"cvxpy {name}": _qp(name) for name in installed}


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


def _newton(problem):
    solution = ranksvm.solve(
        problem.kernel.X,
        problem.levels,
        sigma=problem.kernel.sigma,
        C=problem.C,
        loss=problem.loss,
        anchor=problem.anchor,
        solver="newton",
        tol=TOL,
    )
    return solution.gap


def _qp(name):
    def solve(problem):
        from ..ranksvm import exact

        candidate = exact.solve(problem, TOL, qp_solver=name, **QP_OPTIONS[name])
        return conclude(problem, candidate, TOL, name, "", time.perf_counter()).gap

    return solve
