"""Figure 1: level curves learned from two levels against three, and how far each is from the true one."""

from __future__ import annotations

from ..densities import FIG1
from ..detector import RankAD
from ..levelsets import Grid, TrueSets
from .comparison import half_width
from .shapes import column, curves, difference_table, differences
from .tables import pipes

VERSION = 1

N_TRAIN = 1000
SIGMA = 1.5
ALPHAS = (0.03, 0.1, 0.3, 0.5, 0.8)
QUANTISATIONS = {"m = 2, edge at 3%": {"edges": (0.03,)}, "m = 3, uniform": {"m": 3}}
PRICES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
RUNS = 20


def cells(quick, runs=None):
    """List the cells: a quantisation, with and without the anchor, a price C and a seed each.

    Parameters
    ----------
    quick : bool
        Two runs at every third price, instead of twenty at all.
    runs : int, optional
        Instead of these numbers.
    """
    return [
        {"levels": levels, "anchor": anchor, "C": C, "seed": seed}
        for seed in range(runs or (2 if quick else RUNS))
        for levels in QUANTISATIONS
        for anchor in (False, True)
        for C in (PRICES[::3] if quick else PRICES)
    ]


def run(levels, anchor, C, seed):
    """Measure how far the learned level curves are from the true ones."""
    truth = _truth()
    return differences(truth, truth.grid.evaluate(_fit(levels, anchor, C, seed).score_samples), ALPHAS)


def report(records):
    """Write the differing mass at each alpha by price, for two levels and three."""
    lines = [
        f"Fig. 1's density, n = {N_TRAIN}, σ = {SIGMA}: probability on which the learned set of mass 1 − "
        "α and the "
        "true one differ, in units of α (mean over the runs ± half of its 95% interval; 2 where nothing "
        "of what they "
        "leave out is common). Thresholds are set so that the masses are right: only shapes are compared.",
        "",
    ]
    for anchor, part in records.groupby("anchor"):
        lines += [f"## {'With the anchor' if anchor else 'As printed, without the anchor'}", ""]
        part = part.assign(price=part["C"].map("C = {:g}".format))
        lines += [pipes(difference_table(part, ["levels", "price"], ALPHAS)), ""]
        lines += [*_findings(part), ""]
    return "\n".join(lines)


def figures(records):
    """Draw the figure at a small price, where curves are those of a density estimate, and at a large one."""
    from .. import plots

    truth = _truth()
    true_curves = {alpha: truth.boundary(alpha) for alpha in ALPHAS}
    drawn = {}
    for C in (PRICES[0], PRICES[-1]):
        panels = [(levels, *curves(truth, _fit(levels, False, C, 0), ALPHAS)) for levels in QUANTISATIONS]
        drawn[f"fig1-C{C:g}"] = plots.curves_beside_truth(panels, true_curves, (1.5, 6.5), (-3.5, 3.5))
    return drawn


def _findings(records):
    """Say where two levels and three differ, from paired runs."""
    two, three = QUANTISATIONS
    for C, part in records.groupby("C"):
        found = []
        for alpha in ALPHAS:
            runs = part.pivot_table(index="seed", columns="levels", values=column(alpha)) / alpha
            excess = (runs[two] - runs[three]).to_numpy()
            half = half_width(excess)
            if abs(excess.mean()) > half:
                found.append(f"{excess.mean():+.3f} ± {half:.3f} at α = {alpha:g}")
        what = "; ".join(found) or "no difference beyond the interval"
        yield f"- C = {C:g}: two levels less three levels: {what}."


def _fit(levels, anchor, C, seed):
    X = FIG1.sample(N_TRAIN, random_state=seed)
    detector = RankAD(sigma=SIGMA, C=C, anchor=anchor, random_state=seed, **QUANTISATIONS[levels])
    return detector.fit(X)


def _truth():
    return TrueSets(FIG1, Grid.covering(FIG1, 160))
