"""Measures against closed forms, fresh draws and slow code."""

import itertools

import numpy as np
import pytest

from workbench import bounds
from workbench.densities import FIG1
from workbench.expansions import KernelExpansion
from workbench.explorer import Explorer, Settings
from workbench.explorer.fitting import fit_side, side_title
from workbench.explorer.measures import ALPHAS, DELTA, LADDER, at_level, measure
from workbench.explorer.picture import checks, neighbours, panel, summary
from workbench.explorer.sample import column_names, draw_sample
from workbench.levelsets import set_distance


def fitted(side="right", **settings):
    settings = Settings(**{"n": 150} | settings)
    return settings, fit_side(side, settings, draw_sample(settings), 1e-6)


def slow_tau(a, b):
    """Kendall's tau-b, pair by pair."""
    agree = ties_a = ties_b = pairs = 0
    for i, j in itertools.combinations(range(len(a)), 2):
        da, db = np.sign(a[i] - a[j]), np.sign(b[i] - b[j])
        agree += da * db
        ties_a, ties_b, pairs = ties_a + (da == 0), ties_b + (db == 0), pairs + 1
    return agree / np.sqrt((pairs - ties_a) * (pairs - ties_b))


@pytest.mark.parametrize("calibration", ["in-sample", "split"])
def test_false_alarm_rates_are_those_of_fresh_points(calibration):
    _, fit = fitted(calibration=calibration)
    rates = measure(fit).false_alarms
    p = fit.detector.p_value(FIG1.sample(100_000, random_state=7))
    for index in (9, 49, 99):
        assert rates[index] == pytest.approx(np.mean(p <= ALPHAS[index]), abs=0.008)


def test_limits_are_those_of_the_bounds_room():
    _, split = fitted(calibration="split")
    upper = bounds.ell(75, DELTA)
    limits = measure(split).limits
    assert limits[1] == upper[3 - 1]  # the third of 75 scores is the threshold at alpha = 0.05
    assert limits[0] == 0  # no alarm is possible at alpha = 0.01
    _, in_sample = fitted()
    solution = in_sample.detector.solution_
    np.testing.assert_allclose(
        measure(in_sample).limits[1], bounds.pac_bayes(solution.scores, 8, solution.norm, DELTA)
    )
    assert np.isnan(measure(in_sample, limits=False).limits).all()


def test_grid_values_are_the_detectors_scores():
    _, fit = fitted()
    np.testing.assert_allclose(fit.values, fit.sample.grid.evaluate(fit.detector.score_samples), atol=1e-12)


def test_kendall_tau_by_slow_code():
    _, fit = fitted()
    measures = measure(fit)
    assert measures.tau == pytest.approx(slow_tau(measures.p[:1000], measures.true_p[:1000]), abs=1e-9)
    truth = FIG1.p_value(fit.sample.X)
    assert measures.rank_tau == pytest.approx(slow_tau(fit.detector.ranks_, truth), abs=1e-9)


def test_a_detector_of_the_wrong_sign_is_found_out():
    """Negative control: scores turned round must ruin every measure."""
    _, fit = fitted()
    good = measure(fit)
    fit.detector.beta_ *= -1
    g = fit.detector.g_
    fit.detector.g_ = KernelExpansion(g.centres, -g.coefficients, g.sigma)
    fit.detector.calibration_scores_ = -fit.detector.calibration_scores_[::-1]
    fit.values[:] = -fit.values
    bad = measure(fit)
    assert good.tau > 0.6
    assert bad.tau < -0.6
    assert bad.distances[2].symmetric_difference_mass > 3 * good.distances[2].symmetric_difference_mass


def test_frame_has_a_row_for_each_side_and_level():
    explorer = Explorer(n=100, alpha=0.07)
    frame = explorer.measures()
    assert len(frame) == 2 * (len(LADDER) + 1)
    assert frame.columns.is_unique
    assert set(frame["side"]) == {"left", "right"}
    row = frame[(frame["side"] == "right") & (frame["alpha"] == 0.07)].iloc[0]
    assert row["false_alarm_rate"] == at_level(explorer.fits["right"], 0.07)["false_alarm_rate"]
    assert row["n"] == 100
    assert row["gap"] <= 1e-6


def test_measures_where_no_density_is_known():
    x, y = column_names("mammography")[:2]
    _, fit = fitted(data="mammography", x_column=x, y_column=y)
    measures = measure(fit)
    assert len(measures.true_p) == len(measures.distances) == 0
    assert np.isnan(measures.tau)
    held_out = fit.detector.p_value(fit.sample.fresh)
    assert at_level(fit, 0.1)["false_alarm_rate"] == np.mean(held_out <= 0.1)
    assert measures.false_alarms[19] == np.mean(held_out <= ALPHAS[19])
    assert "held-out points" in summary(fit, measures, 0.1)


def test_points_tell_their_own_values():
    settings, fit = fitted(calibration="split")
    shown = panel(fit, settings)
    np.testing.assert_allclose(shown.details["g"], fit.detector.score_samples(shown.points), atol=1e-9)
    np.testing.assert_allclose(shown.details["p"], fit.detector.p_value(shown.points), atol=0.02)
    np.testing.assert_array_equal(shown.details["true p"], FIG1.p_value(shown.points))
    assert len(shown.points) + len(shown.held_out) == 150


def test_no_alarm_is_possible_from_a_tiny_split():
    settings, fit = fitted(n=20, k=2, calibration="split", alpha=0.05)
    assert fit.threshold(0.05) == -np.inf
    known = at_level(fit, 0.05)
    assert known["false_alarm_rate"] == pytest.approx(0, abs=1e-3)
    assert len(panel(fit, settings).chosen) == 0


def test_neighbours_by_sorting():
    X = np.random.default_rng(0).normal(size=(50, 2))
    lines = neighbours(X, X[3] + 1e-9, 4)
    distances = sorted(np.hypot(*(X - X[3]).T))[1:5]
    np.testing.assert_allclose(sorted(np.hypot(*(b - a)) for a, b in lines), distances)


def test_titles():
    assert side_title("left", Settings()) == "m = 2, cut at 3%"
    assert side_title("right", Settings(right_edges="0.1, 0.5")) == "m = 3, cut at 10%, 50%"
    assert side_title("right", Settings(right_m=1)) == "m = 1, the anchor alone"


def test_each_figure_stands_under_its_own_name():
    """Against a comparison made from scratch: in the line, in the frame, and in the plots below."""
    settings, fit = fitted()
    measures = measure(fit)
    shown = checks(fit, measures, settings.alpha)
    assert (shown.name, shown.alpha) == (fit.title, settings.alpha)
    for index, alpha in enumerate(LADDER):
        expected = set_distance(FIG1, alpha, fit.values - fit.threshold(alpha), fit.sample.grid)
        assert at_level(fit, alpha) == {
            "false_alarm_rate": expected.false_alarm_rate,
            "symmetric_difference_mass": expected.symmetric_difference_mass,
            "volume_ratio": expected.volume_ratio,
        }
        assert shown.ladder[index] == alpha
        assert shown.symmetric_difference[index] == expected.symmetric_difference_mass
        assert shown.volume_ratio[index] == expected.volume_ratio
    np.testing.assert_array_equal(shown.false_alarms, measures.false_alarms)
    np.testing.assert_array_equal(shown.p, measures.p)
    np.testing.assert_array_equal(shown.learned_p, measures.p[: len(shown.learned_p)])
    np.testing.assert_array_equal(shown.true_p, FIG1.p_value(fit.sample.fresh[: len(shown.true_p)]))
    assert shown.false_alarm_rate == pytest.approx(np.interp(settings.alpha, ALPHAS, measures.false_alarms))
    line = summary(fit, measures, 0.25)
    known = at_level(fit, 0.25)
    assert (
        f"mass {known['symmetric_difference_mass']:.3f}, volume &times; {known['volume_ratio']:.2f}" in line
    )
    assert f"p {measures.tau:.2f}, ranks {measures.rank_tau:.2f}" in line
