"""Lesson 10: claims of convergence, a ladder of sample sizes, and what a computation can refute."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from plotly.subplots import make_subplots

from .. import densities, theorems
from ..neighbors import knn_statistic, rank
from ..plots.curves import COLOURS, SYMBOLS
from ..theorems.ranks import FIXED, GROWING, POINTS, SHARE, rate
from ..theorems.statistics import mean_interval, slope_interval, verdict_of_decline
from .exercises import Exercise
from .judges import choice, number
from .scenes import Scene, slider
from .scenes import choice as menu

QUICK = {
    "theorem_1": {"ns": (125, 250, 500, 1000, 2000)},
    "theorem_1_printed": {"ns": (250, 500, 1000)},
    "lemma_1": {"ns": (125, 250, 500)},
    "theorem_2": {"ns": (50, 100, 200, 400)},
    "theorem_3_printed": {"ns": (3000,)},
    "theorem_3": {"ns": (3000,)},
    "beta_law_held_out": {"ns": (40,)},
    "beta_law_in_sample": {"ns": (40,)},
}
"""Sizes for the lesson where the claim's own take long; the verdicts are the same."""

RULES = (*FIXED, *GROWING)
DASHES = ("dot", "dashdot", "solid", "longdash")


def run_all(broken=False):
    """Run every claim, or the control of every claim, at the lesson's sizes.

    Parameters
    ----------
    broken : bool, default False
        Whether to run the controls.

    Returns
    -------
    dict from str to workbench.theorems.Result
    """
    return {
        name: claim.run(broken=broken, progress=True, **QUICK.get(name, {}))
        for name, claim in theorems.CLAIMS.items()
    }


@lru_cache(maxsize=64)
def cloud(rule, n):
    """Draw a sample of Fig. 1's density and compare ranks of fresh points with their p-values.

    Parameters
    ----------
    rule : str
        One of :data:`RULES`, for the number of neighbours K.
    n : int

    Returns
    -------
    p, R : arrays of shape (400,)
        The same points for every rule.
    """
    rng = np.random.default_rng([10, n])
    eta, X = densities.FIG1.sample(POINTS, rng), densities.FIG1.sample(n, rng)
    K = neighbours(rule, n)
    return densities.FIG1.p_value(eta), rank(knn_statistic(X, eta, k=K), knn_statistic(X, k=K))


def neighbours(rule, n):
    """Return the number of neighbours K that a rule of :data:`RULES` takes at sample size n."""
    return min(n - 1, FIXED[rule] if rule in FIXED else round(n ** GROWING[rule]))


def ladder(result):
    """Return the scene of the lesson: ranks beside p-values at one n, and their error over all n.

    Parameters
    ----------
    result : workbench.theorems.Result
        Of a run of ``CLAIMS["theorem_1"]``.
    """
    frame = result.frame
    sizes = sorted(frame["n"].unique().tolist())
    errors = frame.groupby(["rule", "n"])["rmse"].mean()
    halves = frame.groupby(["rule", "n"])["rmse"].agg(lambda part: mean_interval(part).high) - errors
    slopes = {rule: slope_interval(frame[frame["rule"] == rule], "rmse") for rule in RULES}

    def draw(rule, n):
        return _draw(rule, n, errors, halves, slopes[rule])

    return Scene(draw, rule=menu("neighbours", RULES), n=slider("n, sample size", sizes, sizes[0], "{:d}"))


def _draw(rule, n, errors, halves, slope):
    p, R = cloud(rule, n)
    d = densities.FIG1.d
    exponent = rate(GROWING[rule], d) if rule in GROWING else 0.0
    figure = make_subplots(
        cols=2, column_widths=[0.45, 0.55], horizontal_spacing=0.12,
        subplot_titles=[f"400 fresh points, n = {n}, K = {neighbours(rule, n)}", "error over the ladder"],
    )  # fmt: skip
    figure.add_scatter(
        x=p, y=R, mode="markers", marker={"color": COLOURS[0], "size": 4, "opacity": 0.6},
        hoverinfo="skip", showlegend=False, row=1, col=1,
    )  # fmt: skip
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"color": "#000", "width": 1}, hoverinfo="skip",
        showlegend=False, row=1, col=1,
    )  # fmt: skip
    for i, each in enumerate(RULES):
        sizes = errors[each].index.to_numpy()
        figure.add_scatter(
            x=sizes, y=errors[each].to_numpy(), error_y={"array": halves[each].to_numpy(), "thickness": 1},
            mode="lines+markers", name=each, marker={"color": COLOURS[i], "symbol": SYMBOLS[i], "size": 7},
            line={"color": COLOURS[i], "dash": DASHES[i], "width": 4 if each == rule else 1.5},
            hovertemplate="n = %{x}, error %{y:.3f}", row=1, col=2,
        )  # fmt: skip
    start = errors[rule].iloc[0]
    figure.add_scatter(
        x=sizes, y=start * (sizes / sizes[0]) ** exponent, mode="lines", line={"color": "#777", "width": 1},
        name="slope in theory", hoverinfo="skip", row=1, col=2,
    )  # fmt: skip
    figure.add_scatter(
        x=[n], y=[errors[rule, n]], mode="markers", showlegend=False, hoverinfo="skip",
        marker={"symbol": "circle-open", "size": 16, "color": "#000", "line": {"width": 2}}, row=1, col=2,
    )  # fmt: skip
    figure.update_xaxes(title="p(η), the truth", range=[-0.03, 1.03], col=1)
    figure.update_yaxes(title="Rₙ(η), the rank", range=[-0.03, 1.03], col=1)
    low, high = np.log10(errors.min() * 0.8), np.log10(errors.max() * 1.15)
    # Less than a decade: the usual labels would be one or none.
    figure.update_yaxes(title="root mean square of Rₙ − p", type="log", range=[low, high], col=2)
    figure.update_yaxes(tickvals=[0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3], col=2)
    figure.update_xaxes(title="n", type="log", tickvals=sizes.tolist(), col=2)
    figure.update_layout(
        template="plotly_white", width=860, height=430, margin={"t": 60, "b": 90, "r": 10},
        legend={"orientation": "h", "y": -0.2, "yanchor": "top", "x": 1, "xanchor": "right"},
    )  # fmt: skip
    return figure, _words(rule, n, p, R, slope, exponent, sizes)


def _words(rule, n, p, R, slope, exponent, sizes):
    off = float(np.sqrt(np.mean((R - p) ** 2)))
    verdict = verdict_of_decline(slope, SHARE * (exponent or rate(1 / 2, densities.FIG1.d)))
    means = {
        "holds": "The decline is beyond doubt.",
        "refuted": "No decline is seen, and one a quarter as steep as that of K = n^(1/2) is excluded.",
        "undecided": "This run cannot tell.",
    }[verdict]
    return (
        f"With {rule} and n = {n} the ranks are {off:.3f} from the p-values (root mean square). From n = "
        f"{sizes[0]} to {sizes[-1]} the error goes as n to the power {slope.estimate:.2f}, with 99% "
        f"confidence between {slope.low:.2f} and {slope.high:.2f}; theory says {exponent:.2f}. {means}"
    )


EXERCISES = (
    Exercise(
        judge=number(
            lambda: np.log(0.06 / 0.12) / np.log(4000 / 250),
            0.005,
            [
                (0.25, "The error falls: mind the sign."),
                (-0.5, "The error halves, yes. But n grows sixteenfold meanwhile."),
                (
                    -4,
                    "That is log 16 over log ½. The slope is the change of log error over the change of "
                    "log n.",
                ),
                (
                    (0.06 - 0.12) / (4000 - 250),
                    "That is the slope without logarithms. Take logarithms of both.",
                ),
            ],
        ),
        because="log(0.06/0.12) / log(4000/250) = -log 2 / log 16 = -1/4: the rate of K = n^(1/2). Any "
        "base of the logarithm gives the same.",
        hint="If the error is c n^a, then log error = log c + a log n. Two points give a.",
        words="The slope between two points of a doubly logarithmic plot.",
        code="import numpy as np\nanswer = np.log(0.06 / 0.12) / np.log(4000 / 250)",
    ),
    Exercise(
        judge=choice(
            "b",
            {
                "a": "The second line is about a K that grows, and there the error falls as it should.",
                "c": "For K = n^(1/2) the whole interval is below 0: that is what the corrected theorem "
                "says.",
                "d": "Proving is beyond it. But the outcome that would refute the statement was named "
                "beforehand, and the first line is that outcome.",
            },
        ),
        because="K = 5 satisfies the printed condition K = O(√n) at every n, and its error does not fall. "
        "The reason is on paper: the noise of a mean of 5 distances does not depend on n. A computation that "
        "refutes should always make one look for the reason.",
        hint="Which of the two lines shows no convergence? Does the printed condition allow that K? Does "
        "the corrected?",
        words="The printed condition allows K = 5, the corrected one does not.",
        code='answer = "b"',
    ),
    Exercise(
        judge=choice(
            "c",
            {
                "a": "With its order reversed R_n goes to 1 - p. That is a fact, and no verdict makes it "
                "false.",
                "b": "More points help a check that can tell. Would this one?",
                "d": "A control need not hold: it is broken on purpose, and must come out the other way.",
            },
        ),
        because='A check that says "holds" of a statement known to be false would say so of anything. '
        'Its "holds" for the theorem is then worth nothing.',
        hint="The control is known to be false. What is a check worth that does not notice?",
        words="A check that cannot fail shows nothing.",
        code='answer = "c"',
    ),
)
"""A slope by hand, which statement an output refutes, and what a control is for."""
