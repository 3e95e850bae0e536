r"""Smoothed Newton on sorted scores, with a proximal-point multiplier at node level.

Write :math:`K \approx \Phi\Phi'` (pivoted Cholesky, rank r) and :math:`g = \Phi w`. The hinge sum is not
smooth; a proximal-point step with centre ``alpha_prev`` and weight h replaces each pair's loss by its
Moreau envelope, whose minimiser over the pair weight is

.. math::  \alpha_{ij} = C\,\mathrm{clip}\bigl(x_{ij}, 0, 1\bigr),\qquad
           x_{ij} = x^{prev}_{ij} + \tfrac1h \bigl(1 - (g(x_i) - g(x_j))\bigr).

A multiplier a pair would cost O(n^2) memory. But when the *unclipped* x is carried from step to step
(a Bregman proximal point) it stays of the form :math:`x_{ij} = T - F_i + F_j` with
:math:`F = \Phi W`: each step only adds :math:`w/h` to W and :math:`1/h` to T. So r + 1 numbers
are the whole outer state, every alpha on the way is dual feasible, and h need not become small.

For fixed (W, T, h) the inner problem in w is smooth and convex, with

.. math::  \text{gradient } w - \Phi'\beta,\quad \beta = A'\alpha,\qquad
           \text{Hessian } I + \tfrac{C}{h}\,\Phi' L \Phi,

L the graph Laplacian of the pairs with 0 < x_ij < 1. Gradient and Hessian come from sliding windows
(:mod:`.windows`) at a cost of O(n r^2 + m n log n), whatever the number of pairs.

The duality gap splits into the three things the method drives to zero,

.. math::  \text{primal}(w) - \text{dual}(\alpha) = \tfrac12 \|w - \Phi'\beta\|^2
           + \bigl[ C\sum\ell - \sum\alpha + \beta'\Phi w \bigr]
           + \tfrac12 \bigl[ \beta'K\beta - \|\Phi'\beta\|^2 \bigr]:

- the inner gradient, by Newton steps;
- the complementarity, by a multiplier step as soon as the first term is well below it;
- what the span of the pivots misses. The first columns of a pivoted factor are a factor themselves, so
  the work starts in the span of a few pivots and moves to a larger one when this term dominates. Most
  steps are thus taken at a fraction of the full rank.

For the squared hinge h = 1/2 makes the inner problem Eq. 5 itself, with no upper clip and no multiplier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import gen_batches

from .directions import Span
from .factors import FIRST_PIVOTS, CutFactor
from .factors import factor as factorise
from .problem import NodeDual
from .progress import Progress
from .solution import Candidate

# Of 80 of the hardest cells of the paper's grid nine in ten took up to 135, and one 342.
MAX_ITER = 1000
MAX_INNER = 8
# An inner problem is solved until its part of the gap is below the first of these, as a fraction of the
# rest. What is left of it enters the multipliers for good, and where the best primal is far worse than the
# best dual that can outweigh what a multiplier step gains: hence the second, once an inner problem failed.
INEXACT, LESS_INEXACT = 0.3, 0.1
# How h moves after a multiplier step that took 0, 1, 2, ... Newton steps: faster while steps are cheap.
H_FACTORS = (0.25, 0.25, 0.25, 0.5, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0)
# Residual diagonals of the spans worked in before the complete one.
SPAN_ACCURACIES = (0.3, 3e-2, 1e-3, 1e-5)
# Newton systems are solved in single precision while the gap is above the one, and the Hessian's weight
# on a point, which bounds its condition, below the other.
SINGLE_PRECISION_GAP = 1e-5
SINGLE_PRECISION_SLOPE = 1e3
# In units of the tolerance: the gap down to which quadratic forms are those of the factor.
BY_FACTOR_ABOVE = 10.0
# Relative residual of the Newton systems. Looser ones leave the directions of low curvature unsolved: at
# 0.1, fits with C far above 1/n took two to three times as many steps, and some did not end. Tighter ones
# cost more products. The last step for the squared hinge has its own.
ACCURACY = 0.01
POLISHED = 1e-6
# Rows of Phi squared at a time.
ROWS = 4096


def solve(problem, tol, factor=None, callback=None):
    """Solve to relative gap `tol`, or as near as the iterations allow.

    Parameters
    ----------
    problem : RankSVMProblem
    tol : float
    factor : Factor, optional
        Of the problem's kernel, at least as accurate as :func:`factor_tolerance` asks; or a CutFactor, in
        whose span alone the gap is then brought down.
    callback : callable, optional
        Called with a Progress after each step.

    Returns
    -------
    Candidate
    """
    if factor is None:
        factor = factorise(problem.kernel, factor_tolerance(problem, tol), FIRST_PIVOTS)
    # What is kept out of the factor is left to the certificate: here it would only stall.
    served = factor.as_if_whole() if isinstance(factor, CutFactor) else factor
    spans = _spans(problem, served)
    span = next(spans)
    best = _Best(problem, served, tol)
    centre = _Centre(np.zeros(span.rank), 0.0, _initial_h(problem, span.Phi))
    point = _Point(problem, span.Phi, centre, np.zeros(span.rank))
    inner = 0
    inexact = INEXACT
    steps_in_span = 0
    for n_iter in range(MAX_ITER):
        best.update(point)
        if callback is not None:
            callback(Progress(n_iter, best.relative_gap, span.rank))
        outside, gap = point.outside(best.quadratic), best.primal - best.dual
        # Where C is tiny the loss alone fills the objective and every g near 0 has a small relative
        # gap, though it is the shape of g that ranks: so no span is left without a step, and none
        # that misses a part of g is the last.
        small = best.relative_gap <= tol and steps_in_span > 0
        if small and (span.complete or outside <= tol * (point.v @ point.v)):
            if problem.loss == "squared_hinge":
                # Nothing is clipped from above, so convergence is quadratic: with one step more the
                # scores, whose error goes like the root of the gap, are settled as well.
                polished = _newton_step(problem, span, centre, point, coarse=False, accuracy=POLISHED)
                if polished is not None:
                    best.update(polished)
            break
        if not span.complete and (small or outside > 0.5 * gap):
            span, centre, point = _enter(next(spans), problem, centre, point)
            steps_in_span = 0
        elif problem.loss == "hinge":
            if point.gradient @ point.gradient / 2 <= inexact * min(point.complementarity, gap):
                centre = centre.advance(point.w, H_FACTORS[min(inner, len(H_FACTORS) - 1)])
                inner = 0
                point = _Point(problem, span.Phi, centre, point.w, at=point)
            elif inner == MAX_INNER:
                centre = _Centre(centre.W, centre.T, 4 * centre.h)
                inner = 0
                inexact = LESS_INEXACT
                point = _Point(problem, span.Phi, centre, point.w, at=point)
        coarse = best.relative_gap > SINGLE_PRECISION_GAP
        following = _newton_step(problem, span, centre, point, coarse, ACCURACY)
        if following is not None:
            point = following
            inner += 1
            steps_in_span += 1
        elif span.complete:  # at the limit of double precision
            break
        else:
            span, centre, point = _enter(next(spans), problem, centre, point)
            steps_in_span = 0
    else:
        best.update(point)
        n_iter = MAX_ITER
    return best.candidate(n_iter, factor)


def _spans(problem, factor):
    """Yield spans of growing accuracy, the last one complete.

    The early steps, whose gap is large anyway, are cheap in the span of a few pivots.
    """
    explained = np.full(factor.rank, np.inf)
    for block in gen_batches(len(factor.Phi), ROWS):
        np.minimum(explained, np.cumsum(factor.Phi[block] ** 2, axis=1).min(axis=0), out=explained)
    residual = 1.0 - explained
    # With K at hand the complete span has its own short cut, which a nearly complete one would miss.
    largest = (0.6 if problem.kernel.is_dense else 0.8) * factor.rank
    for accuracy in SPAN_ACCURACIES:
        rank = int(np.searchsorted(-residual, -accuracy)) + 1
        if rank < largest:
            yield Span(problem.kernel, factor, rank)
    yield Span(problem.kernel, factor, factor.rank)


def _enter(span, problem, centre, point):
    """Go on in a larger span from where the smaller one was left."""
    more = np.zeros(span.rank - len(point.w))
    centre = _Centre(np.concatenate([centre.W, more]), centre.T, centre.h)
    return span, centre, _Point(problem, span.Phi, centre, np.concatenate([point.w, more]))


def factor_tolerance(problem, tol):
    """Residual diagonal at which the factor's error disappears below the gap asked for."""
    if problem.kernel.is_dense:  # the certificate uses the true K: only the iterates feel the error
        return float(np.clip(0.03 * tol / (problem.C * problem.n), 1e-14, 1e-8))
    return float(np.clip(0.02 * tol / (problem.C * max(problem.total_weight, 1.0)), 1e-14, 1e-8))


def _initial_h(problem, Phi):
    """Smooth enough that the first inner problem, started at w = 0, is nearly quadratic."""
    if problem.loss == "squared_hinge":
        return 0.5
    v = Phi.T @ (problem.C * problem.pair_sums(np.zeros(problem.n), 1.0).node)  # alpha = C on all pairs
    return max(1.0, float(v @ v) / max(problem.C * problem.total_weight, np.finfo(float).tiny))


@dataclass(frozen=True)
class _Centre:
    """The outer state: ``x_ij = T - F_i + F_j + (1 - f_i + f_j) / h`` with ``F = Phi W, f = Phi w``."""

    W: np.ndarray
    T: float
    h: float

    def advance(self, w, factor):
        return _Centre(self.W + w / self.h, self.T + 1 / self.h, self.h * factor)


class _Point:
    """One w, and everything the steps and the certificate need to know there.

    `at` is a point of the same w and another centre: scores and loss are as there.
    """

    def __init__(self, problem, Phi, centre, w, sums=None, at=None):
        self.w = w
        self.scores = Phi @ w if at is None else at.scores
        self.F = Phi @ centre.W + self.scores / centre.h
        self.T = centre.T + 1 / centre.h
        self.sums = problem.pair_sums(self.F, self.T) if sums is None else sums
        self.beta = problem.C * self.sums.node
        self.v = Phi.T @ self.beta
        self.gradient = w - self.v
        self.loss = problem.loss_sum(self.scores) if at is None else at.loss
        self.complementarity = self.loss - problem.C * self.sums.total + self.beta @ self.scores

    def outside(self, quadratic):
        """Return what the span leaves out of the gap: half of ``beta' K beta`` less its part in the span."""
        return (quadratic - self.v @ self.v) / 2


class _Best:
    """The best primal and the best dual point so far; they need not come from the same iterate.

    While the gap is large, ``beta' K beta`` is that of ``Phi Phi'``, which is cheaper than by K and a little
    smaller. Near the tolerance, where this could pass for a smaller gap, it is by K, for the best dual point
    until then as well.
    """

    def __init__(self, problem, factor, tol):
        self.problem = problem
        self.factor = factor
        self.primal = np.inf
        self.dual = -np.inf
        self.w = None
        self.dual_point = None
        self._dual_from = None
        self._by_factor_above = BY_FACTOR_ABOVE * tol if problem.kernel.is_dense else -np.inf

    @property
    def relative_gap(self):
        return (self.primal - self.dual) / max(abs(self.primal), np.finfo(float).tiny)

    def update(self, point):
        primal = float(point.w @ point.w / 2 + point.loss)
        if primal <= self.primal:
            self.primal, self.w = primal, point.w
        self._update_dual(point)
        if self.relative_gap <= self._by_factor_above:
            self._by_factor_above, self.dual = -np.inf, -np.inf
            self._update_dual(self._dual_from)
            self._update_dual(point)

    def _update_dual(self, point):
        """Take the best multiple t alpha of the weights in hand, as far as t alpha <= C allows."""
        C, sums = self.problem.C, point.sums
        self.quadratic = self._quadratic(point)
        curvature = self.quadratic + C * self.problem.sum_of_squares(sums, point.F, point.T) / 2
        t = C * sums.total / curvature if curvature > 0 else 0.0
        if self.problem.loss == "hinge" and sums.largest > 0:
            t = min(t or np.inf, 1 / sums.largest)
        dual = float(t * C * sums.total - t**2 * curvature / 2)
        if dual > self.dual:
            self.dual, self.dual_point = dual, NodeDual(point.F, point.T, t * C)
            self._dual_from = point

    def _quadratic(self, point):
        if self._by_factor_above == -np.inf:
            return self.problem.quadratic(point.beta, self.factor)
        v = point.v if len(point.v) == self.factor.rank else self.factor.Phi.T @ point.beta
        return float(v @ v)

    def candidate(self, n_iter, factor):
        beta = np.zeros(self.problem.n)
        pivots = self.factor.pivots[: len(self.w)]
        beta[pivots] = self.factor.coefficients(self.w)
        return Candidate(beta, self.dual_point, n_iter, factor)


def _newton_step(problem, span, centre, point, coarse, accuracy):
    """Newton direction, then a line search on the derivative along it; None if there is no descent."""
    s = problem.C / centre.h
    # Half the time in single precision, where the gap is large and the Hessian well conditioned.
    precisions = [np.float64]
    if coarse and s * point.sums.degree.max() < SINGLE_PRECISION_SLOPE:
        precisions.insert(0, np.float32)
    for precision in precisions:
        step = span.direction(s, point.sums, point.gradient, precision, accuracy)
        if step @ point.gradient < 0:
            break
    else:
        return None
    score_step = span.Phi @ step

    def slope(t):
        sums = problem.pair_sums(point.F + (t / centre.h) * score_step, point.T)
        return (point.w + t * step) @ step - problem.C * (sums.node @ score_step), sums

    t, sums = _line_search(slope, float(point.gradient @ step))
    return _Point(problem, span.Phi, centre, point.w + t * step, sums=sums)


def _line_search(slope, slope_at_zero):
    """Find t where the derivative of a convex function has fallen to 0.3 of its size at 0.

    Safeguarded false position; t = 1, the Newton step, is tried first.
    """
    low, slope_low = 0.0, slope_at_zero
    high, slope_high = np.inf, np.nan
    t = 1.0
    for _ in range(30):
        value, sums = slope(t)
        if abs(value) <= 0.3 * abs(slope_at_zero):
            break
        if value < 0:
            low, slope_low = t, value
        else:
            high, slope_high = t, value
        if np.isinf(high):
            t *= 2
        else:
            guess = low - slope_low * (high - low) / (slope_high - slope_low)
            margin = 0.1 * (high - low)
            t = min(max(guess, low + margin), high - margin)
    return t, sums
