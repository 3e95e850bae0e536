"""RankAD where PyOD's conventions are expected; for the other way round see `workbench.baselines.Adapted`."""

from __future__ import annotations

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .detector import RankAD
from .pipelines import estimators


class PyODView(BaseEstimator):
    """RankAD under PyOD's names and with PyOD's sign: scores are large for anomalies, labels are 0 and 1.

    This is the one place where large means anomalous. PyOD itself is not needed. Its ``predict_proba`` is
    not imitated: a score squeezed into [0, 1] is no probability, and ``detector_.p_value`` is there.

    Parameters
    ----------
    detector : RankAD, RankADCV, or a pipeline that ends in one, optional
        Cloned before it is fitted; a RankAD if not given.
    contamination : float, default 0.1
        Takes the place of the detector's `alpha`, a false-alarm level in (0, 1). With in-sample calibration,
        RankAD's default, it is what it is in PyOD, the share of the training points labelled 1. With
        ``calibration="split"`` it is the share of new nominal points labelled 1 at most.

    Attributes
    ----------
    detector_ : estimator
        The fitted clone.
    decision_scores_ : array of shape (n,)
        ``-g`` at the points fitted on, all of them with ``calibration="split"`` too.
    threshold_ : float
        ``-offset_``: points of larger score are labelled 1.
    labels_ : int array of shape (n,)
        Labels of the points fitted on.

    Raises
    ------
    ValueError
        From `fit`: as RankAD, and for another kind of detector.

    Examples
    --------
    >>> from workbench import densities
    >>> from workbench.adapters import PyODView
    >>> detector = PyODView(contamination=0.05).fit(densities.FIG2.sample(300, random_state=0))
    >>> int(detector.labels_.sum())
    15
    >>> detector.predict([[-5.0, 0.0], [0.0, 15.0]])
    array([0, 1])
    """

    def __init__(self, detector=None, *, contamination=0.1):
        self.detector = detector
        self.contamination = contamination

    def fit(self, X, y=None):
        """Fit the detector.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
        y : ignored

        Returns
        -------
        self
        """
        detector = RankAD() if self.detector is None else clone(self.detector)
        final = estimators(detector)[-1]
        if not isinstance(final, RankAD):
            raise ValueError(
                f"PyODView shows RankAD, RankADCV and pipelines that end in one, not {detector!r}. The other "
                "systems of workbench.baselines have counterparts in PyOD itself."
            )
        final.set_params(alpha=self.contamination)
        self.detector_ = detector.fit(X)
        self.threshold_ = -final.offset_
        self.decision_scores_ = self.decision_function(X)
        self.labels_ = self._label(self.decision_scores_)
        return self

    def decision_function(self, X):
        """``-g``, large for anomalies; shape (q,)."""
        check_is_fitted(self)
        return -self.detector_.score_samples(X)

    def predict(self, X):
        """1 for an alarm, 0 otherwise; shape (q,)."""
        return self._label(self.decision_function(X))

    def _label(self, scores):
        return (scores > self.threshold_).astype(int)
