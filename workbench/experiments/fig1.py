"""Figure 1: level curves learned from two levels against three, and how far each is from the true one."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..densities import FIG1
from ..detector import RankAD
from ..levelsets import Grid, TrueSets, contour_lines
from .comparison import half_width
from .tables import pipes

VERSION = 1

N_TRAIN = 1000
SIGMA = 1.5
ALPHAS = (0.03, 0.1, 0.3, 0.5, 0.8)
QUANTISATIONS = {"m = 2, edge at 3%": {"edges": (0.03,)}, "m = 3, uniform": {"m": 3}}
PRICES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
RUNS = 20


def cells(quick, runs=None):
    """List the cells: a quantisation, with and without the anchor, a price C and a seed each."""
    prices = PRICES[::3] if quick else PRICES
    return [
        {"levels": levels, "anchor": anchor, "C": C, "seed": seed}
        for seed in range(runs or (2 if quick else RUNS))
        for levels in QUANTISATIONS
        for anchor in (False, True)
        for C in prices
    ]


def run(levels, anchor, C, seed):
    """Return, for each alpha, the mass on which the learned and the true set of mass 1 - alpha differ.

    The learned set is ``{g >= t}`` with t such that it has exactly that mass: what is measured is the shape of
    the level curves, whatever the calibration.
    """
    truth = _truth()
    field = truth.grid.evaluate(fit(levels, anchor, C, seed).score_samples)
    return {
        f"differs at {alpha:g}": truth.distance(
            alpha, field - matched(field, truth, alpha)
        ).symmetric_difference_mass
        for alpha in ALPHAS
    }


def fit(levels, anchor, C, seed):
    """Train the detector of a cell."""
    X = FIG1.sample(N_TRAIN, random_state=seed)
    detector = RankAD(sigma=SIGMA, C=C, anchor=anchor, random_state=seed, **QUANTISATIONS[levels])
    return detector.fit(X)


def matched(field, truth, alpha):
    """Return the threshold that leaves probability alpha below it."""
    order = np.argsort(field, axis=None)
    mass = truth.mass.ravel()[order]
    below = np.cumsum(mass) / mass.sum()
    return float(field.ravel()[order][np.searchsorted(below, alpha)])


def report(records):
    """Write the differing mass at each alpha by price, for two levels and three."""
    lines = [
        f"Fig. 1's density, n = {N_TRAIN}, σ = {SIGMA}: probability of the points on which the learned set of mass "
        "1 − α and the true one disagree, in units of α (mean over the runs ± half of its 95% interval). The "
        "thresholds are set so that the masses are right: only shapes are compared.",
        "",
    ]
    for anchor, part in records.groupby("anchor"):
        lines += [f"### {'With the anchor' if anchor else 'As printed, without the anchor'}", ""]
        rows = {}
        for (levels, C), runs in part.groupby(["levels", "C"], sort=False):
            rows[f"{levels}, C = {C:g}"] = {
                f"α = {alpha:g}": _cell(runs[f"differs at {alpha:g}"].to_numpy() / alpha) for alpha in ALPHAS
            }
        lines += [pipes(pd.DataFrame.from_dict(rows, orient="index")), ""]
    return "\n".join([*lines, *_finding(records)])


def _finding(records):
    """Say where three levels are closer than two, from paired runs."""
    lines = []
    two, three = QUANTISATIONS
    for (anchor, C), part in records.groupby(["anchor", "C"]):
        words = []
        for alpha in ALPHAS:
            runs = part.pivot_table(index="seed", columns="levels", values=f"differs at {alpha:g}") / alpha
            gain = (runs[two] - runs[three]).to_numpy()
            half = half_width(gain)
            if not np.isnan(half) and abs(gain.mean()) > half:
                words.append(f"α = {alpha:g} {gain.mean():+.3f} ± {half:.3f}")
        what = "; ".join(words) or "nowhere"
        lines.append(
            f"- C = {C:g}, {'anchored' if anchor else 'as printed'}: two levels differ from the truth by more (+) or "
            f"less (−) than three at {what}."
        )
    return lines


def figures(records):
    """The figure itself at the price where print's contrast is clearest, and at the default price."""
    from .. import plots

    drawn = {}
    for C in (1 / N_TRAIN, 1000.0):
        truth = _truth()
        panels = []
        for levels in QUANTISATIONS:
            detector = fit(levels, False, C, 0)
            field = truth.grid.evaluate(detector.score_samples)
            curves = {
                alpha: contour_lines(truth.grid, field, matched(field, truth, alpha)) for alpha in ALPHAS
            }
            panels.append((levels, detector.support_vectors_, curves))
        true_curves = {alpha: truth.boundary(alpha) for alpha in ALPHAS}
        drawn[f"fig1-C{C:g}"] = plots.curves_beside_truth(panels, true_curves, (1.5, 6.5), (-3.5, 3.5))
    return drawn


def _truth():
    return TrueSets(FIG1, Grid.covering(FIG1, 160))
