r"""The RankSVM problem (Eq. 5) and its certificate. It solves nothing.

Primal, over g in the RKHS H of the RBF kernel, with the paper's pairs P and the anchor of weight a
(the point at infinity, where every g of H is 0, as a level below all others):

.. math::
    \min_g\ \tfrac12 \|g\|^2 + C \sum_{(i,j) \in P} \ell(g(x_i) - g(x_j)) + a\,C \sum_i \ell(g(x_i)),

``l(z) = max(0, 1 - z)`` (hinge) or ``max(0, 1 - z)^2`` (squared hinge). With one weight
:math:`\alpha_{ij}` a pair (and :math:`\alpha_i`, counted a times, for the anchor's) and
:math:`\beta = A'\alpha`, what each point wins less what it loses, the dual is

.. math::
    \max_\alpha\ \sum \alpha - \tfrac12 \beta' K \beta \quad (0 \le \alpha \le C)
    \qquad\text{or}\qquad
    \max_{\alpha \ge 0}\ \sum \alpha - \tfrac{1}{4C} \sum \alpha^2 - \tfrac12 \beta' K \beta .

Any g and any feasible :math:`\alpha` bracket the optimum. So a pair of them is a certificate: whoever
found it, ``primal - dual`` bounds how far g is from optimal, and
:math:`\|g - g^*\|^2 \le 2 (\text{primal} - \text{dual})` because the objective is 1-strongly convex.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from ..expansions import KernelExpansion
from ..kernels import KernelMatrix
from ..preferences import n_pairs, pairs
from .factors import CutFactor
from .windows import pair_sums, total_slack

LOSSES = ("hinge", "squared_hinge")
LARGEST_ANCHOR = 1e15
LARGEST_C = 1e30
"""Far beyond any price that matters; squares of the weights stay far from overflow."""


@dataclass(frozen=True)
class NodeDual:
    """Dual weights written with one number a point: ``alpha_ij = scale clip(T - F_i + F_j, 0, u)``.

    Attributes
    ----------
    F : array of shape (n,)
    T : float
    scale : float
        u is 1 for the hinge, whose weights must not exceed C, and infinity for the squared hinge.
    """

    F: np.ndarray
    T: float
    scale: float


@dataclass(frozen=True)
class PairDual:
    """Dual weights written out.

    Attributes
    ----------
    alpha : array of shape (|P|,)
        In the order of :func:`workbench.preferences.pairs`.
    anchor : array of shape (n,)
        Weight of each point's pair with infinity (every one of its `a` copies has this weight).
    """

    alpha: np.ndarray
    anchor: np.ndarray


@dataclass(frozen=True)
class RankSVMProblem:
    """Eq. 5 for one sample: knows its primal, its dual and its gap.

    Attributes
    ----------
    kernel : KernelMatrix
        The true kernel on the n training points.
    levels : int array of shape (n,)
        From 0, the lowest, up.
    C : float
        Price of a violated pair.
    loss : {"hinge", "squared_hinge"}
    anchor : float
        Multiplicity a of the point at infinity; 0 for the paper's problem.
    """

    kernel: KernelMatrix
    levels: np.ndarray
    C: float
    loss: str = "hinge"
    anchor: float = 0.0

    @property
    def n(self):
        """Number of points."""
        return len(self.levels)

    @property
    def n_pairs(self):
        """Number of preference pairs |P|, the anchor's not counted."""
        return n_pairs(self.levels)

    @property
    def total_weight(self):
        """``|P| + a n``: all pair weights together."""
        return self.n_pairs + self.anchor * self.n

    @property
    def upper(self):
        """Clipping limit u of the dual weights in units of their scale: 1, or infinity if squared."""
        return 1.0 if self.loss == "hinge" else np.inf

    def with_kernel(self, kernel):
        """Return the same problem on a kernel object that may have its matrix worked out already."""
        return replace(self, kernel=kernel)

    def pair_sums(self, F, T):
        """Clipped differences ``clip(T - F_i + F_j, 0, u)`` summed over all pairs."""
        return pair_sums(F, T, self.levels, self.anchor, self.upper)

    def loss_sum(self, scores):
        """``C`` times the loss summed over all pairs, for scores ``g(x_i)``."""
        if self.loss == "hinge":
            return self.C * total_slack(scores, 1.0, self.levels, self.anchor)
        slack = pair_sums(scores, 1.0, self.levels, self.anchor, np.inf)
        return self.C * _sum_of_squares(slack, scores, 1.0)

    def primal(self, beta, scores=None):
        """Objective of Eq. 5 at ``g = sum_i beta_i k(x_i, .)``; `scores` are ``K beta`` if at hand."""
        if scores is None:
            scores = self.kernel.dot(beta)
        return float(max(beta @ scores, 0.0) / 2 + self.loss_sum(scores))

    def dual(self, point, factor=None, quadratic=None):
        """Dual objective at a feasible point.

        Parameters
        ----------
        point : NodeDual or PairDual
        factor : Factor, optional
            Where K does not fit memory: ``beta' K beta`` is bounded from above by
            ``|Phi' beta|^2 + (sum_i |beta_i| sqrt(d_i))^2``, d the factor's residual diagonal
            (Cauchy-Schwarz on the positive semi-definite ``K - Phi Phi'``), so that the value
            returned is a lower bound of the optimum all the same.
        quadratic : float, optional
            ``beta' K beta``, if at hand.
        """
        total, beta, squares = self._dual_terms(point)
        if quadratic is None:
            quadratic = self.quadratic(beta, factor)
        return float(total - quadratic / 2 - squares / (4 * self.C))

    def best_multiple(self, point):
        """Scale dual weights to the best multiple that is feasible, by the whole of K: O(n^2) time.

        Parameters
        ----------
        point : NodeDual

        Returns
        -------
        point : NodeDual
        beta : array of shape (n,)
            ``A' alpha`` of that multiple, and so the coefficients of a g that goes with it.
        scores, rounding : arrays of shape (n,)
            ``K beta``, and an upper bound of what the product lost in each.
        quadratic : float
            ``beta' K beta``, rounded up by as much.
        """
        total, beta, squares = self._dual_terms(point)
        scores, rounding = KernelExpansion(self.kernel.X, beta, self.kernel.sigma).at_centres()
        quadratic = float(beta @ scores + np.abs(beta) @ rounding)
        curvature = quadratic + squares / (2 * self.C)
        t = total / curvature if curvature > 0 else 1.0
        if self.loss == "hinge":
            largest = point.scale * self.pair_sums(point.F, point.T).largest
            t = min(t, self.C / largest) if largest > 0 else t
        return replace(point, scale=t * point.scale), t * beta, t * scores, t * rounding, t**2 * quadratic

    def quadratic(self, beta, factor=None):
        """``beta' K beta``, or the upper bound of :meth:`dual` where K does not fit memory."""
        if factor is None or (self.kernel.is_dense and not isinstance(factor, CutFactor)):
            return float(beta @ self.kernel.dot(beta))
        v = factor.Phi.T @ beta
        return float(v @ v + (np.abs(beta) @ np.sqrt(factor.residual)) ** 2)

    def sum_of_squares(self, sums, F, T):
        """Sum of the squared weights behind `sums` where the dual charges for it, else 0."""
        return _sum_of_squares(sums, F, T) if self.loss == "squared_hinge" else 0.0

    def _dual_terms(self, point):
        """Return ``sum alpha``, ``A' alpha`` and, for the squared hinge, ``sum alpha^2``."""
        if isinstance(point, NodeDual):
            sums = self.pair_sums(point.F, point.T)
            self._check_box(0.0, point.scale * sums.largest)
            squares = self.sum_of_squares(sums, point.F, point.T)
            return point.scale * sums.total, point.scale * sums.node, point.scale**2 * squares
        alpha = np.concatenate([point.alpha, point.anchor])
        self._check_box(alpha.min(initial=0.0), alpha.max(initial=0.0))
        higher, lower = pairs(self.levels)
        won, lost = (np.bincount(side, point.alpha, self.n) for side in (higher, lower))
        beta = won - lost + self.anchor * point.anchor
        total = point.alpha.sum() + self.anchor * point.anchor.sum()
        if self.loss == "hinge":
            return total, beta, 0.0
        return total, beta, point.alpha @ point.alpha + self.anchor * (point.anchor @ point.anchor)

    def _check_box(self, smallest, largest):
        limit = self.C * (1 + 1e-12) if self.loss == "hinge" else np.inf
        if smallest < 0 or not largest <= limit:
            raise ValueError(
                f"The dual weights run from {smallest:g} to {largest:g}, outside [0, C = {self.C:g}]: "
                "they certify nothing."
            )

    def pair_weights(self, point):
        """Write a dual point out pair by pair, O(n^2) memory: to check a certificate by hand.

        Returns
        -------
        PairDual
        """
        if isinstance(point, PairDual):
            return point
        higher, lower = pairs(self.levels)
        x = point.T - point.F[higher] + point.F[lower]
        x_anchor = point.T - point.F if self.anchor else np.zeros(self.n)
        return PairDual(
            point.scale * np.clip(x, 0.0, self.upper), point.scale * np.clip(x_anchor, 0.0, self.upper)
        )


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
        if not (is_real(value) and 0 < value < np.inf):
            raise ValueError(f"{name} must be a positive finite number, got {value!r}.")
    if C > LARGEST_C:
        raise ValueError(
            f"C must be at most {LARGEST_C:g}, beyond which squares of weights overflow, got {C!r}."
        )
    with np.errstate(over="ignore"):
        largest = np.abs(X).max() / float(sigma)
    if not np.isfinite(largest):
        raise ValueError(
            f"sigma={sigma:g} is so small beside values up to {np.abs(X).max():g} that their ratio "
            "overflows. Raise sigma or rescale X."
        )
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}.")
    if not (is_real(anchor) and 0 <= anchor <= LARGEST_ANCHOR):
        raise ValueError(
            f"anchor must be a multiplicity >= 0 (0 leaves the point at infinity out) and at most "
            f"{LARGEST_ANCHOR:g}, beyond which rounding leaves nothing of the pairs, got {anchor!r}."
        )
    _, levels = np.unique(levels, return_inverse=True)
    return RankSVMProblem(KernelMatrix(X, float(sigma)), levels, float(C), loss, float(anchor))


def _sum_of_squares(sums, F, T):
    """``sum x_ij^2`` over the pairs with x_ij > 0: ``sum x (T - F_i + F_j) = T sum x - F' A' x``."""
    return T * sums.total - F @ sums.node


def check_tol(tol):
    """Raise a ValueError unless `tol` is a relative gap."""
    if not (is_real(tol) and 0 < tol < 1):
        raise ValueError(f"tol must be a relative gap between 0 and 1, got {tol!r}. 1e-6 is the default.")


def is_real(value):
    """Whether a value is a plain real number that a float can be, which a bool is not."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True
