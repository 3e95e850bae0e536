"""Arrays in, plotly figures out. Knows nothing of detectors, and imports nothing of ours."""

from .bars import contributions
from .checks import PROMISED, Checks, check_plots, check_traces
from .curves import dots_by_row, frontier, log_log
from .pages import SCRIPT, page, script
from .panels import NEIGHBOURS, Panel, axes_layout, joined, level_curves, panel_traces
from .truth import curves_beside_truth

__all__ = [
    "NEIGHBOURS",
    "PROMISED",
    "SCRIPT",
    "Checks",
    "Panel",
    "axes_layout",
    "check_plots",
    "check_traces",
    "contributions",
    "curves_beside_truth",
    "dots_by_row",
    "frontier",
    "joined",
    "level_curves",
    "log_log",
    "page",
    "panel_traces",
    "script",
]
