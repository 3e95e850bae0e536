"""Lesson 12: a table of normal operation, new rows, and what to decide about them."""

from __future__ import annotations

from functools import lru_cache
from math import ceil

import numpy as np
import pandas as pd
from plotly.subplots import make_subplots
from scipy.stats import false_discovery_control

from ..plots.curves import COLOURS
from ..pvalues import p_value
from .exercises import Exercise
from .judges import members, number
from .scenes import Scene, slider
from .scenes import choice as menu

SENSORS = ("load_kW", "flow_m3h", "pressure_bar", "vibration_mm_s", "temperature_C")
"""What a pump's logger writes down every minute; names carry the units."""

FAULTS = ("leak", "bearing")
GAPS = 0.01
"""Share of the rows of :func:`logged` in which the temperature is missing."""

ROWS = 1000
ALPHAS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
REPETITIONS = tuple(range(1, 9))
SHARES = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
RULES = ("alarm where p ≤ level", "false discovery rate ≤ level")

P_VALUES = (0.003, 0.62, 0.040, 0.045, 0.30, 0.090, 0.011, 0.90)
"""Of the eight rows in the second exercise."""


def pump(n, fault=None, *, summer=0.0, random_state=None):
    """Draw independent minutes of a made-up pump that runs at half load or at full load.

    Flow, pressure and temperature follow the load. A leak opens at full load and takes a quarter of the flow
    and 0.6 bar: no sensor leaves its usual range, but flow and load no longer fit. A worn bearing shakes more
    and is warmer.

    Parameters
    ----------
    n : int
    fault : {None, "leak", "bearing"}
    summer : float, default 0
        Degrees by which the pump's surroundings are warmer than in the table of normal operation.
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    data frame of shape (n, 5)
        With the columns SENSORS.

    Raises
    ------
    ValueError
        If there is no such fault.
    """
    if fault is not None and fault not in FAULTS:
        raise ValueError(f"fault must be None or one of {', '.join(FAULTS)}, got {fault!r}.")
    rng = np.random.default_rng(random_state)
    half = (rng.random(n) < 0.6) & (fault != "leak")
    load = np.where(half, 30.0, 55.0) + 2.5 * rng.standard_normal(n)
    flow = 2 * load + 2 * rng.standard_normal(n)
    pressure = 2 + 0.06 * load + 0.15 * rng.standard_normal(n)
    vibration = np.exp(0.3 + 0.008 * load + 0.15 * rng.standard_normal(n))
    temperature = 20 + summer + 0.5 * load + 3 * rng.standard_normal(n)
    if fault == "leak":
        flow, pressure = 0.75 * flow, pressure - 0.6
    if fault == "bearing":
        vibration, temperature = 1.8 * vibration, temperature + 6
    return pd.DataFrame(
        dict(zip(SENSORS, (load, flow, pressure, vibration, temperature), strict=True))
    ).round(3)


def logged(n, *, random_state=None):
    """Return normal operation as the logger writes it: with a clock, a constant and gaps.

    Parameters
    ----------
    n : int
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    data frame of shape (n, 7)
        The columns ``minute``, SENSORS and ``rated_rpm``; about a share GAPS of the temperatures is missing.
    """
    rng = np.random.default_rng(random_state)
    table = pump(n, random_state=rng)
    table.loc[rng.random(n) < GAPS, "temperature_C"] = np.nan
    table.insert(0, "minute", np.arange(n))
    return table.assign(rated_rpm=1450)


def watched(n, faulty, random_state=None):
    """Draw new minutes of which some are faulty, in random order.

    Parameters
    ----------
    n, faulty : int
        How many minutes, and in how many of them there is a fault: leaks and bearings by turns.
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    rows : data frame of shape (n, 5)
    is_faulty : bool array of shape (n,)
    """
    rng = np.random.default_rng(random_state)
    bearings = faulty // 2
    parts = [
        pump(n - faulty, random_state=rng),
        pump(faulty - bearings, "leak", random_state=rng),
        pump(bearings, "bearing", random_state=rng),
    ]
    order = rng.permutation(n)
    rows = pd.concat(parts, ignore_index=True).iloc[order].reset_index(drop=True)
    return rows, order >= n - faulty


def decided(p, rule, level):
    """Which rows a rule declares, and the largest p-value that it would declare at each place in the order.

    Parameters
    ----------
    p : array of shape (n,)
        p-values.
    rule : str
        One of :data:`RULES`.
    level : float

    Returns
    -------
    declared : bool array of shape (n,)
    line : array of shape (n,)
        For the smallest p-value, the second smallest, and so on.
    """
    if rule == RULES[0]:
        return p <= level, np.full(len(p), level)
    return false_discovery_control(p) <= level, level * np.arange(1, len(p) + 1) / len(p)


def monday():
    """Return the scene of the lesson: new rows, some faulty, and what two rules make of them."""
    return Scene(
        _draw,
        level=slider("level (α or q)", ALPHAS, 0.05),
        share=slider("share of faulty rows", SHARES, 0.05, "{:.1%}"),
        repetition=slider("repetition", REPETITIONS, 1),
        rule=menu("rule", RULES),
    )


@lru_cache(maxsize=1)
def _detector():
    """Return a detector trained on ROWS minutes, and the units that its features are measured in."""
    from ..detector import RankAD

    table = pump(500 + ROWS, random_state=12)
    centre, spread = table[:500].mean(), table[:500].std()
    return RankAD(random_state=0).fit((table[500:] - centre) / spread), centre, spread


@lru_cache(maxsize=len(REPETITIONS))
def _p_values(repetition):
    """p-values by fresh calibration rows: of ROWS normal minutes, and of both faults by turns."""
    detector, centre, spread = _detector()
    rng = np.random.default_rng([12, repetition])
    faulty = round(max(SHARES) * ROWS)
    kinds = [pump(ROWS, random_state=rng) for _ in range(2)]
    kinds += [pump(faulty, fault, random_state=rng) for fault in FAULTS]
    held_out, *scores = (detector.score_samples((rows - centre) / spread) for rows in kinds)
    normal, leak, bearing = (p_value(g, np.sort(held_out), split=True) for g in scores)
    return normal, np.where(np.arange(faulty) % 2 == 0, leak, bearing)


def _draw(level, share, repetition, rule):
    normal, faulty = _p_values(repetition)
    n_faulty = round(share * ROWS)
    p = np.concatenate([normal[: ROWS - n_faulty], faulty[:n_faulty]])
    is_faulty = np.arange(ROWS) >= ROWS - n_faulty
    declared, line = decided(p, rule, level)
    order = np.argsort(p, kind="stable")
    place = np.arange(1, ROWS + 1)
    found, false = int((declared & is_faulty).sum()), int((declared & ~is_faulty).sum())

    figure = make_subplots(cols=2, column_widths=[0.68, 0.32], horizontal_spacing=0.14)
    for name, chosen, marker in (
        ("normal row", ~is_faulty[order], {"color": COLOURS[0], "symbol": "circle-open", "size": 6}),
        ("faulty row", is_faulty[order], {"color": COLOURS[1], "symbol": "x", "size": 8}),
    ):
        figure.add_scatter(
            x=place[chosen], y=p[order][chosen], mode="markers", marker=marker, name=name,
            hovertemplate="place %{x}, p = %{y:.3f}", row=1, col=1,
        )  # fmt: skip
    figure.add_scatter(
        x=place, y=line, mode="lines", line={"color": "#000", "dash": "dash", "width": 2},
        name="line of the rule", hoverinfo="skip", row=1, col=1,
    )  # fmt: skip
    counts = {"false<br>alarms": false, "faults<br>found": found, "faults<br>missed": n_faulty - found}
    figure.add_bar(
        x=list(counts), y=list(counts.values()), text=list(counts.values()), textposition="outside",
        marker={"color": [COLOURS[0], COLOURS[1], "#BBBBBB"], "pattern": {"shape": ["", "x", "/"]}},
        showlegend=False, hoverinfo="skip", cliponaxis=False, row=1, col=2,
    )  # fmt: skip
    figure.update_xaxes(
        type="log", title="place in the order, smallest p first", range=[-0.1, 3.1], dtick=1, col=1
    )
    figure.update_yaxes(type="log", title="p-value", range=[-4.2, 0.2], dtick=1, tickformat="~r", col=1)
    figure.update_yaxes(title="rows", range=[0, 240], col=2)
    figure.update_layout(
        template="plotly_white", width=860, height=420, margin={"t": 50, "b": 50, "r": 10},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    )  # fmt: skip
    return figure, _words(level, rule, found, false, n_faulty)


def _words(level, rule, found, false, n_faulty):
    alarms = found + false
    words = f"{n_faulty or 'None'} of {ROWS} new rows are faulty. "
    if rule == RULES[1] and not alarms:
        # The smallest p-value, 1/(ROWS + 1), is below the line only from this place on.
        return words + (
            f"No alarm: no p-value is below the line. The smallest that {ROWS} calibration rows allow is "
            f"1/{ROWS + 1}, and {ceil(ROWS / (ROWS + 1) / level)} rows would have to be that unusual."
        )
    words += f"{alarms} {'alarm' if alarms == 1 else 'alarms'}, of which {false} false"
    words += f" ({false / alarms:.0%}). " if alarms else ". "
    if n_faulty:
        words += f"{found} of the {n_faulty} faulty rows are found. "
    if rule == RULES[0]:
        return words + f"Expected at α = {level:g}: {level * (ROWS - n_faulty):.3g} false."
    return words + f"Promised is a false share of {level:g} at most on average over repetitions, not in each."


def _discovered():
    return np.flatnonzero(false_discovery_control(P_VALUES) <= 0.1)


EXERCISES = (
    Exercise(
        judge=number(
            lambda: 99.5 / 149.5,
            0.006,
            [
                (
                    0.01,
                    "That is the share of the normal rows that raise an alarm. What share of the alarms "
                    "is false?",
                ),
                (50 / 149.5, "That is the share of the alarms that are right."),
                (0.995, "That is the share of normal rows among all rows, and not among the alarms."),
                (99.5, "That is how many false alarms to expect. Divide by the number of all alarms."),
            ],
        ),
        because="Of 9950 normal rows 99.5 raise an alarm on average, and 50 faulty ones do: 99.5 of "
        "149.5, two alarms in three. A small α does not mean that few alarms are false: faults are "
        "rare, normal rows are not.",
        hint="Count both kinds of alarms: a hundredth of the 9950 normal rows, and the 50 faulty ones.",
        words="False alarms: 0.01 times 9950. All alarms: these and 50.",
        code="answer = 0.01 * 9950 / (0.01 * 9950 + 50)",
    ),
    Exercise(
        judge=members(
            _discovered,
            "indices",
            "Go on to the last p-value in the order that is below the line; all before it count, also one "
            "that is above the line.",
            "Is there any p-value from there on that is below the line, 0.1 times its place over 8?",
            [
                (lambda: _discovered() + 1, "The right rows. But count them from 0, as the question does."),
                (
                    lambda: [P_VALUES[i] for i in _discovered()],
                    "These are their p-values. Where are they in the list?",
                ),
                (
                    lambda: np.flatnonzero(np.array(P_VALUES) <= 0.1),
                    "That compares each p-value with 0.1: an alarm at level 10%. The line of the procedure "
                    "rises, from 0.1/8 for the smallest.",
                ),
            ],
        ),
        because="In order: .003, .011, .040, .045, .090, ... against .0125, .0250, .0375, .0500, .0625, "
        "... The last one below the line is the fourth, .045. So four are declared, and .040 too, "
        "which is above its own line.",
        hint="Sort. Compare the i-th smallest with 0.1 i/8. Find the largest i for which it is below or "
        "equal. Declare the i smallest, and give their places in the list, from 0.",
        words="That is what `false_discovery_control` does: it returns the smallest q at which a row is "
        "declared.",
        code="from scipy.stats import false_discovery_control\n"
        "answer = [i for i, q in enumerate(false_discovery_control(own_data.P_VALUES)) if q <= 0.1]",
    ),
    Exercise(
        judge=number(
            lambda: 999,
            0,
            [
                (1000, "Nearly. The smallest p-value is 1/(n + 1), not 1/n: one row fewer will do."),
                (998, "With 998 rows the smallest p-value is 1/999, which is a little more than 0.001."),
                (
                    1998,
                    "So many rows must you give to RankAD, which calibrates with half. The question is "
                    "about that half.",
                ),
                (1999, "RankAD calibrates with half of its rows. The question is about that half."),
            ],
        ),
        because="A row below all n calibration rows gets (1 + 0)/(n + 1), and 1/1000 needs n = 999. No "
        "model, however good, gets a smaller one: what has not been observed a thousand times cannot "
        "be called one in a thousand.",
        hint="The p-value is (1 + how many calibration rows score as low)/(n + 1). What is the smallest "
        "it can be?",
        words="1/(n + 1) ≤ 0.001 means n ≥ 999.",
        code="answer = next(n for n in range(1, 10_000) if 1 / (n + 1) <= 0.001)",
    ),
)
