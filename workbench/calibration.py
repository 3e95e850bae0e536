"""What every detector does with its scores: split, sort, p-values, decisions and promises."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from . import bounds
from .chunks import by_blocks
from .pvalues import check_alpha, p_value, threshold

CALIBRATIONS = ("in-sample", "split")
"""What every system offers; RankAD has one more."""


class CalibratedDetector(OutlierMixin, BaseEstimator):
    """A detector whose scores, large where nominal, are read as p-values by their place among others.

    A subclass has the parameters `alpha` and `calibration`, supplies `score_samples`, and its `fit` begins
    with `_start_fit`, trains on the rows of `_split_rows` and ends with `_calibrate`.

    Attributes
    ----------
    calibration_scores_ : array of shape (n_calibration,)
        Ascending scores that p-values count.
    offset_ : float
        Score below which ``predict`` alarms at level `alpha`.
    train_index_ : int array of shape (n_train,)
        Rows of X that the detector was trained on.
    """

    _calibrations = CALIBRATIONS

    def _start_fit(self):
        """Check what concerns calibration, and forget the last fit: an interrupted one leaves no half."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        check_alpha(self.alpha)
        if not isinstance(self.calibration, str) or self.calibration not in self._calibrations:
            raise ValueError(
                f"calibration must be one of {', '.join(self._calibrations)}, got {self.calibration!r}."
            )

    def _split_rows(self, n, rng, hold_out):
        """Set `train_index_`, a random half where `hold_out` is true, and return the rows held out."""
        self._split = self.calibration == "split"
        self.train_index_ = np.arange(n)
        if hold_out:
            self.train_index_ = np.sort(rng.permutation(n)[: n - n // 2])
        return np.setdiff1d(np.arange(n), self.train_index_)

    def _calibrate(self, scores, lowest):
        """Keep the scores that p-values count; `lowest` is a finite score below all there can be."""
        self.calibration_scores_ = np.sort(scores)
        offset = threshold(self.calibration_scores_, self.alpha, split=self._split)
        if offset == -np.inf:
            offset = lowest  # finite, for those who use decision_function
            warnings.warn(
                f"{len(scores)} calibration points are too few for any alarm at alpha={self.alpha:g}: the "
                f"smallest split p-value is 1/{len(scores) + 1}. Give more points or raise alpha.",
                UserWarning,
                stacklevel=3,
            )
        self.offset_ = offset

    def __sklearn_is_fitted__(self):
        """Whether the last fit came to its end."""
        return hasattr(self, "offset_")

    @by_blocks
    def p_value(self, X):
        """p-value of each point, small for anomalies: its place among the calibration scores (Eq. 4).

        Parameters
        ----------
        X : array or data frame of shape (q, n_features)
            Or a dask array or data frame: the answer is then a lazy dask array.

        Returns
        -------
        array of shape (q,), in [0, 1]
        """
        return p_value(self.score_samples(X), self.calibration_scores_, split=self._split)

    @by_blocks
    def decision_function(self, X):
        """``score_samples(X) - offset_``: negative where `predict` alarms at level `alpha`."""
        return self.score_samples(X) - self.offset_

    @by_blocks
    def predict(self, X, alpha=None):
        """+1 for nominal, -1 for an alarm: ``p_value(X) <= alpha``.

        Parameters
        ----------
        X : array or data frame of shape (q, n_features)
            Or a dask array or data frame: the answer is then a lazy dask array.
        alpha : float, optional
            False-alarm level, with no retraining; that of the constructor if not given.

        Returns
        -------
        int array of shape (q,)
        """
        g = self.score_samples(X)
        offset = self.offset_
        if alpha is not None:
            offset = threshold(self.calibration_scores_, alpha, split=self._split)
        return np.where(g < offset, -1, 1)

    def false_alarm_bound(self, alpha=None, *, delta=0.05, simultaneous=True):
        """State how often alarms at level `alpha` can be false: at most this, with confidence 1 - delta.

        The rate meant is the probability that ``predict(X, alpha=alpha)`` alarms on a new nominal point,
        given this very detector. It varies with the calibration sample; the bound holds for all but a share
        `delta` of them, at any sample size and whatever the nominal distribution.

        Parameters
        ----------
        alpha : float, optional
            False-alarm level; that of the constructor if not given.
        delta : float, default 0.05
        simultaneous : bool, default True
            Whether the bounds at all levels hold together (exact equal local levels), so that alpha may be
            chosen after looking; False for one level fixed beforehand (Clopper-Pearson), which is tighter.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If p-values count the training scores, of which nothing useful can be promised, or a parameter
            is out of range.
        """
        n = self._n_held_out()
        alpha = check_alpha(self.alpha if alpha is None else alpha)
        m = bounds.order(alpha, n, split=True)
        if m == 0:  # no score raises an alarm
            return 0.0
        return float(bounds.upper_limits(n, delta, _method(simultaneous))[m - 1])

    def alpha_for(self, target, *, delta=0.05, simultaneous=True):
        """Choose the largest level at which false alarms are at most `target` with confidence 1 - delta.

        Parameters
        ----------
        target : float
            False-alarm rate not to exceed, in (0, 1).
        delta, simultaneous
            As for :meth:`false_alarm_bound`.

        Returns
        -------
        float
            To hand to ``predict``.

        Raises
        ------
        ValueError
            As :meth:`false_alarm_bound`; or if the calibration points are too few to promise that much.
        """
        n = self._n_held_out()
        m = bounds.largest_order(n, target, delta, _method(simultaneous))
        if m == 0:
            raise ValueError(
                f"{n} calibration points cannot promise a false-alarm rate of {target:g} with confidence "
                f"{1 - delta:g}. Give more points, or raise target or delta."
            )
        return m / (n + 1)

    def _n_held_out(self):
        check_is_fitted(self)
        if not self._split:
            raise ValueError(
                f"calibration={self.calibration!r} promises nothing useful about false alarms: the scores "
                'counted are of the points trained on. Use calibration="split"; '
                "workbench.bounds.false_alarm_table shows what little can be said otherwise."
            )
        return len(self.calibration_scores_)


def _method(simultaneous):
    return "ell" if simultaneous else "clopper_pearson"
