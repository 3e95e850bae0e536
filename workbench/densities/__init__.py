"""Nominal densities that know the truth: the true p-value, and the minimum-volume set at every level.

An estimate can be judged only against the truth. For a nominal density ``f`` and ``Z ~ f`` that is

    p(x)      = P{f(Z) <= f(x)}              the p-value that the detectors estimate, small for an anomaly
    c(alpha)  = the alpha-quantile of f(Z)   {f >= c(alpha)} is the smallest set of mass 1 - alpha
    v(alpha)  = the Lebesgue measure of the smallest set of mass 1 - alpha

All three follow from the law of the one number ``f(Z)``, since vol{f >= t} = E[1{f(Z) >= t} / f(Z)].
"""

import numpy as np

from .base import Density
from .mixture import GaussianMixture
from .moons import TwoMoons
from .ring import Ring
from .student import StudentT
from .uniform import UniformBox

__all__ = [
    "DENSITIES",
    "FIG1",
    "FIG2",
    "HEAVY_TAIL",
    "MOONS",
    "RING",
    "SQUARE",
    "Density",
    "GaussianMixture",
    "Ring",
    "StudentT",
    "TwoMoons",
    "UniformBox",
]

FIG1 = GaussianMixture([0.5, 0.5], [[4, 1], [4, -1]], [np.eye(2) / 2] * 2)
"""Figure 1 of the paper: two equal components that overlap."""

FIG2 = GaussianMixture([0.2, 0.8], [[5, 0], [-5, 0]], [np.diag([1, 9]), np.diag([9, 1])])
"""Figure 2 and Table 1 of the paper: two elongated components, at right angles."""

RING = Ring(radius=3.0, width=0.5)
"""A ring: the middle of the data is empty."""

MOONS = TwoMoons(radius=2.0, width=0.3)
"""Two moons: the tip of each is three widths from the other's arc."""

HEAVY_TAIL = StudentT(3.0, [0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
"""A heavy tail: one point in two hundred is more than ten units of scale away."""

SQUARE = UniformBox([-2.0, -2.0], [2.0, 2.0])
"""A uniform square: no point inside is more nominal than another."""

DENSITIES = {
    "Fig. 1: two discs": FIG1,
    "Fig. 2: two ellipses": FIG2,
    "ring": RING,
    "two moons": MOONS,
    "heavy tail": HEAVY_TAIL,
    "uniform square": SQUARE,
}
"""The densities above, by the name that a menu shows."""
