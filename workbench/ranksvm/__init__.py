"""Eq. 5, solved: kernel RankSVM with a certificate that does not depend on who solved it."""

from __future__ import annotations

import time

import numpy as np

from ..landmarks import random_factor
from ..threads import one_blas_thread
from . import newton
from .factors import CutFactor, most_pivots
from .factors import factor as factorise
from .path import path
from .problem import LOSSES, NodeDual, PairDual, RankSVMProblem, check_tol, make_problem
from .progress import GapBar, Progress
from .solution import RankSVMSolution, conclude, warn_unless_converged

__all__ = [
    "LOSSES",
    "SOLVERS",
    "GapBar",
    "NodeDual",
    "PairDual",
    "Progress",
    "RankSVMProblem",
    "RankSVMSolution",
    "make_problem",
    "path",
    "solve",
    "solve_in_span",
]

WITHIN_REACH = 1e-2
"""Gap of the first pivots above which more, but not all, would not bring it down to what is asked for."""

LEAST_RESIDUAL = 1e-10
"""Squared distance in the RKHS of a landmark from the span of those before, at least."""


def _cvxpy(problem, tol, callback=None):
    from . import exact  # cvxpy takes a second to import, and most fits never need it

    return exact.solve(problem, tol)


SOLVERS = {"newton": newton.solve, "cvxpy": _cvxpy}


def solve(X, levels, *, sigma, C, loss="hinge", anchor=0.0, solver="auto", tol=1e-6, callback=None):
    """Train a kernel RankSVM on all pairs of points in different levels (Eq. 5).

    Parameters
    ----------
    X : array of shape (n, d)
    levels : int array of shape (n,)
        Larger is denser; every pair of different levels is a preference.
    sigma : float
        Bandwidth of ``exp(-|x - x'|^2 / sigma^2)``, in the units of the data.
    C : float
        Price of a violated pair.
    loss : {"hinge", "squared_hinge"}
    anchor : float, default 0
        Multiplicity a of the point at infinity, a level below all others where g = 0: adds
        ``a C sum_i loss(g(x_i))``. 0 is the paper's problem; n is what RankAD uses.
    solver : {"auto", "newton", "cvxpy"}
    tol : float, default 1e-6
        Relative duality gap to reach.
    callback : callable, optional
        Called with a :class:`Progress` after each Newton step; :class:`GapBar` is one. An exception it
        raises ends the fit. The cvxpy solver reports nothing on its way.

    Returns
    -------
    RankSVMSolution
        With primal, dual and relative gap recomputed from the true kernel.

    Raises
    ------
    ValueError
        For anything that is not a well-posed problem; the message says what and what to do.

    Warns
    -----
    ConvergenceWarning
        If the gap reached is larger than `tol`; the message names it.
    """
    started = time.perf_counter()
    problem = make_problem(X, levels, sigma=sigma, C=C, loss=loss, anchor=anchor)
    check_tol(tol)
    name, reason = _choose(solver)
    with one_blas_thread():
        candidate = SOLVERS[name](problem, tol, callback=callback)
        solution = conclude(problem, candidate, tol, name, reason, started)
        while _more_pivots_help(solution):
            # Twice as many a time where the gap is near; all, where it takes all.
            at_most = 2 * solution.cut if solution.gap < WITHIN_REACH else None
            factor = factorise(problem.kernel, newton.factor_tolerance(problem, tol), at_most)
            candidate = newton.solve(problem, tol, factor, callback)
            solution = conclude(problem, candidate, tol, name, reason, started)
    warn_unless_converged(solution, tol, sigma, C)
    return solution


def _more_pivots_help(solution):
    """Whether the problem was solved in a span that was too small, and memory holds one that may do."""
    n, cut = len(solution.beta), solution.cut
    if solution.converged or cut is None or cut >= most_pivots(n):
        return False
    return most_pivots(n) == n or solution.gap < WITHIN_REACH


def solve_in_span(X, levels, landmarks, *, sigma, C, anchor=0.0, tol=1e-6):
    """Solve Eq. 5 (hinge) among ``g = sum_p c_p k(x_p, .)`` over some of the points, the landmarks.

    They are drawn by randomly pivoted Cholesky (:mod:`workbench.landmarks`). What is left out is not counted:
    the gap of g in the whole problem can be large.

    Parameters
    ----------
    X, levels, sigma, C, anchor
        As for :func:`solve`.
    landmarks : int
        How many; fewer are used where fewer are linearly independent.
    tol : float, default 1e-6
        Relative gap within the span.

    Returns
    -------
    array of shape (n,)
        Coefficients beta of g, 0 but for the landmarks.

    Raises
    ------
    ValueError
        As :func:`solve`, or if `landmarks` is no whole number of them.
    """
    problem = make_problem(X, levels, sigma=sigma, C=C, anchor=anchor)
    check_tol(tol)
    if isinstance(landmarks, bool) or not isinstance(landmarks, (int, np.integer)) or landmarks < 1:
        raise ValueError(f"landmarks must be a whole number, at least 1, got {landmarks!r}.")
    with one_blas_thread():
        factor = random_factor(problem.kernel, landmarks, LEAST_RESIDUAL)
        return newton.solve(problem, tol, CutFactor(factor.Phi, factor.pivots, factor.residual)).beta


def _choose(solver):
    if solver == "auto":
        # Measured by `workbench bench solver`: below n = 100 cvxpy is up to 10 ms faster once it is imported,
        # which takes a second.
        return "newton", "fastest at every n from 100 on (workbench bench solver); keeps no pair in memory"
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ValueError(f"solver must be one of auto, {', '.join(SOLVERS)}, got {solver!r}.")
    return solver, "asked for"
