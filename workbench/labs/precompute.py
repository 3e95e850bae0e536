"""Large samples, worked out beforehand: ``python -m workbench.labs.precompute`` writes the file anew."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from ..calibration import CALIBRATIONS
from ..densities import DENSITIES
from .design import Design
from .false_alarms import ALPHAS, measure_one, orders
from .pictures import Outcome
from .promises import held_out_limits, names_for

PATH = Path(__file__).with_name("false_alarms.json")

SIZES = (1000, 2000, 5000)
SIGMAS = (1.0, 4.0)
REPETITIONS = {1000: 40, 2000: 24, 5000: 12}
K = 20
DELTA = 0.05
"""Of the promises made of trained scores, which take long; others are quick at any delta."""

SLOWEST = (5000, 1.0, "in-sample")
"""Left out: three quarters of a minute a fit."""

COVERED = tuple(DENSITIES)[:2]
"""The two densities of the paper."""

DIGITS = 5
"""Decimals of rates and limits in the file."""


@dataclass(frozen=True, eq=False)
class Cell:
    """What was worked out for one design.

    Attributes
    ----------
    density, n, k, sigma_over_DK, calibration
        Of the design.
    rates : array of shape (R, A)
        False-alarm rate of each repetition at each of ALPHAS.
    limits : dict from name to list of length A
        What was promised of the first repetition; empty for held-out scores.
    broken : dict from name to list of length A
        How many repetitions broke it.
    """

    density: str
    n: int
    k: int
    sigma_over_DK: float
    calibration: str
    rates: np.ndarray
    limits: dict
    broken: dict

    @property
    def design(self):
        """The design."""
        return Design(self.density, self.n, self.k, self.sigma_over_DK, calibration=self.calibration)

    def outcome(self, alpha, delta):
        """Return what is shown at one level; trained scores know only delta = DELTA."""
        design, chosen, total = self.design, ALPHAS.index(alpha), len(self.rates)
        m = orders(design, ALPHAS)
        if design.split:
            limits = held_out_limits(design.n_scores, m, delta)
            over = {
                name: int((self.rates[:, chosen] > limit[chosen]).sum()) for name, limit in limits.items()
            }
        else:
            delta = DELTA
            limits = {name: np.array(limit) for name, limit in self.limits.items()}
            over = {name: counts[chosen] for name, counts in self.broken.items()}
        broken = {name: (count, total) for name, count in over.items()}
        return Outcome(np.array(ALPHAS), m, design.n_scores, self.rates, total, delta, limits, broken)


def nearest(density, n, sigma_over_DK, calibration):
    """Return the cell of this density, n and calibration with the nearest bandwidth.

    Raises
    ------
    ValueError
        If there is none of this density.
    """
    cells = [c for c in load() if (c.density, c.n, c.calibration) == (density, n, calibration)]
    if not cells:
        raise ValueError(
            f"n = {n} is precomputed for {' and '.join(COVERED)} only, not for {density}: choose one of "
            "them, or n up to 600, which is worked out while you wait."
        )
    return min(cells, key=lambda cell: abs(np.log(cell.sigma_over_DK / sigma_over_DK)))


@cache
def load():
    """Read all cells of the file that ships with the package."""
    return [
        Cell(**entry | {"rates": np.array(entry["rates"]) / 10**DIGITS})
        for entry in json.loads(PATH.read_text())["cells"]
    ]


def work_out(density, n, sigma_over_DK, calibration, repetitions):
    """Repeat one design, and return its entry in the file."""
    design = Design(density, n, K, sigma_over_DK, calibration=calibration)
    measured = [measure_one(design, ALPHAS, DELTA, repetition, 0) for repetition in range(repetitions)]
    rates = np.array([each["false_alarm_rate"] for each in measured])
    entry = {"density": density, "n": n, "k": K, "sigma_over_DK": sigma_over_DK, "calibration": calibration}
    entry["rates"] = np.round(rates * 10**DIGITS).astype(int).tolist()
    names = names_for("in-sample") if not design.split else []
    entry["limits"] = {name: np.round(measured[0][name], DIGITS).tolist() for name in names}
    entry["broken"] = {
        name: [int(count) for count in sum(each["false_alarm_rate"] > each[name] for each in measured)]
        for name in names
    }
    return entry


def main():
    """Work out all cells on two cores, the slowest first, and write the file."""
    started = time.perf_counter()
    ladder = [cell for cell in product(reversed(SIZES), SIGMAS, CALIBRATIONS, COVERED) if cell[:3] != SLOWEST]
    entries = Parallel(n_jobs=2, verbose=5)(
        delayed(work_out)(density, n, sigma, calibration, REPETITIONS[n])
        for n, sigma, calibration, density in ladder
    )
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    PATH.write_text(f'{{"cells": [\n{lines}\n]}}\n', encoding="utf-8")
    sys.stdout.write(
        f"{PATH}: {PATH.stat().st_size / 1000:.0f} kB in {time.perf_counter() - started:.0f} s\n"
    )


if __name__ == "__main__":
    main()
