"""Lesson 4: ranks are cut into levels, and levels say which pairs are worth learning."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from plotly.subplots import make_subplots

from ..densities import FIG1
from ..neighbors import ranks
from ..plots.curves import COLOURS, SYMBOLS
from ..preferences import disagreement, n_pairs, pairs, quantize
from .exercises import Exercise
from .judges import array, choice, number
from .scenes import Scene, slider

NS = (50, 100, 200, 400)
MS = tuple(range(1, 11))
KS = (1, 5, 10, 20)

RANKS = np.array([0.05, 0.95, 0.33, 0.34, 0.62, 0.70, 0.02, 0.66, 0.99, 0.50])
"""Ranks of ten points."""


@lru_cache(maxsize=64)
def sample(n, k, random_state=3):
    """Return ranks and true p-values of n points of the density of Fig. 1."""
    X = FIG1.sample(n, random_state=random_state)
    return ranks(X, k=min(k, n // 2 - 1), random_state=random_state), FIG1.p_value(X)


def kept_and_wrong(R, p, levels):
    """Say how many pairs levels keep, and how many of these the noise has turned round.

    Parameters
    ----------
    R, p : arrays of shape (n,)
        Ranks, and the p-values that they estimate.
    levels : int array of shape (n,)

    Returns
    -------
    kept : float
        Preference pairs as a share of all pairs that differ in rank.
    wrong : float
        Share of the preference pairs in which the point of the higher level has the smaller p-value; nan if
        there are none.
    """
    order = np.unique(R, return_inverse=True)[1]
    n = n_pairs(levels)
    return n / n_pairs(order), disagreement(p, levels) if n else np.nan


def levels_and_pairs():
    """Return the scene of the lesson: ranks cut into levels, and what of the pairs is kept."""
    return Scene(
        _draw,
        m=slider("m levels", MS, 3),
        n=slider("n points", NS, 200),
        k=slider("k neighbours", KS, 20),
    )


@lru_cache(maxsize=64)
def _curves(n, k):
    R, p = sample(n, k)
    each = [kept_and_wrong(R, p, quantize(R, m)) for m in MS]
    return np.array(each), kept_and_wrong(R, p, np.unique(R, return_inverse=True)[1])[1]


def _draw(m, n, k):
    R, p = sample(n, k)
    levels = quantize(R, m)
    (kept, wrong), all_wrong = _curves(n, k)[0][m - 1], _curves(n, k)[1]
    figure = make_subplots(
        cols=2,
        column_widths=[0.52, 0.48],
        horizontal_spacing=0.11,
        subplot_titles=["ranks, cut into levels", "pairs kept, and of these wrong"],
    )
    left, right = {"row": 1, "col": 1}, {"row": 1, "col": 2}
    for level in MS:  # always as many traces, of which some are empty
        own = levels == level
        marker = {"size": 6, "color": COLOURS[(level - 1) % len(COLOURS)], "symbol": SYMBOLS[(level - 1) % 8]}
        figure.add_scatter(
            x=p[own],
            y=R[own],
            mode="markers",
            marker=marker,
            name=f"level {level}",
            showlegend=False,
            hoverinfo="name",
            **left,
        )
    cuts = [value for edge in range(1, m) for value in (edge / m, edge / m, None)]
    cut = {"color": "#000", "width": 1, "dash": "dot"}
    figure.add_scatter(
        x=[0, 1, None] * (m - 1),
        y=cuts,
        mode="lines",
        line=cut,
        name="edges of the levels",
        hoverinfo="skip",
        **left,
    )
    curves = _curves(n, k)[0]
    for column, (name, dash) in enumerate(
        (("kept, of all pairs", "solid"), ("wrong, of those kept", "dash"))
    ):
        line = {"color": COLOURS[column], "dash": dash, "width": 2}
        figure.add_scatter(
            x=MS, y=curves[:, column], mode="lines", line=line, name=name, hoverinfo="skip", **right
        )
    here = {"size": 11, "color": "#000", "symbol": "circle-open", "line": {"width": 2}}
    figure.add_scatter(x=[m, m], y=[kept, wrong], mode="markers", marker=here, name="here", **right)
    figure.update_xaxes(title="true p-value p", range=[-0.02, 1.02], **left)
    figure.update_yaxes(title="rank R", range=[-0.02, 1.02], **left)
    figure.update_xaxes(title="levels m", range=[0.5, 10.5], dtick=1, **right)
    figure.update_yaxes(title="share", range=[-0.02, 1.02], **right)
    figure.update_layout(
        template="plotly_white",
        width=860,
        height=430,
        margin={"t": 40, "b": 90, "l": 50, "r": 10},
        legend={"orientation": "h", "y": -0.22, "x": 0},
    )
    if m == 1:
        return figure, "One level: no pair is kept, and there is nothing to learn from."
    words = (
        f"{m} levels of {n} points keep {n_pairs(levels):,} of {n * (n - 1) // 2:,} pairs. The noise has "
        "turned round "
        f"{wrong:.1%} of them; of all pairs it has turned round {all_wrong:.1%}."
    )
    return figure, words


EXERCISES = (
    Exercise(
        judge=array(
            lambda: quantize(RANKS, 3),
            1e-6,
            [
                (lambda: quantize(RANKS, 3) - 1, "Levels are counted from 1: add 1 to each."),
                (
                    lambda: 4 - quantize(RANKS, 3),
                    "The levels are upside down: level m holds the *highest* ranks.",
                ),
                (
                    lambda: np.round(RANKS * 3),
                    "Rounding moves the edges. Level 2 begins at a rank of exactly 1/3: cut off, do not "
                    "round.",
                ),
                (
                    lambda: 1 + np.round(RANKS * 3),
                    "Rounding moves the edges. Level 2 begins at a rank of exactly 1/3: cut off, do not "
                    "round.",
                ),
            ],
        ),
        because="1/3 and 2/3 are the edges: 0.33 is still in level 1 and 0.34 in level 2, 0.66 in level 2 "
        "and 0.70 in 3.",
        hint="r_q = min(3, 1 + floor(3 R)).",
        words="Levels of equal width in rank.",
        code="answer = np.minimum(3, 1 + np.floor(3 * RANKS))",
    ),
    Exercise(
        judge=number(
            lambda: len(pairs(quantize(RANKS, 3))[0]),
            0.4,
            [
                (
                    45,
                    "That is the number of all pairs of ten points. Two points in the same level make no "
                    "preference pair.",
                ),
                (
                    lambda: 2 * len(pairs(quantize(RANKS, 3))[0]),
                    "You count each pair twice. (i, j) is in P only if i is in the higher level.",
                ),
            ],
        ),
        because="Levels of 3, 4 and 3 points make 3·4 + 3·3 + 4·3 = 33 pairs.",
        hint="How many points are in each level? Each point of one level makes a pair with each point of "
        "another.",
        words="The sum of the products of the sizes of two levels.",
        code="a, b, c = (int((quantize(RANKS, 3) == level).sum()) for level in (1, 2, 3))\nanswer = a * b + "
        "a * c + b * c",
    ),
    Exercise(
        judge=choice(
            "c",
            {
                "a": "More pairs, yes. But look at the dashed curve: what are the additional pairs worth?",
                "b": "Two points just left and right of the edge make a pair, at any m.",
                "d": "Compare the number of pairs for m = 2 and m = 10.",
            },
        ),
        because="Two levels drop all pairs within a level, about half of them, most of which are close in "
        "rank, where "
        "noise decides. What remains is right more often, and says nothing about the order within a level.",
        hint="Read the sentence below the figure for m = 2 and for m = 10.",
        words="Fewer pairs, and fewer of them wrong.",
        code="R, p = quantisation.sample(200, 20)\n"
        "(few, wrong_2), (many, wrong_10) = (quantisation.kept_and_wrong(R, p, quantize(R, m)) for m in "
        "(2, 10))\n"
        'answer = "c" if few < many and wrong_2 < wrong_10 else "a"',
    ),
)
