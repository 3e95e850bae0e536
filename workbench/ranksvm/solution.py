"""What a solver hands back, and the certificate that is worked out apart from it."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..kernels import Factor
from .factors import CutFactor
from .problem import NodeDual, PairDual

MOST_FOR_WHOLE_PRODUCT = 200_000
"""Points up to which a certificate may cost a product with all of K: seconds grow like n^2."""


@dataclass(frozen=True)
class Candidate:
    """What a solver hands back, before anyone has checked it.

    Attributes
    ----------
    beta : array of shape (n,)
    dual_point : NodeDual or PairDual
    n_iter : int
    factor : Factor or None
        Set by solvers that worked in a low-rank factor of K.
    """

    beta: np.ndarray
    dual_point: NodeDual | PairDual
    n_iter: int
    factor: Factor | None = None


@dataclass(frozen=True)
class RankSVMSolution:
    """A solution and its certificate.

    Attributes
    ----------
    beta : array of shape (n,)
        ``g = sum_i beta_i k(x_i, .)``.
    scores : array of shape (n,)
        ``g(x_i)`` on the training points.
    norm : float
        ``|g|`` in the RKHS.
    primal, dual : float
        Objective at g and at `dual_point`, both recomputed with the true kernel outside the solver.
    gap : float
        ``(primal - dual) / max(|primal|, tiny)``: relative and certified.
    solver : str
        Which solver ran.
    reason : str
        Why that one.
    n_iter : int
        Iterations: Newton steps, or those the quadratic-programming solver reports.
    seconds : float
        Wall time of problem, solver and certificate together.
    n_pairs : int
        |P|.
    converged : bool
        Whether ``gap <= tol``.
    dual_point : NodeDual or PairDual
        The witness behind `dual`.
    rounding : array of shape (n,) or None
        Upper bound of the rounding error of each score, where it took long to work these out.
    cut : int or None
        Number of landmarks in whose span alone the problem was solved, where n is above 5000 and the whole
        kernel needs more; the gap counts what that leaves out.
    """

    beta: np.ndarray = field(repr=False)
    scores: np.ndarray = field(repr=False)
    norm: float
    primal: float
    dual: float
    gap: float
    solver: str
    reason: str
    n_iter: int
    seconds: float
    n_pairs: int
    converged: bool
    dual_point: NodeDual | PairDual = field(repr=False)
    rounding: np.ndarray | None = field(default=None, repr=False)
    cut: int | None = None


def conclude(problem, candidate, tol, solver, reason, started):
    """Recompute a candidate's primal, dual and gap with the true kernel, and write down the solution.

    Parameters
    ----------
    problem : RankSVMProblem
    candidate : Candidate
    tol : float
    solver, reason : str
        Which solver ran, and why.
    started : float
        ``time.perf_counter()`` at the start.

    Returns
    -------
    RankSVMSolution
    """
    beta, dual_point, factor = candidate.beta, candidate.dual_point, candidate.factor
    scores, rounding = problem.kernel.dot(beta), None
    primal = problem.primal(beta, scores)
    dual = problem.dual(dual_point, factor)
    cut = factor.rank if isinstance(factor, CutFactor) else None
    if cut and _relative(primal, dual) > tol and problem.n <= MOST_FOR_WHOLE_PRODUCT:
        dual_point, *of_dual, quadratic = problem.best_multiple(dual_point)
        dual = problem.dual(dual_point, quadratic=quadratic)
        value = problem.primal(*of_dual[:2])
        # An expansion over all points is dear to score with: only where the landmarks miss the tolerance.
        if value < primal and _relative(primal, dual) > tol:
            (beta, scores, rounding), primal = of_dual, value
    gap = _relative(primal, dual)
    return RankSVMSolution(
        beta=beta,
        scores=scores,
        rounding=rounding,
        norm=float(np.sqrt(max(beta @ scores, 0.0))),
        primal=primal,
        dual=dual,
        gap=gap,
        solver=solver,
        reason=reason,
        n_iter=candidate.n_iter,
        seconds=time.perf_counter() - started,
        n_pairs=problem.n_pairs,
        converged=gap <= tol,
        dual_point=dual_point,
        cut=cut,
    )


def _relative(primal, dual):
    return float((primal - dual) / max(abs(primal), np.finfo(float).tiny))


def warn_unless_converged(solution, tol, sigma, C):
    """Issue a ConvergenceWarning that names the cell and the gap reached, where it is above `tol`.

    Python shows a warning of the same text once, and the cells of a sweep must not hide one another.
    """
    if not solution.converged:
        advice = "raise tol, lower C or change sigma if it is too large."
        if solution.cut is not None:
            advice = (
                f"at this sigma the kernel matrix of {len(solution.beta):,} points needs more than the "
                f"{solution.cut:,} landmarks that it was solved on. Raise sigma, raise tol, or train on "
                "fewer points (up to 5,000 any sigma is solved exactly)."
            )
        warnings.warn(
            f"RankSVM at sigma={sigma:g}, C={C:g} stopped at relative gap {solution.gap:.1e}, above "
            f"tol={tol:g}. The solution carries this gap; {advice}",
            ConvergenceWarning,
            stacklevel=3,
        )
