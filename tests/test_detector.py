import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_info

from workbench import RankAD, bounds, neighbors, preferences
from workbench.baselines import AKLPE
from workbench.densities import FIG1, FIG2

# It shuffles the rows of one of the two samples; isolation forests and one-class SVMs are excused as well.
SHUFFLED = {"check_sample_weight_equivalence_on_dense_data": "halves are dealt out in the order of the rows"}
FAR_AWAY = np.array([[1e3, 0.0], [-80.0, 60.0], [0.0, 1e300]])


@pytest.fixture(scope="module")
def X():
    return FIG2.sample(300, random_state=0)


@pytest.mark.parametrize(
    "estimator",
    [
        RankAD(),
        RankAD(calibration="split"),
        RankAD(anchor=False),
        RankAD(loss="squared_hinge", resamples=0, edges=(0.2,)),
    ],
    ids=["default", "split", "as printed", "squared"],
)
def test_scikit_learns_checks(estimator):
    outcomes = check_estimator(estimator, on_skip=None, expected_failed_checks=SHUFFLED)
    skipped = {outcome["check_name"] for outcome in outcomes if outcome["status"] != "passed"}
    assert skipped <= {"check_array_api_input", *SHUFFLED}  # the first runs only where SCIPY_ARRAY_API is set


def test_fit_is_algorithm_1(X):
    detector = RankAD(k=10, resamples=5, random_state=7).fit(X)
    R = neighbors.ranks(X, 10, 5, random_state=7)
    np.testing.assert_array_equal(detector.ranks_, R)
    np.testing.assert_array_equal(detector.levels_, preferences.quantize(R, 3))
    assert detector.sigma_ == neighbors.knn_statistic(X, k=10).mean() / 2
    assert detector.C_ == 1 / 300
    assert detector.solution_.converged
    assert detector.solution_.gap <= 1e-6
    g = detector.score_samples(X)
    np.testing.assert_allclose(g, detector.solution_.scores, atol=1e-12)
    counts = np.array([np.sum(g <= value) for value in g])
    np.testing.assert_allclose(detector.p_value(X), counts / 300, atol=1.01 / 300)
    assert preferences.disagreement(g, detector.levels_) < 0.05
    np.testing.assert_array_equal(detector.support_, np.flatnonzero(detector.beta_))
    np.testing.assert_array_equal(detector.support_vectors_, X[detector.support_])


def test_edges_replace_m(X):
    detector = RankAD(edges=(0.03,), random_state=0).fit(X)
    assert set(detector.levels_) == {1, 2}
    assert np.mean(detector.levels_ == 1) == pytest.approx(0.03, abs=0.02)


def test_dense_is_nominal(X):
    """The corrected orientation: the mode has a large p-value, the empty middle and the corner small ones."""
    p = RankAD(random_state=0).fit(X).p_value([[-5.0, 0.0], [1.0, 6.0], [15.0, 15.0]])
    assert p[0] > 0.8
    assert p[1] < 0.02
    assert p[2] < 0.02


def test_learned_p_values_follow_the_true_ones():
    detector = RankAD(sigma=1.5, random_state=0).fit(FIG1.sample(1000, random_state=0))
    fresh = FIG1.sample(2000, random_state=1)
    error = detector.p_value(fresh) - FIG1.p_value(fresh)
    assert np.sqrt(np.mean(error**2)) < 0.08
    assert np.corrcoef(detector.p_value(fresh), FIG1.p_value(fresh))[0, 1] > 0.97


@pytest.mark.parametrize("data", [FIG1, FIG2], ids=["Fig. 1", "Fig. 2"])
def test_far_away_points_need_the_anchor(data):
    """As printed, g -> 0 far away, in the middle of the training scores: the anchor is what cures it."""
    X = data.sample(300, random_state=0)
    anchored = RankAD(random_state=0).fit(X)
    printed = RankAD(anchor=False, random_state=0).fit(X)
    np.testing.assert_array_equal(anchored.p_value(FAR_AWAY), 0)
    np.testing.assert_array_equal(anchored.predict(FAR_AWAY, alpha=0.01), -1)
    np.testing.assert_array_equal(printed.score_samples(FAR_AWAY), 0)
    assert np.all(printed.p_value(FAR_AWAY) > 0.1)
    np.testing.assert_array_equal(printed.predict(FAR_AWAY), 1)


def test_anchor_at_its_default_weight_keeps_g_positive_on_the_sample_as_C_vanishes(X):
    detector = RankAD(C=1e-9, random_state=0).fit(X)
    assert np.all(detector.score_samples(X) > 0)
    # beta_i = C (lower points - higher points + a) when every pair is violated
    n = len(X)
    levels = detector.levels_
    expected = np.array([np.sum(levels < level) - np.sum(levels > level) + n for level in levels]) * 1e-9
    kernel = np.exp(-np.sum((X[:, None] - X) ** 2, axis=2) / detector.sigma_**2)
    np.testing.assert_allclose(detector.score_samples(X), kernel @ expected, rtol=1e-3)


def test_anchor_weights(X):
    one = RankAD(anchor=300.0, random_state=0).fit(X)
    np.testing.assert_array_equal(one.beta_, RankAD(anchor=True, random_state=0).fit(X).beta_)
    none = RankAD(anchor=0, random_state=0).fit(X)
    np.testing.assert_array_equal(none.beta_, RankAD(anchor=False, random_state=0).fit(X).beta_)
    assert not np.array_equal(one.beta_, none.beta_)


@pytest.mark.parametrize("calibration", ["in-sample", "split"])
def test_any_alpha_without_retraining(X, calibration):
    detector = RankAD(calibration=calibration, random_state=0).fit(X)
    fresh = FIG2.sample(500, random_state=1)
    p = detector.p_value(fresh)
    for alpha in (0.01, 0.05, 0.3, 0.9):
        np.testing.assert_array_equal(detector.predict(fresh, alpha=alpha) == -1, p <= alpha)
        refitted = clone(detector).set_params(alpha=alpha).fit(X)
        np.testing.assert_array_equal(refitted.predict(fresh), detector.predict(fresh, alpha=alpha))
    np.testing.assert_array_equal(
        detector.predict(fresh), np.where(detector.decision_function(fresh) < 0, -1, 1)
    )
    np.testing.assert_array_equal(detector.predict(fresh), detector.predict(fresh, alpha=0.05))
    if calibration == "in-sample":  # floor(.05 n) alarms on the training points themselves
        assert np.sum(detector.predict(X) == -1) == 15


def test_split_false_alarms_average_to_alpha():
    """Over repetitions the split rule alarms on floor(alpha (n_cal + 1)) / (n_cal + 1) of nominal points."""
    alpha, fresh = 0.1, FIG2.sample(4000, random_state=999)
    rates = {"split": [], "in-sample": []}
    for seed in range(60):
        X = FIG2.sample(79 * 2, random_state=seed)
        for calibration, values in rates.items():
            detector = RankAD(k=10, resamples=0, calibration=calibration, random_state=seed).fit(X)
            values.append(np.mean(detector.predict(fresh, alpha=alpha) == -1))
    for calibration, values in rates.items():
        standard_error = np.std(values) / np.sqrt(len(values))
        rates[calibration] = (np.mean(values) - alpha) / standard_error
    assert abs(rates["split"]) < 3.5
    assert abs(rates["in-sample"]) > 3.5  # not valid at finite n, which the same test must notice


@pytest.mark.parametrize("data", [FIG1, FIG2], ids=["Fig. 1", "Fig. 2"])
def test_in_sample_alarms_are_far_above_alpha_where_g_follows_the_sample(data):
    """D_K and the default, half of it, are narrow: training scores sit on the margin, new points below."""
    X, fresh = data.sample(1000, random_state=0), data.sample(4000, random_state=1)
    rate = {
        (calibration, sigma): np.mean(
            RankAD(sigma=sigma, calibration=calibration, random_state=0).fit(X).predict(fresh) == -1
        )
        for calibration in ("in-sample", "split")
        for sigma in ("auto", "D_K", 2.0)
    }
    assert rate["in-sample", "auto"] > rate["in-sample", "D_K"] > 0.15
    assert rate["in-sample", 2.0] < 0.1
    assert rate["split", "auto"] == pytest.approx(
        0.05, abs=0.025
    )  # one calibration set: a Beta law about .05
    assert rate["split", 2.0] == pytest.approx(0.05, abs=0.025)


def test_too_few_calibration_points_for_an_alarm_warn_and_leave_finite_decisions(X):
    with pytest.warns(UserWarning, match=r"too few for any alarm at alpha=0.05: the smallest .* 1/16"):
        detector = RankAD(calibration="split", random_state=0).fit(X[:30])
    assert np.all(np.isfinite(detector.decision_function(FAR_AWAY)))
    np.testing.assert_array_equal(detector.predict(FAR_AWAY), 1)
    np.testing.assert_array_equal(detector.predict(FAR_AWAY, alpha=0.1), -1)


def test_tied_ranks_that_empty_a_level_warn(rng):
    copies = np.concatenate([np.zeros((250, 2)), rng.normal(size=(50, 2))])
    with pytest.warns(UserWarning, match="Only 1 of 3 levels occur"):
        RankAD(sigma=1.0, random_state=0).fit(copies)


def test_the_anchor_works_from_where_the_kernel_has_died_out(X):
    detector = RankAD(sigma=8.0, random_state=0).fit(X)
    ray = np.c_[np.linspace(10, 200, 96), np.zeros(96)]
    p = detector.p_value(ray)
    assert np.all(p[ray[:, 0] > 40] == 0)
    assert np.all(np.diff(p) <= 0)


def test_changing_a_parameter_does_not_change_a_fitted_detector(X):
    detector = RankAD(random_state=0).fit(X)
    before = detector.p_value(X)
    detector.set_params(calibration="split", alpha=0.4)
    np.testing.assert_array_equal(detector.p_value(X), before)
    assert np.sum(detector.predict(X) == -1) == 15


def test_fits_in_threads_leave_the_thread_pools_as_they_were(X):
    before = [pool["num_threads"] for pool in threadpool_info()]
    with ThreadPoolExecutor(4) as threads:
        fits = list(threads.map(lambda seed: RankAD(random_state=seed).fit(X[:80]), range(12)))
    assert all(fit.solution_.converged for fit in fits)
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_split_trains_on_one_half_and_calibrates_on_the_other(X):
    detector = RankAD(calibration="split", random_state=0).fit(X)
    assert len(detector.train_index_) == len(detector.calibration_scores_) == 150
    held_out = np.setdiff1d(np.arange(300), detector.train_index_)
    np.testing.assert_allclose(
        detector.calibration_scores_, np.sort(detector.score_samples(X[held_out])), atol=1e-12
    )
    assert set(detector.support_) <= set(detector.train_index_)
    np.testing.assert_array_equal(detector.support_vectors_, X[detector.support_])


def test_leave_one_out_scores_leave_out_the_points_own_term(X):
    detector = RankAD(calibration="leave-one-out", random_state=0).fit(X)
    K = np.exp(-(((X[:, None] - X[None]) / detector.sigma_) ** 2).sum(axis=2))
    others = [np.delete(K[i], i) @ np.delete(detector.beta_, i) for i in range(len(X))]
    np.testing.assert_allclose(detector.calibration_scores_, np.sort(others), atol=1e-9)
    plain = RankAD(random_state=0).fit(X)
    assert plain.beta_.tobytes() == detector.beta_.tobytes()
    with pytest.raises(ValueError, match="calibration='leave-one-out' promises nothing useful"):
        detector.false_alarm_bound()


def test_leave_one_out_p_values_of_new_points_are_honest_where_in_sample_ones_are_not():
    rates = {"leave-one-out": [], "in-sample": []}
    for seed in range(8):
        sample, new = FIG2.sample(250, random_state=seed), FIG2.sample(2000, random_state=1000 + seed)
        for calibration, found in rates.items():
            detector = RankAD(calibration=calibration, random_state=seed).fit(sample)
            found.append(np.mean(detector.p_value(new) <= 0.1))
    assert abs(np.mean(rates["leave-one-out"]) - 0.1) < 0.03
    assert np.mean(rates["in-sample"]) > 0.2


def test_p_values_do_not_depend_on_what_is_scored_with_them(X):
    detector = RankAD(sigma="D_K", random_state=0).fit(X)
    together = detector.p_value(X)
    np.testing.assert_array_equal([detector.p_value(x[None])[0] for x in X], together)
    np.testing.assert_array_equal(np.sort(together), np.arange(1, 301) / 300)


def test_same_seed_same_bytes(X):
    one, two = (RankAD(random_state=3).fit(X) for _ in range(2))
    assert one.beta_.tobytes() == two.beta_.tobytes()
    assert pickle.loads(pickle.dumps(one)).p_value(X).tobytes() == two.p_value(X).tobytes()


def test_invariance_under_rigid_motion_and_scaling(X):
    base = RankAD(random_state=0).fit(X)
    moved = RankAD(random_state=0).fit(X[:, ::-1] * 8 + 64)
    assert moved.sigma_ == pytest.approx(8 * base.sigma_)
    np.testing.assert_allclose(moved.score_samples(X[:, ::-1] * 8 + 64), base.score_samples(X), atol=2e-2)


def test_pandas_in_feature_names_kept(X):
    frame = pd.DataFrame(X.copy(), columns=["pressure", "flow"])  # before pandas 3 it would share memory
    detector = RankAD(random_state=0).fit(frame)
    assert detector.feature_names_in_.tolist() == ["pressure", "flow"]
    np.testing.assert_array_equal(detector.p_value(frame), RankAD(random_state=0).fit(X).p_value(X))
    with pytest.raises(ValueError, match="feature names should match"):
        detector.p_value(frame[["flow", "pressure"]])
    frame.loc[5, "flow"] = np.nan
    with pytest.raises(ValueError, match="in row 5 of column 'flow'"):
        detector.p_value(frame)


def test_in_a_pipeline():
    X, _ = make_blobs(120, centers=2, random_state=0)
    pipeline = make_pipeline(StandardScaler(), RankAD(random_state=0)).fit(X * [1, 1000])
    assert np.mean(pipeline.predict(X * [1, 1000]) == -1) == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize("n", [4, 5, 12, 42, 43, 60])
def test_small_samples_take_the_largest_k_allowed(n, rng):
    detector = RankAD(m=2, random_state=0).fit(rng.normal(size=(n, 2)))
    assert detector.k_ == min(20, n // 2 - 1)


def test_bandwidth_by_name(X):
    D_K = neighbors.mean_distance(X, 20)
    assert RankAD(sigma="D_K", random_state=0).fit(X).sigma_ == D_K
    assert RankAD(random_state=0).fit(X).sigma_ == D_K / 2
    named, number = (RankAD(sigma=sigma, random_state=0).fit(X) for sigma in ("D_K", D_K))
    assert named.beta_.tobytes() == number.beta_.tobytes()


def test_copies_leave_the_bandwidth_alone_and_the_order_nearly(X):
    """Among 25 copies of each of a few points D_K of all points would be 0."""
    copies = np.repeat(X[:60], 25, axis=0)
    assert neighbors.knn_statistic(copies, k=20).max() == 0
    detector = RankAD(random_state=0).fit(copies)
    assert detector.sigma_ == neighbors.mean_distance(X[:60], 20) / 2
    once = RankAD(k=20, random_state=0).fit(X[:60])
    fresh = FIG2.sample(300, random_state=5)
    agreement = stats.spearmanr(detector.score_samples(fresh), once.score_samples(fresh)).statistic
    assert agreement > 0.8


def test_constant_column_one_column_and_duplicates(rng):
    X = rng.normal(size=(60, 1))
    one = RankAD(random_state=0).fit(X)
    padded = RankAD(random_state=0).fit(np.c_[X, np.full(60, 5.0)])
    np.testing.assert_allclose(
        padded.score_samples(np.c_[X, np.full(60, 5.0)]), one.score_samples(X), atol=1e-12
    )
    doubled = RankAD(k=20, random_state=0).fit(np.repeat(X, 2, axis=0))
    assert doubled.solution_.converged


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e200])
def test_extreme_scales(X, scale):
    base = RankAD(random_state=0).fit(X)
    scaled = RankAD(random_state=0).fit(X * scale)
    assert scaled.sigma_ == pytest.approx(base.sigma_ * scale)
    np.testing.assert_allclose(scaled.score_samples(X * scale), base.score_samples(X), atol=1e-4)


X_OK = np.random.default_rng(0).normal(size=(60, 2))


def with_value_at(row, column, value):
    X = X_OK.copy()
    X[row, column] = value
    return X


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 30}, "k=30 neighbours are too many .* largest allowed is 29"),
        ({"k": 60, "resamples": 0}, "largest allowed is 59"),
        ({"k": "many"}, "k must be a number or \"auto\", got 'many'"),
        ({"m": 61}, "m=61 levels are more than the n_samples = 60 training points"),
        (
            {"m": 31, "calibration": "split"},
            r"m=31 levels are more than the n_samples = 30 .* \(of 60 given\)",
        ),
        ({"m": 0}, "m must be a whole number"),
        ({"edges": (0.5, 0.1)}, "edges must be strictly increasing"),
        ({"sigma": -1.0}, "sigma must be a positive finite number, got -1.0"),
        ({"sigma": "wide"}, 'sigma must be a number, "auto" or "D_K", got \'wide\''),
        ({"C": -2}, "C must be a positive finite number, got -2"),
        ({"C": "big"}, "C must be a number or \"auto\", got 'big'"),
        ({"alpha": 0.0}, "alpha must be a false-alarm level strictly between 0 and 1, got 0.0"),
        ({"alpha": 1}, "got 1"),
        ({"anchor": -3.0}, "anchor must be a multiplicity .* got -3.0"),
        ({"anchor": 1e300}, r"anchor must be .* at most 1e\+15, .* got 1e\+300"),
        ({"C": 1e300}, r"C must be at most 1e\+30, .* got 1e\+300"),
        ({"sigma": 10**400}, "sigma must be a positive finite number, got 1000"),
        ({"loss": np.ones(2)}, "loss must be one of"),
        ({"calibration": np.ones(2)}, "calibration must be one of"),
        ({"k": True}, "k must be a whole number of neighbours, at least 1, got True"),
        ({"random_state": -1}, r"random_state must be a whole number from 0 to 2\*\*32 - 1, .* got -1"),
        ({"random_state": "x"}, "random_state must be .* got 'x'"),
        ({"anchor": "yes"}, "anchor must be a multiplicity .* got 'yes'"),
        (
            {"calibration": "jackknife"},
            "calibration must be one of in-sample, split, leave-one-out, got 'jackknife'",
        ),
        ({"loss": "logistic"}, "loss must be one of"),
        ({"solver": "simplex"}, "solver must be one of"),
        ({"resamples": -1}, "resamples must be a whole number"),
        ({"tol": 2}, "tol must be a relative gap"),
        ({"m": 1, "anchor": False}, "fall in one level .* no preference to learn from"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RankAD(**parameters).fit(X_OK)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            np.where(np.arange(120).reshape(60, 2) == 7, np.nan, X_OK),
            "1 missing or infinite .* row 3 of column 1",
        ),
        (np.where(np.arange(120).reshape(60, 2) == 8, np.inf, X_OK), "the first, inf, in row 4 of column 0"),
        (np.empty((0, 2)), "0 sample"),
        (X_OK[:1], "1 sample"),
        (X_OK[:3], "too few points"),
        (X_OK[:, 0], "Expected 2D array, got 1D array"),
        (np.ones((60, 2)), "mean 20-NN distance of distinct training points, but all of them are equal"),
        (X_OK * 1e301, "X holds values up to .*e\\+301, and distances .* overflow"),
        (X_OK * 1j, "Complex data not supported: X must hold real numbers, got complex128"),
        ([[10**400, 1]] * 60, "X must hold numbers only, but int too large"),
        ([["a", "b"]] * 60, "X must hold numbers only, but could not convert string to float: 'a'"),
    ],
    ids=[
        "nan",
        "inf",
        "empty",
        "one row",
        "three rows",
        "1-D",
        "all equal",
        "huge",
        "complex",
        "10**400",
        "strings",
    ],
)
def test_bad_data(X, message):
    with pytest.raises(ValueError, match=message):
        RankAD().fit(X)


def test_no_table_at_all():
    with pytest.raises(TypeError, match=r"X must hold numbers only, but .* not 'dict'"):
        RankAD().fit({})


def test_bad_input_at_predict(X):
    detector = RankAD(random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has 3 features, but RankAD is expecting 2"):
        detector.predict(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="in row 0 of column 1"):
        detector.p_value([[0.0, np.nan]])
    with pytest.raises(ValueError, match="alpha must be"):
        detector.predict(X, alpha=1.2)
    with pytest.raises(ValueError, match="0 sample"):
        detector.score_samples(np.empty((0, 2)))


def test_callback_sees_the_gap_and_may_end_the_fit():
    gaps = []
    RankAD(random_state=0).fit(X_OK, callback=lambda progress: gaps.append(progress.gap))
    assert len(gaps) > 2
    assert gaps[-1] <= 1e-6

    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        RankAD(random_state=0).fit(X_OK, callback=interrupt)


@pytest.fixture(scope="module")
def calibrated():
    return RankAD(calibration="split", sigma=2.0, random_state=0).fit(FIG1.sample(400, random_state=0))


def test_promise_about_false_alarms_in_numbers(calibrated):
    # 200 calibration scores: alpha = 0.05 is the order statistic floor(0.05 * 201) = 10
    assert calibrated.false_alarm_bound(0.05, simultaneous=False) == pytest.approx(
        stats.beta.ppf(0.95, 10, 191), rel=1e-9
    )
    assert calibrated.false_alarm_bound(0.05) == bounds.ell(200, 0.05)[9]
    assert calibrated.false_alarm_bound() == calibrated.false_alarm_bound(0.05)
    assert calibrated.false_alarm_bound(0.05) > calibrated.false_alarm_bound(0.05, delta=0.2)
    assert calibrated.false_alarm_bound(0.004) == 0.0


def test_level_chosen_for_a_target_keeps_it(calibrated):
    for simultaneous in (False, True):
        alpha = calibrated.alpha_for(0.1, simultaneous=simultaneous)
        assert calibrated.false_alarm_bound(alpha, simultaneous=simultaneous) <= 0.1
        one_more = (round(alpha * 201) + 1) / 201
        assert calibrated.false_alarm_bound(one_more, simultaneous=simultaneous) > 0.1
    with pytest.raises(
        ValueError, match=r"200 calibration points cannot promise a false-alarm rate of 0\.001"
    ):
        calibrated.alpha_for(0.001)


def test_promise_is_kept_over_repetitions():
    """At most a share delta of detectors may break it; in-sample thresholds, the control, nearly all do."""
    kept = broken_in_sample = 0
    fresh = FIG1.sample(4000, random_state=99)
    for seed in range(40):
        X = FIG1.sample(120, random_state=seed)
        split = RankAD(calibration="split", sigma=0.5, random_state=seed).fit(X)
        alpha = split.alpha_for(0.25, delta=0.2, simultaneous=False)
        kept += np.mean(split.predict(fresh, alpha=alpha) == -1) <= 0.25
        in_sample = RankAD(sigma=0.3, random_state=seed).fit(X)
        broken_in_sample += np.mean(in_sample.predict(fresh, alpha=alpha) == -1) > 0.25
    assert kept >= stats.binom.ppf(1e-4, 40, 0.8)
    assert broken_in_sample > 30


def test_every_system_makes_the_same_promise(calibrated):
    other = AKLPE(calibration="split", random_state=0).fit(FIG1.sample(400, random_state=0))
    assert other.false_alarm_bound(0.05) == calibrated.false_alarm_bound(0.05)


def test_no_promise_without_held_out_points(X):
    with pytest.raises(ValueError, match='Use calibration="split"'):
        RankAD(random_state=0).fit(X).false_alarm_bound(0.05)
    with pytest.raises(NotFittedError):
        RankAD().alpha_for(0.05)


def test_false_discoveries_are_controlled_by_scipy(calibrated):
    """Benjamini-Hochberg on split p-values: the mean share of false discoveries stays below the level."""
    shares, found = [], []
    for seed in range(60):
        detector = RankAD(calibration="split", sigma=2.0, random_state=seed).fit(FIG1.sample(300, seed))
        nominal = FIG1.sample(90, random_state=1000 + seed)
        anomalies = np.random.default_rng(seed).uniform([-8, -8], [-2, 8], (10, 2))
        p = detector.p_value(np.vstack([nominal, anomalies]))
        discovered = stats.false_discovery_control(p) <= 0.2
        shares.append(discovered[:90].sum() / max(discovered.sum(), 1))
        found.append(discovered[90:].mean())
    error = np.std(shares) / np.sqrt(len(shares))
    assert np.mean(shares) <= 0.2 + 3 * error
    assert np.mean(found) > 0.5


def test_an_interrupted_refit_leaves_nothing_behind(X):
    def interrupt(progress):
        raise KeyboardInterrupt

    detector = RankAD(random_state=0).fit(X)
    with pytest.raises(KeyboardInterrupt):
        detector.fit(100 * X, callback=interrupt)
    with pytest.raises(NotFittedError):
        detector.predict(X)
    reference = RankAD(random_state=0).fit(X)
    assert detector.fit(X).beta_.tobytes() == reference.beta_.tobytes()
    detector.k = 10**6
    with pytest.raises(ValueError, match="too many"):
        detector.fit(X)
    with pytest.raises(NotFittedError):
        detector.score_samples(X)
