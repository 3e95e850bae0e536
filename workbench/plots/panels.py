"""Panels of level curves side by side.

A panel is turned into trace dictionaries first, always the same number in the same order, so that a
live figure can be changed in place with what a new one would be drawn from.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale
from plotly.subplots import make_subplots

# From Okabe and Ito's palette, told apart by readers with any common colour vision; the symbols differ too.
LEVEL_MARKERS = {
    "lowest level": ("#D55E00", "triangle-up"),
    "levels between": ("#999999", "circle"),
    "highest level": ("#009E73", "square"),
}
TRUTH_COLOUR = "#000000"
REGION_COLOUR = "rgba(86, 180, 233, 0.13)"
CHOSEN_COLOUR = "#0072B2"
HELD_OUT_COLOUR = "#CC79A7"

NEIGHBOURS = "its k neighbours"
"""Name of the trace of lines from the point under the cursor."""


@dataclass(frozen=True)
class Panel:
    """What one panel of level curves shows.

    Attributes
    ----------
    title : str
    points : array of shape (n, 2)
        Training points.
    levels : int array of shape (n,)
        Quantised ranks, 1 the sparsest.
    ladder : list of (alpha, lines)
        Level curves ``p(x) = alpha`` of the learned p-value; lines is a list of (k, 2) arrays.
    region : list of arrays of shape (k, 2)
        Closed rings around ``{p(x) > alpha}`` at the chosen alpha, holes in the opposite sense.
    chosen : list of arrays of shape (k, 2)
        The level curve at the chosen alpha.
    truth : list of arrays of shape (k, 2)
        Boundary of the true minimum-volume set there; empty where no density is known.
    details : dict from name to array of shape (n,)
        What hovering over a training point tells, by the label to show.
    p : array of shape (n,), optional
        p-values of the training points, to colour them by instead of by their levels.
    held_out : array of shape (q, 2), optional
        Points that only calibrate.
    support : int array, optional
        Training points to ring as support vectors.
    neighbours : list of arrays of shape (2, 2)
        Lines from a point to its neighbours.
    """

    title: str
    points: np.ndarray
    levels: np.ndarray
    ladder: list
    region: list
    chosen: list
    truth: list
    details: dict = field(default_factory=dict)
    p: np.ndarray | None = None
    held_out: np.ndarray | None = None
    support: np.ndarray | None = None
    neighbours: list = field(default_factory=list)


def level_curves(panels, x_range, y_range, x_label="x", y_label="y", width=860, height=450):
    """Panels of level curves side by side, linked in zoom.

    Parameters
    ----------
    panels : sequence of Panel
        With ladders of equal length.
    x_range, y_range : (float, float)
        Axes, fixed so that nothing jumps when a parameter moves.
    x_label, y_label : str
    width, height : int
        Pixels; the default width fits a notebook on a screen of 1280.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    figure = make_subplots(
        cols=len(panels),
        subplot_titles=[panel.title for panel in panels],
        shared_yaxes=True,
        horizontal_spacing=0.03,
    )
    for column, panel in enumerate(panels, start=1):
        for trace in panel_traces(panel, legend=column == len(panels)):
            figure.add_trace(go.Scatter(**trace), row=1, col=column)
    figure.update_xaxes(constrain="domain")
    for column in range(2, len(panels) + 1):
        figure.update_xaxes(matches="x", col=column)
    figure.update_yaxes(scaleanchor="x", scaleratio=1, col=1)
    figure.update_layout(**axes_layout(len(panels), x_range, y_range, x_label, y_label))
    figure.update_layout(
        template="plotly_white",
        height=height,
        width=width,
        margin={"l": 55, "r": 10, "t": 40, "b": 50},
        legend={"traceorder": "normal", "itemsizing": "constant"},
        hoverlabel={"namelength": -1},
        uirevision="keep the reader's zoom",
    )
    return figure


def axes_layout(n_panels, x_range, y_range, x_label, y_label):
    """Layout entries that depend on the data shown: axis ranges and labels."""
    layout = {"yaxis": {"range": list(y_range), "title": {"text": y_label}}}
    for column in range(1, n_panels + 1):
        layout[f"xaxis{column if column > 1 else ''}"] = {"range": list(x_range), "title": {"text": x_label}}
    return layout


def panel_traces(panel, legend=True):
    """Keyword arguments of the ``go.Scatter`` traces of one panel, bottom to top: always as many."""
    x, y = joined(panel.region)
    traces = [
        {
            "x": x,
            "y": y,
            "mode": "lines",
            "fill": "toself",
            "fillcolor": REGION_COLOUR,
            "line": {"width": 0},
            "name": "accepted at \u03b1",
            "hoverinfo": "skip",
        }
    ]
    colours = sample_colorscale("Viridis", np.linspace(0.95, 0.0, max(len(panel.ladder), 2)))
    for (alpha, lines), colour in zip(panel.ladder, colours, strict=False):
        traces.append(_line(f"p = {alpha:g}", lines, {"color": colour, "width": 1.5}, hoverinfo="name"))
    traces += _point_traces(panel)
    traces.append(
        _line("true set at \u03b1", panel.truth, {"color": TRUTH_COLOUR, "width": 2, "dash": "dash"})
    )
    traces.append(_line("learned set at \u03b1", panel.chosen, {"color": CHOSEN_COLOUR, "width": 3}))
    lines = _line(NEIGHBOURS, panel.neighbours, {"color": TRUTH_COLOUR, "width": 1}, hoverinfo="skip")
    traces.append(lines | {"showlegend": False})
    for trace in traces:
        trace["showlegend"] = legend and trace.get("showlegend", True)
        trace.setdefault("legendgroup", trace["name"])
    return traces


def _line(name, lines, style, hoverinfo="name"):
    x, y = joined(lines)
    return {"x": x, "y": y, "mode": "lines", "line": style, "name": name, "hoverinfo": hoverinfo}


def _point_traces(panel):
    """Training points by level and by p-value, of which one is empty; held-out points; support vectors."""
    labels = list(panel.details)
    details = [np.round(panel.details[label], 4) for label in labels]
    lines = [f"{label}: %{{customdata[{i}]:.3~g}}" for i, label in enumerate(labels)]
    template = "<br>".join(["(%{x:.3f}, %{y:.3f})", *lines]) + "<extra></extra>"

    def points(chosen, name, marker):
        return {
            "x": panel.points[chosen, 0],
            "y": panel.points[chosen, 1],
            "mode": "markers",
            "marker": marker,
            "name": name,
            "customdata": np.column_stack([np.arange(len(panel.points)), *details])[chosen, 1:],
            "hovertemplate": template,
        }

    by_level = panel.p is None
    largest = panel.levels.max(initial=0)
    lowest, highest = panel.levels == panel.levels.min(initial=largest), panel.levels == largest
    groups = (lowest & ~highest, ~lowest & ~highest, highest)
    traces = [
        points(group & by_level, name, {"color": colour, "symbol": symbol, "size": 5, "opacity": 0.55})
        for group, (name, (colour, symbol)) in zip(groups, LEVEL_MARKERS.items(), strict=True)
    ]
    everyone = np.full(len(panel.points), not by_level)
    by_p = points(everyone, "p-value", {"size": 5, "colorscale": "Cividis", "cmin": 0, "cmax": 1})
    by_p["marker"] |= {
        "color": np.empty(0) if by_level else panel.p,
        "colorbar": {"title": {"text": "p"}, "len": 0.4, "y": 0.2, "thickness": 12},
        "showscale": not by_level,
    }
    held_out = np.empty((0, 2)) if panel.held_out is None else panel.held_out
    calibration = {
        "x": held_out[:, 0],
        "y": held_out[:, 1],
        "mode": "markers",
        "marker": {"color": HELD_OUT_COLOUR, "symbol": "x-thin-open", "size": 5, "opacity": 0.6},
        "name": "only calibrates",
        "hoverinfo": "skip",
    }
    support = panel.points[[] if panel.support is None else panel.support]
    rings = {
        "x": support[:, 0],
        "y": support[:, 1],
        "mode": "markers",
        "marker": {"color": TRUTH_COLOUR, "symbol": "circle-open", "size": 8, "line": {"width": 1}},
        "name": "support vector",
        "hoverinfo": "skip",
    }
    traces += [by_p | {"showlegend": False}, calibration, rings]
    return traces


def joined(lines):
    """Return x and y of several polylines in one trace, with gaps between them."""
    if not lines:
        return np.empty(0), np.empty(0)
    gap = np.full((1, 2), np.nan)
    points = np.concatenate([part for line in lines for part in (line, gap)][:-1])
    return points[:, 0], points[:, 1]
