"""The course: what the lessons in `notebooks/` call, one file a lesson.

A lesson's file holds its scene, a figure that moves, and its exercises, whose answers are judged in words.
"""

from .._lazy import lazily

_HOMES = {"LESSONS": ".course", "exercise": ".course", "Scene": ".scenes"}
_ROOMS = (
    "by_hand",
    "choosing",
    "consistency",
    "course",
    "curves",
    "distances",
    "exercises",
    "false_alarms",
    "far_field",
    "judges",
    "level_sets",
    "own_data",
    "printed_tables",
    "quantisation",
    "ranks",
    "rendering",
    "rules",
    "scenes",
)

__getattr__, __dir__, __all__ = lazily(__name__, _HOMES, _ROOMS)
