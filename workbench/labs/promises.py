"""What bounds promise of the thresholds of one repetition, and what each takes for granted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .. import bounds
from .design import LEVELS, true_sets

HELD_OUT = "scores of points that g was not trained on"
KERNEL = "kernel fixed beforehand (it is: \u03c3 comes from another sample)"
COVER = KERNEL + "; points in a ball of all but 10\u207b\u2076 of the mass"


@dataclass(frozen=True)
class Promise:
    """An upper limit for the false-alarm rate, broken with probability delta at most.

    Attributes
    ----------
    label : str
    calibration : str
        Which thresholds it is about.
    simultaneous : bool
        Whether it holds at all levels at once.
    assumes : str
    """

    label: str
    calibration: str
    simultaneous: bool
    assumes: str


PROMISES = {
    "clopper_pearson": Promise("Clopper-Pearson", "split", False, HELD_OUT),
    "simes": Promise("Simes", "split", True, HELD_OUT),
    "ell": Promise("ELL", "split", True, HELD_OUT),
    "dkw": Promise("DKW", "split", True, HELD_OUT),
    "pac_bayes": Promise("PAC-Bayes", "in-sample", True, KERNEL),
    "compression": Promise("compression", "in-sample", True, KERNEL + ", and C and the anchor"),
    "theorem3": Promise("Theorem 3, corrected", "in-sample", True, COVER),
}
"""Bounds of :mod:`workbench.bounds` on the rule ``g < g^(m)``, by name."""

RADII = (0.5, 0.25, 0.125, 0.0625)
"""Margins that the corrected Theorem 3 chooses from; it pays for four."""

TAIL = 1e-6
WIDEST = 10.0
"""Radius of the ball in units of sigma beyond which a cover says nothing at such n, and costs seconds."""


def names_for(calibration):
    """Names of the promises that thresholds of this kind are made."""
    return [name for name, promise in PROMISES.items() if promise.calibration == calibration]


def held_out_limits(n, m, delta):
    """Limits of the false-alarm rate of ``{s < s^(m)}``, had s been held out.

    Parameters
    ----------
    n : int
    m : int array of shape (q,)
        0 where no score alarms; the limit is then 0.
    delta : float

    Returns
    -------
    dict from name to array of shape (q,)
    """
    # Beyond 1 there is nothing to promise.
    return {
        name: np.minimum(np.concatenate([[0.0], bounds.upper_limits(n, delta, name)])[m], 1)
        for name in names_for("split")
    }


def trained_limits(design, repetition, m, delta):
    """Limits of the false-alarm rate of ``{g < g^(m)}``, g trained on the very points.

    Parameters
    ----------
    design : Design
        With in-sample thresholds.
    repetition : Repetition
    m : int array of shape (q,)
        From 1.
    delta : float

    Returns
    -------
    dict from name to array of shape (q,); 1 where nothing can be promised
    """
    scores, norm = repetition.scores, repetition.norm
    limits = {
        "pac_bayes": bounds.pac_bayes(scores, m, norm, delta),
        "compression": bounds.sample_compression(m, len(scores), repetition.support, delta, levels=LEVELS),
        "theorem3": _theorem3(design, scores, m, norm, delta),
    }
    return {name: np.minimum(limit, 1) for name, limit in limits.items()}


def _theorem3(design, scores, m, norm, delta):
    """Limit from covers of a ball that misses TAIL of the mass.

    All n points are in it but with probability n TAIL, which delta pays for; then the theorem holds for the
    law of a point in the ball, and a point outside alarms at worst.
    """
    log_covering = covers(design.density, design.sigma)
    inside = delta - len(scores) * TAIL
    if log_covering is None or inside <= 0:
        return np.ones(len(m))
    return bounds.theorem3_rule(scores, m, norm, RADII, log_covering, inside) + TAIL


@lru_cache(maxsize=256)
def covers(density, sigma):
    """Log covering numbers at RADII of the ball around a density of the menu, or None if it is too wide."""
    lower, upper = true_sets(density).density.bounds(tail=TAIL)
    radius = float(np.linalg.norm(upper - lower) / 2)
    if radius > WIDEST * sigma:
        return None
    return tuple(
        bounds.log_covering(rho, d=2, radius=radius, sigma=sigma, method="information") for rho in RADII
    )
