"""Compressed detectors: same face, known error, p-values that agree as far as the bound says."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from workbench import RankAD
from workbench.densities import FIG1, FIG2
from workbench.pvalues import p_value


@pytest.fixture(scope="module", params=["in-sample", "split"])
def whole(request):
    X = FIG2.sample(400, random_state=0)
    return RankAD(sigma=4.0, resamples=0, calibration=request.param, random_state=0).fit(X)


POINTS = np.concatenate(
    [
        FIG2.sample(400, random_state=1),
        np.random.default_rng(0).uniform(-18, 18, (200, 2)),
        [[1e9, 0], [0, 1e300]],
    ]
)


@pytest.mark.parametrize("landmarks", [1, 5, 20, 60, 400])
def test_interval_contains_the_exact_p_value(whole, landmarks):
    few = whole.compress(landmarks=landmarks)
    lower, upper = few.p_interval(POINTS)
    exact = whole.p_value(POINTS)
    assert np.all((lower <= exact) & (exact <= upper))
    assert np.all(
        np.abs(few.score_samples(POINTS) - whole.score_samples(POINTS))
        <= few.score_error_ + whole.score_error_
    )
    assert len(few.support_) <= landmarks
    np.testing.assert_array_equal(few.support_vectors_, few.g_.centres)


def test_interval_would_miss_if_the_bound_were_smaller(whole):
    """Control: with a bound fifty times too small exact p-values lie outside."""
    few = whole.compress(landmarks=20)
    object.__setattr__(few._projection, "distance", few._projection.distance / 50)
    object.__setattr__(few._projection, "slope", 0.0)
    lower, upper = few.p_interval(POINTS)
    exact = whole.p_value(POINTS)
    assert np.any((exact < lower) | (exact > upper))


def test_interval_is_narrow_where_landmarks_suffice(whole):
    few = whole.compress(tol=1e-4)
    lower, upper = few.p_interval(POINTS)
    assert np.mean(upper - lower) < 0.01
    np.testing.assert_allclose(few.p_value(POINTS), whole.p_value(POINTS), atol=0.02)
    lower, upper = whole.p_interval(POINTS)
    exact = whole.p_value(POINTS)
    assert np.all((lower <= exact) & (exact <= upper))
    assert np.mean(upper - lower) < 1e-3


def test_tol_is_kept_with_the_fewest(whole):
    sizes = []
    for tol in (1.0, 0.1, 1e-2, 1e-4):
        few = whole.compress(tol=tol)
        assert few.score_error_ <= tol
        assert np.abs(few.score_samples(POINTS) - whole.score_samples(POINTS)).max() <= tol
        sizes.append(len(few.support_))
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1] < len(whole.support_)


def test_split_p_values_stay_valid_whatever_the_landmarks():
    """The projection never sees the calibration points, so its own p-values are uniform."""
    p = []
    for seed in range(200):
        whole = RankAD(sigma=2.0, resamples=0, k=5, tol=1e-3, calibration="split", random_state=seed)
        few = whole.fit(FIG1.sample(38, random_state=seed)).compress(landmarks=3)
        p.append(few.p_value(FIG1.sample(1, random_state=10_000 + seed))[0])
    counts = np.bincount(np.round(np.array(p) * 20).astype(int), minlength=21)[1:]
    assert stats.chisquare(counts).pvalue > 1e-4


def test_same_face(whole):
    before = whole.p_value(POINTS)
    few = whole.compress(landmarks=30)
    assert type(few) is RankAD
    assert few.get_params() == whole.get_params()
    np.testing.assert_array_equal(few.predict(POINTS) == -1, few.p_value(POINTS) <= 0.05)
    np.testing.assert_array_equal(few.decision_function(POINTS), few.score_samples(POINTS) - few.offset_)
    np.testing.assert_array_equal(whole.p_value(POINTS), before)
    assert np.flatnonzero(few.beta_).tolist() == sorted(
        np.flatnonzero(np.isin(whole.train_index_, few.support_)).tolist()
    )
    again = pickle.loads(pickle.dumps(few))
    assert again.p_value(POINTS).tobytes() == few.p_value(POINTS).tobytes()
    with pytest.raises(NotFittedError):
        clone(few).score_samples(POINTS)


def test_promises_are_those_of_the_split(whole):
    few = whole.compress(landmarks=30)
    if whole.calibration == "split":
        assert few.false_alarm_bound(0.05) == whole.false_alarm_bound(0.05)
    else:
        with pytest.raises(ValueError, match="promises nothing useful"):
            few.false_alarm_bound(0.05)


def test_fitted_anew_it_is_whole():
    X = FIG2.sample(100, random_state=0)
    whole = RankAD(resamples=0, random_state=0).fit(X)
    few = whole.compress(landmarks=10).fit(X)
    assert few.beta_.tobytes() == whole.beta_.tobytes()
    few.compress(landmarks=10)


def test_one_at_a_time_without_checks(whole):
    for detector in (whole, whole.compress(landmarks=30)):
        g = np.array([detector.g_(x[None])[0] for x in POINTS])
        np.testing.assert_allclose(g, detector.score_samples(POINTS), rtol=0, atol=2 * detector.g_.rounding)
        split = detector.calibration == "split"
        p = p_value(g, detector.calibration_scores_, split=split)
        np.testing.assert_allclose(p, detector.p_value(POINTS), atol=0.01)


def test_float32_is_kept_and_frames_are_read(whole):
    single = POINTS[:-1].astype(np.float32)
    few = whole.compress(landmarks=25)
    lower, upper = few.p_interval(single)
    exact = whole.p_value(single.astype(float))
    assert np.all((lower <= exact) & (exact <= upper))
    np.testing.assert_allclose(few.score_samples(single), few.score_samples(single.astype(float)), atol=1e-2)
    frame = pd.DataFrame(single)
    np.testing.assert_array_equal(few.score_samples(frame), few.score_samples(single))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either landmarks or tol, got landmarks=None and tol=None"),
        ({"landmarks": 10, "tol": 0.1}, "either landmarks or tol, got landmarks=10 and tol=0.1"),
        ({"landmarks": 0}, "landmarks must be a whole number, at least 1, got 0"),
        ({"landmarks": 2.5}, "got 2.5"),
        ({"landmarks": True}, "got True"),
        ({"tol": 0.0}, "tol must be a positive finite number, in units of the score, got 0.0"),
        ({"tol": np.inf}, "got inf"),
        ({"tol": "small"}, "got 'small'"),
        ({"tol": 1e-300}, "tol=1e-300 cannot be met: .* Raise tol"),
    ],
)
def test_bad_arguments(whole, arguments, message):
    with pytest.raises(ValueError, match=message):
        whole.compress(**arguments)


def test_what_cannot_be_compressed(whole):
    with pytest.raises(NotFittedError):
        RankAD().compress(landmarks=3)
    with pytest.raises(ValueError, match="compressed to 7 landmarks already"):
        whole.compress(landmarks=7).compress(landmarks=3)
    with pytest.raises(ValueError, match="X has 3 features"):
        whole.p_interval(np.zeros((2, 3)))
