"""The explorer without a browser: set a trait or a control, look at the figures."""

import base64
import copy
import re
import time
from html import escape

import numpy as np
import plotly.graph_objects as go
import pytest

from workbench.densities import DENSITIES, FIG1, FIG2
from workbench.explorer import PRESETS, Explorer, widget
from workbench.explorer.figures import LiveFigure
from workbench.explorer.fitting import CVXPY_LIMIT, EXACT_TOL, FIRST_TOL
from workbench.explorer.settings import DRAWN
from workbench.neighbors import knn_statistic

NAMES = list(DENSITIES)


@pytest.fixture
def explorer():
    return Explorer(n=120)


def trace(explorer, name, panel=1):
    explorer.settle()
    return [trace for trace in explorer._screen.curves.data if trace.name == name][panel]


def boundary(explorer, panel=1):
    curve = trace(explorer, "learned set at α", panel)
    return np.column_stack([curve.x, curve.y])


def lines(explorer):
    explorer.settle()
    return [line.value for line in explorer._screen.lines]


def right(explorer):
    return explorer.fits["right"].detector


def test_starts_with_two_exact_fits_of_one_sample(explorer):
    two, three = (fit.detector for fit in explorer.fits.values())
    assert explorer.message == ""
    assert (set(two.levels_), set(three.levels_)) == ({1, 2}, {1, 2, 3})
    np.testing.assert_array_equal(explorer.sample.X, FIG1.sample(120, random_state=0))
    shown = sum(len(trace(explorer, name).x) for name in ("lowest level", "levels between", "highest level"))
    assert shown == 120
    assert "exact" in explorer._status.value


def test_the_curve_at_alpha_is_where_p_crosses_alpha(explorer):
    for alpha in (0.05, 0.3):
        explorer.alpha = alpha
        curve = boundary(explorer)
        curve = curve[~np.isnan(curve[:, 0])]
        assert np.abs(right(explorer).p_value(curve) - alpha).mean() < 0.02


@pytest.mark.parametrize("name", NAMES)
def test_the_dashed_curve_is_the_true_minimum_volume_set(explorer, name):
    explorer.data = name
    curve = trace(explorer, "true set at α")
    points = np.column_stack([curve.x, curve.y])
    points = points[~np.isnan(points[:, 0])]
    assert len(points) > 10
    if name != "uniform square":
        np.testing.assert_allclose(DENSITIES[name].p_value(points), 0.05, atol=0.006)
    else:
        np.testing.assert_allclose(np.abs(points).max(axis=1), 2, atol=0.03)


def test_alpha_does_not_refit(explorer):
    fits, before = explorer.fits, boundary(explorer)
    explorer.alpha = 0.2
    assert explorer.fits is fits
    assert not np.array_equal(boundary(explorer), before, equal_nan=True)
    assert "= 0.20" in lines(explorer)[0]
    chosen = next(t for t in explorer._screen.plots.data if t.name.endswith("chosen level"))
    assert chosen.x[0] == 0.2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sigma_over_DK", 1.0),
        ("C_times_n", 0.1),
        ("k", 5),
        ("resamples", 0),
        ("n", 60),
        ("seed", 4),
        ("anchor", False),
        ("anchor_over_n", 8.0),
        ("loss", "squared_hinge"),
        ("calibration", "split"),
        ("right_m", 5),
        ("right_edges", "0.2, 0.6"),
        ("solver", "cvxpy"),
        ("data", NAMES[1]),
    ],
)
def test_every_other_control_refits_and_redraws(explorer, name, value):
    fits, before = explorer.fits, boundary(explorer)
    control = explorer._controls[name]
    control.value = value  # as the browser does
    assert getattr(explorer, name) == value
    assert explorer.fits is not fits
    assert explorer.message == ""
    assert not np.array_equal(boundary(explorer), before, equal_nan=True)
    explorer.set()
    assert control.value == getattr(explorer, name) != value


def test_the_left_side_has_levels_of_its_own(explorer):
    explorer.left_edges, explorer.left_m = "", 4
    assert set(explorer.fits["left"].detector.levels_) == {1, 2, 3, 4}
    assert explorer._screen.curves.layout.annotations[0].text == "m = 4, uniform"
    assert set(right(explorer).levels_) == {1, 2, 3}


def test_settings_reach_the_detector(explorer):
    explorer.set(n=120, k=7, C_times_n=3.0, sigma_over_DK=2.0, anchor_over_n=2.0)
    detector = right(explorer)
    assert (detector.k, detector.C_, detector.anchor) == (7, 3 / 120, 240.0)
    assert detector.sigma_ == pytest.approx(2 * knn_statistic(explorer.sample.X, k=7).mean())
    explorer.anchor = False
    assert right(explorer).anchor is False


def test_absolute_values_are_shown_and_can_be_set(explorer):
    sigma, C = explorer._absolute["sigma_over_DK"], explorer._absolute["C_times_n"]
    assert sigma.value == pytest.approx(right(explorer).sigma_, rel=1e-3)
    assert C.value == pytest.approx(100 / 120, rel=1e-3)
    sigma.value, C.value = 1.5, 0.01
    assert right(explorer).sigma_ == pytest.approx(1.5, rel=1e-3)
    assert pytest.approx(0.01, rel=1e-3) == right(explorer).C_
    fits = explorer.fits
    sigma.value = -1.0
    assert "must lie between" in explorer._status.value
    assert explorer.fits is fits


def test_same_state_same_picture(explorer):
    before = boundary(explorer)
    explorer.seed = 5
    explorer.seed = 0
    np.testing.assert_array_equal(boundary(explorer), before)
    np.testing.assert_array_equal(boundary(Explorer(n=120)), before)


def test_first_an_answer_then_the_exact_one(explorer, monkeypatch):
    tols, rests = [], []
    fit_side = widget.fit_side
    monkeypatch.setattr(
        widget, "fit_side", lambda *args, **kwargs: tols.append(args[3]) or fit_side(*args, **kwargs)
    )
    explorer._say = lambda html, say=explorer._say: rests.append(html) or say(html)
    explorer.sigma_over_DK = 1.0
    explorer.settle()
    assert tols == [FIRST_TOL, FIRST_TOL, EXACT_TOL, EXACT_TOL]
    assert [text.split(":")[0] for text in rests] == ["first answer", "exact"]
    assert right(explorer).solution_.gap <= EXACT_TOL


def test_the_last_of_many_values_wins_and_few_are_fitted(explorer, monkeypatch):
    fitted = []
    fit_side = widget.fit_side
    monkeypatch.setattr(
        widget,
        "fit_side",
        lambda side, s, *a, **k: fitted.append(s.sigma_over_DK) or fit_side(side, s, *a, **k),
    )
    values = np.geomspace(0.5, 8, 200)
    for value in values:
        explorer.sigma_over_DK = value
    assert right(explorer).sigma == pytest.approx(8 * explorer.fits["right"].D_K)
    assert len(fitted) < 200  # 800 would be every one


def test_a_longer_fit_is_announced(explorer, monkeypatch):
    monkeypatch.setattr(widget, "BUSY_AFTER", 0.0)
    seen = []
    explorer._status.observe(lambda change: seen.append(change["new"]), "value")
    explorer.seed = 3
    explorer.settle()
    time.sleep(0.05)
    assert any("fitting" in text for text in seen)
    assert "exact" in explorer._status.value


def test_cvxpy_for_small_samples_newton_beyond(explorer):
    explorer.solver = "cvxpy"
    assert right(explorer).solution_.solver == "cvxpy"
    exact = boundary(explorer)
    explorer.solver = "newton"
    assert right(explorer).solution_.solver == "newton"
    assert boundary(explorer).shape == exact.shape
    assert np.nanmax(np.abs(boundary(explorer) - exact)) < 0.1
    explorer.solver, explorer.n = "cvxpy", CVXPY_LIMIT + 10
    assert right(explorer).solution_.solver == "newton"
    assert "newton" in lines(explorer)[1]


def test_line_reports_pairs_certificate_and_true_false_alarm_rate(explorer):
    line = lines(explorer)[1]
    solution = right(explorer).solution_
    assert f"{solution.n_pairs:,} pairs" in line
    assert f"{solution.gap:.0e}" in line
    rate = float(line.split("false-alarm rate ")[1][:5])
    fresh = FIG1.sample(100_000, random_state=1)
    assert rate == pytest.approx(np.mean(right(explorer).predict(fresh, alpha=0.05) == -1), abs=0.006)


def test_far_field_is_accepted_without_the_anchor():
    explorer = Explorer(data=NAMES[1], n=300, sigma_over_DK=1.0, C_times_n=1.0)
    corner = explorer.sample.grid.points[0]
    assert right(explorer).p_value([corner])[0] == 0
    explorer.anchor = False
    assert right(explorer).p_value([corner])[0] > 0.05
    accepted = trace(explorer, "accepted at α")
    assert np.nanmin(np.hypot(np.array(accepted.x) - corner[0], np.array(accepted.y) - corner[1])) < 1e-9


def test_columns_of_a_real_data_set(explorer):
    explorer.data = "annthyroid"
    names = [box.options for box in explorer._columns.values()]
    assert len(names[0]) == 6
    assert explorer.message == ""
    assert explorer.x_column != explorer.y_column
    assert "held-out points" in lines(explorer)[1]
    assert len(trace(explorer, "true set at α").x) == 0
    assert explorer._screen.curves.layout.xaxis.title.text == f"{explorer.x_column} (standardised)"
    before = explorer.sample.X
    explorer._columns["x_column"].value = names[0][3]
    assert explorer.x_column == names[0][3]
    assert not np.array_equal(explorer.sample.X, before)
    explorer.data = NAMES[0]
    assert explorer.sample.truth.density is FIG1
    assert explorer._columns["x_column"].layout.display == "none"


class Click:
    """What plotly tells of a click."""

    def __init__(self, x, y):
        self.xs, self.ys, self.point_inds = [x], [y], [0]


def test_points_are_drawn_by_clicking(explorer):
    explorer.data = DRAWN
    assert "10 are the least" in explorer.message
    assert trace(explorer, "canvas").visible
    explorer._on_click(np.array([3.0, 4.0]))
    explorer._on_click(np.array([7.0, 2.0]))
    assert explorer.message.startswith("k=20 neighbours are too many for 20")
    explorer.k = 4
    assert explorer.message == ""
    assert explorer.sample.X.shape == (20, 2)
    assert np.abs(explorer.sample.X[:10] - [3, 4]).max() < 2
    explorer._brush.value = 1
    explorer._on_click(np.array([5.0, 5.0]))
    assert explorer.points[-1] == [5.0, 5.0]
    undo, clear = explorer._pen.children[1].children
    undo.click()
    assert len(explorer.points) == 20
    clear.click()
    assert explorer.points == []
    assert len(trace(explorer, "highest level").x) == 0
    explorer.data = NAMES[0]
    assert explorer.message == ""
    assert not trace(explorer, "canvas").visible


def hover(explorer, panel, point):
    """What plotly does when the mouse is over a point of a panel."""
    shown = trace(explorer, "highest level", panel)
    for callback in shown._hover_callbacks:
        callback(shown, Click(*point), None)


def leave(explorer):
    shown = trace(explorer, "highest level")
    for callback in shown._unhover_callbacks:
        callback(shown, Click(0.0, 0.0), None)


def test_hovering_shows_the_neighbours(explorer):
    point = explorer.sample.X[5]
    hover(explorer, 0, point)
    shown = trace(explorer, "its k neighbours", 0)
    assert np.isnan(shown.x).sum() == 19  # gaps between 20 lines
    np.testing.assert_allclose([shown.x[0], shown.y[0]], point)
    leave(explorer)
    assert len(shown.x) == 0


@pytest.mark.parametrize(("panel", "side"), [(0, "left"), (1, "right")])
def test_hovering_says_why_the_p_value_is_what_it_is(explorer, panel, side):
    before = explorer._note.value
    detector = explorer.fits[side].detector
    X = explorer.sample.X
    point = X[np.argmin(detector.score_samples(X))]
    hover(explorer, panel, point)
    said = explorer._note.value
    assert f"p = {detector.p_value([point])[0]:.3f}" in said
    x, y = map(float, re.search(r"adds to g: x (\S+), y (\S+)\.<", said).groups())
    g, reference = map(float, re.findall(r"g = (-?[\d.]+\d)", said))
    assert x + y == pytest.approx(g - reference, abs=0.021)
    hover(explorer, panel, X[detector.train_index_[np.argmax(detector.levels_)]])
    assert "a training point of the densest level" in explorer._note.value
    leave(explorer)
    assert explorer._note.value == before


def test_clicks_on_the_board_arrive(explorer):
    explorer.data = DRAWN
    assert "10 are the least" in explorer.message
    explorer._brush.value = 1
    board = trace(explorer, "canvas", 1)
    for callback in board._click_callbacks:
        callback(board, Click(3.0, 4.0), None)
    assert explorer.points == [[3.0, 4.0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 20, "k": 15}, "k=15 neighbours are too many"),
        ({"right_edges": "3%"}, "Cut points must be numbers"),
        ({"right_edges": "0.5, 0.2"}, "edges must be strictly increasing"),
        ({"data": "annthyroid", "y_column": "age", "x_column": "age"}, "Choose two different columns"),
        ({"data": "annthyroid", "n": 60, "x_column": "weight"}, "has no column 'weight': choose from age"),
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
    explorer.set(n=120)
    assert explorer.message == ""


@pytest.mark.parametrize(
    "settings",
    [
        {"n": 10, "k": 1},
        {"C_times_n": 1e6},
        {"C_times_n": 1e-3, "sigma_over_DK": 64.0},
        {"sigma_over_DK": 1 / 16, "C_times_n": 1e6},
        {"right_m": 10, "left_m": 10, "left_edges": ""},
        {"n": 10, "k": 2, "calibration": "split"},
        {"data": DRAWN, "points": [[1.0, 1.0]] * 30, "k": 5},
        {"data": DRAWN, "points": [[float(i), 5.0] for i in range(10)] * 3, "k": 5},
    ],
)
def test_hostile_settings_end_in_a_picture_or_a_sentence(settings):
    explorer = Explorer(**{"n": 60} | settings)
    assert explorer.message.endswith(".") or all(
        np.isfinite(fit.values).all() for fit in explorer.fits.values()
    )
    explorer.set(n=120)
    assert explorer.message == ""


def test_unexpected_failures_do_not_kill_the_widget(explorer, monkeypatch):
    def fail(*_):
        raise MemoryError("no more memory")

    monkeypatch.setattr(widget, "draw_sample", fail)
    explorer.seed = 9
    assert explorer.message == "no more memory"
    monkeypatch.undo()
    explorer.seed = 10
    assert explorer.message == ""
    assert "exact" in explorer._status.value


def test_axes_stay_while_parameters_move(explorer):
    layout = copy.deepcopy(explorer._screen.curves.layout.to_plotly_json())
    explorer.sigma_over_DK, explorer.alpha, explorer.seed = 0.5, 0.4, 3
    explorer.settle()
    assert explorer._screen.curves.layout.to_plotly_json() == layout
    explorer.data = NAMES[1]
    explorer.settle()
    assert explorer._screen.curves.layout.to_plotly_json() != layout
    assert explorer.sample.truth.density is FIG2


def test_only_what_changes_is_sent(explorer):
    before = list(explorer._screen.curves._traces)
    explorer.alpha = 0.3
    changed = {t["name"] for b, t in zip(before, explorer._screen.curves._traces, strict=True) if b is not t}
    assert changed == {"accepted at α", "true set at α", "learned set at α"}


def test_colours_and_rings(explorer):
    explorer.colour, explorer.show_support = "p-value", True
    by_p = trace(explorer, "p-value")
    np.testing.assert_allclose(by_p.marker.color, right(explorer).p_value(explorer.sample.X), atol=1e-12)
    assert len(trace(explorer, "highest level").x) == 0
    assert len(trace(explorer, "support vector").x) == len(right(explorer).support_)


def test_presets_set_what_they_say_and_reset_undoes_them(explorer):
    for name in PRESETS:
        explorer._preset.value = name
        assert explorer.values().items() >= PRESETS[name][0].items()
        assert escape(name) in explorer._note.value
    explorer._on_reset(None)
    assert explorer.values() == Explorer().values()
    assert "Choose a preset" in explorer._note.value


def test_settings_are_shown_as_json_and_restored(explorer):
    explorer.k = 9
    explorer.settle()
    text = explorer._settings.value
    explorer.set()
    explorer._settings.value = text
    explorer._on_restore(None)
    assert (explorer.k, explorer.n) == (9, 120)
    explorer._settings.value = "{"
    explorer._on_restore(None)
    assert "not JSON" in explorer._status.value
    assert explorer.k == 9


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"data": NAMES[1], "calibration": "split", "left_edges": "0.1, 0.4", "anchor": False},
        {"data": "mammography", "loss": "squared_hinge", "anchor_over_n": 2.0},
        {"data": DRAWN, "points": np.random.default_rng(0).uniform(0, 10, (30, 2)).tolist(), "k": 5},
    ],
)
@pytest.mark.parametrize("side", ["left", "right"])
def test_the_code_shown_rebuilds_this_very_fit(settings, side):
    explorer = Explorer(n=100, seed=3)
    explorer.set(n=100, seed=3, **settings)
    assert explorer.message == ""
    scope = {}
    exec(explorer.code(side), scope)
    assert scope["detector"].beta_.tobytes() == explorer.fits[side].detector.beta_.tobytes()
    assert scope["detector"].calibration_scores_.tobytes() == (
        explorer.fits[side].detector.calibration_scores_.tobytes()
    )
    assert scope["detector"].alpha == explorer.alpha


def test_measures_are_saved_as_csv(explorer):
    explorer._on_save(None)
    content = re.search('base64,([^"]+)', explorer._link.value)[1]
    rows = base64.b64decode(content).decode().splitlines()
    assert len(rows) == 1 + len(explorer.measures())


def test_all_figures_share_the_program_that_plotly_runs_in_the_browser():
    """What it does there is tested in a browser; this tells when plotly's program has changed."""
    one, other = LiveFigure(), LiveFigure()
    assert one._program is other._program
    program = one._program.value
    assert program == str(go.FigureWidget._esm)
    assert re.search(r"\w as FigureView\b", program)
    assert re.search(r"\w as default\b", program)
    ours = str(LiveFigure._esm)
    assert len(ours) < 10_000
    told = {f"_py2js_{name}" for name in re.findall(r'"(\w+)"', ours[: ours.index("].map(")])}
    assert told == {name for name in go.FigureWidget().trait_names() if name.startswith("_py2js_")}
    one._program.close()
    assert LiveFigure()._program.value == program


def test_picture_format_reaches_the_camera(explorer):
    before = explorer.widget.children
    explorer._on_format({"new": "svg"})
    assert explorer._screen.curves._config["toImageButtonOptions"]["format"] == "svg"
    boxes = [box for box in explorer.widget.children if box not in before]
    # In new boxes, else a busy browser sees no change, and draws nothing anew.
    assert [child for box in boxes for child in box.children] == [
        explorer._screen.curves,
        explorer._screen.plots,
    ]


def test_a_reload_gets_the_state_of_now(explorer):
    explorer.alpha = 0.3
    index = [t.name for t in explorer._screen.curves.data].index("learned set at α")
    explorer._screen.curves.get_state()
    sent = explorer._screen.curves._trait_values["_widget_data"][index]
    np.testing.assert_array_equal(np.asarray(sent["x"]), explorer._screen.curves.data[index].x)


def test_displays_itself(explorer):
    assert "application/vnd.jupyter.widget-view+json" in explorer._repr_mimebundle_()


def test_every_density_has_a_menu_entry(explorer):
    assert set(explorer._controls["data"].options) >= set(DENSITIES)


def test_measures_and_code_are_those_of_the_picture_not_of_settings_that_failed():
    explorer = Explorer(n=100, k=5, sigma_over_DK=1.0, C_times_n=1.0)
    code, measures = explorer.code(), explorer.measures()
    explorer.n = 800
    explorer.left_edges = "oops"
    assert explorer.message
    assert explorer.code() == code
    assert explorer.measures().drop(columns=["seconds"]).equals(measures.drop(columns=["seconds"]))
    message = explorer.message
    explorer.alpha = 0.2
    assert explorer.message == message
    assert "alpha=0.2" in explorer.code()
    assert '"n": 100' in explorer._settings.value


def test_without_a_fit_code_and_measures_say_why(explorer):
    explorer.data = DRAWN
    for ask in (explorer.code, explorer.measures):
        with pytest.raises(ValueError, match=r"no fit to speak of\. 0 points are drawn"):
            ask()
    explorer._on_save(None)
    assert "no fit to speak of" in explorer._status.value


def test_column_choosers_follow_the_traits():
    explorer = Explorer(data="shuttle", n=100, k=5)
    explorer.x_column = "x5"
    assert explorer.message == ""
    assert explorer._columns["x_column"].value == "x5"
    explorer.restore('{"data": "shuttle", "n": 100, "k": 5}')
    assert explorer.message == ""
    assert explorer._columns["x_column"].value == explorer.x_column != ""


def test_figures_are_plain_pictures_of_now(explorer):
    explorer.alpha = 0.3
    curves, plots = explorer.figures
    assert type(curves) is type(plots) is go.Figure
    (chosen,) = [trace for trace in curves.data if trace.name == "learned set at α"][1:]
    shown = [trace for trace in explorer._screen.curves.data if trace.name == "learned set at α"][1]
    np.testing.assert_array_equal(chosen.x, shown.x)
