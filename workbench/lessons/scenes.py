"""Scenes: interactive figures that are pure functions of their controls."""

from __future__ import annotations

from html import escape
from threading import RLock

import ipywidgets as widgets
import plotly.graph_objects as go
import traitlets

from ..explorer.figures import LiveFigure

STYLE = {"style": {"description_width": "130px"}, "layout": {"width": "47%", "min_width": "380px"}}


class Scene:
    """A figure with controls, and below it a sentence that says what is seen.

    Parameters
    ----------
    draw : callable
        Takes the values of the controls as keywords and returns a plotly figure and a sentence. It always
        returns as many traces in the same order.
    **controls : ipywidgets.Widget
        As :func:`slider` and :func:`choice` make them.

    Attributes
    ----------
    widget : ipywidgets.Widget
        What to display.
    message : str
        What is wrong with the present values, or nothing. The last good picture stays.
    """

    def __init__(self, draw, **controls):
        self._draw, self._controls = draw, controls
        self._lock = RLock()
        self.message = ""
        figure, words = draw(**self.values)
        self._words = widgets.HTML(layout={"min_height": "3em"})
        self._live = LiveFigure()
        self._live.start(figure, _traces(figure))
        self._say(words)
        for control in controls.values():
            control.observe(self._follow, "value")
        rows = widgets.HBox(list(controls.values()), layout={"flex_flow": "row wrap"})
        self.widget = widgets.VBox([rows, self._live, self._words], layout={"max_width": "900px"})

    @property
    def values(self):
        """Values of the controls by name."""
        return {name: control.value for name, control in self._controls.items()}

    @property
    def words(self):
        """The sentence below the figure, without its looks."""
        return self._said

    @property
    def figures(self):
        """The picture of now, as a list of one plotly figure."""
        return [go.Figure(self._live)]

    def set(self, **values):
        """Move controls.

        Raises
        ------
        ValueError
            If there is no such control, or it has no such value.
        """
        unknown = values.keys() - self._controls.keys()
        if unknown:
            raise ValueError(
                f"No control named {sorted(unknown)[0]!r}: there are {', '.join(self._controls)}."
            )
        for name, value in values.items():
            try:
                self._controls[name].value = value
            except traitlets.TraitError as error:
                options = [option for _, option in self._controls[name].options]
                raise ValueError(f"{name} is one of {options}, got {value!r}.") from error

    def _follow(self, _):
        with self._lock:
            try:
                figure, words = self._draw(**self.values)
                self._live.change(_traces(figure), figure.layout.to_plotly_json())
            except Exception as error:  # whatever it is, it must not take the widget down
                self.message = str(error) or type(error).__name__
                self._words.value = f'<b style="color:#B34700">&#9888; {escape(self.message)}</b>'
                return
            self.message = ""
            self._say(words)

    def _say(self, words):
        self._said = words
        self._words.value = f'<div role="status" style="line-height: 1.4">{escape(words)}</div>'

    def _repr_mimebundle_(self, **kwargs):
        return self.widget._repr_mimebundle_(**kwargs)


def slider(text, values, value, show="{:g}"):
    """Return a slider over given values.

    Parameters
    ----------
    text : str
        Its label.
    values : sequence
    value : object
        Where it stands first.
    show : str
        How a value is written, as a format.
    """
    options = [(show.format(each), each) for each in values]
    return widgets.SelectionSlider(options=options, value=value, description=text, **STYLE)


def choice(text, options, value=None):
    """Return a drop-down list over the names in a sequence, the first chosen unless told otherwise."""
    options = [(str(each), each) for each in options]
    return widgets.Dropdown(
        options=options, value=options[0][1] if value is None else value, description=text, **STYLE
    )


def _traces(figure):
    return [trace.to_plotly_json() for trace in figure.data]
