"""Figure 2: level curves of the estimated rank on the Gaussian toy, next to the true level sets."""

from __future__ import annotations

from functools import partial

from ..densities import FIG2
from ..detector import RankAD
from ..levelsets import Grid, TrueSets
from ..selection import RankADCV
from . import paper
from .shapes import curves, difference_table, differences
from .tables import pipes

VERSION = 1

N_TRAIN = 600
ALPHAS = (0.05, 0.2, 0.5, 0.8)
PRINTED = "RankAD as printed"
FACTORIES = {
    "RankAD": RankAD,
    "RankAD, no anchor": partial(RankAD, anchor=False),
    "RankAD, sigma = D_K": partial(RankAD, sigma="D_K"),
    PRINTED: partial(RankADCV, anchor=False, criterion="disagreement"),
}
RUNS = 20


def cells(quick, runs=None):
    """List the cells: a system and a seed each.

    Parameters
    ----------
    quick : bool
        Two runs, without the cross-validated detector, instead of twenty and five of that.
    runs : int, optional
        Instead of these numbers.
    """
    full = {system: paper.RUNS if system == PRINTED else RUNS for system in FACTORIES}
    planned = {system: 0 if system == PRINTED else 2 for system in FACTORIES} if quick else full
    return [
        {"system": system, "seed": seed}
        for system, number in planned.items()
        for seed in range(runs or number if number else 0)
    ]


def run(system, seed):
    """Measure how far the learned level curves are from the true ones."""
    truth = _truth()
    return differences(truth, truth.grid.evaluate(_fit(system, seed).score_samples), ALPHAS)


def report(records):
    """Write the differing mass at each alpha by system."""
    return "\n".join(
        [
            f"Fig. 2's density, n = {N_TRAIN}: probability on which the learned set of mass 1 − α and "
            "the true one "
            "differ, in units of α (mean over the runs ± half of its 95% interval; 2 where nothing of "
            "what they leave "
            "out is common). Thresholds are set so that the masses are right: only shapes are compared.",
            "",
            pipes(difference_table(records, ["system"], ALPHAS)),
        ]
    )


def figures(records):
    """Draw the figure: the first run's curves beside the true ones."""
    from .. import plots

    truth = _truth()
    systems = [system for system in (PRINTED, "RankAD") if system in set(records["system"])]
    panels = [(system, *curves(truth, _fit(system, 0), ALPHAS)) for system in systems]
    true_curves = {alpha: truth.boundary(alpha) for alpha in ALPHAS}
    return {"fig2": plots.curves_beside_truth(panels, true_curves, (-15, 10), (-11, 11))}


def _fit(system, seed):
    return FACTORIES[system](random_state=seed).fit(FIG2.sample(N_TRAIN, random_state=seed))


def _truth():
    return TrueSets(FIG2, Grid.covering(FIG2, 200))
