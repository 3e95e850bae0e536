"""Any outlier detector of scikit-learn or PyOD on the same bench."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import IsolationForest

from .base import Detector


class Adapted(Detector):
    """Give an outlier detector of scikit-learn or PyOD the p-values and decisions of this bench.

    The score is the estimator's ``score_samples`` or, without one, its ``decision_function``, both large
    where nominal in scikit-learn. PyOD's ``decision_function`` is large for anomalies and is turned round;
    PyOD's detectors are told by the `decision_scores_` they have once fitted. In-sample calibration takes
    the scores that the estimator itself gives its training points, where it keeps them (`decision_scores_`
    in PyOD, `negative_outlier_factor_` of the local outlier factor): a neighbour method leaves each point
    out of its own neighbours there, which scoring the sample anew would not.

    Parameters
    ----------
    estimator : estimator, optional
        Cloned before it is fitted; it may be a pipeline. An isolation forest if not given.
    alpha, calibration, random_state
        As for every system, see :class:`workbench.baselines.Detector`. The estimator's own `random_state`,
        if it has one that is None, is drawn from this one.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.

    Examples
    --------
    >>> from sklearn.neighbors import LocalOutlierFactor
    >>> from workbench import densities
    >>> from workbench.baselines import Adapted
    >>> detector = Adapted(LocalOutlierFactor(novelty=True)).fit(densities.FIG2.sample(300, random_state=0))
    >>> detector.predict([[-5.0, 0.0], [0.0, 15.0]], alpha=0.01)
    array([ 1, -1])
    """

    def __init__(self, estimator=None, *, alpha=0.05, calibration="in-sample", random_state=None):
        self.estimator = estimator
        self.alpha = alpha
        self.calibration = calibration
        self.random_state = random_state

    def _train(self, X, rng):
        self.estimator_ = IsolationForest() if self.estimator is None else clone(self.estimator)
        names = [
            name
            for name, value in self.estimator_.get_params().items()
            if name.split("__")[-1] == "random_state" and value is None
        ]
        self.estimator_.set_params(**{name: rng.randint(2**31 - 1) for name in sorted(names)})
        self.estimator_.fit(X)
        self._final = self.estimator_[-1] if hasattr(self.estimator_, "steps") else self.estimator_
        if not any(hasattr(self.estimator_, name) for name in ("score_samples", "decision_function")):
            raise ValueError(
                f"{self._final!r} cannot score new points: it has neither score_samples nor "
                "decision_function. A local outlier factor needs novelty=True."
            )

    def _scores(self, X):
        if hasattr(self._final, "decision_scores_"):
            return -np.asarray(self.estimator_.decision_function(X), dtype=float)
        score = getattr(self.estimator_, "score_samples", None) or self.estimator_.decision_function
        return np.asarray(score(X), dtype=float).reshape(len(X))

    def _training_scores(self, X):
        if hasattr(self._final, "decision_scores_"):
            return -np.asarray(self._final.decision_scores_, dtype=float)
        kept = getattr(self._final, "negative_outlier_factor_", None)
        return self._scores(X) if kept is None else np.asarray(kept, dtype=float)
