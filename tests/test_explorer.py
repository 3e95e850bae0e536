"""The explorer without a browser: set a trait or a control, look at the figure."""

import copy
from html import escape

import numpy as np
import pytest
from traitlets import TraitError

from workbench import explorer as explorer_module
from workbench.densities import FIG1, FIG2
from workbench.explorer import CVXPY_LIMIT, Explorer


@pytest.fixture
def explorer():
    return Explorer(n=120)


def trace(explorer, name, panel=1):
    return [trace for trace in explorer._figure.data if trace.name == name][panel]


def boundary(explorer, panel=1):
    curve = trace(explorer, "learned set at α", panel)
    return np.column_stack([curve.x, curve.y])


def lines(explorer):
    return [line.value for line in explorer._lines]


def test_starts_with_two_fits_of_one_sample(explorer):
    two, three = explorer.detectors
    assert explorer.message == ""
    assert (set(two.levels_), set(three.levels_)) == ({1, 2}, {1, 2, 3})
    np.testing.assert_array_equal(explorer.sample.X, FIG1.sample(120, random_state=0))
    shown = sum(len(trace(explorer, name).x) for name in ("lowest level", "levels between", "highest level"))
    assert shown == 120


def test_the_curve_at_alpha_is_where_p_crosses_alpha(explorer):
    for alpha in (0.05, 0.3):
        explorer.alpha = alpha
        curve = boundary(explorer)
        curve = curve[~np.isnan(curve[:, 0])]
        p = explorer.detectors[1].p_value(curve)
        assert np.abs(p - alpha).mean() < 0.02


def test_the_dashed_curve_is_the_true_minimum_volume_set(explorer):
    curve = trace(explorer, "true set at α")
    points = np.column_stack([curve.x, curve.y])
    p = FIG1.p_value(points[~np.isnan(points[:, 0])])
    np.testing.assert_allclose(p, 0.05, atol=0.003)


def test_alpha_does_not_refit(explorer):
    detectors, before = explorer.detectors, boundary(explorer)
    explorer.alpha = 0.2
    assert explorer.detectors is detectors
    assert not np.array_equal(boundary(explorer), before, equal_nan=True)
    assert "= 0.2" in lines(explorer)[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sigma_over_DK", 1.0),
        ("C_times_n", 0.1),
        ("k", 5),
        ("n", 60),
        ("seed", 4),
        ("anchor", False),
        ("solver", "cvxpy"),
        ("data", "Fig. 2 toy"),
    ],
)
def test_every_other_control_refits_and_redraws(explorer, name, value):
    detectors, before = explorer.detectors, boundary(explorer)
    control = explorer._controls[name]
    control.value = value  # as the browser does
    assert getattr(explorer, name) == value
    assert explorer.detectors is not detectors
    assert not np.array_equal(boundary(explorer), before, equal_nan=True)
    setattr(explorer, name, value)
    assert control.value == value


def test_settings_reach_the_detector(explorer):
    explorer.k, explorer.C_times_n, explorer.sigma_over_DK, explorer.anchor = 7, 3.0, 2.0, False
    detector = explorer.detectors[1]
    assert detector.k == 7
    assert detector.C_ == 3 / 120
    assert detector.anchor is False
    assert detector.sigma_ == pytest.approx(2 * explorer_module.knn_statistic(explorer.sample.X, k=7).mean())


def test_same_state_same_picture(explorer):
    before = boundary(explorer)
    explorer.seed = 5
    explorer.seed = 0
    np.testing.assert_array_equal(boundary(explorer), before)
    np.testing.assert_array_equal(boundary(Explorer(n=120)), before)


def test_cvxpy_for_small_samples_newton_beyond(explorer):
    explorer.solver = "cvxpy"
    assert explorer.detectors[1].solution_.solver == "cvxpy"
    exact = boundary(explorer)
    explorer.solver = "newton"
    assert explorer.detectors[1].solution_.solver == "newton"
    assert boundary(explorer).shape == exact.shape
    assert np.nanmax(np.abs(boundary(explorer) - exact)) < 0.1
    explorer.solver, explorer.n = "cvxpy", CVXPY_LIMIT + 10
    assert explorer.detectors[1].solution_.solver == "newton"
    assert "newton" in lines(explorer)[1]


def test_line_reports_pairs_certificate_and_true_false_alarm_rate(explorer):
    line = lines(explorer)[1]
    solution = explorer.detectors[1].solution_
    assert f"{solution.n_pairs:,} pairs" in line
    assert f"{solution.gap:.1e}" in line
    rate = float(line.split("false-alarm rate ")[1][:5])
    fresh = FIG1.sample(100_000, random_state=1)
    assert rate == pytest.approx(np.mean(explorer.detectors[1].predict(fresh, alpha=0.05) == -1), abs=0.006)


def test_far_field_is_accepted_without_the_anchor():
    explorer = Explorer(data="Fig. 2 toy", n=300, sigma_over_DK=1.0, C_times_n=1.0)
    corner = explorer.sample.grid.points[0]
    assert explorer.detectors[1].p_value([corner])[0] == 0
    explorer.anchor = False
    assert explorer.detectors[1].p_value([corner])[0] > 0.05
    accepted = trace(explorer, "accepted at α")
    assert np.nanmin(np.hypot(np.array(accepted.x) - corner[0], np.array(accepted.y) - corner[1])) < 1e-9


def test_columns_of_a_real_data_set(explorer):
    explorer.data = "annthyroid"
    names = [box.options for box in explorer._columns]
    assert len(names[0]) == 6
    assert explorer.message == ""
    assert explorer.x_column != explorer.y_column
    assert "held-out nominal points" in lines(explorer)[1]
    assert len(trace(explorer, "true set at α").x) == 0
    assert explorer._figure.layout.xaxis.title.text == f"{explorer.x_column} (standardised)"
    before = explorer.sample.X
    explorer.x_column = names[0][3]
    assert not np.array_equal(explorer.sample.X, before)
    explorer.data = "Fig. 1 toy"
    assert explorer.sample.density is FIG1
    assert explorer._columns[0].layout.display == "none"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 20, "k": 15}, "k=15 neighbours are too many"),
        ({"data": "annthyroid", "y_column": "age", "x_column": "age"}, "Choose two different columns"),
        (
            {"data": "annthyroid", "n": 60, "x_column": "weight"},
            "has no column 'weight': choose from age",
        ),
        ({"data": "http"}, "http"),
    ],
)
def test_errors_are_words_and_the_picture_stays(explorer, monkeypatch, tmp_path, change, message):
    monkeypatch.setenv("WORKBENCH_MIRROR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    for name, value in change.items():
        before = boundary(explorer)
        setattr(explorer, name, value)
    assert message in explorer.message
    assert escape(message) in explorer._status.value
    np.testing.assert_array_equal(boundary(explorer), before)
    explorer.alpha = 0.3
    assert message in explorer.message  # the fit shown is still the old one, and says so
    explorer.data, explorer.n, explorer.k = "Fig. 1 toy", 120, 20
    assert explorer.message == ""


@pytest.mark.parametrize(
    "change", [{"alpha": 0.0}, {"sigma_over_DK": -1.0}, {"n": 5}, {"k": 0}, {"data": "iris"}, {"alpha": "x"}]
)
def test_traits_refuse_what_the_controls_cannot_show(explorer, change):
    ((name, value),) = change.items()
    before = getattr(explorer, name)
    with pytest.raises(TraitError, match=name):
        setattr(explorer, name, value)
    assert getattr(explorer, name) == before


def test_unexpected_failures_do_not_kill_the_widget(explorer, monkeypatch):
    def fail(*_):
        raise MemoryError("no more memory")

    monkeypatch.setattr(explorer_module, "draw_sample", fail)
    explorer.seed = 9
    assert explorer.message == "no more memory"
    monkeypatch.undo()
    explorer.seed = 10
    assert explorer.message == ""
    assert explorer._status.value == "ready"


def test_axes_stay_while_parameters_move(explorer):
    layout = copy.deepcopy(explorer._figure.layout.to_plotly_json())
    explorer.sigma_over_DK, explorer.alpha, explorer.seed = 0.5, 0.4, 3
    assert explorer._figure.layout.to_plotly_json() == layout
    explorer.data = "Fig. 2 toy"
    assert explorer._figure.layout.to_plotly_json() != layout
    assert explorer.sample.density is FIG2


def test_a_reload_gets_the_state_of_now(explorer):
    explorer.alpha = 0.3
    index = [t.name for t in explorer._figure.data].index("learned set at α")
    explorer._figure.get_state()
    sent = explorer._figure._trait_values["_widget_data"][index]
    np.testing.assert_array_equal(np.asarray(sent["x"]), explorer._figure.data[index].x)


def test_displays_itself(explorer):
    assert "application/vnd.jupyter.widget-view+json" in explorer._repr_mimebundle_()
