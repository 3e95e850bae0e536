"""Lesson 1: minimum-volume sets on a line, where everything can be seen."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import plotly.graph_objects as go
from scipy.optimize import brentq

from .. import densities
from ..plots.curves import COLOURS
from .exercises import Exercise
from .judges import choice, number
from .scenes import Scene, slider
from .scenes import choice as menu

TWO_HUMPS = densities.GaussianMixture([0.7, 0.3], [[0.0], [6.0]], [[[1.0]], [[0.25]]])
"""The density of the lesson: seven points in ten about 0, three about 6, closer together."""

DISC = densities.GaussianMixture([1.0], [[0.0, 0.0]], [np.eye(2)])

RULES = ("minimum-volume set", "central interval", "one-sided interval", "interval about the mean")
ALPHAS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8)
GRID = np.linspace(-4.5, 9.0, 1351)


def accepted(rule, alpha, density=TWO_HUMPS):
    """Return the intervals that a rule accepts, holding a share 1 - alpha of the nominal points.

    Parameters
    ----------
    rule : str
        One of :data:`RULES`. The one-sided interval accepts all below a point.
    alpha : float
    density : Density with d = 1

    Returns
    -------
    list of (float, float)
        Ascending; ends beyond the range of the figure are cut there.
    """
    if rule == "minimum-volume set":
        return level_set(density, density.level(alpha))
    low, high = {
        "central interval": lambda: (_quantile(alpha / 2, density), _quantile(1 - alpha / 2, density)),
        "one-sided interval": lambda: (GRID[0], _quantile(1 - alpha, density)),
        "interval about the mean": lambda: _around_mean(alpha, density),
    }[rule]()
    return [(max(low, GRID[0]), min(high, GRID[-1]))]


def level_set(density, c):
    """Return the intervals where a density on the line is at least c."""
    above = density.pdf(GRID[:, None]) >= c
    steps = np.flatnonzero(np.diff(above.astype(int)))

    def excess(x):
        return density.pdf([[x]])[0] - c

    ends = [brentq(excess, GRID[i], GRID[i + 1]) for i in steps]
    return list(zip(ends[::2], ends[1::2], strict=True))


def length(intervals):
    """Total length of intervals, the volume of a set on the line."""
    return float(sum(high - low for low, high in intervals))


def mass(intervals, density=TWO_HUMPS):
    """Probability of intervals."""
    return float(sum(_cdf(high, density) - _cdf(low, density) for low, high in intervals))


def water_line():
    """Return the scene of the lesson: a density, the set that a rule accepts, and its length."""
    return Scene(
        _draw,
        alpha=slider("α, mass left outside", ALPHAS, 0.05),
        rule=menu("accept", RULES),
    )


def _draw(alpha, rule):
    f = TWO_HUMPS.pdf(GRID[:, None])
    intervals, smallest = accepted(rule, alpha), accepted(RULES[0], alpha)
    inside = np.zeros(len(GRID), dtype=bool)
    for low, high in intervals:
        inside |= (low <= GRID) & (high >= GRID)
    figure = go.Figure()
    filled = {"fill": "tozeroy", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    figure.add_scatter(
        x=GRID, y=np.where(inside, f, 0), fillcolor="rgba(0, 114, 178, 0.35)", name="accepted", **filled
    )
    figure.add_scatter(
        x=GRID, y=np.where(inside, 0, f), fillcolor="rgba(213, 94, 0, 0.75)", name="α, alarm", **filled
    )
    figure.add_scatter(x=GRID, y=f, mode="lines", line={"color": "#000", "width": 2}, name="density f₀")
    c = TWO_HUMPS.level(alpha)
    figure.add_scatter(
        x=GRID[[0, -1]],
        y=[c, c],
        mode="lines",
        line={"color": COLOURS[2], "dash": "dash"},
        name="water line c(α)",
    )
    for name, parts, y, colour in (
        ("this rule accepts", intervals, -0.02, COLOURS[0]),
        ("smallest set", smallest, -0.04, COLOURS[2]),
    ):
        ends = [end for part in parts for end in (*part, None)]
        figure.add_scatter(
            x=ends,
            y=[None if end is None else y for end in ends],
            mode="lines",
            line={"color": colour, "width": 7},
            name=name,
            hoverinfo="name",
        )
    figure.update_xaxes(title="x", range=[GRID[0], GRID[-1]])
    figure.update_yaxes(title="density", range=[-0.055, 0.32])
    figure.update_layout(template="plotly_white", width=860, height=400, margin={"t": 20, "b": 50})
    words = (
        f"At α = {alpha:g} the {rule} has length {length(intervals):.2f} within the picture and holds "
        f"{mass(intervals):.0%} of the nominal points. "
    )
    if rule == RULES[0]:
        parts = "one piece" if len(intervals) == 1 else f"{len(intervals)} pieces"
        words += f"It has {parts}: all points where the density is above {c:.3f}."
    else:
        words += f"The minimum-volume set holds as many in length {length(smallest):.2f}."
    return figure, words


def _cdf(x, density):
    from scipy.stats import norm

    deviations = np.sqrt(density.covariances[:, 0, 0])
    return float(density.weights @ norm.cdf((x - density.means[:, 0]) / deviations))


@lru_cache(maxsize=256)
def _quantile(q, density):
    return brentq(lambda x: _cdf(x, density) - q, -20, 20)


@lru_cache(maxsize=64)
def _around_mean(alpha, density):
    mean = float(density.weights @ density.means[:, 0])

    def missing(r):
        return _cdf(mean + r, density) - _cdf(mean - r, density) - (1 - alpha)

    r = brentq(missing, 0, 30)
    return mean - r, mean + r


EXERCISES = (
    Exercise(
        judge=number(
            lambda: length(accepted(RULES[0], 0.2)),
            0.02,
            [
                (
                    lambda: length(accepted("central interval", 0.2)),
                    "That is the length of the central interval.",
                ),
                (
                    lambda: length(accepted(RULES[0], 0.8)),
                    "That set holds 20% of the points. It should hold 80%.",
                ),
            ],
        ),
        because="Two intervals, one about each hump. The valley between them is left out: nearly nobody "
        "lives there.",
        hint="`TWO_HUMPS.level(0.2)` is the height c of the water line. `level_sets.level_set(TWO_HUMPS, c)` "
        "lists "
        "the intervals above it; add up their lengths.",
        words="The set is {f₀ ≥ c(0.2)}, and its volume the sum of the lengths of its intervals.",
        code="c = TWO_HUMPS.level(0.2)\nanswer = sum(high - low for low, high in "
        "level_sets.level_set(TWO_HUMPS, c))",
    ),
    Exercise(
        judge=choice(
            "b",
            {
                "a": "3 is unusual: it lies in the valley between the humps. But is it more unusual than 8? "
                "Compare f₀(3) with f₀(8).",
                "c": "Both are unusual, but not equally: compare f₀(3) with f₀(8).",
            },
        ),
        because="f₀(3) is 0.003 and f₀(8) is 0.00008. Lower density, smaller p-value, more unusual. But 3 is "
        "the "
        "interesting one: every single interval that accepts both humps accepts 3 as well, while "
        "its p-value, 0.003, raises an alarm at α = 1%.",
        hint="A point is more unusual if fewer nominal points have a density as low as its own: compare "
        "`TWO_HUMPS.p_value([[3.0], [8.0]])`.",
        words="p-values order points as densities do.",
        code='p = TWO_HUMPS.p_value([[3.0], [8.0]])\nanswer = "b" if p[1] < p[0] else "a"',
    ),
    Exercise(
        judge=number(
            lambda: -2 * np.pi * np.log(0.05),
            0.05,
            [
                (
                    lambda: np.pi * 1.96**2,
                    "1.96 holds 95% of a normal law on the line. In the plane, how far out must one go?",
                ),
                (
                    lambda: -np.pi * np.log(0.05),
                    "Nearly: the radius satisfies exp(-r²/2) = α, so r² = -2 log α.",
                ),
                (lambda: np.sqrt(-2 * np.log(0.05)), "That is the radius. The volume of a disc is πr²."),
                (lambda: -2 * np.pi * np.log(0.95), "That disc holds 5% of the points. It should hold 95%."),
            ],
        ),
        because="P{|Z| > r} = exp(-r²/2) = 0.05 gives r² = 5.99, and the disc's area is 18.82. "
        "`DISC.volume(0.05)` agrees.",
        hint="The level sets are discs about 0. What share of the points has distance greater than r? (The "
        "squared "
        "distance of a standard normal point in the plane has an exponential law.) Then the area is πr².",
        words="The density falls with the distance r from 0, so that its level sets are discs. "
        "P{|Z| > r} = exp(-r²/2), which is α at r² = -2 log α.",
        code="answer = np.pi * (-2 * np.log(0.05))",
    ),
)
