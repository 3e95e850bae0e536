"""Lesson 3: the rank of a distance among those of the sample estimates the p-value."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from plotly.subplots import make_subplots

from ..densities import FIG2
from ..neighbors import knn_statistic, rank
from ..plots.curves import COLOURS
from .exercises import Exercise
from .judges import array, choice
from .scenes import Scene, slider

NS = (50, 100, 200, 500, 1000, 2000, 4000)
KS = (1, 2, 5, 10, 20, 50, 100, 200)
QUERIES = 400
WHICH = tuple(range(0, 41, 2))

REFERENCE = np.array([0.2, 0.5, 0.5, 0.9, 1.4, 2.0, 3.5, 0.3, 0.7, 1.1])
"""Average distances of ten training points, each to the others."""

NEW = np.array([0.1, 0.5, 1.2, 4.0])
"""Average distances of four new points."""


@lru_cache(maxsize=32)
def fresh(random_state=7):
    """Return new nominal points and their true p-values, most unusual first."""
    X = FIG2.sample(QUERIES, random_state=random_state)
    p = FIG2.p_value(X)
    order = np.argsort(p)
    return X[order], p[order]


@lru_cache(maxsize=128)
def measured(n, k, random_state=8):
    """Return G of n points of the density of Fig. 2, each among the others, and G of the new points."""
    X = FIG2.sample(max(n, NS[-1]), random_state=random_state)[:n]
    return knn_statistic(X, k=k), knn_statistic(X, fresh()[0], k)


def rmse(n, k, samples=4):
    """Root mean square of R_n - p over the new points and over several samples.

    Parameters
    ----------
    n, k : int
    samples : int

    Returns
    -------
    float
    """
    p = fresh()[1]
    errors = [
        rank(new, reference) - p for reference, new in (measured(n, k, 100 + seed) for seed in range(samples))
    ]
    return float(np.sqrt(np.mean(np.square(errors))))


def from_distance_to_rank():
    """Return the scene of the lesson: a distance looked up among the sample's, and R_n against p."""
    return Scene(
        _draw,
        share=slider("new point, p about", [each / 40 for each in WHICH], 0.1),
        n=slider("n points", NS, 200),
        k=slider("k neighbours", KS, 20),
    )


def _draw(share, n, k):
    k = min(k, n - 1)
    p = fresh()[1]
    reference, new = measured(n, k)
    own = min(int(share * QUERIES), QUERIES - 1)
    R = rank(new, reference)
    figure = make_subplots(
        cols=2,
        horizontal_spacing=0.11,
        subplot_titles=["the new point among the sample", "rank against true p-value"],
    )
    left, right = {"row": 1, "col": 1}, {"row": 1, "col": 2}
    G = np.sort(reference)
    figure.add_scatter(
        x=G,
        y=1 - np.arange(1, n + 1) / n,
        mode="lines",
        line={"color": "#000", "shape": "hv"},
        name="share of the sample further out",
        hoverinfo="skip",
        **left,
    )
    looked_up = {"color": COLOURS[1], "width": 2}
    figure.add_scatter(
        x=[new[own], new[own], 0],
        y=[0, R[own], R[own]],
        mode="lines+markers",
        line=looked_up,
        marker={"size": [6, 13, 6], "symbol": ["circle", "star", "circle"]},
        name="the new point",
        hoverinfo="skip",
        **left,
    )
    dots = {"mode": "markers", "hoverinfo": "skip"}
    figure.add_scatter(x=p, y=R, marker={"size": 4, "color": "#777"}, name="400 new points", **dots, **right)
    line = {"color": COLOURS[2], "width": 2, "dash": "dash"}
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", line=line, name="R = p", hoverinfo="skip", **right)
    star = {"size": 13, "color": COLOURS[1], "symbol": "star"}
    figure.add_scatter(
        x=[p[own]], y=[R[own]], marker=star, name="the new point", showlegend=False, **dots, **right
    )
    figure.update_xaxes(title="average distance G", range=[0, float(max(G[-1], new[own])) * 1.05], **left)
    figure.update_yaxes(title="rank R", range=[-0.02, 1.02], **left)
    figure.update_xaxes(title="true p-value p", range=[-0.02, 1.02], constrain="domain", **right)
    figure.update_yaxes(title="rank R", range=[-0.02, 1.02], **right)
    figure.update_layout(
        template="plotly_white",
        width=860,
        height=430,
        margin={"t": 40, "b": 90, "l": 50, "r": 10},
        legend={"orientation": "h", "y": -0.22, "x": 0},
    )
    error = np.sqrt(np.mean((R - p) ** 2))
    words = (
        f"The new point's {k} nearest neighbours are {new[own]:.2f} away on average; {R[own]:.1%} of the "
        "sample's own "
        f"distances are larger. Its true p-value is {p[own]:.1%}. Over 400 new points, ranks are off by "
        f"{error:.3f} (root mean square)."
    )
    return figure, words


EXERCISES = (
    Exercise(
        judge=array(
            lambda: rank(NEW, REFERENCE),
            1e-6,
            [
                (
                    lambda: [(g <= REFERENCE).mean() for g in NEW],
                    "Look at the second one: a distance equal to the point's own is not larger. Eq. 3 "
                    "has a strict inequality.",
                ),
                (
                    lambda: [(g > REFERENCE).mean() for g in NEW],
                    "You count the distances that are smaller. A point far out should get a *small* rank.",
                ),
                (
                    lambda: [(g < REFERENCE).sum() for g in NEW],
                    "These are the counts. Divide them by the size of the sample.",
                ),
            ],
        ),
        because="All ten are further out than the first point, and none is further out than the last: R = 1 "
        "and 0.",
        hint="For each g in NEW: the share of REFERENCE that is larger than g. `(REFERENCE > g).mean()` is "
        "one way.",
        words="Count, for each new distance, the larger ones.",
        code="answer = [(REFERENCE > g).mean() for g in NEW]",
    ),
    Exercise(
        judge=choice(
            "b",
            {
                "a": "The table above has a row for k = 5. Does it go to 0?",
                "c": "More points do not make it worse. Look at the row for k = 5.",
            },
        ),
        because="The noise of a distance to 5 neighbours has nothing to do with n (lesson 2), and it moves "
        "the rank by "
        "as much however many points there are. Theorem 1 needs k to grow with n; as printed it does not "
        "say so.",
        hint="Look at the row for k = 5 in the table above. What would it be at n = 100,000?",
        words="The rows for fixed k flatten out; those where k grows fall on.",
        code='fixed = ladder.loc["k = 5"]\nanswer = "b" if fixed.iloc[-1] > 0.7 * fixed.iloc[0] else "a"',
    ),
    Exercise(
        judge=choice(
            "d",
            {
                "a": "Both coordinates shrink by the same factor, and so do all distances. Does that "
                "change any comparison?",
                "b": "Does it? A rank is a share of the sample, and has no unit.",
                "c": "Which inequality between two distances would turn round?",
            },
        ),
        because="Every distance is multiplied by the same number, so no comparison changes. Scaling one "
        "coordinate "
        "alone would be another matter: it changes which neighbours are near.",
        hint="R compares G of the new point with G of the training points. What happens to both sides?",
        words="R is unchanged if both sides of G(η) < G(x_i) are multiplied by 1000.",
        code="X, new_points = FIG2.sample(200, random_state=0), FIG2.sample(50, random_state=1)\n"
        "in_metres = rank(knn_statistic(X, new_points, 20), knn_statistic(X, k=20))\n"
        "in_millimetres = rank(knn_statistic(1000 * X, 1000 * new_points, 20), knn_statistic(1000 * X, "
        "k=20))\n"
        'answer = "d" if (in_metres == in_millimetres).all() else "b"',
    ),
)
