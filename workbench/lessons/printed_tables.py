"""Lesson 11: every system's AUC beside the printed one, and how to read a comparison of many."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..datasets import DATASETS
from ..experiments import paper
from ..experiments.comparison import half_width, verdict
from ..experiments.contenders import CONTENDERS, COUNTERPART, DEFAULT, OURS, PRINTED, SELECTED
from ..experiments.tasks import SCALINGS
from ..plots.curves import COLOURS
from .exercises import Exercise
from .judges import array, choice, members
from .scenes import Scene
from .scenes import choice as menu

VIEWS = {"from a coin to perfect": (0.48, 1.01), "the last tenth": (0.895, 1.003)}

EXAMPLE = pd.DataFrame(
    {"A": [0.95, 0.90, 0.99, 0.74], "B": [0.94, 0.93, 0.90, 0.75], "C": [0.50, 0.91, 0.89, 0.80]},
    index=pd.Index(["set 1", "set 2", "set 3", "set 4"]),
)
"""AUC of three systems on four sets, made up: the first exercise."""

MEAN_RANKS = {"A": 3.2, "B": 8.6, "C": 11.4, "D": 12.1, "E": 15.3}
CRITICAL = 8.7
"""Of the second exercise, made up."""


def compared(records, dataset, scaling):
    """AUC of each system on one data set, and what the paper prints.

    Parameters
    ----------
    records : data frame
        With columns dataset, scaling, system, seed and auc.
    dataset, scaling : str

    Returns
    -------
    data frame
        A row for each system of the ledger: ``auc``, the mean over the runs; ``half`` of its 95% interval,
        NaN for a single run; ``printed``, NaN where the paper has none; ``lead``, the mean difference from
        RankAD's default over the runs they share, and ``chance``, half of its 95% interval.
    """
    part = records[(records["dataset"] == dataset) & (records["scaling"] == scaling)]
    runs = part.pivot_table(index="seed", columns="system", values="auc")
    runs = runs.reindex(columns=_order(records))
    lead = runs.sub(runs[DEFAULT], axis=0)
    printed = dict(zip(paper.TABLE3_SYSTEMS, paper.TABLE3_AUC[dataset], strict=True))
    standing_for = {COUNTERPART.get(system, system): value for system, value in printed.items()}
    return pd.DataFrame(
        {
            "auc": runs.mean(),
            "half": runs.apply(lambda values: half_width(values.dropna())),
            "printed": pd.Series(standing_for, dtype=float).reindex(runs.columns),
            "lead": lead.mean(),
            "chance": lead.apply(lambda values: half_width(values.dropna())),
        }
    )


def dots(records):
    """Return the scene of the lesson: every system's AUC on a data set, beside the printed ones.

    Parameters
    ----------
    records : data frame
        Of the ledger's table3.
    """
    present = set(records["dataset"])
    tables = {each: compared(records, *each) for each, _ in records.groupby(["dataset", "scaling"])}

    def draw(dataset, scaling, view):
        return _draw(records, tables[dataset, scaling], dataset, scaling, view)

    return Scene(
        draw,
        dataset=menu("data set", [name for name in DATASETS if name in present]),
        scaling=menu("features", [name for name in SCALINGS if name in set(records["scaling"])]),
        view=menu("axis", VIEWS),
    )


def _order(records):
    """Systems of the ledger: ours, those with cross-validation, and the others as they are listed."""
    listed = [*OURS, *SELECTED, *(name for name in CONTENDERS if name not in OURS | SELECTED)]
    present = set(records["system"])
    return [name for name in listed if name in present] + sorted(present - set(listed))


def _draw(records, table, dataset, scaling, view):
    names = table.index.tolist()
    figure = go.Figure()
    groups = {
        "RankAD and its parts": (np.array(["RankAD" in name for name in names]), COLOURS[1], "square"),
        "other systems": (np.array(["RankAD" not in name for name in names]), COLOURS[0], "circle"),
    }
    for name, (chosen, colour, symbol) in groups.items():
        rows = table[chosen]
        figure.add_scatter(
            x=rows["auc"], y=rows.index, error_x={"array": rows["half"].fillna(0), "thickness": 1.5},
            mode="markers", marker={"color": colour, "symbol": symbol, "size": 9}, name=f"{name}, measured",
            hovertemplate="%{y}: %{x:.4f}<extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=table["printed"], y=names, mode="markers", name="printed",
        marker={"symbol": "diamond-open", "size": 12, "color": "#000", "line": {"width": 2}},
        hovertemplate="%{y}, printed: %{x:.3f}<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(title="AUC (bars: 95% intervals over the runs)", range=list(VIEWS[view]))
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], range=[-0.7, len(names) - 0.3])
    figure.update_layout(
        template="plotly_white", width=860, height=140 + 24 * len(names),
        margin={"l": 160, "t": 60, "b": 50, "r": 10},
        legend={"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0},
    )  # fmt: skip
    return figure, _words(records, table, dataset, scaling)


def _words(records, table, dataset, scaling):
    measured = table["auc"].dropna()
    best = measured.idxmax()
    others = int((measured.round(3) == round(measured[best], 3)).sum()) - 1
    words = f"{dataset}, {scaling}: {best} has the largest mean AUC, {measured[best]:.3f}"
    words += f" (others with the same three digits: {others}). " if others else ". "
    if DEFAULT in measured.index:
        place = 1 + int((measured > measured[DEFAULT]).sum())
        ahead = table.index[(table["lead"] > table["chance"])].tolist()
        words += (
            f"RankAD has {measured[DEFAULT]:.3f}, place {place} of {len(measured)}; ahead of it by more than "
            f"chance: {', '.join(ahead) or 'nobody'}."
        )
    runs = records[
        (records["dataset"] == dataset) & (records["scaling"] == scaling) & (records["system"] == PRINTED)
    ]["auc"].dropna()
    if len(runs):
        target = table.loc[PRINTED, "printed"]
        difference, half, word = verdict(runs.to_numpy(), target)
        within = "" if np.isnan(half) else f" ± {half:.3f}"
        words += (
            f" RankAD as printed has {runs.mean():.3f}, where print says {target:.3f}: "
            f"{difference:+.3f}{within}, "
            f'"{word}".'
        )
    return words


def _ranks(table, ascending=False):
    return table.rank(axis=1, ascending=ascending).mean().to_numpy()


EXERCISES = (
    Exercise(
        judge=array(
            lambda: _ranks(EXAMPLE),
            0.01,
            [
                (
                    lambda: _ranks(EXAMPLE, ascending=True),
                    "These ranks give 1 to the worst. The best gets 1.",
                ),
                (lambda: EXAMPLE.mean().to_numpy(), "These are the mean AUCs. Rank within each set first."),
                (
                    lambda: EXAMPLE.rank(ascending=False).mean().to_numpy(),
                    "Here each system's sets are ranked against each other. Rank the systems within each "
                    "set.",
                ),
                (
                    lambda: EXAMPLE.mean().rank(ascending=False).to_numpy(),
                    "These are the ranks of the mean AUCs. Rank within each set first, then average.",
                ),
            ],
        ),
        because="A has the largest mean AUC, .895 against .880 of B, and B the best mean rank, 1.75 "
        "against 2. One set on which A is far ahead makes the first, and three on which it is just "
        "behind or ahead make the second.",
        hint="For each set: the best system gets 1, the next 2, the last 3. Then average over the sets. "
        "`EXAMPLE.rank(axis=1, ascending=False)` does the first half.",
        words="Rank within each row, the best first, and average the columns.",
        code="answer = printed_tables.EXAMPLE.rank(axis=1, ascending=False).mean()",
    ),
    Exercise(
        judge=members(
            lambda: [name for name, rank in MEAN_RANKS.items() if rank - MEAN_RANKS["A"] > CRITICAL],
            "letters",
            "Subtract A's mean rank from each, and compare with 8.7.",
            "Is its mean rank more than 8.7 away from that of A?",
        ),
        because="12.1 - 3.2 = 8.9 and 15.3 - 3.2 = 12.1 are beyond 8.7; 11.4 - 3.2 = 8.2 is not. That "
        "does not say that A and C are equal: eight sets are too few to tell.",
        hint="The difference of two mean ranks must be larger than the critical difference.",
        words="Those whose mean rank is more than 8.7 above 3.2.",
        code="ranks = printed_tables.MEAN_RANKS\n"
        'answer = [name for name in ranks if ranks[name] - ranks["A"] > printed_tables.CRITICAL]',
    ),
    Exercise(
        judge=choice(
            "d",
            {
                "a": "Compare RankAD as printed with raw and with standardised features on http, in the "
                "figure.",
                "b": "RankAD as printed chooses C by cross-validation already.",
                "c": "*RankAD, no anchor* has three levels. And in Table 1 ten levels do not cure what is "
                "printed.",
            },
        ),
        because="*RankAD, one level* has the anchor and no ranking at all, and reaches the printed AUC on "
        "http. Its anomalies are far out, where a score without an anchor returns to 0, the middle of "
        "the training scores.",
        hint="The figure has a row for each part taken away: *no anchor* keeps the levels, *one level* "
        "keeps the anchor.",
        words="The anchor: *one level*, which has nothing else, is near 1 on http; *no anchor* is far below.",
        code='answer = "d"',
    ),
)
"""Mean ranks, a critical difference, and what brings http back."""
