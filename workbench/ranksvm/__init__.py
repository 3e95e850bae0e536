"""Eq. 5, solved: kernel RankSVM with a certificate that does not depend on who solved it."""

from __future__ import annotations

import time
import warnings
from functools import cache

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from threadpoolctl import ThreadpoolController

from ..kernels import KernelMatrix
from . import newton
from .problem import (
    LOSSES,
    NodeDual,
    PairDual,
    RankSVMProblem,
    RankSVMSolution,
    certify,
)

__all__ = ["SOLVERS", "NodeDual", "PairDual", "RankSVMProblem", "RankSVMSolution", "make_problem", "solve"]


def _cvxpy(problem, tol):
    from . import exact  # cvxpy takes a second to import, and most fits never need it

    return exact.solve(problem, tol)


SOLVERS = {"newton": newton.solve, "cvxpy": _cvxpy}


def solve(X, levels, *, sigma, C, loss="hinge", anchor=0.0, solver="auto", tol=1e-6):
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
    if not (_is_real(tol) and 0 < tol < 1):
        raise ValueError(f"tol must be a relative gap between 0 and 1, got {tol!r}. 1e-6 is the default.")
    name, reason = _choose(solver)
    with _blas().limit(limits=1, user_api="blas"):
        candidate = SOLVERS[name](problem, tol)
        scores, norm, primal, dual, gap = certify(problem, candidate)
    solution = RankSVMSolution(
        beta=candidate.beta,
        scores=scores,
        norm=norm,
        primal=primal,
        dual=dual,
        gap=gap,
        solver=name,
        reason=reason,
        n_iter=candidate.n_iter,
        seconds=time.perf_counter() - started,
        n_pairs=problem.n_pairs,
        converged=gap <= tol,
        dual_point=candidate.dual_point,
    )
    if not solution.converged:
        warnings.warn(
            f"RankSVM stopped at relative gap {gap:.1e}, above tol={tol:g}. The solution carries this gap; "
            "raise tol, lower C or change sigma if it is too large.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return solution


def make_problem(X, levels, *, sigma, C, loss="hinge", anchor=0.0):
    """Check the inputs of :func:`solve` and return the RankSVMProblem they pose."""
    X = check_array(X, dtype=float, input_name="X")
    levels = column_or_1d(levels)
    check_consistent_length(X, levels)
    if not np.issubdtype(levels.dtype, np.integer):
        raise ValueError(
            f"levels must be whole numbers, got dtype {levels.dtype}. "
            "Quantise ranks with workbench.preferences.quantize first."
        )
    for name, value in (("sigma", sigma), ("C", C)):
        if not (_is_real(value) and 0 < value < np.inf):
            raise ValueError(f"{name} must be a positive finite number, got {value!r}.")
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}.")
    if not (_is_real(anchor) and 0 <= anchor < np.inf):
        raise ValueError(
            f"anchor must be a multiplicity >= 0 (0 leaves the point at infinity out), got {anchor!r}."
        )
    _, levels = np.unique(levels, return_inverse=True)
    return RankSVMProblem(KernelMatrix(X, float(sigma)), levels, float(C), loss, float(anchor))


@cache
def _blas():
    """Thread pools of the BLAS libraries that numpy and scipy bring, one each.

    The solvers switch between the two many times a second, and threads of the one spin while the other
    works: two threads each on two cores took twice as long as one, and up to a hundred times with
    another process about.
    """
    return ThreadpoolController()


def _choose(solver):
    if solver == "auto":
        return "newton", "fastest at every n, and needs no pair in memory"
    if solver not in SOLVERS:
        raise ValueError(f"solver must be one of auto, {', '.join(SOLVERS)}, got {solver!r}.")
    return solver, "asked for"


def _is_real(value):
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
