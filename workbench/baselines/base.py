"""What the systems share with RankAD: checks, calibration, p-values and decisions at any level."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..neighbors import check_k
from ..pvalues import check_alpha, p_value, threshold
from ..validation import check_points, forget_fit

CALIBRATIONS = ("in-sample", "split")
DEFAULT_K = 20
LOWEST = np.finfo(float).min


class Detector(OutlierMixin, BaseEstimator):
    """A system to compare with: a score that is large where nominal, and all that follows from one.

    A system says how to train (`_train`), how to score new points (`_scores`), and, where a training point
    must not be its own neighbour, how to score the training points (`_training_scores`). Everything else
    is as in RankAD, so that one false-alarm level means the same for every system.

    Every system has these parameters and attributes beside its own.

    Parameters
    ----------
    alpha : float, default 0.05
        False-alarm level of `offset_`, and so of ``predict`` without an alpha of its own.
    calibration : {"in-sample", "split"}, default "in-sample"
        Whether p-values count the scores of the training points (each left out of its own neighbours where
        the system is a k-NN statistic), or those of a random half held out from training. Split p-values
        are valid at any n: P{p <= alpha} <= alpha for a nominal point.
    random_state : int, RandomState or None
        Drives the split and whatever else is random.

    Attributes
    ----------
    calibration_scores_ : array of shape (n_calibration,)
        Ascending scores that p-values count.
    train_index_ : int array of shape (n_train,)
        Rows of X that the system was trained on.
    offset_ : float
        Score below which ``predict`` alarms at level `alpha`.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X was a data frame.
    """

    def _train(self, X, rng):
        raise NotImplementedError

    def _scores(self, X):
        raise NotImplementedError

    def _training_scores(self, X):
        return self._scores(X)

    def _holds_out(self):
        """Whether half of the points are kept from training."""
        return self.calibration == "split"

    def fit(self, X, y=None):
        """Train on nominal points and sort the scores that p-values are read from.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            Nominal training points.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For unusable data or parameters; the message names the value and the remedy.
        """
        forget_fit(self)
        X = check_points(self, X, reset=True)
        alpha = check_alpha(self.alpha)
        if self.calibration not in CALIBRATIONS:
            raise ValueError(
                f"calibration must be one of {', '.join(CALIBRATIONS)}, got {self.calibration!r}."
            )
        rng = check_random_state(self.random_state)
        n = len(X)
        self._split = self.calibration == "split"
        self.train_index_ = np.arange(n)
        if self._holds_out():
            self.train_index_ = np.sort(rng.permutation(n)[: n - n // 2])
        self._train(X[self.train_index_], rng)
        held_out = np.setdiff1d(np.arange(n), self.train_index_)
        scores = self._scores(X[held_out]) if len(held_out) else self._training_scores(X)
        self.calibration_scores_ = np.sort(np.maximum(scores, LOWEST))
        self.offset_ = threshold(self.calibration_scores_, alpha, split=self._split)
        if self.offset_ == -np.inf:
            self.offset_ = LOWEST  # finite, for those who use decision_function
            n_calibration = len(scores)
            warnings.warn(
                f"{n_calibration} calibration points are too few for any alarm at alpha={alpha:g}: the "
                f"smallest split p-value is 1/{n_calibration + 1}. Give more points or raise alpha.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def __sklearn_is_fitted__(self):
        """Whether the last fit came to its end."""
        return hasattr(self, "offset_")

    def score_samples(self, X):
        """Score of each point, large where nominal.

        Parameters
        ----------
        X : array or data frame of shape (q, n_features)

        Returns
        -------
        array of shape (q,)
        """
        check_is_fitted(self)
        return np.maximum(self._scores(check_points(self, X, reset=False)), LOWEST)

    def p_value(self, X):
        """p-value of each point, small for anomalies: its place among the calibration scores (Eq. 4).

        Parameters
        ----------
        X : array or data frame of shape (q, n_features)

        Returns
        -------
        array of shape (q,), in [0, 1]
        """
        return p_value(self.score_samples(X), self.calibration_scores_, split=self._split)

    def decision_function(self, X):
        """``score_samples(X) - offset_``: negative where `predict` alarms at level `alpha`."""
        return self.score_samples(X) - self.offset_

    def predict(self, X, alpha=None):
        """+1 for nominal, -1 for an alarm: ``p_value(X) <= alpha``.

        Parameters
        ----------
        X : array or data frame of shape (q, n_features)
        alpha : float, optional
            False-alarm level, with no retraining; that of the constructor if not given.

        Returns
        -------
        int array of shape (q,)
        """
        scores = self.score_samples(X)
        offset = self.offset_
        if alpha is not None:
            offset = threshold(self.calibration_scores_, alpha, split=self._split)
        return np.where(scores < offset, -1, 1)


def resolve_k(k, largest, n, default=DEFAULT_K):
    """Return the number of neighbours: `k`, or for "auto" the default or the largest allowed if that is less.

    Raises
    ------
    ValueError
        If k is neither "auto" nor a whole number in 1..largest, or n points allow no neighbours at all.
    """
    if largest < 1:
        raise ValueError(f"There are too few points for any neighbour search ({n} to train on). Add points.")
    if isinstance(k, str):
        if k != "auto":
            raise ValueError(f'k must be a number or "auto", got {k!r}.')
        return min(default, largest)
    return check_k(k, largest, f"{n} training points")


def check_count(name, value, least=1):
    """Return a whole number `value` of at least `least`, or raise a ValueError that says what is wrong."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number, at least {least}, got {value!r}.")
    return int(value)


def check_positive(name, value, otherwise=None):
    """Return `value` as a positive finite float, or raise a ValueError that says what is wrong."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not (is_number and 0 < value < np.inf):
        choice = f" or {otherwise}" if otherwise else ""
        raise ValueError(f"{name} must be a positive finite number{choice}, got {value!r}.")
    return float(value)
