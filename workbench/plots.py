"""Arrays in, plotly figures out. Knows nothing of detectors, and imports nothing of ours.

A panel is turned into trace dictionaries first, always the same number in the same order, so that a
live figure can be changed in place with what a new one would be drawn from.
"""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Panel:
    """What one panel of level curves shows.

    Attributes
    ----------
    title : str
    points : array of shape (n, 2)
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
    """

    title: str
    points: np.ndarray
    levels: np.ndarray
    ladder: list
    region: list
    chosen: list
    truth: list


def level_curves(panels, x_range, y_range, x_label="x", y_label="y", width=860, height=500):
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
    figure.update_xaxes(matches="x", constrain="domain")
    figure.update_yaxes(matches="y")
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


def log_log(curves, x_label, y_label):
    """Curves on doubly logarithmic axes, where a power law is a line.

    Parameters
    ----------
    curves : dict from name to (x, y), arrays of shape (k,)
    x_label, y_label : str

    Returns
    -------
    plotly.graph_objects.Figure
    """
    figure = go.Figure()
    for name, (x, y) in curves.items():
        figure.add_trace(go.Scatter(x=x, y=y, mode="lines+markers", name=name))
    figure.update_xaxes(type="log", title=x_label)
    figure.update_yaxes(type="log", title=y_label)
    return figure.update_layout(template="plotly_white", width=860, height=500)


def axes_layout(n_panels, x_range, y_range, x_label, y_label):
    """Layout entries that depend on the data shown: axis ranges and labels."""
    layout = {"yaxis": {"range": list(y_range), "title": {"text": y_label}}}
    for column in range(1, n_panels + 1):
        layout[f"xaxis{column if column > 1 else ''}"] = {"range": list(x_range), "title": {"text": x_label}}
    return layout


def panel_traces(panel, legend=True):
    """Keyword arguments of the ``go.Scatter`` traces of one panel, bottom to top."""
    x, y = _joined(panel.region)
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
    colours = sample_colorscale("Viridis", np.linspace(0.95, 0.1, max(len(panel.ladder), 2)))
    for (alpha, lines), colour in zip(panel.ladder, colours, strict=False):
        x, y = _joined(lines)
        traces.append(
            {
                "x": x,
                "y": y,
                "mode": "lines",
                "line": {"color": colour, "width": 1.5},
                "name": f"p = {alpha:g}",
                "legendgroup": f"p = {alpha:g}",
                "hoverinfo": "name",
            }
        )
    lowest, highest = panel.levels == panel.levels.min(), panel.levels == panel.levels.max()
    groups = (lowest & ~highest, ~lowest & ~highest, highest)
    for group, (name, (colour, symbol)) in zip(groups, LEVEL_MARKERS.items(), strict=True):
        traces.append(
            {
                "x": panel.points[group, 0],
                "y": panel.points[group, 1],
                "mode": "markers",
                "marker": {"color": colour, "symbol": symbol, "size": 5, "opacity": 0.55},
                "name": name,
                "customdata": panel.levels[group],
                "hovertemplate": "(%{x:.3g}, %{y:.3g}), level %{customdata}<extra></extra>",
            }
        )
    for lines, line, name in (
        (panel.truth, {"color": TRUTH_COLOUR, "width": 2, "dash": "dash"}, "true set at \u03b1"),
        (panel.chosen, {"color": CHOSEN_COLOUR, "width": 3}, "learned set at \u03b1"),
    ):
        x, y = _joined(lines)
        traces.append({"x": x, "y": y, "mode": "lines", "line": line, "name": name, "hoverinfo": "name"})
    for trace in traces:
        trace["showlegend"] = legend
        trace.setdefault("legendgroup", trace["name"])
    return traces


def _joined(lines):
    """Coordinates of several polylines in one trace, with gaps between them."""
    if not lines:
        return np.empty(0), np.empty(0)
    gap = np.full((1, 2), np.nan)
    points = np.concatenate([part for line in lines for part in (line, gap)][:-1])
    return points[:, 0], points[:, 1]
