"""Figures for pages without a kernel: what moves in JupyterLab is shown as it stands."""

from __future__ import annotations

from html import escape

import plotly.graph_objects as go
from IPython.display import HTML, display

from ..explorer import Explorer
from ..labs import FalseAlarmLab
from .scenes import Scene

NOTE = "In JupyterLab this figure has controls."


def show_statically(shell):
    """Make a kernel display widgets and figures as HTML that takes plotly's script from the page.

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell
    """
    formatter = shell.display_formatter
    for kind in (Scene, Explorer, FalseAlarmLab):
        formatter.mimebundle_formatter.for_type(kind, _bundle)
    formatter.ipython_display_formatter.for_type(go.Figure, _show)


def as_html(widget):
    """Return the pictures of a widget, and what it says of them, as HTML.

    Parameters
    ----------
    widget : Scene, Explorer or FalseAlarmLab
    """
    said = f"{getattr(widget, 'words', '')} {NOTE}".strip()
    return "".join(map(_figure, widget.figures)) + f"<p><i>{escape(said)}</i></p>"


def _bundle(widget):
    return {"text/html": as_html(widget)}


def _show(figure):
    display(HTML(_figure(figure)))


def _figure(figure):
    return figure.to_html(full_html=False, include_plotlyjs=False)
