"""The screen: two panels of level curves, the lines and plots below them, and the mouse on it."""

from __future__ import annotations

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go

from .. import plots
from .figures import LiveFigure, canvas
from .fitting import SIDES
from .picture import board, checks, is_exact, no_checks, panel, summary
from .sample import BOARD


class Screen:
    """What is shown of two fits.

    Parameters
    ----------
    on_hover : callable
        Told the side and the point under the mouse, and without arguments when it has left.
    on_click : callable
        Told where the board was clicked.

    Attributes
    ----------
    curves, plots : LiveFigure
    lines : list of ipywidgets.HTML
        What is said of each side below its panel.
    """

    def __init__(self, on_hover, on_click):
        self._on_hover, self._on_click = on_hover, on_click
        self.curves, self.plots = LiveFigure(), LiveFigure()
        self.lines = [widgets.HTML(layout={"width": "50%", "height": "6.5em"}) for _ in SIDES]
        self._below = widgets.HBox(self.lines)

    def rows(self):
        """Everything from top to bottom; the figures in new boxes, so that the browser draws them anew.

        It reads their configuration only then. Taking the figures away and putting them back is not enough:
        a busy browser sees the outcome alone, which is no change.
        """
        return [widgets.VBox([self.curves]), self._below, widgets.VBox([self.plots])]

    def figures(self):
        """Return what is shown as plain figures."""
        return [go.Figure(self.curves), go.Figure(self.plots)]

    def set_camera(self, kind):
        """Choose what the camera buttons save, "png" or "svg"; seen once `rows` are displayed anew."""
        for figure in (self.curves, self.plots):
            figure.set_camera(kind)

    def show_curves(self, sample, fits, measures, settings, drawing):
        """Show level curves, points and what is to be said of them at the chosen level.

        Parameters
        ----------
        sample : Sample
        fits, measures : dict from side to Fit, and to Measures
        settings : Settings
            Of which only alpha, colour and show_support matter.
        drawing : bool
            Whether clicks add points.
        """
        panels = [panel(fits[side], settings) for side in SIDES]
        self._show_panels(panels, sample.view, sample.labels, is_exact(fits.values()), drawing)
        for box, side in zip(self.lines, SIDES, strict=True):
            box.value = summary(fits[side], measures[side], settings.alpha)

    def show_checks(self, fits, measures, alpha):
        """Show false alarms, p-values and distances; promised limits change with exact answers only."""
        both = [checks(fits[side], measures[side], alpha) for side in SIDES]
        self._show_checks(both, limits=is_exact(fits.values()))

    def show_board(self, points):
        """Show the points drawn so far, where they are too few to learn from."""
        self._show_panels([board(points)] * 2, BOARD, ("x", "y"), details=False, drawing=True)
        self._show_checks([no_checks(f"{side} detector") for side in SIDES], limits=True)
        for box in self.lines:
            box.value = ""

    def show_neighbours(self, lines):
        """Show lines from a point to its neighbours, in both panels."""
        x, y = plots.joined(lines)
        self.curves.change_named(plots.NEIGHBOURS, {"x": x, "y": y})

    def _show_panels(self, panels, view, labels, details, drawing):
        traces = [trace for i, each in enumerate(panels) for trace in plots.panel_traces(each, legend=i == 1)]
        if not details and self.curves.data:  # which nobody reads during a drag, and which cost time
            traces = [{name: trace[name] for name in trace if name != "customdata"} for trace in traces]
        sheets = [canvas(drawing, *BOARD) for _ in SIDES]
        if not self.curves.data:
            figure = plots.level_curves(panels, *view.T, *labels)
            for column, sheet in enumerate(sheets, start=1):
                figure.add_trace(sheet, row=1, col=column)
            self.curves.start(figure, [*traces, *sheets])
            self._listen()
            return
        layout = plots.axes_layout(len(panels), *view.T, *labels)
        layout["annotations"] = [{"text": each.title} for each in panels]
        self.curves.change([*traces, *sheets], layout)

    def _show_checks(self, both, limits):
        traces = [trace for _, trace in plots.check_traces(*both)]
        if not limits and self.plots.data:  # the last ones stay until the exact answer brings others
            traces = [{} if trace["name"].endswith(plots.PROMISED) else trace for trace in traces]
        if self.plots.data:
            self.plots.change(traces)
        else:
            self.plots.start(plots.check_plots(*both), traces)

    def _listen(self):
        def click(trace, points, _):
            if points.xs:
                self._on_click(np.array([points.xs[0], points.ys[0]], float))

        def hover(trace, points, _):
            if points.point_inds:
                side = SIDES[trace.xaxis == "x2"]
                self._on_hover(side, np.array([points.xs[0], points.ys[0]], float))

        for trace in self.curves.data:
            if trace.type == "heatmap":
                trace.on_click(click)
            elif trace.hovertemplate:
                trace.on_hover(hover)
                trace.on_unhover(lambda *_: self._on_hover())
