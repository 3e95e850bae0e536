import itertools

import ipywidgets as widgets
import plotly.graph_objects as go
import pytest

from workbench.lessons import distances, far_field, level_sets, quantisation, ranks
from workbench.lessons.scenes import Scene, choice, slider

SCENES = {
    "level sets": level_sets.water_line,
    "distances": distances.neighbourhood,
    "ranks": ranks.from_distance_to_rank,
    "quantisation": quantisation.levels_and_pairs,
    "far field": far_field.along_a_ray,
}


def draw(height, shape):
    if height == 3:
        raise ValueError("3 is <too> high")
    return go.Figure(go.Scatter(x=[0, 1], y=[0, height], name=shape)), f"The {shape} is {height} high."


@pytest.fixture
def scene():
    return Scene(draw, height=slider("height", (1, 2, 3), 1), shape=choice("shape", ("line", "<hill>")))


def test_a_scene_is_what_its_controls_say(scene):
    scene.set(height=2)
    assert scene.values == {"height": 2, "shape": "line"}
    assert scene.words == "The line is 2 high."
    assert list(scene.figures[0].data[0].y) == [0, 2]


def test_moving_a_control_is_setting_a_value(scene):
    scene._controls["height"].value = 2
    assert scene.words == "The line is 2 high."


def test_a_failure_is_told_in_words_and_the_last_picture_stays(scene):
    scene.set(height=2)
    scene.set(height=3)
    assert scene.message == "3 is <too> high"
    assert "&lt;too&gt;" in scene._words.value
    assert list(scene.figures[0].data[0].y) == [0, 2]
    scene.set(height=1)
    assert scene.message == ""


def test_words_are_escaped(scene):
    scene.set(shape="<hill>")
    assert "&lt;hill&gt;" in scene._words.value


@pytest.mark.parametrize(
    ("values", "words"),
    [({"width": 1}, "No control named 'width'"), ({"height": 9}, r"one of \[1, 2, 3\], got 9")],
)
def test_what_cannot_be_set_is_refused_in_words(scene, values, words):
    with pytest.raises(ValueError, match=words):
        scene.set(**values)


@pytest.mark.parametrize("name", SCENES)
def test_every_value_of_every_control_can_be_drawn(name):
    scene = SCENES[name]()
    n_traces = len(scene.figures[0].data)
    start = scene.values
    for control, widget in scene._controls.items():
        assert isinstance(widget, widgets.Widget)
        for _, value in widget.options:
            scene.set(**start | {control: value})
            assert scene.message == ""
            assert len(scene.figures[0].data) == n_traces
    assert scene.words


@pytest.mark.parametrize("name", SCENES)
def test_a_live_figure_ends_where_a_new_one_begins(name):
    moved, still = SCENES[name](), SCENES[name]()
    steps = {control: [value for _, value in w.options][-2:] for control, w in moved._controls.items()}
    for values in itertools.product(*steps.values()):
        moved.set(**dict(zip(steps, values, strict=True)))
    fresh, words = still._draw(**moved.values)
    assert moved.words == words
    for shown, new in zip(moved.figures[0].data, fresh.data, strict=True):
        assert (
            shown.to_plotly_json().keys() == new.to_plotly_json().keys() | {"uid"} or shown.name == new.name
        )
        for axis in ("x", "y"):
            if new[axis] is not None:
                assert [*shown[axis]] == pytest.approx([*new[axis]], nan_ok=True)
