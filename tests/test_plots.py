import dataclasses

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from workbench import plots

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])


def panel(levels, truth=(SQUARE,)):
    return plots.Panel(
        title="a title",
        points=np.arange(2.0 * len(levels)).reshape(-1, 2),
        levels=np.array(levels),
        ladder=[(0.1, [SQUARE]), (0.5, [SQUARE / 2, SQUARE / 4]), (0.9, [])],
        region=[SQUARE],
        chosen=[SQUARE],
        truth=list(truth),
    )


@pytest.fixture
def figure():
    return plots.level_curves([panel([1, 2, 2]), panel([1, 2, 3, 3])], (-1, 5), (-2, 2), "a", "b")


LEVELS = ("lowest level", "levels between", "highest level")


def named(figure, name, column=0):
    return [trace for trace in figure.data if trace.name == name][column]


def test_both_panels_have_the_same_traces_and_one_legend(figure):
    assert isinstance(figure, go.Figure)
    half = len(figure.data) // 2
    names = [t.name for t in figure.data[:half]]
    assert names == [t.name for t in figure.data[half:]]
    shown = [t.name for t in figure.data if t.showlegend]
    assert shown == [name for name in names if name not in ("p-value", plots.NEIGHBOURS)]


def test_points_are_grouped_by_level(figure):
    np.testing.assert_array_equal(named(figure, "lowest level", 1).x, [0])
    np.testing.assert_array_equal(named(figure, "levels between", 1).x, [2])
    np.testing.assert_array_equal(named(figure, "highest level", 1).y, [5, 7])
    assert len(named(figure, "levels between", 0).x) == 0


def test_one_level_is_drawn_once():
    traces = {trace["name"]: trace for trace in plots.panel_traces(panel([2, 2]))}
    assert [len(traces[name]["x"]) for name in LEVELS] == [0, 0, 2]


def test_curves_are_separated_by_gaps(figure):
    x = named(figure, "p = 0.5").x
    assert np.flatnonzero(np.isnan(x)).tolist() == [5]
    assert len(x) == 11
    assert len(named(figure, "p = 0.9").x) == 0
    np.testing.assert_array_equal(named(figure, "learned set at α").y, SQUARE[:, 1])


def test_axes_are_fixed_linked_and_to_scale(figure):
    assert figure.layout.xaxis.range == (-1, 5)
    assert figure.layout.yaxis.range == (-2, 2)
    assert figure.layout.xaxis2.matches == "x"
    assert figure.layout.yaxis2.matches == "y"
    assert figure.layout.yaxis.scaleanchor == "x"
    assert figure.layout.xaxis2.title.text == "a"
    assert figure.layout.yaxis.title.text == "b"


def test_colours_are_distinct(figure):
    half = figure.data[: len(figure.data) // 2]
    marks = [
        (t.line.color, t.line.dash) if t.mode == "lines" else (t.marker.color, t.marker.symbol)
        for t in half
        if t.name not in ("p-value", plots.NEIGHBOURS)
    ]
    assert len(set(marks)) == len(marks)


def test_points_by_p_value_replace_those_by_level():
    by_p = dataclasses.replace(panel([1, 2, 3]), p=np.array([0.2, 0.5, 1.0]))
    traces = {trace["name"]: trace for trace in plots.panel_traces(by_p)}
    assert [len(traces[name]["x"]) for name in LEVELS] == [0, 0, 0]
    np.testing.assert_array_equal(traces["p-value"]["marker"]["color"], [0.2, 0.5, 1.0])
    assert len(plots.panel_traces(by_p)) == len(plots.panel_traces(panel([1, 2, 3])))


def test_hovering_tells_the_details_of_the_point_itself():
    details = {"rank": np.array([0.1, 0.6, 0.9]), "g": np.array([1.0, 2.0, 3.0])}
    traces = {
        t["name"]: t for t in plots.panel_traces(dataclasses.replace(panel([1, 3, 2]), details=details))
    }
    highest = traces["highest level"]
    np.testing.assert_array_equal(highest["x"], [2])
    np.testing.assert_array_equal(highest["customdata"], [[0.6, 2.0]])
    assert "rank: %{customdata[0]:.3~g}<br>g: %{customdata[1]:.3~g}" in highest["hovertemplate"]


def test_support_and_held_out_points_are_marked():
    marked = dataclasses.replace(panel([1, 2, 3]), support=np.array([0, 2]), held_out=np.array([[7.0, 8.0]]))
    traces = {t["name"]: t for t in plots.panel_traces(marked)}
    np.testing.assert_array_equal(traces["support vector"]["x"], [0, 4])
    np.testing.assert_array_equal(traces["only calibrates"]["y"], [8])


def test_a_panel_may_be_empty():
    empty = plots.Panel("", np.empty((0, 2)), np.empty(0, int), [(0.1, [])], [], [], [])
    assert all(len(trace["x"]) == 0 for trace in plots.panel_traces(empty))


def checks(name, rate=0.07):
    alphas = np.linspace(0.1, 0.5, 5)
    p = np.array([0.02, 0.03, 0.5, 0.9])
    ladder = np.array([0.1, 0.5])
    return plots.Checks(
        name, alphas, 1.2 * alphas, alphas, 2 * alphas, p, p, p, ladder, ladder / 2, 1 + ladder, 0.05, rate
    )


def test_checks_show_both_detectors_apart():
    figure = plots.check_plots(checks("left"), checks("right", 0.2))
    assert len(figure.data) == len(plots.check_traces(checks("a"), checks("b")))
    assert [t.name for t in figure.data if t.showlegend is not False] == ["ideal", "left", "right"]
    left, right = (named(figure, name) for name in ("left", "right"))
    assert (left.line.color, left.line.dash) != (right.line.color, right.line.dash)
    assert named(figure, "right, chosen level").y[0] == 0.2
    histogram = named(figure, "left", 1)
    widths = np.diff(histogram.x)
    assert widths @ histogram.y[:-1] == pytest.approx(1)  # a density
    assert histogram.y[0] == pytest.approx(10)  # two of four points in the first of 20 bins
    np.testing.assert_allclose(named(figure, "left: volume ratio - 1").y, [0.1, 0.5])


def test_checks_of_nothing_show_nothing():
    nothing = np.empty(0)
    empty = plots.Checks("none", *[nothing] * 10, np.nan, np.nan)
    for _, trace in plots.check_traces(empty, empty)[4:]:
        assert not np.isfinite(np.asarray(trace["y"], float)).any()


def test_pages_work_without_a_network():
    page = plots.page(plots.log_log({"a": ([1, 2], [3, 4])}, "x", "y"))
    assert f'src="{plots.SCRIPT}"' in page
    assert "https://cdn" not in page
    assert "plotly.js v" in plots.script()[:300]


def test_curves_beside_truth_share_their_legend_and_scale():
    ring = np.array([[0, 0], [1, 0], [0, 1], [0, 0]], dtype=float)
    curves = {0.1: [ring], 0.5: [ring / 2]}
    figure = plots.curves_beside_truth(
        [("one", ring, curves), ("two", ring, curves)], curves, (-1, 2), (-1, 1)
    )
    assert len(figure.data) == 2 * (1 + 2 * 2)
    shown = [trace.name for trace in figure.data if trace.showlegend]
    assert sorted(shown) == ["learned, α = 0.1", "learned, α = 0.5", "support vectors", "true"]
    assert figure.layout.yaxis.scaleanchor == "x"


def test_curves_of_one_figure_have_symbols_and_colours_of_their_own():
    figure = plots.log_log({name: ([1, 2], [3, 4]) for name in "abcdefgh"}, "x", "y")
    assert [trace.name for trace in figure.data] == list("abcdefgh")
    assert len({trace.marker.symbol for trace in figure.data}) == 8
    assert len({trace.marker.color for trace in figure.data}) == 8


def test_dots_by_row_keep_the_order_of_the_table():
    table = pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, np.nan]}, index=["second", "first"])
    figure = plots.dots_by_row(table, "AUC", best=1.0)
    assert [trace.name for trace in figure.data] == ["a", "b"]
    assert list(figure.data[0].y) == ["second", "first"]
    assert len({(trace.marker.color, trace.marker.symbol) for trace in figure.data}) == 2


def test_contributions_are_sorted_by_size_and_the_rest_added_up():
    values = np.array([0.5, -2.0, 0.0, 1.0])
    (bars,) = plots.contributions(["a", "b", "b", "d"], values).data
    np.testing.assert_array_equal(bars.x, [-2, 1, 0.5, 0])
    assert list(bars.customdata) == ["b", "d", "a", "b"]
    assert len(set(bars.marker.color)) == 2
    figure = plots.contributions("abcd", values, at_most=2)
    np.testing.assert_array_equal(figure.data[0].x, [-2, 1, 0.5])
    assert figure.layout.yaxis.ticktext == ("b", "d", "2 others")
    assert sum(figure.data[0].x) == values.sum()


@pytest.mark.parametrize(
    ("features", "values"),
    [("ab", [1.0]), ("", []), ("ab", [1.0, np.nan]), ("ab", [[1.0, 2.0]]), ("a", [np.inf])],
)
def test_contributions_that_cannot_be_drawn(features, values):
    with pytest.raises(ValueError, match="one finite value for each"):
        plots.contributions(features, values)


@pytest.mark.parametrize("at_most", [0, 1.5, True])
def test_a_number_of_bars_that_is_none(at_most):
    with pytest.raises(ValueError, match="at_most must be a whole number"):
        plots.contributions("a", [1.0], at_most=at_most)
