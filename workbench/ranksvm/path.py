"""Eq. 5 over a grid of bandwidths and prices, as cross-validation needs it (Sec. 6.1, item 3)."""

from __future__ import annotations

import time

import numpy as np
from joblib import Parallel, delayed

from ..threads import one_blas_thread
from . import newton
from .factors import factor as factorise
from .problem import check_tol, make_problem
from .solution import Candidate, conclude, warn_unless_converged


def path(X, levels, *, sigmas, Cs, loss="hinge", anchor=0.0, tol=1e-6, n_jobs=None):
    """Solve Eq. 5 for every pair of a bandwidth and a price.

    The kernel matrix and its factor are worked out once a bandwidth. C is walked upwards, and a solution
    is kept for the next C wherever its certificate there is within `tol`: once no pair weight is at its
    limit, raising C changes nothing. Otherwise each C starts afresh. (Carrying primal and multipliers on
    took more steps than a cold start wherever C mattered, up to ten times as many.)

    Parameters
    ----------
    X : array of shape (n, d)
    levels : int array of shape (n,)
    sigmas, Cs : sequences of float
    loss, anchor, tol
        As for :func:`workbench.ranksvm.solve`.
    n_jobs : int, optional
        Bandwidths to work on at a time, as joblib counts; each takes one core.

    Yields
    ------
    sigma : float
    C : float
    solution : RankSVMSolution
        In the order of `sigmas`, and of `Cs` from small to large. A progress bar is
        ``tqdm(path(...), total=len(sigmas) * len(Cs))``.

    Raises
    ------
    ValueError
        As :func:`workbench.ranksvm.solve`, before anything is solved.
    """
    check_tol(tol)
    _check_n_jobs(n_jobs)
    Cs = sorted(Cs)
    for sigma in sigmas:
        for C in Cs:
            make_problem(X, levels, sigma=sigma, C=C, loss=loss, anchor=anchor)
    settings = {"loss": loss, "anchor": anchor}
    rows = (delayed(_row)(X, levels, sigma, Cs, settings, tol) for sigma in sigmas)
    solved = Parallel(n_jobs=n_jobs, return_as="generator")(rows)
    return _flat(sigmas, Cs, solved, tol)


def _check_n_jobs(n_jobs):
    is_whole = isinstance(n_jobs, (int, np.integer)) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (is_whole and n_jobs != 0):
        raise ValueError(f"n_jobs must be a number of processes, -1 for one a core, or None, got {n_jobs!r}.")


def _flat(sigmas, Cs, solved, tol):
    for sigma, row in zip(sigmas, solved, strict=True):
        for C, solution in zip(Cs, row, strict=True):
            warn_unless_converged(solution, tol, sigma, C)
            yield sigma, C, solution


def _row(X, levels, sigma, Cs, settings, tol):
    """Solve for one bandwidth and ascending C."""
    problems = [make_problem(X, levels, sigma=sigma, C=C, **settings) for C in Cs]
    kernel = problems[-1].kernel
    solutions = []
    with one_blas_thread():
        factor = factorise(kernel, newton.factor_tolerance(problems[-1], tol))
        for problem in problems:
            started = time.perf_counter()
            problem = problem.with_kernel(kernel)
            solution = None
            if solutions:
                last = Candidate(solutions[-1].beta, solutions[-1].dual_point, 0, factor)
                solution = conclude(problem, last, tol, "newton", "kept from the C before", started)
            if solution is None or not solution.converged:
                candidate = newton.solve(problem, tol, factor=factor)
                solution = conclude(problem, candidate, tol, "newton", "the solver of paths", started)
            solutions.append(solution)
    return solutions
