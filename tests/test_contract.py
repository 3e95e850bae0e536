"""What users of scikit-learn expect of a detector beyond what its own checks look at."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from workbench import RankAD, RankADCV
from workbench.baselines import SYSTEMS
from workbench.criteria import separation, synthetic_anomalies, synthetic_separation
from workbench.densities import FIG2

DETECTORS = {
    "RankAD": RankAD(random_state=0),
    "RankADCV": RankADCV(sigma_factors=(0.5, 1.0), Cs=(0.01, 1.0), cv=2, random_state=0),
} | {name: make(random_state=0) for name, make in SYSTEMS.items()}
DETECTOR = pytest.mark.parametrize("detector", DETECTORS.values(), ids=DETECTORS)
FRESH = FIG2.sample(50, random_state=1)


@pytest.fixture(scope="module")
def X():
    return FIG2.sample(120, random_state=0)


@DETECTOR
def test_read_only_and_scattered_arrays(detector, X):
    expected = clone(detector).fit(X).score_samples(FRESH)
    frozen = X.copy()
    frozen.setflags(write=False)
    scattered = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    for same in (frozen, np.asfortranarray(X), scattered):
        np.testing.assert_array_equal(clone(detector).fit(same).score_samples(FRESH), expected)
    np.testing.assert_array_equal(frozen, X)


@DETECTOR
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8])
def test_numbers_of_other_types(detector, X, dtype):
    given = np.round(4 * X).astype(dtype)
    other, same = (clone(detector).fit(rows) for rows in (given, given.astype(float)))
    np.testing.assert_allclose(
        other.score_samples(given), same.score_samples(given.astype(float)), rtol=1e-3, atol=1e-3
    )


@DETECTOR
def test_sparse_input_is_refused_in_words(detector, X):
    with pytest.raises(TypeError, match="dense data is required"):
        clone(detector).fit(sp.csr_matrix(X))
    with pytest.raises(TypeError, match="dense data is required"):
        clone(detector).fit(X).score_samples(sp.csr_matrix(X))


@DETECTOR
def test_missing_values_are_refused_with_their_column_and_a_remedy(detector, X):
    frame = pd.DataFrame(X, columns=["pressure", "flow"])
    frame.loc[7, "flow"] = np.nan
    with pytest.raises(ValueError, match=r"row 7 of column 'flow'.*SimpleImputer"):
        clone(detector).fit(frame)


@DETECTOR
def test_the_boundary_can_be_drawn_by_scikit_learn(detector, X):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    fitted = clone(detector).fit(X)
    for method in ("decision_function", "predict"):
        display = DecisionBoundaryDisplay.from_estimator(fitted, X, response_method=method, grid_resolution=8)
        plt.close(display.figure_)
        assert np.isfinite(display.response).all()


def test_pipelines_of_data_frames(X):
    frame = pd.DataFrame(X, columns=["pressure", "flow"])
    pipeline = make_pipeline(StandardScaler(), RankAD(random_state=0)).set_output(transform="pandas")
    assert pipeline.fit(frame)[-1].feature_names_in_.tolist() == ["pressure", "flow"]
    plain = make_pipeline(StandardScaler(), RankAD(random_state=0)).fit(X)
    np.testing.assert_allclose(pipeline.score_samples(frame), plain.score_samples(X), atol=1e-6)


def test_grid_search_without_labels(X):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), RankAD(random_state=0)),
        {"rankad__sigma": [0.05, 0.5, 50.0]},
        scoring=synthetic_separation,
        cv=3,
    ).fit(X)
    means = search.cv_results_["mean_test_score"]
    assert search.best_params_["rankad__sigma"] == 0.5
    assert means[1] > max(means[0], means[2])
    assert search.predict(FRESH).mean() > 0
    frame = pd.DataFrame(X, columns=["pressure", "flow"])
    np.testing.assert_allclose(clone(search).fit(frame).cv_results_["mean_test_score"], means, atol=1e-3)


def test_the_scorer_by_slow_code(X):
    detector = RankAD(random_state=0).fit(X)
    values = [
        np.mean(
            [
                [(a < b) + (a == b) / 2 for a in detector.score_samples(made)]
                for b in detector.score_samples(FRESH)
            ]
        )
        for made in synthetic_anomalies(FRESH, random_state=0).values()
    ]
    assert synthetic_separation(detector, FRESH) == pytest.approx(np.mean(values))
    assert separation(detector.score_samples(FRESH), [-9.0]) == 1.0


@pytest.mark.parametrize("calibration", ["in-sample", "leave-one-out", "split"])
@pytest.mark.parametrize("kind", [int, float, list, pd.Series])
def test_weights_are_repetitions(X, calibration, kind):
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    weights = kind(counts) if kind in (list, pd.Series) else counts.astype(kind)
    detector = RankAD(calibration=calibration, random_state=0)
    weighted = clone(detector).fit(X, sample_weight=weights)
    repeated = clone(detector).fit(np.repeat(X, counts, axis=0))
    for name in ("ranks_", "levels_", "beta_", "support_", "calibration_scores_", "sigma_", "offset_"):
        np.testing.assert_array_equal(getattr(weighted, name), getattr(repeated, name))
    assert weighted.score_samples(FRESH).tobytes() == repeated.score_samples(FRESH).tobytes()
    assert weighted.p_value(FRESH).tobytes() == repeated.p_value(FRESH).tobytes()


def test_weights_of_one_and_none_are_the_same(X):
    one = RankAD(random_state=0).fit(X, sample_weight=np.ones(len(X)))
    assert one.score_samples(FRESH).tobytes() == RankAD(random_state=0).fit(X).score_samples(FRESH).tobytes()


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.full(120, 0.5), "whole numbers, but that of row 0 is"),
        (np.full(120, -1), "row 0 is"),
        (np.full(120, np.nan), "row 0 is"),
        (np.full(120, np.inf), "row 0 is"),
        (["1"] * 120, "row 0 is"),
        (np.ones(7), r"120 rows of X, got shape \(7,\)"),
        (np.ones((120, 1)), r"got shape \(120, 1\)"),
        (2, r"got shape \(\)"),
        (np.zeros(120), "sum of sample_weight is 0"),
    ],
)
def test_other_weights_are_refused_in_words(X, weights, words):
    with pytest.raises(ValueError, match=words):
        RankAD().fit(X, sample_weight=weights)


def test_weights_are_routed(X):
    weights = np.arange(len(X)) % 3
    expected = RankAD(random_state=0).fit(X, sample_weight=weights).score_samples(FRESH)
    pipeline = make_pipeline(RankAD(random_state=0))
    assert np.array_equal(pipeline.fit(X, rankad__sample_weight=weights).score_samples(FRESH), expected)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = make_pipeline(RankAD(random_state=0).set_fit_request(sample_weight=True))
        assert np.array_equal(routed.fit(X, sample_weight=weights).score_samples(FRESH), expected)
