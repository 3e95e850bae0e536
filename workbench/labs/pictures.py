"""Two pictures and a table of an experiment: pure functions from outcomes to traces and HTML."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from .. import bounds
from .false_alarms import exact_interval
from .promises import PROMISES, held_out_limits

LOWEST = 1e-3
EDGES = np.logspace(np.log10(LOWEST), 0, 61)
"""Edges of the histogram's bins, each 12% wide; the first bin takes in all rates below."""

TICKS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1]

UNLABELLED = (0.03, 0.07, 0.15, 0.3)
"""Levels whose labels would run into their neighbours'."""

REALISED, LAW, LEVEL = "#0072B2", "#000000", "#666666"
STYLES = {
    "clopper_pearson": ("#E69F00", "solid"),
    "simes": ("#009E73", "dash"),
    "ell": ("#D55E00", "solid"),
    "dkw": ("#CC79A7", "dashdot"),
    "pac_bayes": ("#E69F00", "solid"),
    "compression": ("#009E73", "dash"),
    "theorem3": ("#D55E00", "dashdot"),
}
"""Colour, from Okabe and Ito's palette, and dash of each promise."""


@dataclass(frozen=True)
class Outcome:
    """What is known of an experiment so far, at every level of a ladder.

    Attributes
    ----------
    alphas : array of shape (A,)
    m : int array of shape (A,)
        Order statistic at each level, 0 where no score alarms,
    points : int
        of that many scores.
    rates : array of shape (R, A)
        Realised false-alarm rates of the R repetitions that are there,
    wanted : int
        of that many.
    delta : float
        Probability with which each promise may be broken.
    limits : dict from name to array of shape (A,)
        What is promised of the first repetition; for held-out scores, of each.
    broken : dict from name to (int, int)
        How many repetitions broke their promise at the chosen level, of how many.
    """

    alphas: np.ndarray
    m: np.ndarray
    points: int
    rates: np.ndarray
    wanted: int
    delta: float
    limits: dict = field(default_factory=dict)
    broken: dict = field(default_factory=dict)


def figure(outcome, alpha, width=860, height=415):
    """Return both pictures as a plotly figure; parameters as for :func:`traces`."""
    titles = ("histogram at the chosen \u03b1", "every level \u03b1: mean, 5% to 95%")
    fig = make_subplots(cols=2, subplot_titles=titles, horizontal_spacing=0.1, column_widths=[0.56, 0.44])
    for column, trace in traces(outcome, alpha):
        fig.add_trace(go.Scatter(**trace), row=1, col=column)
    ticks = {"tickvals": TICKS, "ticktext": [f"{tick:g}" for tick in TICKS]}
    log = {"type": "log", "fixedrange": True, "minor": {"ticks": ""}} | ticks
    title = {"text": "realised rate (logarithmic; first bar: 0.001 and below)", "standoff": 4}
    fig.update_xaxes(title=title, range=[np.log10(LOWEST), 1.05], **log, row=1, col=1)
    fig.update_yaxes(title={"text": "share of repetitions", "standoff": 4}, fixedrange=True, row=1, col=1)
    ladder = {
        "tickvals": outcome.alphas,
        "ticktext": ["" if a in UNLABELLED else f"{a:g}" for a in outcome.alphas],
    }
    title = {"text": "level \u03b1 asked for (logarithmic)", "standoff": 4}
    fig.update_xaxes(title=title, range=[-2.08, -0.22], **(log | ladder), tickangle=0, row=1, col=2)
    title = {"text": "realised rate (logarithmic)", "standoff": 2}
    fig.update_yaxes(title=title, range=[np.log10(LOWEST), 0.05], **log, row=1, col=2)
    fig.update_annotations(font={"size": 13})
    fig.update_layout(
        template="plotly_white",
        width=width,
        height=height,
        margin={"l": 50, "r": 10, "t": 30, "b": 110, "autoexpand": False},
        font={"size": 11},
        hovermode="closest",
        legend={"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0.5, "xanchor": "center"},
    )
    return fig.update_layout(layout(outcome, alpha))


def layout(outcome, alpha):
    """Return what of the layout depends on the outcome: the height of the left picture."""
    return {"yaxis": {"range": [0, _top(outcome, alpha)]}}


def traces(outcome, alpha):
    """(column, keyword arguments of ``go.Scatter``) of every trace: always as many, in the same order.

    Parameters
    ----------
    outcome : Outcome
    alpha : float
        One of its levels.
    """
    share, law, top = _shares(outcome, alpha), _law(outcome, alpha), _top(outcome, alpha)
    step = {"mode": "lines", "x": EDGES, "hoverinfo": "skip"}
    drawn = [
        (
            1,
            step
            | {
                "y": np.append(share, share[-1]),
                "name": "realised",
                "line": {"color": REALISED, "width": 1, "shape": "hv"},
                "fill": "tozeroy",
                "fillcolor": "rgba(0,114,178,0.45)",
                "showlegend": False,
            },
        ),
        (
            1,
            step
            | {
                "y": np.append(law, law[-1]),
                "name": "Beta law of held-out scores",
                "line": {"color": LAW, "width": 1.5, "shape": "hv"},
                "showlegend": False,
            },
        ),
    ]
    drawn += [(1, line) for line in _upright(outcome, alpha, top)]
    return drawn + [(2, line) for line in _against_alpha(outcome)]


def _upright(outcome, alpha, top):
    """Upright lines with labels to the right of their upper ends, the leftmost the highest: none overlap."""
    chosen = _index(outcome, alpha)
    places = {name: float(limit[chosen]) for name, limit in outcome.limits.items()}
    ranked = sorted(places, key=places.get)
    for place, name in enumerate(["alpha", *STYLES]):
        if name == "alpha":
            x, label, (colour, dash), rank = alpha, f"\u03b1 = {alpha:g}", (LEVEL, "dot"), 0
        else:
            x, (colour, dash) = places.get(name, np.nan), STYLES[name]
            label = PROMISES[name].label.split(",")[0]
            label, rank = f"{label} {x:.3f}", ranked.index(name) + 1 if name in places else place
        high = top * (0.96 - 0.085 * rank)
        yield {
            "x": np.array([x, x]),
            "y": np.array([0.0, high]),
            "text": ["", f" {label}"],
            "mode": "lines+text",
            "textposition": "middle right",
            "textfont": {"size": 11},
            "cliponaxis": False,
            "line": {"color": colour, "dash": dash, "width": 1.5},
            "name": f"{name} upright",
            "showlegend": False,
            "hoverinfo": "skip",
        }


def _against_alpha(outcome):
    alphas, rates = outcome.alphas, np.maximum(outcome.rates, LOWEST)
    nothing = np.full(len(alphas), np.nan)
    low = mean = high = nothing
    if len(rates):
        low, high = np.quantile(rates, [0.05, 0.95], axis=0)
        mean = rates.mean(axis=0)
    law = np.full((2, len(alphas)), np.nan)
    alarming = outcome.m > 0
    held_out = bounds.beta_law(outcome.m[alarming], outcome.points)
    law[:, alarming] = np.maximum([held_out.ppf(0.05), held_out.ppf(0.95)], LOWEST)

    def curve(y, name, colour, width=1.5, dash="solid", **more):
        line = {"color": colour, "width": width, "dash": dash}
        return {"x": alphas, "y": y, "name": name, "mode": "lines", "line": line} | more

    band = {"fill": "tonexty", "fillcolor": "rgba(0,114,178,0.25)", "showlegend": False, "hoverinfo": "skip"}
    yield curve(low, "5%", REALISED, 0, showlegend=False, hoverinfo="skip")
    yield curve(high, "95%", REALISED, 0) | band
    yield curve(mean, "realised", REALISED, 2.5, mode="lines+markers", hovertemplate="%{x}: %{y:.4f}")
    yield curve(alphas, "\u03b1", LEVEL, 1.5, "dot", hoverinfo="skip")
    yield curve(law[0], "Beta law of held-out scores", LAW, 1, hoverinfo="skip")
    yield curve(law[1], "Beta law, 95%", LAW, 1, showlegend=False, hoverinfo="skip")
    for name, (colour, dash) in STYLES.items():
        there = name in outcome.limits
        label = PROMISES[name].label
        yield curve(
            outcome.limits[name] if there else nothing,
            label,
            colour,
            dash=dash,
            showlegend=there,
            hovertemplate=f"{label}, %{{x}}: %{{y:.4f}}<extra></extra>",
        )


def words(outcome, alpha):
    """Say how many repetitions broke each promise, with the exact interval, as HTML.

    Parameters
    ----------
    outcome : Outcome
    alpha : float

    Returns
    -------
    str
    """
    chosen, there = _index(outcome, alpha), len(outcome.rates)
    if not there:
        return ""
    m, rates = int(outcome.m[chosen]), outcome.rates[:, chosen]
    if m == 0:
        return (
            f"No alarm is possible at \u03b1 = {alpha:g}: the smallest p-value of {outcome.points} held-out "
            f"scores is 1/{outcome.points + 1}. Take more points, or a larger \u03b1."
        )
    a, b = m, outcome.points + 1 - m
    sentence = (
        f"At \u03b1 = {alpha:g} the realised rate is <b>{rates.mean():.3f}</b> on average over {there} "
        f"repetitions; held-out scores would give {a / (a + b):.3f}, by Beta({a}, {b})."
    )
    rows = [_row(outcome, name, chosen) for name in outcome.limits]
    if rows and PROMISES[next(iter(outcome.limits))].calibration == "in-sample":
        rows.append(_mistaken_row(outcome, chosen))
    head = "".join(f"<th style='{CELL}'>{title}</th>" for title in HEAD)
    return f"<div style='line-height:1.5'>{sentence}</div><table><tr>{head}</tr>{''.join(rows)}</table>"


HEAD = (
    "promise",
    "false alarms at most",
    "broken in",
    "95% interval (exact)",
    "allowed \u03b4",
    "holds for",
)
CELL = "text-align:left;padding:0 12px 0 0;white-space:nowrap;line-height:1.5"


def _row(outcome, name, chosen):
    promise, limit = PROMISES[name], outcome.limits[name][chosen]
    says_nothing = limit >= (1 - outcome.delta) ** (1 / outcome.points)
    first = "" if promise.calibration == "split" else ", first sample"
    told = f"{limit:.3f}{' (vacuous)' if says_nothing else first}"
    holds = "all levels at once" if promise.simultaneous else "one level"
    return _cells(outcome, promise.label, told, outcome.broken.get(name, (0, 0)), holds, promise.assumes)


def _mistaken_row(outcome, chosen):
    """Return the row of what nobody promises: the limit for held-out scores, of scores trained on."""
    limit = float(held_out_limits(outcome.points, outcome.m[[chosen]], outcome.delta)["clopper_pearson"][0])
    broken = int((outcome.rates[:, chosen] > limit).sum()), len(outcome.rates)
    label, holds = "not a promise: Clopper-Pearson", "held-out scores only"
    return _cells(outcome, label, f"{limit:.3f}", broken, holds, PROMISES["clopper_pearson"].assumes)


def _cells(outcome, label, limit, broken, holds, assumes):
    """Return a row of the table, with the exact interval for the probability of a broken promise."""
    count, total = broken
    told = ["\u2026", ""]
    if total:
        low, high = exact_interval(count, total)
        told = [f"{count} of {total}", f"{low:.3f} to {high:.3f}"]
        if low > outcome.delta:
            told[1] = f"<b>{told[1]}: too often</b>"
    body = "".join(
        f"<td style='{CELL}'>{cell}</td>" for cell in (label, limit, *told, f"{outcome.delta:g}", holds)
    )
    return f"<tr title='Assumes {escape(assumes)}.'>{body}</tr>"


def _index(outcome, alpha):
    return int(np.flatnonzero(outcome.alphas == alpha)[0])


def _shares(outcome, alpha):
    """Share of all repetitions wanted in each bin: the histogram grows to its full height."""
    rates = np.clip(outcome.rates[:, _index(outcome, alpha)], LOWEST, 1)
    return np.histogram(rates, EDGES)[0] / max(outcome.wanted, 1)


def _law(outcome, alpha):
    """Probability of each bin under the law that held-out scores must follow."""
    m = int(outcome.m[_index(outcome, alpha)])
    if m == 0:
        return np.zeros(len(EDGES) - 1)
    return np.diff(bounds.beta_law(m, outcome.points).cdf(np.concatenate([[0.0], EDGES[1:]])))


def _top(outcome, alpha):
    """Height of the left picture: twice the law's peak, doubled until it holds the histogram too."""
    top = 2.2 * max(_law(outcome, alpha).max(), 0.02)
    while _shares(outcome, alpha).max() > 0.6 * top:
        top *= 2
    return float(top)
