"""Lesson 8: what sigma and C can be chosen by where there is no anomaly to test them on."""

from __future__ import annotations

from functools import cache

import numpy as np
from plotly.subplots import make_subplots

from ..criteria import synthetic_anomalies
from ..kernels import kernel_sum_on_grid, rbf
from ..plots.curves import COLOURS
from ..preferences import disagreement
from .exercises import Exercise
from .judges import choice, number
from .rules import DENSITY, DETECTORS, FACTORS, HALF_SIDE, PRICES, study
from .scenes import Scene, slider
from .scenes import choice as menu

SIX = {"level": [1, 1, 2, 2, 3, 3], "score": [0.2, 0.6, 0.6, 0.9, 0.7, 1.0]}
"""The held-out points of exercise 8.1."""

ALPHA = 0.05
GRID = np.linspace(-HALF_SIDE, HALF_SIDE, 91)
BANDS = (0.0, ALPHA, 0.2, 0.5, 1.0)
LINES = {
    "disagreement": ("1 − disagreement", COLOURS[1], "dash", "square"),
    "synthetic anomalies": ("AUC, synthetic", COLOURS[0], "dot", "star"),
    "mass-volume": ("1 − mass-volume", COLOURS[2], "dashdot", "diamond"),
}
"""Name, colour, dashes and symbol of the rules that the scene draws."""

TITLES = ["orange: alarm at α = 5%; blue: accepted", "what each rule says, and the truth"]


def four_kinds():
    """Draw synthetic anomalies of each kind beside the sample they were made from."""
    X = study(DETECTORS[0]).X
    made = synthetic_anomalies(X, 200, random_state=0)
    figure = make_subplots(cols=4, subplot_titles=list(made), shared_yaxes=True, horizontal_spacing=0.02)
    for column, points in enumerate(made.values(), start=1):
        for name, some, colour, symbol in (
            ("synthetic", points, COLOURS[1], "x"),
            ("nominal", X, "#000000", "circle"),
        ):
            figure.add_scatter(
                x=some[:, 0], y=some[:, 1], mode="markers", name=name, showlegend=column == 1,
                marker={"size": 4, "color": colour, "symbol": symbol}, hoverinfo="skip", row=1, col=column,
            )  # fmt: skip
    figure.update_xaxes(range=[-HALF_SIDE, HALF_SIDE])
    figure.update_yaxes(range=[-HALF_SIDE, HALF_SIDE])
    legend = {"orientation": "h", "y": -0.12, "itemsizing": "constant"}
    return figure.update_layout(
        template="plotly_white",
        width=860,
        height=310,
        margin={"t": 40, "b": 60, "l": 30, "r": 10},
        legend=legend,
    )


def bandwidths():
    """Return the scene of the lesson: level curves beside what the rules say of every bandwidth."""
    for detector in DETECTORS:
        study(detector)
    return Scene(
        _draw,
        sigma=slider("σ / D_K", FACTORS, 1.0),
        C=slider("C, price of slack", PRICES, 10.0),
        detector=menu("detector", DETECTORS),
    )


@cache
def _truth():
    """Heights of the density, its level at ALPHA, and the share of the square that the true set takes."""
    x, y = np.meshgrid(GRID, GRID)
    f = DENSITY.pdf(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
    return f, DENSITY.level(ALPHA), DENSITY.volume(ALPHA) / (2 * HALF_SIDE) ** 2


def _draw(sigma, C, detector):
    found = study(detector)
    i, j = FACTORS.index(sigma), PRICES.index(C)
    width, beta = sigma * found.D_K, found.betas[i, j]
    ordered = np.sort(rbf(found.X, found.X, width) @ beta)
    p = np.searchsorted(ordered, kernel_sum_on_grid(GRID, GRID, found.X, beta, width), side="right") / len(
        ordered
    )
    f, level, smallest = _truth()
    figure = make_subplots(cols=2, column_widths=[0.46, 0.54], horizontal_spacing=0.09, subplot_titles=TITLES)
    figure.add_contour(
        x=GRID, y=GRID, z=np.interp(p, BANDS, range(len(BANDS))), contours={"start": 1, "end": 3, "size": 1},
        colorscale=["#F6D5C2", "#E3EEF6", "#B7D3E8", "#7FB0D3"], zmin=0.5, zmax=3.5, showscale=False,
        line={"color": "#5D8AA8", "width": 1}, hoverinfo="skip", row=1, col=1,
    )  # fmt: skip
    figure.add_contour(
        x=GRID, y=GRID, z=f, contours={"start": level, "end": level, "size": 1, "coloring": "none"},
        line={"color": "#000", "width": 2, "dash": "dash"}, name="true set, α = 5%", showlegend=True,
        showscale=False, hoverinfo="skip", row=1, col=1,
    )  # fmt: skip
    figure.add_scatter(
        x=found.X[:, 0], y=found.X[:, 1], mode="markers", marker={"size": 4, "color": "#000"}, name="sample",
        hoverinfo="skip", row=1, col=1,
    )  # fmt: skip
    figure.add_scatter(
        x=FACTORS, y=found.auc[:, j], mode="lines", line={"color": "#000", "width": 3}, name="AUC, the truth",
        row=1, col=2,
    )  # fmt: skip
    for rule, (name, colour, dash, symbol) in LINES.items():
        best, marked = found.chosen(rule, C)[0], [0] * len(FACTORS)
        marked[best] = 14
        figure.add_scatter(
            x=FACTORS, y=1 - found.rules[rule][:, j], mode="lines+markers", name=name,
            line={"color": colour, "dash": dash}, row=1, col=2,
            marker={"size": marked, "symbol": symbol, "opacity": 1, "line": {"color": "#fff", "width": 1}},
        )  # fmt: skip
    figure.add_scatter(
        x=[sigma, sigma], y=[0, 1], mode="lines", line={"color": "#888", "width": 1}, name="σ of the picture",
        showlegend=False, hoverinfo="skip", row=1, col=2,
    )  # fmt: skip
    figure.update_xaxes(range=[-HALF_SIDE, HALF_SIDE], title="x₁", row=1, col=1)
    figure.update_yaxes(range=[-HALF_SIDE, HALF_SIDE], title="x₂", row=1, col=1)
    figure.update_xaxes(type="log", dtick="D1", title="σ / D_K", row=1, col=2)
    figure.update_xaxes(tickvals=[0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32], row=1, col=2)
    figure.update_yaxes(range=[0, 1.02], title="large is good", row=1, col=2)
    figure.update_layout(
        template="plotly_white", width=860, height=500, margin={"t": 40, "b": 110, "l": 60, "r": 20},
        legend={"orientation": "h", "y": -0.17, "x": 0, "entrywidth": 0.32, "entrywidthmode": "fraction"},
    )  # fmt: skip
    choices = "; ".join(
        f"{FACTORS[found.chosen(rule, C)[0]]:g} by {rule} (regret {found.regret(rule, C):.3f})"
        for rule in LINES
    )
    words = (
        f"{detector.capitalize()}, C = {C:g}, σ = {sigma:g} D_K: AUC {found.auc[i, j]:.3f}, "
        f"{found.auc[:, j].max() - found.auc[i, j]:.3f} less than the best bandwidth has at this price. At "
        f"α = 5% {np.mean(p > ALPHA):.0%} of the square is accepted; the true set is {smallest:.0%} of it. "
        f"Chosen at this price, in units of D_K: {choices}."
    )
    return figure, words


def _auc(rule):
    """AUC at C = 10, as printed, of a rule's choice, or of the bandwidth at an index."""
    found, j = study(DETECTORS[0]), PRICES.index(10.0)
    return float(found.auc[rule if isinstance(rule, int) else found.chosen(rule, 10.0)[0], j])


def _lost(rule):
    return _auc("oracle") - _auc(rule)


EXERCISES = (
    Exercise(
        judge=number(
            lambda: disagreement(SIX["score"], SIX["level"]),
            0.002,
            [
                (
                    1 / 12,
                    "Nearly. Two points of different levels have the same score: such a pair counts half.",
                ),
                (2 / 12, "Nearly. A tie is neither right nor wrong, and counts half."),
                (
                    1.5 / 15,
                    "15 is the number of all pairs of six points. Those of one level are no preferences.",
                ),
                (1.5, "That is the number of wrong pairs. Disagreement is their share."),
                (1 - 1.5 / 12, "That is the share of pairs in the right order."),
            ],
        ),
        because="Of the 12 pairs, 0.7 below 0.9 is wrong and counts 1, and 0.6 beside 0.6 counts 1/2: "
        "1.5 / 12.",
        hint="Each point of level 2 makes a pair with each point of level 1, and each point of level 3 with "
        "the four below it. Which of these pairs have the lower score on the higher level? Is there a tie?",
        words="12 pairs, one in the wrong order, one tied. `workbench.preferences.disagreement` counts them.",
        code="from workbench.preferences import disagreement\n"
        'answer = disagreement(choosing.SIX["score"], choosing.SIX["level"])',
    ),
    Exercise(
        judge=number(
            lambda: _lost("disagreement"),
            0.0015,
            [
                (
                    lambda: -_lost("disagreement"),
                    "The sign is turned: regret is the best AUC less that of the choice, never negative.",
                ),
                (
                    lambda: _auc("oracle"),
                    "That is the largest AUC. How much of it is lost by the choice?",
                ),
                (
                    lambda: _auc("disagreement"),
                    "That is the AUC of the choice. How much better could it have been?",
                ),
                (
                    lambda: _lost("synthetic anomalies"),
                    "That is the regret of the rule with synthetic anomalies.",
                ),
                (
                    lambda: _lost(0),
                    "That is the row of the largest disagreement. It counts wrong pairs: small is good.",
                ),
            ],
        ),
        because="Disagreement is smallest at σ = 2 D_K, where the AUC is well below the best of its column.",
        hint="In which row is the disagreement smallest? What is the AUC there, and what is the largest AUC?",
        words="The largest AUC of the table, less the AUC of the row with the smallest disagreement.",
        code='answer = seen["AUC"].max() - seen["AUC"][seen["disagreement"].idxmin()]',
    ),
    Exercise(
        judge=choice(
            "b",
            {
                "a": "Disagreement is made of scores of held-out nominal points. Has any of them changed?",
                "c": "It is the other way round: who looks at nominal points only, and who at anomalies?",
                "d": "The anomalies out there now score above every nominal point.",
            },
        ),
        because="Disagreement asks nominal points only, so that it cannot know what g does elsewhere. "
        "Anomalies are elsewhere. A rule that is to notice must look at points that are not nominal, be they "
        "real or made up.",
        hint="At which points does each of the two numbers look at g?",
        words="Take any scores of nominal points, and let all anomalies score 1000.",
        code="from workbench.criteria import separation\n"
        'changed = separation(choosing.SIX["score"], [1000.0])\nanswer = "b" if changed == 0 else "d"',
    ),
)
