"""Curves on doubly logarithmic axes."""

from __future__ import annotations

import plotly.graph_objects as go


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
