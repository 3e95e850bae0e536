"""The explorer: sliders over level curves of RankAD, two detectors side by side, next to the truth.

State lives in one place, the traits of :class:`Settings`. Everything shown is a function of it:
settings -> sample -> fits -> measures -> arrays -> traces, and the widget only carries values to and fro.
"""

from .settings import PRESETS, Settings
from .widget import Explorer

__all__ = ["PRESETS", "Explorer", "Settings"]
