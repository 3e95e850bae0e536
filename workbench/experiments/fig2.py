"""Figure 2: level curves of the estimated rank on the Gaussian toy, next to the true level sets."""

from __future__ import annotations

import pandas as pd

from ..densities import FIG2
from ..detector import RankAD
from ..levelsets import Grid, TrueSets, contour_lines
from ..selection import RankADCV
from .comparison import half_width
from .fig1 import matched
from .tables import pipes

VERSION = 1

N_TRAIN = 600
ALPHAS = (0.05, 0.2, 0.5, 0.8)
FACTORIES = {
    "RankAD": RankAD,
    "RankAD, no anchor": lambda **parameters: RankAD(anchor=False, **parameters),
    "RankAD, sigma = D_K": lambda **parameters: RankAD(sigma="D_K", **parameters),
    "RankAD as printed": lambda **parameters: RankADCV(anchor=False, criterion="disagreement", **parameters),
}
RUNS = {"RankAD as printed": 5}
DEFAULT_RUNS = 20


def cells(quick, runs=None):
    """List the cells: a system and a seed each; quick leaves out the cross-validated one."""
    return [
        {"system": system, "seed": seed}
        for system in FACTORIES
        if not (quick and system in RUNS)
        for seed in range(runs or (2 if quick else RUNS.get(system, DEFAULT_RUNS)))
    ]


def run(system, seed):
    """Return, for each alpha, the mass on which the learned and the true set of mass 1 - alpha differ."""
    truth = _truth()
    field = truth.grid.evaluate(fit(system, seed).score_samples)
    return {
        f"differs at {alpha:g}": truth.distance(
            alpha, field - matched(field, truth, alpha)
        ).symmetric_difference_mass
        for alpha in ALPHAS
    }


def fit(system, seed):
    """Train the detector of a cell."""
    return FACTORIES[system](random_state=seed).fit(FIG2.sample(N_TRAIN, random_state=seed))


def report(records):
    """Write the differing mass at each alpha by system."""
    rows = {}
    for system, part in records.groupby("system", sort=False):
        rows[system] = {}
        for alpha in ALPHAS:
            share = part[f"differs at {alpha:g}"].to_numpy() / alpha
            rows[system][f"α = {alpha:g}"] = f"{share.mean():.3f} ± {half_width(share):.3f}"
    return "\n".join(
        [
            f"Fig. 2's density, n = {N_TRAIN}: probability of the points on which the learned set of mass 1 − α and "
            "the true one disagree, in units of α (mean over the runs ± half of its 95% interval). 2 would be no overlap of what is "
            "left out.",
            "",
            pipes(pd.DataFrame.from_dict(rows, orient="index")),
        ]
    )


def figures(records):
    """The figure: curves of the first run beside the true ones."""
    from .. import plots

    truth = _truth()
    panels = []
    for system in ("RankAD as printed", "RankAD"):
        detector = fit(system, 0)
        field = truth.grid.evaluate(detector.score_samples)
        curves = {alpha: contour_lines(truth.grid, field, matched(field, truth, alpha)) for alpha in ALPHAS}
        panels.append((system, detector.support_vectors_, curves))
    true_curves = {alpha: truth.boundary(alpha) for alpha in ALPHAS}
    return {"fig2": plots.curves_beside_truth(panels, true_curves, (-15, 10), (-11, 11))}


def _truth():
    return TrueSets(FIG2, Grid.covering(FIG2, 200))
