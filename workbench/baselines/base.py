"""What the systems share with RankAD: checks, calibration, p-values and decisions at any level."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..calibration import CalibratedDetector
from ..chunks import by_blocks
from ..neighbors import check_k
from ..validation import check_points, random_generator

DEFAULT_K = 20
LOWEST = np.finfo(float).min


class Detector(CalibratedDetector, ABC):
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

    @abstractmethod
    def _train(self, X, rng):
        """Learn from the points X, shape (n, d)."""

    @abstractmethod
    def _scores(self, X):
        """Return the score of each point of X, large where nominal."""

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
        self._start_fit()
        X = check_points(self, X, reset=True)
        rng = random_generator(self.random_state)
        held_out = self._split_rows(len(X), rng, hold_out=self._holds_out())
        self._train(X[self.train_index_], rng)
        scores = self._scores(X[held_out]) if len(held_out) else self._training_scores(X)
        self._calibrate(np.maximum(scores, LOWEST), lowest=LOWEST)
        return self

    @by_blocks
    def score_samples(self, X):
        """Score of each point, large where nominal.

        Parameters
        ----------
        X : array or data frame of shape (q, n_features)
            Or a dask array or data frame: the answer is then a lazy dask array.

        Returns
        -------
        array of shape (q,)
        """
        check_is_fitted(self)
        return np.maximum(self._scores(check_points(self, X, reset=False)), LOWEST)


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
