"""What learned sets are worth, in four small plots: two detectors against each other and the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

SIDE_STYLES = (("#E69F00", "circle", "dot"), ("#0072B2", "diamond", "solid"))
"""Colour, symbol and dash of the left and the right detector, from Okabe and Ito's palette."""

TITLES = (
    "(a) false alarms",
    "(b) p of nominal points",
    "(c) learned p, true p",
    "(d) mass, volume (thin) off",
)

AXES = (
    ("level \u03b1", (0, 0.5), (0, 0.6)),
    ("p", (0, 1), (0, 3)),
    ("true p", (0, 1), (0, 1)),
    ("level \u03b1", (0, 1), (-0.5, 1)),
)
"""Label and range of x, range of y: fixed, so that nothing jumps."""

BINS = 20

PROMISED = "promised at 95%"
"""End of the name of the traces of limits."""


@dataclass(frozen=True)
class Checks:
    """What the plots below the level curves show of one detector. Arrays may be empty.

    Attributes
    ----------
    name : str
    alphas, false_alarms : arrays of shape (q,)
        The false-alarm rate against the level asked for.
    limit_alphas, limits : arrays of shape (b,)
        What the rate is promised to keep below; NaN where nothing is.
    p : array
        Learned p-values of fresh nominal points.
    learned_p, true_p : arrays of shape (s,)
        Learned and true ones of some of them.
    ladder : array of shape (L,)
    symmetric_difference, volume_ratio : arrays of shape (L,)
        Mass between learned and true set, and ratio of their volumes, at the levels of the ladder.
    alpha, false_alarm_rate : float
        The chosen level, and the rate there.
    """

    name: str
    alphas: np.ndarray
    false_alarms: np.ndarray
    limit_alphas: np.ndarray
    limits: np.ndarray
    p: np.ndarray
    learned_p: np.ndarray
    true_p: np.ndarray
    ladder: np.ndarray
    symmetric_difference: np.ndarray
    volume_ratio: np.ndarray
    alpha: float
    false_alarm_rate: float


def check_plots(left, right, width=860, height=270):
    """Draw false alarms, p-values of nominal points, learned against true p, distances from the truth.

    Parameters
    ----------
    left, right : Checks
    width, height : int
        Pixels.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    figure = make_subplots(cols=4, subplot_titles=TITLES, horizontal_spacing=0.06)
    for column, trace in check_traces(left, right):
        figure.add_trace(go.Scatter(**trace), row=1, col=column)
    for column, (label, x_range, y_range) in enumerate(AXES, start=1):
        title = {"text": label, "standoff": 3}
        figure.update_xaxes(title=title, range=x_range, nticks=5, fixedrange=True, col=column)
        figure.update_yaxes(range=y_range, nticks=5, fixedrange=True, col=column)
    figure.update_annotations(font={"size": 12})
    return figure.update_layout(
        template="plotly_white",
        width=width,
        height=height,
        margin={"l": 30, "r": 10, "t": 28, "b": 80},
        font={"size": 10},
        legend={"orientation": "h", "y": -0.3, "yanchor": "top", "x": 0.5, "xanchor": "center"},
    )


def check_traces(left, right):
    """(column, keyword arguments of ``go.Scatter``) of every trace: always as many, in the same order."""
    ideal = {"mode": "lines", "line": {"color": "#000000", "width": 1}, "name": "ideal", "hoverinfo": "skip"}
    traces = [
        (1, ideal | {"x": [0, 0.5], "y": [0, 0.5]}),
        (2, ideal | {"x": [0, 1], "y": [1, 1], "showlegend": False}),
        (3, ideal | {"x": [0, 1], "y": [0, 1], "showlegend": False}),
        (4, ideal | {"x": [0, 1], "y": [0, 0], "showlegend": False}),
    ]
    for checks, style in zip((left, right), SIDE_STYLES, strict=True):
        traces += _side_traces(checks, *style)
    return traces


def _side_traces(checks, colour, symbol, dash):
    def line(x, y, name, dash=dash, width=2, showlegend=False, **more):
        style = {"color": colour, "width": width, "dash": dash} | more
        return {"x": x, "y": y, "name": name, "mode": "lines", "line": style, "showlegend": showlegend}

    def dots(x, y, name, size):
        style = {"color": colour, "symbol": symbol, "size": size, "opacity": 0.35 if size < 5 else 1}
        return {"x": x, "y": y, "name": name, "mode": "markers", "marker": style, "showlegend": False}

    name = checks.name
    heights, edges = np.histogram(checks.p, BINS, range=(0, 1), density=len(checks.p) > 0)
    if not len(checks.p):
        heights = np.full(BINS, np.nan)
    chosen = np.array([checks.alpha]), np.array([checks.false_alarm_rate])
    difference, ratio = f"{name}: mass of the difference", f"{name}: volume ratio - 1"
    return [
        (1, line(checks.alphas, checks.false_alarms, name, showlegend=True)),
        (1, line(checks.limit_alphas, checks.limits, f"{name}: {PROMISED}", "dash", 1)),
        (1, dots(*chosen, f"{name}, chosen level", 9)),
        (2, line(edges, np.append(heights, heights[-1]), name, shape="hv")),
        (3, dots(checks.true_p, checks.learned_p, name, 4)),
        (4, line(checks.ladder, checks.symmetric_difference, difference) | {"mode": "lines+markers"}),
        (4, line(checks.ladder, checks.volume_ratio - 1, ratio, "dash", 1)),
    ]
