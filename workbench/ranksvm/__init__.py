"""Eq. 5, solved: kernel RankSVM with a certificate that does not depend on who solved it."""

from __future__ import annotations

import time

from ..threads import one_blas_thread
from . import newton
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
]


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
    warn_unless_converged(solution, tol, sigma, C)
    return solution


def _choose(solver):
    if solver == "auto":
        # Measured by `workbench bench solver`: below n = 100 cvxpy is up to 10 ms faster once it is imported,
        # which takes a second.
        return "newton", "fastest at every n from 100 on (workbench bench solver); keeps no pair in memory"
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ValueError(f"solver must be one of auto, {', '.join(SOLVERS)}, got {solver!r}.")
    return solver, "asked for"
