"""Lesson 7: what a learned score says where there were no data."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from plotly.subplots import make_subplots

from ..densities import FIG2
from ..detector import RankAD
from ..levelsets import Grid
from ..neighbors import mean_distance
from ..plots.curves import COLOURS
from .exercises import Exercise
from .judges import choice, number
from .scenes import Scene, slider

N = 300
ALPHA = 0.05
SIGMAS = (0.5, 1.0, 2.0, 4.0, 8.0)
PRICES = (0.1, 1.0, 10.0, 100.0)
ANGLES = (0, 30, 45, 60, 90)
RADII = np.linspace(0, 30, 181)
GRID = Grid(np.linspace(-20, 20, 81), np.linspace(-20, 20, 81))

WHO = {
    "by none": "#FFFFFF",
    "as printed only": "#F2B48A",
    "with the anchor only": "#009E73",
    "by both": "#6BAED6",
}
"""Which of the two accepts a place, and its colour on the map."""


@lru_cache(maxsize=1)
def sample():
    """Return N points of the density of Fig. 2."""
    return FIG2.sample(N, random_state=0)


@lru_cache(maxsize=128)
def fitted(anchor, sigma_over_DK=1.0, C_times_n=1.0, m=3):
    """Return a detector trained on the sample.

    Parameters
    ----------
    anchor : bool
    sigma_over_DK, C_times_n : float
    m : int
    """
    X = sample()
    sigma = sigma_over_DK * mean_distance(X)
    return RankAD(sigma=sigma, C=C_times_n / N, m=m, anchor=anchor, random_state=0).fit(X)


def p_at_infinity(detector):
    """p-value of a point so far away that every kernel is 0 there: the share of training scores up to 0.

    Parameters
    ----------
    detector : RankAD
        Fitted to :func:`sample`.
    """
    return float((detector.score_samples(sample()) <= 0).mean())


def along_a_ray():
    """Return the scene of the lesson: p-values on a way out, and the accepted region seen from afar."""
    return Scene(
        _draw,
        angle=slider("direction, degrees", ANGLES, 45),
        sigma=slider("bandwidth σ / D_K", SIGMAS, 4.0),
        price=slider("price C × n", PRICES, 1.0),
    )


@lru_cache(maxsize=128)
def _accepted(sigma, price):
    """Return the place in :data:`WHO` of each point of the map."""
    printed, anchored = (
        GRID.evaluate(fitted(anchor, sigma, price).p_value) > ALPHA for anchor in (False, True)
    )
    return printed + 2 * anchored


def _draw(angle, sigma, price):
    turn = np.deg2rad(angle)
    ray = RADII[:, None] * [np.cos(turn), np.sin(turn)]
    figure = make_subplots(
        cols=2,
        column_widths=[0.55, 0.45],
        horizontal_spacing=0.1,
        subplot_titles=["on the way out", "accepted at α = 0.05, from afar"],
    )
    left, right = {"row": 1, "col": 1}, {"row": 1, "col": 2}
    styles = {False: ("as printed", COLOURS[1], "solid"), True: ("with the anchor", COLOURS[0], "dash")}
    p = {anchor: fitted(anchor, sigma, price).p_value(ray) for anchor in styles}
    for anchor, (name, colour, dash) in styles.items():
        line = {"color": colour, "dash": dash, "width": 2.5}
        figure.add_scatter(
            x=RADII, y=p[anchor], mode="lines", line=line, name=name, hoverinfo="name+x+y", **left
        )
    figure.add_scatter(
        x=RADII, y=FIG2.p_value(ray), mode="lines", line={"color": "#000", "dash": "dot"}, name="true", **left
    )
    figure.add_scatter(
        x=RADII[[0, -1]],
        y=[ALPHA] * 2,
        mode="lines",
        line={"color": "#888", "width": 1},
        name="α",
        hoverinfo="skip",
        **left,
    )
    who = _accepted(sigma, price)
    steps = [(edge / len(WHO), colour) for i, colour in enumerate(WHO.values()) for edge in (i, i + 1)]
    figure.add_heatmap(
        x=GRID.x,
        y=GRID.y,
        z=who,
        zmin=-0.5,
        zmax=3.5,
        colorscale=steps,
        showscale=False,
        hoverinfo="skip",
        **right,
    )
    for name in list(WHO)[1:]:
        square = {"size": 12, "symbol": "square", "color": WHO[name]}
        figure.add_scatter(
            x=[None], y=[None], mode="markers", marker=square, name=f"accepted {name}", **right
        )
    X = sample()
    figure.add_scatter(
        x=X[:, 0],
        y=X[:, 1],
        mode="markers",
        marker={"size": 3, "color": "#333"},
        name="sample",
        hoverinfo="skip",
        **right,
    )
    figure.add_scatter(
        x=ray[:, 0],
        y=ray[:, 1],
        mode="lines",
        line={"color": "#000", "dash": "dashdot"},
        name="the way out",
        hoverinfo="skip",
        **right,
    )
    figure.update_xaxes(title="distance from the middle", range=[0, 30], **left)
    figure.update_yaxes(title="p-value", range=[-0.02, 1.02], **left)
    figure.update_xaxes(title="x", range=[-20, 20], constrain="domain", **right)
    figure.update_yaxes(title="y", range=[-20, 20], scaleanchor="x2", constrain="domain", **right)
    figure.update_layout(
        template="plotly_white",
        width=860,
        height=430,
        margin={"t": 40, "b": 90, "l": 50, "r": 10},
        legend={"orientation": "h", "y": -0.22, "x": 0},
    )
    far = {anchor: float(values[-1]) for anchor, values in p.items()}
    words = (
        f"30 away from the middle the detector as printed gives p = {far[False]:.2f}"
        f"{', no alarm' if far[False] > ALPHA else ', an alarm'}; with the anchor p = {far[True]:.2f}"
        f"{', no alarm' if far[True] > ALPHA else ', an alarm'}. As printed the corners of the map are "
        f"{'accepted' if who[0, 0] % 2 else 'not accepted'}."
    )
    return figure, words


EXERCISES = (
    Exercise(
        judge=number(
            lambda: float(abs(fitted(False).beta_.sum())),
            1e-6,
            [
                (
                    1.0,
                    "Each pair adds its multiplier to one point and takes it from another. What is the sum "
                    "of both?",
                ),
                (lambda: float(N), "Each pair adds its multiplier to one point and takes it from another."),
            ],
        ),
        because="Every pair (i, j) adds λ to β_i and takes λ from β_j. So g is a balance of hills and "
        "hollows, and 0, its "
        "value at infinity, lies between them.",
        hint="β = Σ over pairs of λ_ij (e_i − e_j). Or compute `printed.beta_.sum()`.",
        words="The sum of the coefficients, up to rounding.",
        code="answer = abs(round(printed.beta_.sum(), 9))",
    ),
    Exercise(
        judge=number(
            lambda: p_at_infinity(fitted(False)),
            0.002,
            [
                (
                    lambda: 1 - p_at_infinity(fitted(False)),
                    "That is the share of training scores *above* 0. The p-value counts those up to the "
                    "score of the point.",
                ),
                (
                    lambda: p_at_infinity(fitted(True)),
                    "That is the detector with the anchor. The question is about `printed`.",
                ),
                (
                    lambda: float((fitted(False).score_samples(sample()) <= 0).sum()),
                    "That is a count. Divide it by the number of training points.",
                ),
            ],
        ),
        because="Its score is 0, and that is where 0 stands among the training scores. "
        "`printed.p_value([[1e6, 0]])` agrees.",
        hint="At infinity g = 0. Which share of `printed.score_samples(X)` is 0 or less?",
        words="The p-value of a score is the share of training scores up to it.",
        code="answer = (printed.score_samples(X) <= 0).mean()",
    ),
    Exercise(
        judge=choice(
            "b",
            {
                "a": "It was not: the nominal points were fresh. And held-out scores do not help: try "
                "RankAD(anchor=False, calibration='split') on a point far away.",
                "c": "There is nothing to cancel. Which points does a false-alarm rate count, and how many "
                "of these come to the far field?",
            },
        ),
        because="False alarms are counted on nominal points, and these hardly ever come to the far field. "
        "Validity says "
        "nothing about what is missed; only anomalies, real or made up, can show that.",
        hint="Which points does a false-alarm rate count?",
        words="Calibration sees nominal points alone.",
        code='answer = "b"',
    ),
)
