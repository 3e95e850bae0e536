import json
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from workbench import RankAD, RankADCV, to_onnx
from workbench.baselines import KDEMinimumVolume
from workbench.densities import FIG2

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

X = FIG2.sample(200, random_state=0)
FAR = [[1e308, -1e308], [1e200, 0.0], [60.0, 0.0]]
POINTS = np.vstack([X, np.random.default_rng(1).normal(scale=6, size=(400, 2)), FAR])


def run(model, points):
    """What a runtime makes of the model, once it has been checked."""
    onnx.checker.check_model(model, full_check=True)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": points})


def final(detector):
    return detector[-1] if hasattr(detector, "steps") else detector


def check(detector, points):
    """Scores to within the rounding of both, the same p-values, the same labels."""
    score, p, label = run(to_onnx(detector), points)
    assert score.shape == p.shape == label.shape == (len(points),)
    last = final(detector)
    seen = detector[:-1].transform(points) if last is not detector else points
    g, own = last.score_samples(seen), last.p_value(seen)
    np.testing.assert_allclose(score, g, rtol=0, atol=2 * last.g_.rounding)
    # What rounding does is far below the distance of these scores from any calibration score.
    np.testing.assert_array_equal(p, own)
    np.testing.assert_array_equal(label, last.predict(seen))
    assert 0 < (label == -1).sum() < len(label)
    if not last.compressed:
        lower, upper = last.p_interval(seen)
        assert (lower <= p).all()
        assert (p <= upper).all()
    return score


@pytest.mark.parametrize("calibration", ["in-sample", "leave-one-out", "split"])
def test_scores_p_values_and_labels(calibration):
    check(RankAD(calibration=calibration, random_state=0).fit(X), POINTS)


def test_a_score_counts_those_that_are_tied_with_it():
    detector = RankAD(random_state=0).fit(X)
    probes = POINTS[200:240]
    scores = run(to_onnx(detector), probes)[0]
    detector.calibration_scores_ = np.sort(scores)
    detector.offset_ = np.median(scores[:-1])  # of an odd number: one of them
    score, p, label = run(to_onnx(detector), probes)
    np.testing.assert_array_equal(score, scores)
    np.testing.assert_array_equal(p, [np.mean(scores <= each) for each in scores])
    np.testing.assert_array_equal(label, np.where(scores < detector.offset_, -1, 1))


@pytest.mark.parametrize(
    "parameters",
    [{"anchor": False}, {"m": 1}, {"sigma": 0.05}, {"sigma": 100.0}, {"loss": "squared_hinge", "alpha": 0.2}],
    ids=str,
)
def test_other_parameters(parameters):
    check(RankAD(**parameters, random_state=0).fit(X), POINTS)


def test_where_products_lose_too_much():
    """Two clusters 1e5 bandwidths apart."""
    far = np.vstack([X[:100], X[100:] + 3e5])
    detector = RankAD(sigma=3.0, random_state=0).fit(far)
    assert not detector.g_.by_products
    check(detector, np.vstack([POINTS, POINTS + 3e5]))


def test_a_compressed_detector_and_a_selected_one():
    detector = RankAD(random_state=0).fit(X).compress(landmarks=30)
    check(detector, POINTS)
    check(RankADCV(sigma_factors=[0.5, 1.0], Cs=[0.01], cv=2, random_state=0).fit(X), POINTS)


@pytest.mark.parametrize(
    "scaler",
    [{}, {"with_mean": False}, {"with_std": False}, {"with_mean": False, "with_std": False}],
    ids=str,
)
def test_a_scaler_in_front(scaler):
    pipeline = make_pipeline(StandardScaler(**scaler), RankAD(random_state=0))
    points = POINTS[:600]
    check(pipeline.fit(X * [1e6, 1e-6]), points * [1e6, 1e-6])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "steps",
    [
        [RobustScaler()],
        [RobustScaler(with_centering=False)],
        [RobustScaler(with_scaling=False, unit_variance=True)],
        [MinMaxScaler((-1, 3))],
        [MinMaxScaler(clip=True)],
        [MaxAbsScaler()],
        [StandardScaler(), MaxAbsScaler(), "passthrough", None, RobustScaler(), MinMaxScaler()],
    ],
    ids=str,
)
def test_other_scalers_to_the_same_bits(steps, dtype):
    """And so to the rounding of the score alone, as `check` asks."""
    pipeline = make_pipeline(*steps, RankAD(random_state=0)).fit((X * [1e3, 1e-3]).astype(dtype))
    check(pipeline, POINTS[:600] * [1e3, 1e-3])


def test_values_are_clipped():
    pipeline = make_pipeline(MinMaxScaler(clip=True), RankAD(random_state=0)).fit(X)
    inside, outside = run(to_onnx(pipeline), np.array([X.max(axis=0), [1e9, 1e9]]))[0]
    assert inside == outside
    if "clip" in MaxAbsScaler().get_params():
        pipeline = make_pipeline(MaxAbsScaler(clip=True), RankAD(random_state=0)).fit(X)
        far = np.array([np.abs(X).max(axis=0), [1e9, 1e9], -np.abs(X).max(axis=0), [-1e9, -1e9]])
        one, same, other, too = run(to_onnx(pipeline), far)[0]
        assert (one, other) == (same, too)
        check(pipeline, POINTS[:600])


WIDE = np.random.default_rng(2).normal(size=(300, 6)) * [1, 30, 0.2, 5, 1, 1] + [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "steps",
    [
        [PCA(2)],
        [PCA(4, whiten=True)],
        [StandardScaler(), PCA(3, svd_solver="full"), RobustScaler()],
        [PCA(svd_solver="full"), PCA(3, whiten=True, svd_solver="arpack", random_state=0)],
    ],
    ids=str,
)
def test_principal_components(steps, dtype):
    """Scores to within the rounding of both, and of the products that make the points."""
    pipeline = make_pipeline(*steps, RankAD(random_state=0)).fit(WIDE[:200].astype(dtype))
    front, last = pipeline[:-1], pipeline[-1]
    points = np.vstack([WIDE, 3 * WIDE])
    score, p, label = run(to_onnx(pipeline), points)
    seen = front.transform(points)
    # |grad g| <= sum |beta| sqrt(2 / e) / sigma, and a product of a few entries is off by some units.
    steepest = np.abs(last.beta_).sum() * np.sqrt(2 / np.e) / last.sigma_
    off = 100 * np.finfo(float).eps * np.abs(seen).max() * steepest
    assert off < 1e-9
    np.testing.assert_allclose(score, last.score_samples(seen), rtol=0, atol=2 * last.g_.rounding + off)
    np.testing.assert_array_equal(p[200:], last.p_value(seen)[200:])
    np.testing.assert_array_equal(label[200:], last.predict(seen)[200:])
    assert 0 < (label == -1).sum() < len(label)


def test_scales_that_whitening_does_not_divide_by():
    """Of a component without variance scikit-learn takes the unit of rounding instead."""
    flat = np.column_stack([X, np.zeros(200)])
    pipeline = make_pipeline(PCA(whiten=True, svd_solver="full"), RankAD(random_state=0)).fit(flat)
    assert pipeline[0].explained_variance_[2] == 0
    score = run(to_onnx(pipeline), flat)[0]
    np.testing.assert_allclose(score, pipeline.score_samples(flat), rtol=0, atol=1e-9)


def test_a_wrong_step_is_seen():
    """The control: one mean off by a millionth of a deviation."""
    pipeline = make_pipeline(StandardScaler(), RankAD(random_state=0)).fit(X)
    expected = check(pipeline, POINTS[:600])
    pipeline[0].mean_[0] += 1e-6 * pipeline[0].scale_[0]
    score = run(to_onnx(pipeline), POINTS[:600])[0]
    assert np.abs(score - expected).max() > 2 * pipeline[-1].g_.rounding


def test_what_steps_make_infinite_has_no_score():
    """As the detector refuses such points, behind its scaler too."""
    points = np.array([[1e308, 0.0], [0.0, 1e308], [0.0, 0.0], [np.nan, 0.0], [np.inf, 0.0]])
    for step in (StandardScaler(), RobustScaler(), MinMaxScaler(), MinMaxScaler(clip=True), PCA()):
        pipeline = make_pipeline(step, RankAD(random_state=0)).fit(X * 1e-6)
        with np.errstate(all="ignore"):
            unknown = [not np.isfinite(step.transform(point[None])).all() for point in points[:3]]
        score, p, label = run(to_onnx(pipeline), points)
        np.testing.assert_array_equal(np.isnan(score), [*unknown, True, True])
        np.testing.assert_array_equal(np.isnan(p), [*unknown, True, True])
        assert (label[np.isnan(score)] == -1).all()


def test_far_from_the_origin():
    pipeline = make_pipeline(StandardScaler(), RankAD(random_state=0)).fit(X + 1e9)
    check(pipeline, POINTS[:600] + 1e9)


def test_unknown_values_have_no_score_and_raise_an_alarm():
    detector = RankAD(random_state=0).fit(X)
    score, p, label = run(to_onnx(detector), np.array([[np.nan, 0], [np.inf, 0], [0, -np.inf], X[0]]))
    np.testing.assert_array_equal(np.isnan(score), [True, True, True, False])
    np.testing.assert_array_equal(np.isnan(p), [True, True, True, False])
    np.testing.assert_array_equal(label, [-1, -1, -1, detector.predict(X[:1])[0]])


def test_no_points_and_one():
    model = to_onnx(RankAD(random_state=0).fit(X))
    assert [output.shape for output in run(model, np.empty((0, 2)))] == [(0,)] * 3
    assert [output.shape for output in run(model, X[:1])] == [(1,)] * 3


def test_a_wrong_graph_is_seen():
    """The control: one coefficient off by a millionth."""
    detector = RankAD(random_state=0).fit(X)
    expected = check(detector, POINTS)
    detector.g_.coefficients[0] *= 1 + 1e-6
    score = run(to_onnx(detector), POINTS)[0]
    assert np.abs(score - expected).max() > 2 * detector.g_.rounding


def test_what_the_file_says_of_itself():
    frame = pd.DataFrame(X, columns=["höhe", "b"])
    detector = make_pipeline(StandardScaler(), RankAD(alpha=0.1, random_state=0)).fit(frame)
    model = to_onnx(detector)
    said = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(said["feature_names"]) == ["höhe", "b"]
    assert said["alpha"] == "0.1"
    assert said["calibration"] == "in-sample"
    assert float(said["score_error"]) == detector[-1].score_error_
    assert model.opset_import[0].version == 17
    assert model.ir_version == 8
    nameless = to_onnx(RankAD(random_state=0).fit(X))
    assert "feature_names" not in {entry.key for entry in nameless.metadata_props}


@pytest.mark.parametrize(
    "make", [lambda: RankAD(random_state=0), lambda: make_pipeline(RobustScaler(), RankAD())]
)
def test_a_loaded_model_and_a_file(make, tmp_path):
    from workbench import load, save

    save(make().fit(X), tmp_path / "model")
    detector = load(tmp_path / "model")
    check(detector, POINTS[:600])
    onnx.save(to_onnx(detector), tmp_path / "model.onnx")
    session = runtime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(["score"], {"X": X})[0], detector.score_samples(X), atol=1e-9)


def test_what_cannot_be_exported_is_refused_in_words(monkeypatch):
    with pytest.raises(NotFittedError, match="not fitted"):
        to_onnx(RankAD())
    with pytest.raises(NotFittedError, match="not fitted"):
        to_onnx(make_pipeline(StandardScaler(), RankAD()))
    with pytest.raises(
        ValueError, match="takes RankAD, RankADCV and pipelines that end in one, not KDEMinimumVolume"
    ):
        to_onnx(KDEMinimumVolume().fit(X))
    with pytest.raises(ValueError, match=r"knows StandardScaler, .*, PCA .* and not PolynomialFeatures\(\)"):
        to_onnx(make_pipeline(PolynomialFeatures(), RankAD()).fit(X))
    detector = RankAD(random_state=0).fit(X)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "rankad-workbench\[onnx\]"'):
        to_onnx(detector)
