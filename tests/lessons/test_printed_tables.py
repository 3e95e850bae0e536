"""Lesson 11: measured beside printed, on made-up records and on the ledger that ships."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import replies
from scipy import stats

from workbench.experiments import paper, table3
from workbench.experiments.contenders import CONTENDERS
from workbench.experiments.ledger import Ledger
from workbench.lessons import exercise, printed_tables
from workbench.lessons.printed_tables import CRITICAL, EXAMPLE, MEAN_RANKS, VIEWS

LEDGER = Path(__file__).resolve().parents[2] / "notebooks" / "results" / "ledger.sqlite"


@pytest.fixture
def records():
    """Four runs: LOF ahead of RankAD in each, iForest now and then, the printed detector far behind."""
    aucs = {
        "RankAD": [0.90, 0.92, 0.91, 0.93],
        "RankAD as printed": [0.60, 0.64, 0.62, 0.66],
        "LOF": [0.92, 0.94, 0.93, 0.952],
        "iForest": [0.80, 0.99, 0.85, 0.99],
    }
    return pd.DataFrame(
        [
            {"dataset": dataset, "scaling": scaling, "system": system, "seed": seed, "auc": auc}
            for dataset, scaling in product(("cover", "http"), ("raw", "standardised"))
            for system, runs in aucs.items()
            for seed, auc in enumerate(runs)
        ]
    )


def test_compared_by_hand(records):
    table = printed_tables.compared(records, "cover", "raw")
    assert list(table.index) == ["RankAD", "RankAD as printed", "iForest", "LOF"]
    assert table.loc["LOF", "auc"] == pytest.approx(0.9355)
    runs = np.array([0.60, 0.64, 0.62, 0.66])
    low, high = stats.t.interval(0.95, 3, runs.mean(), stats.sem(runs))
    assert table.loc["RankAD as printed", "half"] == pytest.approx((high - low) / 2)
    assert table.loc["RankAD as printed", "printed"] == paper.TABLE3_AUC["cover"][0]
    assert np.isnan(table.loc["RankAD", "printed"])
    assert np.isnan(table.loc["LOF", "printed"])
    assert table.loc["LOF", "lead"] == pytest.approx(np.mean([0.02, 0.02, 0.02, 0.022]))
    assert table.loc["LOF", "lead"] > table.loc["LOF", "chance"]
    assert table.loc["iForest", "lead"] < table.loc["iForest", "chance"]


def test_the_sentence_says_who_is_best_and_the_verdict(records):
    scene = printed_tables.dots(records)
    assert scene.words == (
        "cover, raw: LOF has the largest mean AUC, 0.935. RankAD has 0.915, place 2 of 4; ahead of it by "
        "more than chance: LOF. RankAD as printed has 0.630, where print says 0.932: -0.302 ± 0.055, "
        '"lower".'
    )


def test_equals_are_counted(records):
    records.loc[records["system"] == "iForest", "auc"] = records.loc[
        records["system"] == "LOF", "auc"
    ].to_numpy()
    assert "(others with the same three digits: 1)" in printed_tables.dots(records).words


def test_missing_cells_and_single_runs_leave_a_gap(records):
    few = records[(records["seed"] == 0) & ~((records["system"] == "LOF") & (records["dataset"] == "http"))]
    scene = printed_tables.dots(few)
    traces = len(scene.figures[0].data)
    scene.set(dataset="http")
    assert scene.message == ""
    assert len(scene.figures[0].data) == traces
    assert "place 1 of 3; ahead of it by more than chance: nobody" in scene.words
    assert "LOF" in scene.figures[0].data[1].y
    assert "±" not in scene.words
    without = records[~records["system"].isin(["RankAD as printed"])]
    assert "print says" not in printed_tables.dots(without).words


def test_every_position_of_the_scene_draws_from_the_ledger_that_ships():
    records = Ledger(LEDGER).records("table3", table3.VERSION)
    scene = printed_tables.dots(records)
    traces = len(scene.figures[0].data)
    for dataset, scaling in product(paper.TABLE3_AUC, ("raw", "standardised")):
        scene.set(dataset=dataset, scaling=scaling)
        assert scene.message == ""
        figure = scene.figures[0]
        assert len(figure.data) == traces
        assert len(figure.data[0].y) + len(figure.data[1].y) == records["system"].nunique()
        drawn = sum(x is not None and np.isfinite(x) for x in figure.data[2].x)
        assert drawn == len(paper.TABLE3_SYSTEMS)
        assert scene.words.startswith(f"{dataset}, {scaling}: ")
    for view in VIEWS:
        scene.set(view=view)
        assert scene.message == ""
        assert tuple(scene.figures[0].layout.xaxis.range) == VIEWS[view]


def test_what_the_third_exercise_says_is_in_the_ledger():
    records = Ledger(LEDGER).records("table3", table3.VERSION)
    for scaling in ("raw", "standardised"):
        auc = printed_tables.compared(records, "http", scaling)["auc"]
        assert auc["RankAD, one level"] > 0.995
        assert auc["RankAD"] > 0.995
        assert auc["RankAD, no anchor"] < 0.8
        assert auc["RankAD as printed"] < 0.8


def test_every_contender_has_a_place_in_the_order(records):
    named = pd.DataFrame({"system": [*CONTENDERS, "a system of tomorrow"]})
    order = printed_tables._order(named)
    assert sorted(order) == sorted(named["system"])
    assert order[0] == "RankAD"


@pytest.mark.parametrize(
    ("number", "answer", "state", "words"),
    [
        ("11.1", [2.0, 1.75, 2.25], "right", "best mean rank"),
        ("11.1", [2.0, 2.25, 1.75], "not yet", "1 to the worst"),
        ("11.1", EXAMPLE.mean(), "not yet", "mean AUCs"),
        ("11.1", [1, 2, 3], "not yet", "ranks of the mean AUCs"),
        ("11.1", EXAMPLE.rank(ascending=False).mean(), "not yet", "against each other"),
        ("11.1", 1.75, "not yet", "shape"),
        ("11.2", ["D", "E"], "right", "8.9"),
        ("11.2", "DE", "not yet", "a list of letters"),
        ("11.2", ["C", "D", "E"], "not yet", "Look again at C"),
        ("11.2", {"E"}, "not yet", "Subtract A's mean rank"),
        ("11.3", "d", "right", "one level"),
        ("11.3", "a", "not yet", "standardised"),
        ("11.3", "b", "not yet", "already"),
        ("11.3", "c", "not yet", "no anchor"),
        ("11.3", None, "not answered", "three dots"),
    ],
)
def test_answers_meet_words(number, answer, state, words):
    replies.expect(number, answer, state, words)


def test_truths_by_hand():
    by_hand = {"A": (1 + 3 + 1 + 3) / 4, "B": (2 + 1 + 2 + 2) / 4, "C": (3 + 2 + 3 + 1) / 4}
    assert exercise("11.1").check(list(by_hand.values())).state == "right"
    assert EXAMPLE.mean().idxmax() == "A"
    assert min(by_hand, key=by_hand.get) == "B"
    assert {name for name, rank in MEAN_RANKS.items() if rank > 3.2 + CRITICAL} == {"D", "E"}
