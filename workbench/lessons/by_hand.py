"""Lesson 5: the RankSVM program for twelve points, with every pair written out."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from plotly.subplots import make_subplots

from .. import ranksvm
from ..kernels import kernel_sum, kernel_sum_on_grid, rbf
from ..plots.curves import COLOURS
from ..preferences import pairs
from .exercises import Exercise
from .judges import choice, number
from .scenes import Scene, slider

TITLES = ["level curves of g, and the pairs that pull", "each pair: what it gets, what it pulls"]

POINTS = np.array(
    [
        [-2.3, -0.2], [-1.2, -0.7], [0.4, 1.0], [0.9, 0.1],
        [-0.5, -0.3], [3.9, 1.9], [3.5, 0.4], [0.2, 0.4],
        [3.6, 1.2], [-0.5, 0.2], [3.4, 0.9], [3.9, 1.3],
    ]
)  # fmt: skip
"""Twelve points in the plane, those in sparse places first."""

LEVELS = np.repeat([1, 2, 3], 4)
"""Their levels, from the ranks of their average distances to two neighbours: 3 is the densest."""

SIGMA, C = 2.0, 1.0

NEW = np.array([1.5, 0.5])
"""Where exercise 5.2 asks for the score."""

SIGMAS = (0.5, 0.71, 1.0, 1.41, 2.0, 2.83, 4.0, 5.66, 8.0)
PRICES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)

BESIDE = (
    "top center", "bottom center", "top center", "middle right", "middle left", "top center",
    "bottom right", "middle right", "top left", "top left", "middle left", "middle right",
)  # fmt: skip
"""Where each point's number is written, so that none hides another."""

TOL = 1e-9
NEAR = 1e-6
"""A difference of scores this close to 1 lies on the margin."""

GRID = np.linspace(-3.6, 5.2, 89), np.linspace(-2.6, 3.8, 65)

HIGHER, LOWER = pairs(LEVELS)


def primal(beta, sigma, C):
    """Objective of Eq. 5 at g = sum_i beta_i k(x_i, .), every pair written out.

    Parameters
    ----------
    beta : array of shape (12,)
    sigma, C : float

    Returns
    -------
    float
        ``|g|^2 / 2 + C sum max(0, 1 - (g(x_i) - g(x_j)))``.
    """
    K = rbf(POINTS, POINTS, sigma)
    g = K @ beta
    return float(beta @ K @ beta / 2 + C * np.maximum(0, 1 - (g[HIGHER] - g[LOWER])).sum())


def dual(multipliers, sigma, C):
    """Dual objective, a lower bound of Eq. 5's optimum.

    Parameters
    ----------
    multipliers : array of shape (48,)
        One a pair, in the order of :func:`workbench.preferences.pairs`.
    sigma, C : float

    Returns
    -------
    float
        ``sum lambda - |g|^2 / 2``, g made from the multipliers.

    Raises
    ------
    ValueError
        If a multiplier is outside [0, C]: the value would bound nothing.
    """
    smallest, largest = np.min(multipliers), np.max(multipliers)
    if not (smallest >= 0 and largest <= C * (1 + 1e-12)):
        raise ValueError(
            f"The multipliers run from {smallest:g} to {largest:g}, outside [0, C = {C:g}]: "
            "they bound nothing. Clip them."
        )
    beta = coefficients(multipliers)
    return float(np.sum(multipliers) - beta @ rbf(POINTS, POINTS, sigma) @ beta / 2)


def coefficients(multipliers):
    """Coefficients of g, for each point what it wins less what it loses: ``beta = A' lambda``."""
    won, lost = (np.bincount(side, multipliers, len(POINTS)) for side in (HIGHER, LOWER))
    return won - lost


@lru_cache(maxsize=256)
def solved(sigma, C):
    """Solve Eq. 5 for the twelve points.

    Returns
    -------
    solution : RankSVMSolution
    multipliers : array of shape (48,)
        One a pair. Where many pairs lie on the margin other multipliers may do as well; g is the same.
    """
    solution = ranksvm.solve(POINTS, LEVELS, sigma=sigma, C=C, tol=TOL)
    problem = ranksvm.make_problem(POINTS, LEVELS, sigma=sigma, C=C)
    return solution, problem.pair_weights(solution.dual_point).alpha


def differences(scores):
    """Score of the higher point less that of the lower one, of every pair."""
    return scores[HIGHER] - scores[LOWER]


def twelve_points():
    """Return the scene of the lesson: the points, the pairs that g is made of, and its level curves."""
    return Scene(
        _draw,
        C=slider("C, price of slack", PRICES, C),
        sigma=slider("σ, width of the kernel", SIGMAS, SIGMA),
    )


def _draw(C, sigma):
    solution, multipliers = solved(sigma, C)
    z = differences(solution.scores)
    misses, on = z < 1 - NEAR, np.abs(z - 1) <= NEAR
    figure = make_subplots(
        cols=2, column_widths=[0.56, 0.44], horizontal_spacing=0.1, subplot_titles=TITLES,
    )  # fmt: skip
    heights = kernel_sum_on_grid(*GRID, POINTS, solution.beta, sigma)
    figure.add_contour(
        x=GRID[0], y=GRID[1], z=heights, ncontours=14, colorscale=["#FFFFFF", "#A9CCE3"], showscale=False,
        line={"color": "#7FA8C4", "width": 1}, hoverinfo="skip", row=1, col=1,
    )  # fmt: skip
    for name, some, colour, dash in (
        ("misses the margin, λ = C", misses, COLOURS[1], "solid"),
        ("on the margin, 0 ≤ λ ≤ C", on, COLOURS[0], "dot"),
    ):
        ends = np.stack([POINTS[HIGHER[some]], POINTS[LOWER[some]], np.full((some.sum(), 2), np.nan)], axis=1)
        figure.add_scatter(
            x=ends[..., 0].ravel(), y=ends[..., 1].ravel(), mode="lines", name=name, legendgroup=name,
            showlegend=False, line={"color": colour, "dash": dash, "width": 1.5}, opacity=0.75,
            hoverinfo="skip", row=1, col=1,
        )  # fmt: skip
    for level, colour, symbol in (
        (1, "#000000", "triangle-down"),
        (2, "#CC79A7", "square"),
        (3, "#009E73", "circle"),
    ):
        mine = np.flatnonzero(level == LEVELS)
        figure.add_scatter(
            x=POINTS[mine, 0], y=POINTS[mine, 1], mode="markers+text", name=f"level {level}",
            hovertext=[f"x{i}, level {level}: g = {solution.scores[i]:.3f}" for i in mine], hoverinfo="text",
            text=[str(i) for i in mine], textposition=[BESIDE[i] for i in mine], textfont={"size": 12},
            marker={"size": 12, "color": colour, "symbol": symbol, "line": {"color": "#fff", "width": 1}},
            row=1, col=1,
        )  # fmt: skip
    figure.add_scatter(
        x=[-1.9, 1, 1, 3.3], y=[1, 1, 0, 0], mode="lines", line={"color": "#999", "width": 1},
        showlegend=False, hoverinfo="skip", row=1, col=2,
    )  # fmt: skip
    said = [
        f"x{i} over x{j}: {each:.3f}, λ = {pull:.3g}"
        for i, j, each, pull in zip(HIGHER, LOWER, z, multipliers, strict=True)
    ]
    for name, some, colour, symbol in (
        ("misses the margin, λ = C", misses, COLOURS[1], "x"),
        ("on the margin, 0 ≤ λ ≤ C", on, COLOURS[0], "diamond-open"),
        ("beyond the margin, λ = 0", ~misses & ~on, "#777777", "circle-open"),
    ):
        figure.add_scatter(
            # A trace of no point would leave the legend.
            x=[None, *z[some]], y=[None, *multipliers[some] / C], mode="markers", name=name, legendgroup=name,
            marker={"color": colour, "symbol": symbol, "size": 8},
            hovertext=["", *(said[i] for i in np.flatnonzero(some))], hoverinfo="text", row=1, col=2,
        )  # fmt: skip
    figure.update_xaxes(title="x₁", range=[GRID[0][0], GRID[0][-1]], row=1, col=1)
    figure.update_yaxes(title="x₂", range=[GRID[1][0], GRID[1][-1]], row=1, col=1)
    figure.update_xaxes(title="g(xᵢ) − g(xⱼ)", range=[-1.9, 3.3], row=1, col=2)
    figure.update_yaxes(title="λ / C", range=[-0.08, 1.08], row=1, col=2)
    figure.update_layout(
        template="plotly_white", width=860, height=470, margin={"t": 40, "b": 110, "l": 60, "r": 20},
        legend={"orientation": "h", "y": -0.2, "x": 0, "entrywidth": 0.32, "entrywidthmode": "fraction"},
    )  # fmt: skip
    words = (
        f"At C = {C:g} and σ = {sigma:g}, {misses.sum()} of the {len(z)} pairs miss the margin "
        f"({(z < 0).sum()} of them are in the wrong order) and {on.sum()} lie on it; "
        f"{(multipliers > NEAR * C).sum()} pairs have a multiplier above 0 and make up g. "
        f"The slacks add up to {np.maximum(0, 1 - z).sum():.2f}. "
        f"Primal {solution.primal:.4f}, dual {solution.dual:.4f}: no g can be better by more than "
        f"{max(solution.primal - solution.dual, 1e-12):.0e}."
    )
    return figure, words


def _at_new(sign=1.0, width=1.0, lost=True):
    """g(NEW), or what comes out if something is forgotten."""
    _, multipliers = solved(SIGMA, C)
    beta = coefficients(multipliers) if lost else np.bincount(HIGHER, multipliers, len(POINTS))
    return sign * float(kernel_sum(NEW[None], POINTS, beta, SIGMA * width)[0])


EXERCISES = (
    Exercise(
        judge=number(
            lambda: float(len(HIGHER)),
            1e-9,
            [
                (
                    0.0,
                    "That is the dual at λ = 0. But g = 0 makes no difference between any two points, and "
                    "every pair asks for 1.",
                ),
                (96.0, "Each pair counts once: (i, j) is in P, and (j, i) is not."),
                (
                    66.0,
                    "66 is the number of all pairs of twelve points. Those of one level are no preferences.",
                ),
                (12.0, "The slack belongs to the pairs, not to the points. How many pairs are there?"),
            ],
        ),
        because="g = 0 has norm 0 and a slack of 1 for each of the 48 pairs: its primal is C|P| = 48, and "
        "the dual at λ = 0 is 0. The certificate is true, and says little: the optimum is between 0 and 48.",
        hint="What is the slack max(0, 1 - (g(x_i) - g(x_j))) of a pair if g is 0 everywhere? How many "
        "pairs are there?",
        words="The primal at g = 0 is C times the number of pairs, the dual at λ = 0 is 0.",
        code="nothing = np.zeros(12), np.zeros(len(higher))\n"
        "answer = by_hand.primal(nothing[0], 2.0, 1.0) - by_hand.dual(nothing[1], 2.0, 1.0)",
    ),
    Exercise(
        judge=number(
            _at_new,
            0.002,
            [
                (
                    lambda: _at_new(sign=-1.0),
                    "The sign is turned: the higher point of a pair wins λ, the lower one loses it.",
                ),
                (
                    lambda: _at_new(lost=False),
                    "These are the winners alone. Each pair also takes λ from its lower point.",
                ),
                (
                    lambda: _at_new(width=np.sqrt(2)),
                    "That is the kernel exp(-|x - x'|²/(2σ²)). The paper's has no 2.",
                ),
            ],
        ),
        because="g = Σ λᵢⱼ (k(xᵢ, ·) − k(xⱼ, ·)), here between the two groups, where no point is. It is "
        "lower than at any of the twelve.",
        hint="Work out what each point wins less what it loses, as in the lesson; then add up the twelve "
        "coefficients times the kernel between `new` and each point: `rbf(new, POINTS, 2.0) @ beta`.",
        words="The multipliers give one coefficient a point, and these give g anywhere.",
        code="won = np.bincount(higher, multipliers, 12)\nlost = np.bincount(lower, multipliers, 12)\n"
        "answer = rbf(new, POINTS, 2.0) @ (won - lost)",
    ),
    Exercise(
        judge=choice(
            "c",
            {
                "a": "It mostly falls, but it need not: set σ = 4 in the scene, go from C = 0.1 to 0.3 and "
                "on to 1, and read how many pairs are in the wrong order. Eq. 5 does not count pairs.",
                "b": "A higher price of slack buys a larger norm: it can only rise. Look at the level "
                "curves.",
                "d": "As long as a pair misses the margin its multiplier is C itself, and grows with it.",
            },
        ),
        because="Let g be best at C and g' at C' > C. Each is no worse than the other at its own price; add "
        "the two inequalities, the norms cancel, and (C' - C)(slack of g' - slack of g) ≤ 0 is left. So the "
        "norm can only grow: where slack is saved, it is paid for with norm.",
        hint="Move C in the scene, at σ = 4, and watch the four numbers. What does C multiply in Eq. 5?",
        words="In the scene, or by solving the program for rising C.",
        code="slack = [np.maximum(0, 1 - by_hand.differences(by_hand.solved(4.0, price)[0].scores)).sum()\n"
        '         for price in by_hand.PRICES]\nanswer = "c" if (np.diff(slack) < 1e-6).all() else "a"',
    ),
)
