"""Figures as pages that work without a network."""

from __future__ import annotations

from plotly.offline import get_plotlyjs

SCRIPT = "plotly.min.js"


def page(figure):
    """Return a figure as HTML that takes plotly's script from the file SCRIPT beside it."""
    return figure.to_html(include_plotlyjs="directory")


def script():
    """Return the content of SCRIPT."""
    return get_plotlyjs()
