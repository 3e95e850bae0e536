"""From fits to the arrays and sentences that are shown: pure functions, without a widget."""

from __future__ import annotations

from html import escape

import numpy as np

from .. import plots
from ..levelsets import contour_lines, filled_region
from .fitting import FIRST_TOL
from .measures import ALPHAS, LADDER, LIMIT_ALPHAS, at_level

SHOWN = 300
"""Fresh points drawn one by one: more would slow every picture down."""


def panel(fit, settings):
    """Level curves, regions and points of one side.

    Parameters
    ----------
    fit : Fit
    settings : Settings
        Of which only alpha, colour and show_support matter.

    Returns
    -------
    workbench.plots.Panel
    """
    detector, sample, grid = fit.detector, fit.sample, fit.sample.grid
    trained = detector.train_index_
    g = detector.solution_.scores
    p = fit.p_value(g)
    details = {"level": detector.levels_, "rank": detector.ranks_, "g": g, "p": p}
    if sample.truth is not None:
        details["true p"] = sample.truth.density.p_value(sample.X[trained])
    cut = _cut(fit, settings.alpha)
    return plots.Panel(
        title=fit.title,
        points=sample.X[trained],
        levels=detector.levels_,
        ladder=[(a, contour_lines(grid, fit.values, _cut(fit, a))) for a in LADDER],
        region=filled_region(grid, fit.values, cut),
        chosen=contour_lines(grid, fit.values, cut),
        truth=sample.truth.boundary(settings.alpha) if sample.truth is not None else [],
        details=details,
        p=p if settings.colour == "p-value" else None,
        held_out=np.delete(sample.X, trained, axis=0),
        support=np.flatnonzero(detector.beta_) if settings.show_support else None,
    )


def board(points):
    """Return a panel with points that are too few to learn from."""
    points = np.reshape(points, (-1, 2))
    return plots.Panel(
        title="click to add points",
        points=points,
        levels=np.ones(len(points), dtype=int),
        ladder=[(a, []) for a in LADDER],
        region=[],
        chosen=[],
        truth=[],
    )


def no_checks(name):
    """Return plots with nothing in them."""
    nothing = np.empty(0)
    return plots.Checks(name, *[nothing] * 10, np.nan, np.nan)


def checks(fit, measures, alpha):
    """Return what the plots below the level curves show of one side.

    Parameters
    ----------
    fit : Fit
    measures : Measures
    alpha : float

    Returns
    -------
    workbench.plots.Checks
    """
    rates = measures.false_alarms
    return plots.Checks(
        name=fit.title,
        alphas=ALPHAS[: len(rates)],
        false_alarms=rates,
        limit_alphas=LIMIT_ALPHAS,
        limits=measures.limits,
        p=measures.p,
        learned_p=measures.p[:SHOWN] if len(measures.true_p) else measures.true_p,
        true_p=measures.true_p[:SHOWN],
        ladder=np.array(LADDER[: len(measures.distances)]),
        symmetric_difference=np.array([d.symmetric_difference_mass for d in measures.distances]),
        volume_ratio=np.array([d.volume_ratio for d in measures.distances]),
        alpha=alpha,
        false_alarm_rate=float(np.interp(alpha, ALPHAS, rates)) if len(rates) else np.nan,
    )


def summary(fit, measures, alpha):
    """Certificate, and what the region at alpha really does, as four lines of HTML."""
    solution, detector = fit.detector.solution_, fit.detector
    missed = "" if solution.converged else " (tolerance missed)"
    lines = [
        f"{solution.n_pairs:,} pairs, {solution.solver}, relative gap {solution.gap:.0e}{missed}, "
        f"{len(detector.support_)} support vectors"
    ]
    known = at_level(fit, alpha)
    rate, difference = known["false_alarm_rate"], known["symmetric_difference_mass"]
    if np.isfinite(difference):
        lines += [
            f"<b>true false-alarm rate {rate:.3f}</b> at &alpha; = {alpha:.2f}",
            f"off the true set: mass {difference:.3f}, volume &times; {known['volume_ratio']:.2f}",
            f"Kendall &tau; with the truth: p {measures.tau:.2f}, ranks {measures.rank_tau:.2f}",
        ]
    elif np.isfinite(rate):
        lines.append(
            f"<b>alarms on {rate:.3f}</b> of {len(measures.p)} held-out points at &alpha; = {alpha:.2f}"
        )
        lines.append("no density is known here")
    else:
        lines += [f"learned set at &alpha; = {alpha:.2f}", "no density is known here"]
    return f'<div style="line-height: 1.4">{"<br>".join(lines)}</div>'


def status(fits):
    """Say which answer is shown: a first one, or the exact one."""
    gap = max(fit.detector.solution_.gap for fit in fits)
    seconds = sum(fit.detector.solution_.seconds for fit in fits)
    kind = "exact" if is_exact(fits) else "first answer"
    return f"{kind}: relative gap {gap:.0e}, solved in {seconds:.2f} s"


def is_exact(fits):
    """Whether these are answers that stay."""
    return max(fit.detector.tol for fit in fits) < FIRST_TOL


def neighbours(X, point, k):
    """Lines from the sample point nearest to `point` to its k nearest neighbours in the sample."""
    centre = X[np.argmin(((X - point) ** 2).sum(axis=1))]
    nearest = np.argsort(((X - centre) ** 2).sum(axis=1), kind="stable")[1 : k + 1]
    return [np.array([centre, X[i]]) for i in nearest]


def reasons(explanation, labels):
    """Say of one point what its p-value is, and which axis makes it so, as two lines of HTML.

    Parameters
    ----------
    explanation : workbench.explanations.Explanation
        Of one point.
    labels : (str, str)
        Names of the axes.
    """
    (point,) = explanation.points.itertuples()
    added = explanation.contributions.to_numpy()[0]
    here = f"<b>p = {point.p_value:.3f}</b>, g = {point.score:.2f}"
    if not added.any():
        return f"{here}: a training point of the densest level, one of those that others are compared with."
    parts = ", ".join(f"{escape(label)} {value:+.2f}" for label, value in zip(labels, added, strict=True))
    reference = f"p = {point.reference_p_value:.3f}, g = {point.reference_score:.2f}"
    return (
        f"{here}. The nearest training point of the densest level has {reference}. On the way from there, "
        f"what each axis adds to g: {parts}."
    )


def _cut(fit, alpha):
    """Return the threshold, or one below every score where split calibration allows no alarm."""
    cut = fit.threshold(alpha)
    return cut if np.isfinite(cut) else float(fit.values.min()) - 1.0
