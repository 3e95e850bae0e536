"""Learned level curves beside true ones, a panel for each detector."""

from __future__ import annotations

from plotly.colors import sample_colorscale
from plotly.subplots import make_subplots

from .panels import joined

TRUE = {"color": "#444", "width": 1.2, "dash": "dot"}


def curves_beside_truth(panels, true_curves, x_range, y_range, width=860):
    """Draw, in each panel, the learned curves in colour and the true ones dotted.

    Parameters
    ----------
    panels : sequence of (title, support vectors, curves)
        Support vectors of shape (n, 2); ``curves`` a dict from alpha to a list of (k, 2) arrays.
    true_curves : dict from alpha to a list of (k, 2) arrays
    x_range, y_range : (float, float)
    width : int
        Pixels; the height follows from equal units on both axes.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    figure = make_subplots(
        cols=len(panels),
        subplot_titles=[title for title, _, _ in panels],
        shared_yaxes=True,
        horizontal_spacing=0.03,
    )
    alphas = sorted(true_curves)
    colours = sample_colorscale("viridis", [0.85 * i / max(1, len(alphas) - 1) for i in range(len(alphas))])
    for column, (_, points, curves) in enumerate(panels, start=1):
        last = column == len(panels)
        dots = {"size": 3, "color": "#bbb"}
        figure.add_scatter(
            x=points[:, 0], y=points[:, 1], mode="markers", marker=dots, name="support vectors",
            showlegend=last, hoverinfo="skip", row=1, col=column,
        )  # fmt: skip
        for alpha, colour in zip(alphas, colours, strict=True):
            for name, lines, style in (
                (f"learned, α = {alpha:g}", curves[alpha], {"color": colour, "width": 2.2}),
                ("true", true_curves[alpha], TRUE),
            ):
                x, y = joined(lines)
                figure.add_scatter(
                    x=x, y=y, mode="lines", line=style, name=name, legendgroup=name, hoverinfo="name",
                    showlegend=last and (name != "true" or alpha == alphas[-1]), row=1, col=column,
                )  # fmt: skip
    figure.update_xaxes(range=list(x_range), constrain="domain")
    figure.update_yaxes(range=list(y_range), scaleanchor="x", scaleratio=1, constrain="domain")
    shape = (y_range[1] - y_range[0]) / (x_range[1] - x_range[0])
    height = 100 + shape * (width - 240) / len(panels)
    return figure.update_layout(
        template="plotly_white",
        width=width,
        height=round(height),
        margin={"l": 40, "r": 10, "t": 40, "b": 40},
    )
