"""Labs: experiments repeated many times, and the widgets that show what comes of them.

The false-alarm lab: how often do alarms come on nominal points, next to what bounds promise? A design says
what is repeated, :func:`experiment` repeats it and writes down rates and promises, :class:`FalseAlarmLab`
shows them.
"""

from importlib import import_module

# Where each public name lives. Loaded on first use: the widget imports plotly and ipywidgets.
_HOMES = {
    "ALPHAS": ".false_alarms",
    "Design": ".design",
    "FalseAlarmLab": ".widget",
    "PROMISES": ".promises",
    "experiment": ".false_alarms",
    "promises_kept": ".false_alarms",
}

__all__ = sorted(_HOMES)


def __getattr__(name):
    if name in _HOMES:
        return getattr(import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__
