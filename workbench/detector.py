"""RankAD: learn to rank nominal points by density, read p-values off the learned scores (Algorithm 1)."""

from __future__ import annotations

import warnings

import numpy as np

from . import persistence, ranksvm
from .calibration import CALIBRATIONS
from .neighbors import check_k, largest_k, mean_distance, ranks
from .preferences import check_edges, check_m, quantize
from .scoring import KernelDetector
from .validation import check_points, random_generator, repeat_rows

DEFAULT_K = 20
BANDWIDTHS = {"auto": 0.5, "D_K": 1.0}
"""Names that sigma may have, and what they are in units of D_K."""


class RankAD(KernelDetector):
    """Anomaly detector trained on nominal data by ranking, with a p-value for every point.

    Fitting ranks each training point by its average k-NN distance, quantises the ranks to m levels and
    trains a kernel RankSVM g to reproduce their order, g large where the data are dense. A new point's
    p-value is its place among the sorted training scores, so one fit serves every false-alarm level.

    Parameters
    ----------
    k : int or "auto", default "auto"
        Number of neighbours in Eq. 2. "auto" is the paper's 20, or the largest that fewer than 42 training
        points allow (21 without resampling).
    m : int, default 3
        Number of uniform quantisation levels; 1 leaves the anchor alone, a one-class SVM.
    edges : sequence of float, optional
        Increasing cut points in (0, 1) to use in place of m uniform levels.
    sigma : float, "auto" or "D_K", default "auto"
        Bandwidth of ``exp(-|x - x'|^2 / sigma^2)`` in the units of the data. "D_K" is the mean over the
        training points of the average k-NN distance, copies counted once; "auto" is half of it.
        On 61 tasks that none of the paper's data sets is among, half of D_K has mean AUC .897 raw and .903
        standardised against .876 and .889 of D_K itself: .021 more (95% interval .006 to .039) and .014
        (.004 to .025), and what lies between .35 and .5 is level. On the paper's eight sets, not looked at in
        choosing, it has .906 against .884 raw, .021 more (.003 to .048), and .943 against .944 standardised
        (`notebooks/results/defaults.md`).
    C : float or "auto", default "auto"
        Price of a violated pair. "auto" is 1/n.
    loss : {"hinge", "squared_hinge"}, default "hinge"
    anchor : bool or float, default True
        Weight a of the point at infinity, a level below all others: True is n, False leaves it out as
        the paper does. Without it g returns to 0 far from the data, usually in the middle of the training
        scores, so that points far away raise no alarm. With it they do, from where the kernel has died
        out: some sigma away.
    resamples : int, default 20
        Random half splits over which ranks are averaged; 0 for the plain in-sample rank.
    solver : {"auto", "newton", "cvxpy"}, default "auto"
    tol : float, default 1e-6
        Relative duality gap of the RankSVM solution.
    alpha : float, default 0.05
        False-alarm level of `offset_`, and so of ``predict`` without an alpha of its own.
    calibration : {"in-sample", "leave-one-out", "split"}, default "in-sample"
        Which scores p-values count. "in-sample": those of the training points, as the paper does; where g
        follows the sample closely (sigma near D_K, and by default below) such p-values are far too small: new
        nominal points raise alarms several times as often as alpha says, ten times at worst.
        "leave-one-out": those of the training points without their own term, ``g(x_i) - beta_i``, which is
        what is left of g at x_i if the others' coefficients stay (Jaakkola & Haussler 1999). It costs nothing
        and makes p-values of new points honest: at alpha = .05, alarms on 4.0 to 5.4% of new nominal points
        of the paper's eight sets where "in-sample" has 18 to 57%, though nothing proves it. The points
        trained on then hardly ever raise an alarm. "split": those of a random half held out from training,
        valid at any n: P{p <= alpha} <= alpha for a nominal point, if whatever preprocessing comes first was
        not fitted on the same points.
    random_state : int, RandomState or None
        Drives the resampling and the calibration split.

    Attributes
    ----------
    ranks_ : array of shape (n_train,)
        (Resampled) rank of each training point; small in sparse regions.
    levels_ : int array of shape (n_train,)
        Quantised ranks, 1 the sparsest.
    k_ : int
    sigma_, C_ : float
    beta_ : array of shape (n_train,)
        ``g = sum_i beta_i k(x_i, .)``.
    support_ : int array of shape (n_support,)
        Rows of X with a non-zero coefficient.
    support_vectors_ : array of shape (n_support, n_features)
    train_index_ : int array of shape (n_train,)
        Rows of X that g was trained on: all of them, or half with ``calibration="split"``.
    calibration_scores_ : array of shape (n_calibration,)
        Ascending scores that p-values count.
    offset_ : float
        Score below which ``predict`` alarms at level `alpha`.
    solution_ : workbench.ranksvm.RankSVMSolution
        The RankSVM solution with its certificate.
    g_ : workbench.expansions.KernelExpansion
        g itself, a function of an array of points that checks nothing: for streams, one point at a time.
    score_error_ : float
        Upper bound of what rounding, and :meth:`compress`, change in the score of any point.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X was a data frame.

    References
    ----------
    J. Qian, J. Root, V. Saligrama. Learning Efficient Anomaly Detectors from K-NN Graphs. AISTATS 2015.
    T. Jaakkola, D. Haussler. Probabilistic Kernel Regression Models. AISTATS 1999.

    Examples
    --------
    >>> from workbench import RankAD, densities
    >>> X = densities.FIG2.sample(300, random_state=0)
    >>> detector = RankAD(random_state=0).fit(X)
    >>> detector.predict([[-5.0, 0.0], [0.0, 15.0]], alpha=0.01)
    array([ 1, -1])
    """

    _calibrations = (*CALIBRATIONS, "leave-one-out")

    def __init__(
        self,
        *,
        k="auto",
        m=3,
        edges=None,
        sigma="auto",
        C="auto",
        loss="hinge",
        anchor=True,
        resamples=20,
        solver="auto",
        tol=1e-6,
        alpha=0.05,
        calibration="in-sample",
        random_state=None,
    ):
        self.k = k
        self.m = m
        self.edges = edges
        self.sigma = sigma
        self.C = C
        self.loss = loss
        self.anchor = anchor
        self.resamples = resamples
        self.solver = solver
        self.tol = tol
        self.alpha = alpha
        self.calibration = calibration
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None, *, callback=None):
        """Run the training stage of Algorithm 1.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            Nominal training points.
        y : ignored
        sample_weight : array of whole numbers of shape (n,), optional
            How often each row is there: fits ``np.repeat(X, sample_weight, axis=0)``, whose rows the fitted
            attributes then speak of, at the cost of as many rows.
        callback : callable, optional
            Called with a :class:`workbench.ranksvm.Progress` after each step of the RankSVM solver, as
            :class:`workbench.ranksvm.GapBar` is to show a bar. An exception it raises ends the fit.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For unusable data or parameters; the message names the value and the remedy.

        Warns
        -----
        ConvergenceWarning
            If the RankSVM solution misses `tol`.
        """
        self._start_fit()
        X = repeat_rows(check_points(self, X, reset=True), sample_weight)
        rng = random_generator(self.random_state)
        n = len(X)
        held_out = self._split_rows(n, rng, hold_out=self.calibration == "split")
        X_train = X[self.train_index_]

        # (a) Average k-NN distances and ranks.
        n_levels = check_m(self.m) if self.edges is None else len(check_edges(self.edges)) + 1
        if n_levels > len(X_train):
            raise ValueError(
                f"m={n_levels} levels are more than the n_samples = {len(X_train)} training points "
                f"(of {n} given). Lower m or add points."
            )
        self.k_ = self._resolve_k(len(X_train))
        self.ranks_ = ranks(X_train, self.k_, self.resamples, rng)

        # (b) Levels; the preference pairs follow from them.
        self.levels_ = quantize(self.ranks_, self.m, self.edges)
        present = len(np.unique(self.levels_))
        if 1 < n_levels != present:
            warnings.warn(
                f"Only {present} of {n_levels} levels occur: many training points have tied ranks, as exact "
                "copies do. Remove duplicates, or use fewer levels.",
                UserWarning,
                stacklevel=2,
            )
        anchor = self._resolve_anchor(len(X_train))
        if anchor == 0 and present == 1:
            raise ValueError(
                f"All {len(X_train)} training points fall in one level (m={self.m!r}, edges={self.edges!r}), "
                "so there is no preference to learn from. Use m >= 2, edges that separate the ranks, "
                "or anchor=True."
            )

        # (c) The RankSVM problem, Eq. 5.
        sigma, C = self._resolve_sigma_and_C(X_train, anchor)
        self.solution_ = ranksvm.solve(
            X_train,
            self.levels_,
            sigma=sigma,
            C=C,
            loss=self.loss,
            anchor=anchor,
            solver=self.solver,
            tol=self.tol,
            callback=callback,
        )

        self.sigma_, self.C_ = float(sigma), float(C)

        # (d) Sort the scores that p-values are read from.
        # Without its own term, as if it had been left out; k(x, x) = 1.
        own_terms = self.solution_.beta if self.calibration == "leave-one-out" else 0.0
        calibration_points = X[held_out] if self._split else X_train
        self._set_expansion(X_train, self.solution_.beta, self.sigma_, calibration_points, own_terms)
        known = () if self._split else (self.solution_.scores, self.solution_.rounding)
        self._calibrate(*self._calibration(*known))
        return self

    def save(self, path):
        """Write the fitted detector to a file, as :func:`workbench.save` does, which takes pipelines too.

        Parameters
        ----------
        path : str or path
            A file that is there is replaced.

        Raises
        ------
        ValueError
            If the detector is not fitted, or is of a class of your own, which `load` would not know.
        OSError
            If the file cannot be written; one that was there is unchanged.
        """
        persistence.save(self, path)

    def _resolve_k(self, n):
        largest = largest_k(n, self.resamples)
        k = min(DEFAULT_K, max(largest, 1)) if _is_auto(self.k, "k") else self.k
        return check_k(k, largest, f"{n} training points, resamples={self.resamples}")

    def _resolve_sigma_and_C(self, X, anchor):
        C = 1 / len(X) if _is_auto(self.C, "C") else self.C
        multiple = _multiple_of_D_K(self.sigma)
        return (self.sigma if multiple is None else multiple * self._D_K(X)), C

    def _D_K(self, X):
        D_K = mean_distance(X, self.k_)
        if D_K == 0:
            raise ValueError(
                f"sigma is a multiple of the mean {self.k_}-NN distance of distinct training points, but all "
                "of them are equal. Give sigma as a number, or other points."
            )
        return D_K

    def _resolve_anchor(self, n):
        if isinstance(self.anchor, (bool, np.bool_)):
            return float(n) if self.anchor else 0.0
        return self.anchor


def _is_auto(value, name):
    if isinstance(value, str) and value != "auto":
        raise ValueError(f'{name} must be a number or "auto", got {value!r}.')
    return isinstance(value, str)


def _multiple_of_D_K(sigma):
    """Return what sigma is in units of D_K, or None where it is a number of its own."""
    if not isinstance(sigma, str):
        return None
    if sigma not in BANDWIDTHS:
        raise ValueError(f'sigma must be a number, "auto" or "D_K", got {sigma!r}.')
    return BANDWIDTHS[sigma]
