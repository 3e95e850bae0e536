"""Detectors whose score is a kernel expansion: how they score, and how they are compressed."""

from __future__ import annotations

from copy import copy

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .calibration import CalibratedDetector
from .chunks import by_blocks
from .expansions import KernelExpansion
from .projection import Projector
from .pvalues import p_value
from .threads import one_blas_thread
from .validation import check_points

FORGOTTEN = "forgotten"  # what a compressed detector from a file knows of its projection


class KernelDetector(CalibratedDetector):
    """A detector that scores by ``g = sum_i beta_i k(x_i, .)``.

    The `fit` of a subclass ends with `_set_expansion` and ``_calibrate(*_calibration())``.

    Attributes
    ----------
    g_ : workbench.expansions.KernelExpansion
        g itself, a function of an array of points that checks nothing: the way to score a stream one point
        at a time. ``workbench.pvalues.p_value`` turns its scores into p-values.
    score_error_ : float
        Upper bound of what :meth:`compress` and rounding together change in the score of any float64 point.
    """

    @by_blocks
    def score_samples(self, X):
        """Learned score g, large where nominal, 0 far from the data.

        Parameters
        ----------
        X : array or data frame of shape (q, n_features)
            Or a dask array or data frame: the answer is then a lazy dask array. Float32 is worked on in
            float32 where that is accurate enough, to 1e-3 of the largest score.

        Returns
        -------
        array of shape (q,)
        """
        check_is_fitted(self)
        return self.g_(check_points(self, X, reset=False, keep_float32=True))

    def compress(self, *, landmarks=None, tol=None):
        """Return a detector that scores through fewer kernel values, O(d s) a point, with a known error.

        Its g_s is the projection of g, in the RKHS, on the span of s training points: those that randomly
        pivoted Cholesky draws among the support vectors, with a seed of its own, or, for `tol`, pivoted
        Cholesky. Its p-values count the scores that g_s gives the calibration
        points, so that promises made for ``calibration="split"`` hold for it as they do for the whole
        detector. :meth:`p_interval` says how far from the whole detector's its p-values can be.

        Parameters
        ----------
        landmarks : int, optional
            Number s of landmarks, at least 1. No more are used than there are linearly independent ones.
        tol : float, optional
            Instead: as few as make ``|g(x) - g_s(x)| <= tol`` at every x. In units of the score, in which
            the margin of the RankSVM is 1.

        Returns
        -------
        RankAD
            Fitted, of this detector's class; `beta_`, `support_`, `support_vectors_`, `g_`, `score_error_`,
            `calibration_scores_` and `offset_` are its own. Fitted anew it is a whole detector again.

        Raises
        ------
        ValueError
            If not exactly one of landmarks and tol is given, one is out of range, tol cannot be met, or the
            detector is compressed already.
        """
        check_is_fitted(self)
        if self.compressed:
            raise ValueError(
                f"This detector is compressed to {len(self.support_)} landmarks already and no longer knows "
                "the rest of g. Compress the detector it came from."
            )
        if self._calibration_points is None:
            raise ValueError(
                "This detector comes from a file, which does not keep the points that p-values count. "
                "Compress before saving."
            )
        with one_blas_thread():
            projection = _project(self.g_, landmarks, tol)
        twin = copy(self)
        twin._projection = projection
        beta = np.zeros_like(self.beta_)
        beta[np.flatnonzero(self.beta_)[projection.index]] = projection.expansion.coefficients
        twin.beta_ = beta
        twin.support_ = self.support_[projection.index]
        twin.support_vectors_ = projection.expansion.centres
        twin.g_ = projection.expansion
        twin.score_error_ = projection.distance + twin.g_.rounding
        twin._whole = self.calibration_scores_, self.g_.rounding
        twin._calibrate(*twin._calibration())
        twin._calibration_points = None  # the lighter to keep and to send
        return twin

    def p_interval(self, X):
        """Lowest and highest p-value that the whole detector can have at each point.

        For a compressed detector: between them lies the p-value that the detector it came from gives to the
        same point in double precision, by the error bound of :class:`workbench.projection.Projection` at
        each point and that of rounding. For a whole detector their distance is that of rounding alone.

        Parameters
        ----------
        X : array or data frame of shape (q, n_features)

        Returns
        -------
        lower, upper : arrays of shape (q,)
        """
        check_is_fitted(self)
        if self._projection is FORGOTTEN:
            raise ValueError(
                "This detector was compressed and comes from a file, which does not keep what it was "
                "compressed from. Ask before saving."
            )
        X = check_points(self, X, reset=False, keep_float32=True)
        g, error = self.g_.with_rounding(X)
        scores, rounding = self.calibration_scores_, self.g_.rounding
        if self._projection is not None:
            scores, rounding = self._whole
            error += self._projection.error(X)
        error += rounding
        ends = np.nextafter(g - error, -np.inf), np.nextafter(g + error, np.inf)
        return tuple(p_value(end, scores, split=self._split) for end in ends)

    def _set_expansion(self, X_train, beta, sigma, calibration_points, own_terms=0.0):
        """Score by beta from now on; `own_terms` are left out of the scores of the calibration points."""
        support = np.flatnonzero(beta)
        self.beta_ = beta
        self.support_ = self.train_index_[support]
        self.support_vectors_ = X_train[support]
        self.g_ = KernelExpansion(self.support_vectors_, beta[support], sigma)
        self.score_error_ = self.g_.rounding
        self._projection = None
        self._calibration_points, self._own_terms = calibration_points, own_terms

    def _restore_expansion(self, compressed):
        """Score again as before the detector was written to a file."""
        coefficients = self.beta_[np.searchsorted(self.train_index_, self.support_)]
        self.g_ = KernelExpansion(self.support_vectors_, coefficients, self.sigma_)
        self._projection = FORGOTTEN if compressed else None
        self._calibration_points, self._own_terms = None, 0.0

    @property
    def compressed(self):
        """Whether this detector came from `compress`."""
        return self._projection is not None

    def _calibration(self, g=None, rounding=None):
        """Scores that p-values count, and one below all there can be: what `_calibrate` asks for.

        The last digits of g depend on what is scored together. Calibration scores are moved down by as much:
        a point scored again stays tied with itself, whatever it is scored with.

        Parameters
        ----------
        g, rounding : arrays of shape (n_calibration,), optional
            Scores of the calibration points and bounds of their rounding errors, if at hand.
        """
        if rounding is None:
            g, rounding = self.g_.with_rounding(self._calibration_points)
        largest = np.abs(self.g_.coefficients).sum()  # |g(x)| <= sum |beta_i|, as the kernel is at most 1
        return g - self._own_terms - 2 * rounding, -2 * largest - 1


def _project(g, landmarks, tol):
    if (landmarks is None) == (tol is None):
        raise ValueError(
            f"Give either landmarks or tol, got landmarks={landmarks!r} and tol={tol!r}. "
            "For example compress(landmarks=200)."
        )
    if tol is None:
        if isinstance(landmarks, bool) or not isinstance(landmarks, (int, np.integer)) or landmarks < 1:
            raise ValueError(f"landmarks must be a whole number, at least 1, got {landmarks!r}.")
        projector = Projector(g, landmarks)
        return projector.onto(projector.largest)
    is_number = isinstance(tol, (int, float, np.integer, np.floating)) and not isinstance(tol, bool)
    if not (is_number and 0 < tol < np.inf):
        raise ValueError(f"tol must be a positive finite number, in units of the score, got {tol!r}.")
    projector = Projector(g)
    r = min(projector.enough(tol), projector.largest)
    while (projection := projector.onto(r)).distance + projection.expansion.rounding > tol:
        if r == projector.largest:
            raise ValueError(
                f"tol={tol:g} cannot be met: {r} landmarks, all that are linearly independent in double "
                f"precision, leave {projection.distance + projection.expansion.rounding:.1e}. Raise tol."
            )
        r = min(projector.largest, r + 1 + r // 20)
    return projection
