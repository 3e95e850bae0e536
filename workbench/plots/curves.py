"""Curves on doubly logarithmic axes."""

from __future__ import annotations

import plotly.graph_objects as go

# Okabe and Ito's, which colour-blind readers can tell apart, the yellow darkened.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#B8A800", "#000000")
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star", "hexagon")


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
    for i, (name, (x, y)) in enumerate(curves.items()):
        marker = {"size": 8, "color": COLOURS[i % len(COLOURS)], "symbol": SYMBOLS[i % len(SYMBOLS)]}
        figure.add_trace(go.Scatter(x=x, y=y, mode="lines+markers", name=name, marker=marker))
    figure.update_xaxes(type="log", title=x_label)
    figure.update_yaxes(type="log", title=y_label)
    return figure.update_layout(template="plotly_white", width=860, height=500)


def frontier(curves, x_label, y_label):
    """Quality against cost, whose axis is logarithmic: a curve for each contender, a label at each point.

    Parameters
    ----------
    curves : dict from name to (x, y, labels), sequences of one length
    x_label, y_label : str

    Returns
    -------
    plotly.graph_objects.Figure
    """
    figure = go.Figure()
    for i, (name, (x, y, labels)) in enumerate(curves.items()):
        look = {"size": 9, "color": COLOURS[i % len(COLOURS)], "symbol": SYMBOLS[i % len(SYMBOLS)]}
        figure.add_trace(
            go.Scatter(
                x=list(x),
                y=list(y),
                text=list(labels),
                mode="lines+markers+text",
                textposition="bottom center",
                name=name,
                marker=look,
                line={"color": look["color"]},
            )
        )
    figure.update_xaxes(type="log", title=x_label)
    figure.update_yaxes(title=y_label)
    return figure.update_layout(template="plotly_white", width=860, height=560)


def dots_by_row(table, x_label, best=None):
    """One row of dots for each row of a table, one symbol and colour for each column.

    Parameters
    ----------
    table : data frame
        Rows are labels on the y axis, the first on top; columns are named in the legend.
    x_label : str
    best : float, optional
        Where to draw a line.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    figure = go.Figure()
    for i, column in enumerate(table):
        marker = {"size": 9, "color": COLOURS[i % len(COLOURS)], "symbol": SYMBOLS[i % len(SYMBOLS)]}
        figure.add_trace(
            go.Scatter(x=table[column], y=list(table.index), mode="markers", name=str(column), marker=marker)
        )
    if best is not None:
        figure.add_vline(x=best, line={"color": "#888", "width": 1})
    figure.update_xaxes(title=x_label)
    figure.update_yaxes(autorange="reversed", automargin=True)
    return figure.update_layout(template="plotly_white", width=860, height=120 + 26 * len(table))
