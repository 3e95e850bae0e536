"""What each feature does to a score, as bars."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

LOWERS, RAISES = "#D55E00", "#0072B2"
"""From Okabe and Ito's palette."""


def contributions(features, values, x_label="contribution to the score", at_most=20):
    """Bars to the left for features that lower the score, to the right for those that raise it.

    Parameters
    ----------
    features : sequence of d labels
    values : array of shape (d,)
        What each feature adds. The largest in size is on top.
    x_label : str
    at_most : int, default 20
        Where there are more features, the others are added up in one bar at the bottom.

    Returns
    -------
    plotly.graph_objects.Figure

    Raises
    ------
    ValueError
        If there is not one finite value for each feature, or none, or `at_most` is not 1 or more.
    """
    values = np.asarray(values, dtype=float)
    labels = [str(label) for label in features]
    if values.shape != (len(labels),) or not len(labels) or not np.isfinite(values).all():
        raise ValueError(
            f"contributions needs one finite value for each of one or more features, got {len(labels)} "
            f"features and values of shape {values.shape}, {(~np.isfinite(values)).sum()} of them not finite."
        )
    if isinstance(at_most, bool) or not isinstance(at_most, (int, np.integer)) or at_most < 1:
        raise ValueError(f"at_most must be a whole number of bars, at least 1, got {at_most!r}.")
    order = np.argsort(-np.abs(values), kind="stable")
    shown, rest = order[:at_most], order[at_most:]
    labels, values = (
        [labels[i] for i in shown],
        [*values[shown], *([values[rest].sum()] if len(rest) else [])],
    )
    if len(rest):
        labels.append(f"{len(rest)} others")
    rows = np.arange(len(values))  # by number: labels may repeat
    bars = go.Bar(
        x=values,
        y=rows,
        orientation="h",
        marker={"color": [LOWERS if value < 0 else RAISES for value in values]},
        customdata=labels,
        hovertemplate="%{customdata}: %{x:.3~g}<extra></extra>",
    )
    figure = go.Figure(bars)
    figure.update_xaxes(title=x_label, zeroline=True, zerolinecolor="#888")
    figure.update_yaxes(autorange="reversed", automargin=True, tickvals=rows, ticktext=labels)
    return figure.update_layout(template="plotly_white", width=640, height=110 + 26 * len(values))
