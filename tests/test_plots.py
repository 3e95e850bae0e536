import numpy as np
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


def named(figure, name, column=0):
    return [trace for trace in figure.data if trace.name == name][column]


def test_both_panels_have_the_same_traces_and_one_legend(figure):
    assert isinstance(figure, go.Figure)
    half = len(figure.data) // 2
    assert [t.name for t in figure.data[:half]] == [t.name for t in figure.data[half:]]
    shown = [t.name for t in figure.data if t.showlegend]
    assert len(shown) == len(set(shown)) == half


def test_points_are_grouped_by_level(figure):
    np.testing.assert_array_equal(named(figure, "lowest level", 1).x, [0])
    np.testing.assert_array_equal(named(figure, "levels between", 1).x, [2])
    np.testing.assert_array_equal(named(figure, "highest level", 1).y, [5, 7])
    assert len(named(figure, "levels between", 0).x) == 0


def test_one_level_is_drawn_once():
    traces = {trace["name"]: trace for trace in plots.panel_traces(panel([2, 2]))}
    assert [len(traces[name]["x"]) for name in plots.LEVEL_MARKERS] == [0, 0, 2]


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
    colours = [t.line.color if t.mode == "lines" else t.marker.color for t in half]
    assert len(set(colours)) == len(colours)
