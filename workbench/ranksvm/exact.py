"""Eq. 5 by cvxpy, written as the paper prints it: one slack a pair. The reference for small samples."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from ..preferences import pairs
from .problem import PairDual
from .solution import Candidate

MAX_PAIRS = 250_000
"""About n = 860 at three levels: some minutes and a few GB with an interior-point solver."""


def solve(problem, tol, qp_solver=cp.CLARABEL, **options):
    """Solve Eq. 5 with one slack variable and one constraint a pair.

    The scores are written ``f = Phi w`` with ``K = Phi Phi'`` and the pairs as sparse constraints
    ``f_i - f_j >= 1 - xi_ij``, which interior-point solvers factor much faster than dense rows of K.

    Parameters
    ----------
    problem : RankSVMProblem
    tol : float
        Relative gap wanted; the solver is asked for a hundredth of it.
    qp_solver : str
        Name of a quadratic-programming solver installed with cvxpy.
    **options
        Passed on to that solver in place of its tolerances.

    Returns
    -------
    Candidate

    Raises
    ------
    ValueError
        If there are more than MAX_PAIRS pairs.
    """
    if problem.n_pairs > MAX_PAIRS:
        raise ValueError(
            f"{problem.n_pairs:,} preference pairs are too many for one slack variable each "
            f'(the limit is {MAX_PAIRS:,}). Use solver="newton", which keeps none in memory, or fewer points.'
        )
    higher, lower = pairs(problem.levels)
    n, n_pairs = problem.n, len(higher)
    factor = problem.kernel.factor(1e-14)

    f, w = cp.Variable(n), cp.Variable(factor.rank)
    xi_anchor = cp.Variable(n, nonneg=True)
    penalty = cp.sum if problem.loss == "hinge" else cp.sum_squares
    objective = cp.sum_squares(w) / 2
    constraints = [f == factor.Phi @ w]
    above_infinity = f + xi_anchor >= 1
    if n_pairs:  # cvxpy up to 1.8 refuses a variable without entries
        xi = cp.Variable(n_pairs, nonneg=True)
        rows = np.arange(n_pairs)
        A = sp.csr_array((np.ones(n_pairs), (rows, higher)), shape=(n_pairs, n))
        A = A - sp.csr_array((np.ones(n_pairs), (rows, lower)), shape=(n_pairs, n))
        preference = A @ f + xi >= 1
        objective += problem.C * penalty(xi)
        constraints.append(preference)
    if problem.anchor:
        objective += problem.anchor * problem.C * penalty(xi_anchor)
        constraints.append(above_infinity)
    program = cp.Problem(cp.Minimize(objective), constraints)
    program.solve(solver=qp_solver, **(options or _tolerances(qp_solver, tol / 100)))
    if w.value is None:
        raise RuntimeError(f"{qp_solver} ended with status {program.status!r} and no solution.")

    alpha = _feasible(preference.dual_value, problem, 1.0) if n_pairs else np.zeros(0)
    anchor = np.zeros(n)
    if problem.anchor:
        anchor = _feasible(above_infinity.dual_value, problem, problem.anchor)
    beta = np.zeros(n)
    beta[factor.pivots] = factor.coefficients(w.value)
    return Candidate(beta, PairDual(alpha, anchor), program.solver_stats.num_iters or 0)


def _feasible(dual_value, problem, multiplicity):
    """Weights per unit pair, moved into the box the solver respects only up to its tolerance."""
    limit = problem.C if problem.loss == "hinge" else np.inf
    return np.clip(dual_value / multiplicity, 0.0, limit)


def _tolerances(qp_solver, tol):
    if qp_solver == cp.CLARABEL:
        return {"tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol}
    return {}
