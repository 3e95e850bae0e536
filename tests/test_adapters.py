import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from workbench import RankAD, RankADCV
from workbench.adapters import PyODView
from workbench.baselines import AKLPE, Adapted
from workbench.densities import FIG2

FRESH = np.concatenate([FIG2.sample(60, random_state=1), np.random.default_rng(0).uniform(-18, 18, (60, 2))])
IS_ANOMALY = np.repeat([0, 1], 60)


@pytest.fixture(scope="module")
def X():
    return FIG2.sample(250, random_state=0)


@pytest.mark.parametrize("contamination", [0.004, 0.05, 0.1, 0.29, 0.5])
@pytest.mark.parametrize(
    "detector",
    [None, RankAD(random_state=0, sigma=3.0), make_pipeline(StandardScaler(), RankAD(random_state=0))],
)
def test_what_a_reader_of_pyods_contract_expects(detector, contamination, X):
    """Higher is more abnormal; labels follow from the threshold; contamination is the share labelled 1."""
    view = PyODView(detector, contamination=contamination).fit(X)
    assert view.decision_scores_.shape == view.labels_.shape == (250,)
    np.testing.assert_array_equal(view.labels_, (view.decision_scores_ > view.threshold_).astype(int))
    np.testing.assert_array_equal(
        view.predict(FRESH), (view.decision_function(FRESH) > view.threshold_).astype(int)
    )
    assert view.labels_.sum() == np.floor(contamination * 250 + 1e-9)
    assert view.decision_function(FRESH)[60:].mean() > view.decision_function(FRESH)[:60].mean()
    assert view.decision_scores_[view.labels_ == 1].min() > view.decision_scores_[view.labels_ == 0].max()


@pytest.mark.parametrize("calibration", ["in-sample", "leave-one-out", "split"])
def test_decisions_are_those_of_the_detector(calibration, X):
    rankad = RankAD(calibration=calibration, random_state=0, alpha=0.07)
    view = PyODView(rankad, contamination=0.07).fit(X)
    np.testing.assert_array_equal(view.predict(FRESH) == 1, rankad.fit(X).predict(FRESH) == -1)
    np.testing.assert_array_equal(view.decision_function(FRESH), -rankad.score_samples(FRESH))
    np.testing.assert_array_equal(
        view.detector_.p_value(FRESH) <= 0.07, (view.decision_function(FRESH) > view.threshold_)
    )


def mean_of_standardised(detectors, X):
    """A combination of PyOD detectors as its users write it: by the contract, and nothing else."""
    columns = []
    for detector in detectors:
        trained = detector.decision_scores_
        columns.append((detector.decision_function(X) - trained.mean()) / trained.std())
    return np.mean(columns, axis=0)


class NearestNeighbour:
    """The least that is a PyOD detector."""

    def fit(self, X):
        self._X = X
        distances = np.linalg.norm(X[:, None] - X, axis=2)
        self.decision_scores_ = np.sort(distances, axis=1)[:, 1]
        return self

    def decision_function(self, X):
        return np.linalg.norm(X[:, None] - self._X, axis=2).min(axis=1)


def auc(scores):
    return np.mean(scores[IS_ANOMALY == 1][:, None] > scores[IS_ANOMALY == 0])


def test_in_a_combination_with_other_detectors(X):
    view, other = PyODView(RankAD(random_state=0)).fit(X), NearestNeighbour().fit(X)
    together = auc(mean_of_standardised([view, other], FRESH))
    assert together > 0.9
    # The wrong sign would not do.
    assert together > 0.1 + auc(other.decision_function(FRESH) + view.detector_.score_samples(FRESH) * 100)


def test_there_and_back(X):
    """The adapter for PyOD's detectors recognises the view, and gives RankAD's in-sample p-values again."""
    view = PyODView(RankAD(random_state=0))
    back, own = Adapted(view).fit(X), RankAD(random_state=0).fit(X)
    np.testing.assert_array_equal(back.score_samples(FRESH), own.score_samples(FRESH))
    np.testing.assert_allclose(back.p_value(FRESH), own.p_value(FRESH), atol=1 / 250 + 1e-12)


def test_frames_clones_and_selection(X):
    frame = pd.DataFrame(X, columns=["pressure", "flow"])
    detector = RankADCV(sigma_factors=(1, 4), Cs=(0.01,), search="grid", random_state=0)
    view = clone(PyODView(detector, contamination=0.2)).set_params(detector__k=10).fit(frame)
    assert view.detector_.k_ == 10
    assert view.detector_.feature_names_in_.tolist() == ["pressure", "flow"]
    assert view.labels_.sum() == 50
    assert detector.alpha == 0.05


def test_hostile_input(X):
    with pytest.raises(ValueError, match=r"PyODView shows RankAD.*not AKLPE"):
        PyODView(AKLPE()).fit(X)
    with pytest.raises(ValueError, match=r"not Pipeline"):
        PyODView(make_pipeline(StandardScaler(), AKLPE())).fit(X)
    for contamination in (0, 1, -0.1, np.nan, "auto"):
        with pytest.raises(ValueError, match="alpha must be a false-alarm level"):
            PyODView(contamination=contamination).fit(X)
    with pytest.raises(NotFittedError):
        PyODView().predict(X)
    with pytest.raises(ValueError, match="missing or infinite"):
        PyODView().fit(X * np.nan)
    with pytest.raises(ValueError, match="has 3 features"):
        PyODView().fit(X).predict(np.zeros((2, 3)))


def test_pyod_itself_reads_it(X):
    """What PyOD derives for every detector from what it finds after the fit."""
    base = pytest.importorskip("pyod.models.base").BaseDetector
    view = PyODView(RankAD(random_state=0), contamination=0.1).fit(X)
    labels = base.predict(view, FRESH)
    np.testing.assert_array_equal(labels, view.predict(FRESH))
    confidence = base.predict_confidence(view, FRESH)
    assert confidence[60:][labels[60:] == 1].mean() > 0.9
    assert confidence[:60][labels[:60] == 0].mean() > 0.9


def test_nonconform_calibrates_it_as_split_calibration_does(X):
    nonconform = pytest.importorskip("nonconform")
    rankad = RankAD(random_state=0)
    for detector, polarity in ((PyODView(rankad), None), (rankad, "higher_is_normal")):
        conformal = nonconform.ConformalDetector(
            detector, strategy=nonconform.Split(n_calib=0.5), score_polarity=polarity, seed=1
        ).fit(X)
        scores, counted = conformal.score_samples(FRESH), np.asarray(conformal.calibration_set)
        own = (1 + (counted >= scores[:, None]).sum(axis=1)) / (1 + len(counted))
        np.testing.assert_allclose(conformal.compute_p_values(FRESH), own)
        assert np.mean(conformal.compute_p_values(FRESH)[60:] < 0.1) > 0.7
