"""Labs: experiments repeated many times, and the widgets that show what comes of them.

The false-alarm lab: how often do alarms come on nominal points, next to what bounds promise? A design says
what is repeated, :func:`experiment` repeats it and writes down rates and promises, :class:`FalseAlarmLab`
shows them.
"""

from .._lazy import lazily

# Where each public name lives. Loaded on first use: the widget imports plotly and ipywidgets.
_HOMES = {
    "ALPHAS": ".false_alarms",
    "Design": ".design",
    "FalseAlarmLab": ".widget",
    "PROMISES": ".promises",
    "experiment": ".false_alarms",
    "promises_kept": ".false_alarms",
}

__getattr__, __dir__, __all__ = lazily(__name__, _HOMES)
