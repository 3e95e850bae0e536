"""Lesson 2: the distance to the k-th neighbour, and the average over k of them, know the density."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from plotly.subplots import make_subplots
from scipy.special import gammaln

from ..densities import FIG1
from ..neighbors import knn_statistic, nearest
from ..plots.curves import COLOURS
from .exercises import Exercise
from .judges import array, choice, number
from .scenes import Scene, slider

NS = (50, 100, 200, 500, 1000, 2000)
KS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
PLACES = tuple(np.round(np.arange(-3.5, 3.6, 0.5), 1))
QUERIES = 300

TOY = np.array([[0.0, 0.0], [0.3, 0.4], [0.6, 0.8], [3.0, 4.0], [0.0, 2.0], [1.0, 0.0]])
"""Six points of the plane with distances from the first that can be worked out in the head."""


def expected_distance(f, n, k, d=2):
    """Average k-NN distance that a flat density leads to: the mean of Eq. 2 where the density is f all about.

    The j-th of n neighbours lies at distance r with n c_d f r^d about j, so that
    ``E D_(j) = (n c_d f)^(-1/d) Gamma(j + 1/d) / Gamma(j)``.

    Parameters
    ----------
    f : float or array
        Density, positive.
    n, k : int
        Sample size, and how many neighbours are averaged over.
    d : int

    Returns
    -------
    float or array
    """
    j = np.arange(1, k + 1)
    mean = np.exp(gammaln(j + 1 / d) - gammaln(j)).mean()
    c_d = np.exp(d / 2 * np.log(np.pi) - gammaln(d / 2 + 1))
    return mean * (n * c_d * np.asarray(f)) ** (-1 / d)


def neighbourhood():
    """Return the scene of the lesson: a query point and its neighbours, and G against the density."""
    return Scene(
        _draw,
        y=slider("move the point, y", PLACES, 0.0),
        n=slider("n points", NS, 200),
        k=slider("k neighbours", KS, 10),
    )


@lru_cache(maxsize=len(NS))
def sample(n):
    """Return n points of the density of Fig. 1; larger samples extend smaller ones."""
    return FIG1.sample(max(NS), random_state=5)[:n]


@lru_cache(maxsize=1)
def fresh():
    """Return new points to measure at, and their densities."""
    X = FIG1.sample(QUERIES, random_state=6)
    return X, FIG1.pdf(X)


@lru_cache(maxsize=64)
def measured(n, k):
    """Return G at the new points."""
    return knn_statistic(sample(n), fresh()[0], k)


def _draw(y, n, k):
    X, point = sample(n), np.array([[4.0, y]])
    k = min(k, n)
    (radii,), (own,) = nearest(X, point, k)
    f, f_new = FIG1.pdf(point)[0], fresh()[1]
    G = measured(n, k)
    figure = make_subplots(
        cols=2,
        column_widths=[0.45, 0.55],
        horizontal_spacing=0.1,
        subplot_titles=["a point and its k nearest", "average distance against density"],
    )
    left, right = {"row": 1, "col": 1}, {"row": 1, "col": 2}
    dots = {"mode": "markers", "hoverinfo": "skip"}
    figure.add_scatter(
        x=X[:, 0], y=X[:, 1], marker={"size": 4, "color": "#999"}, name="sample", **dots, **left
    )
    figure.add_scatter(
        x=X[own, 0],
        y=X[own, 1],
        marker={"size": 6, "color": COLOURS[0]},
        name="its k nearest",
        **dots,
        **left,
    )
    turn = np.linspace(0, 2 * np.pi, 73)
    figure.add_scatter(
        x=4 + radii[-1] * np.cos(turn),
        y=y + radii[-1] * np.sin(turn),
        mode="lines",
        line={"color": COLOURS[0]},
        name="reach of the k-th",
        hoverinfo="skip",
        **left,
    )
    star = {"size": 13, "color": COLOURS[1], "symbol": "star"}
    figure.add_scatter(x=[4.0], y=[y], marker=star, name="the point", **dots, **left)
    figure.add_scatter(
        x=f_new, y=G, marker={"size": 4, "color": "#777"}, name="300 new points", **dots, **right
    )
    line = np.geomspace(1e-4, 0.4, 60)
    figure.add_scatter(
        x=line,
        y=expected_distance(line, n, k),
        mode="lines",
        line={"color": COLOURS[2], "width": 2, "dash": "dash"},
        name="predicted from f₀",
        hoverinfo="skip",
        **right,
    )
    figure.add_scatter(
        x=[f], y=[radii.mean()], marker=star, name="the point", showlegend=False, **dots, **right
    )
    figure.update_xaxes(range=[0, 8], title="x", constrain="domain", **left)
    figure.update_yaxes(range=[-4, 4], title="y", scaleanchor="x", constrain="domain", **left)
    figure.update_xaxes(
        type="log", range=[-4, -0.4], title="density f₀", dtick=1, exponentformat="power", **right
    )
    figure.update_yaxes(
        type="log", range=[-1.6, 1], title="average distance G", dtick=1, exponentformat="power", **right
    )
    figure.update_layout(
        template="plotly_white",
        width=860,
        height=430,
        margin={"t": 40, "b": 90, "l": 50, "r": 10},
        legend={"orientation": "h", "y": -0.22, "x": 0},
    )
    words = (
        f"At (4, {y:g}) the density is {f:.3g}. The {k} nearest of {n} points are on average "
        f"{radii.mean():.2f} away; a flat density of that height predicts "
        f"{expected_distance(f, n, k):.2f}. Over the new "
        f"points, the order of G agrees with that of the density for {order_agreement(G, f_new):.0%} of "
        "pairs."
    )
    return figure, words


def order_agreement(G, f):
    """Share of pairs of points of which the one with the larger density has the smaller distance."""
    from scipy.stats import kendalltau

    return float((1 - kendalltau(G, f).statistic) / 2)


EXERCISES = (
    Exercise(
        judge=array(
            lambda: [knn_statistic(TOY[1:], TOY[:1], k)[0] for k in (1, 2, 3)],
            0.005,
            [
                (
                    lambda: nearest(TOY[1:], TOY[:1], 3)[0][0],
                    "These are the distances to the first, second and third neighbour. Average over the "
                    "first k of them.",
                ),
                (
                    lambda: [knn_statistic(TOY, TOY[:1], k)[0] for k in (1, 2, 3)],
                    "The point counts itself as its nearest neighbour here. Leave it out.",
                ),
            ],
        ),
        because="The nearest neighbours are 0.5, 1 and 1 away, so that the averages are 0.5, 0.75 and 0.83. "
        "The point "
        "at distance 5 does not matter until k reaches it.",
        hint="Sort the distances from the first row of TOY to the other five, and average the first k of "
        "them.",
        words="Distances to the others, sorted; then running means.",
        code="D = np.sort(np.linalg.norm(TOY[1:] - TOY[0], axis=1))\n"
        "answer = [D[:k].mean() for k in (1, 2, 3)]",
    ),
    Exercise(
        judge=number(
            lambda: 2**-0.5,
            0.01,
            [
                (
                    0.5,
                    "Twice the points, half the distance? On a line, yes. In the plane the area of the disc "
                    "must halve.",
                ),
                (2**0.5, "More points come closer, not further away."),
                (2.0, "More points come closer, not further away."),
                (0.25, "The area of the disc halves, and its radius shrinks by less than that."),
            ],
        ),
        because="A disc with k of 2n points has half the area of one with k of n, so its radius is 1/√2 of "
        "it: G is "
        "(n f₀)^(-1/d) times a number that depends on k. In 10 dimensions, twice the points bring "
        "neighbours closer "
        "by 7% only.",
        hint="About k of the n points fall into a disc with n f₀(x) π r² = k. What becomes of r when n "
        "doubles?",
        words="n f₀ π r² = k gives r proportional to n^(-1/2).",
        code="answer = 2 ** (-1 / 2)",
    ),
    Exercise(
        judge=choice(
            "c",
            {
                "a": "That is where the fewest distances are averaged: the dots scatter most. Look at k = 1.",
                "b": "Try it: with k = 200 of 200 points, every point has the whole sample as its "
                "neighbours.",
                "d": "Try k = 1 and k = 20 in turn, and watch the share of pairs in the sentence.",
            },
        ),
        because="With k small the distances are noisy (a relative spread that shrinks like 1/√k, however "
        "many points there are); with k "
        "near n each point sees far beyond its own neighbourhood. In between both are small; here k = 50 "
        "does best, and the paper takes 20.",
        hint="Set n = 200 and read the share of pairs for k = 1, 5, 20, 50 and 200.",
        words="The cell computes what the sentence below the figure says.",
        code="f_new = distances.fresh()[1]\n"
        "agreement = "
        "{k: distances.order_agreement(distances.measured(200, k), f_new) for k in distances.KS}\n"
        "best = max(agreement, key=agreement.get)\n"
        'answer = "c" if 1 < best < 200 else "d"',
    ),
)
