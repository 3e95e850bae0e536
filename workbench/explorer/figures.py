"""Live plotly figures: what a reload needs, and updates that send only what has changed."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go
from traitlets import Any, default

_carrier = None


def _plotly():
    """Return the widget that carries plotly's program to the browser: one for all, never displayed."""
    global _carrier
    if _carrier is None or _carrier.comm is None:  # none yet, or closed with all widgets there were
        _carrier = widgets.HTML(str(go.FigureWidget._esm))
    return _carrier


class LiveFigure(go.FigureWidget):
    """A FigureWidget that a page reload shows as it is now, and that sends only what has changed.

    plotly keeps the state the widget was constructed with for whoever connects later. What runs in the
    browser is in figure.js.
    """

    _esm = Path(__file__).with_name("figure.js")
    _program = Any().tag(sync=True, **widgets.widget_serialization)

    @default("_program")
    def _plotlys(self):
        return _plotly()

    def get_state(self, key=None, drop_defaults=False):
        """Return the widget's state, with the data and layout of this moment where it is asked for whole."""
        if key is None and hasattr(self, "_layout_obj"):  # plotly asks for the state before it has any
            self._trait_values["_widget_data"] = deepcopy(self._data)
            self._trait_values["_widget_layout"] = deepcopy(self._layout_obj._props)
        return super().get_state(key, drop_defaults)

    def start(self, figure, traces):
        """Take over a figure, and remember the keyword arguments that its traces were made from."""
        self.add_traces(figure.data)
        self.layout = figure.layout
        self._traces = [dict(trace) for trace in traces]
        self.set_camera("png")

    def set_camera(self, kind):
        """Choose what the camera button saves, "png" or "svg"; seen when the figure is displayed anew."""
        options = {"format": kind, "filename": "rankad", "scale": 2}
        self._config = {**self._config, "toImageButtonOptions": options}

    def change(self, traces, layout=None):
        """Show other arguments for the same traces, and some other entries of the layout.

        Parameters
        ----------
        traces : sequence of dict
            As many as at the start, in the same order.
        layout : dict, optional
        """
        changes = {
            index: change
            for index, (before, trace) in enumerate(zip(self._traces, traces, strict=True))
            if (
                change := {name: value for name, value in trace.items() if not _same(value, before.get(name))}
            )
        }
        present = self._layout_obj._props
        layout = {
            name: value for name, value in (layout or {}).items() if not _within(value, present.get(name))
        }
        moved = not layout and all(self._is_move(index, change) for index, change in changes.items())
        # An animation of no duration draws the traces it names; an update draws all there are anew.
        with self.batch_animate(duration=0) if moved else self.batch_update():
            for index, change in changes.items():
                self.data[index].update(change)
                self._traces[index] = self._traces[index] | change
            self.update_layout(layout)

    def change_named(self, name, trace):
        """Show other arguments for all traces of one name."""
        self.change([each | trace if each["name"] == name else each for each in self._traces])

    def _is_move(self, index, change):
        """Whether a trace keeps its kind and its number of points, or is made of lines alone."""
        before = self._traces[index]
        if not change.keys() <= {"x", "y", "customdata"} or before.get("type", "scatter") != "scatter":
            return False
        return before.get("mode") == "lines" or all(
            len(change[name]) == len(before[name]) for name in ("x", "y") if name in change
        )


def _same(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return type(a) is type(b) and not isinstance(a, np.ndarray) and a == b


def _within(wanted, present):
    """Whether all that is wanted of one layout entry is there already."""
    if isinstance(wanted, dict):
        return isinstance(present, dict) and all(_within(wanted[key], present.get(key)) for key in wanted)
    if isinstance(wanted, (list, tuple)):
        return (
            isinstance(present, (list, tuple))
            and len(wanted) == len(present)
            and all(_within(a, b) for a, b in zip(wanted, present, strict=True))
        )
    return wanted == present


def canvas(active, lower, upper, cells=50):
    """Return an invisible sheet that notices clicks anywhere between two corners, where it is active.

    Parameters
    ----------
    active : bool
    lower, upper : arrays of shape (2,)
    cells : int
        Along each side.

    Returns
    -------
    dict
        Keyword arguments of a plotly heatmap, with its type.
    """
    z = np.zeros((cells, cells) if active else (1, 1))
    x, y = (np.linspace(low, high, len(z)) for low, high in zip(lower, upper, strict=True))
    sheet = {"type": "heatmap", "x": x, "y": y, "z": z, "visible": active, "name": "canvas"}
    return sheet | {"showscale": False, "opacity": 0.0, "hoverinfo": "none"}
