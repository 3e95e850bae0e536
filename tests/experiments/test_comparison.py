"""Intervals, verdicts and ranks against hand counts and scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from workbench.experiments.comparison import (
    against_print,
    half_width,
    mean_and_interval,
    mean_ranks,
    plus_minus,
    verdict,
)


def test_half_width_is_students():
    values = np.array([0.1, 0.4, 0.2, 0.5])
    low, high = stats.t.interval(0.95, 3, loc=values.mean(), scale=stats.sem(values))
    assert half_width(values) == pytest.approx((high - low) / 2)
    assert np.isnan(half_width([0.3]))
    assert plus_minus([0.3]) == "0.300"
    assert plus_minus(values, 2) == f"0.30 ± {(high - low) / 2:.2f}"


def test_the_interval_of_a_difference_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    runs = rng.normal(size=(4000, 5))
    printed = rng.normal(size=(4000, 5)).mean(axis=1)
    covered = np.mean([abs(r.mean() - p) <= half_width(r, 5) for r, p in zip(runs, printed, strict=True)])
    # Not exactly 95%: the spread is estimated from one of the two samples.
    assert 0.94 < covered < 0.96
    one_sided = np.mean([abs(r.mean() - p) <= half_width(r) for r, p in zip(runs, printed, strict=True)])
    assert one_sided < 0.9  # forgetting that print is random too


@pytest.mark.parametrize(
    ("values", "printed", "word"),
    [
        ([0.905, 0.91, 0.915], 0.905, "matches"),
        ([0.5, 0.9, 0.95], 0.905, "undecided"),
        ([0.9001, 0.9002, 0.9003], 0.905, "close"),
        ([0.9001, 0.9002, 0.9003], 0.95, "lower"),
        ([0.9001, 0.9002, 0.9003], 0.85, "higher"),
        ([0.9004], 0.900, "matches"),
        ([0.95], 0.9, "higher"),
    ],
)
def test_verdicts(values, printed, word):
    assert verdict(np.array(values), printed)[2] == word


def records():
    rows = [
        ("a", "raw", "x", 0.90),
        ("a", "raw", "x", 0.91),
        ("a", "raw", "x2", 0.70),
        ("a", "raw", "x2", 0.701),
        ("a", "standardised", "x", 0.80),
        ("a", "standardised", "x", 0.801),
        ("b", "raw", "x", 0.5),
        ("b", "raw", "x", 0.5),
    ]
    return pd.DataFrame(rows, columns=["dataset", "scaling", "system", "auc"])


def test_print_is_found_where_it_is_reached():
    table = against_print(records(), ("x",), {"a": (0.70,), "b": (0.5,)}, {})
    a, b = table.iloc[0], table.iloc[1]
    assert a["raw: verdict"] == "higher"
    assert a["standardised: verdict"] == "higher"
    assert a["print is reached by"] == "x2, raw"
    assert b["raw: verdict"] == "matches"
    assert b["standardised"] == ""
    assert b["print is reached by"] == ""
    other = against_print(records(), ("y",), {"a": (0.80,)}, {"y": "x"})
    assert other.iloc[0]["standardised: verdict"] == "matches"


def test_means_are_sorted_and_gaps_stay_empty():
    table = mean_and_interval(records()[lambda r: r["scaling"] == "raw"], "system", "dataset", "auc")
    assert list(table.index) == ["x", "x2"]
    assert table.loc["x2", "b"] == ""
    assert table.loc["x", "mean"] == f"{(0.905 + 0.5) / 2:.4f}"


def test_mean_ranks_and_nemenyis_difference():
    rng = np.random.default_rng(1)
    auc = rng.random((8, 4)) + np.array([0.3, 0.2, 0.1, 0.0])
    long = pd.DataFrame(
        [(str(i), str(j), auc[i, j]) for i in range(8) for j in range(4)],
        columns=["dataset", "system", "auc"],
    )
    ranks, critical, p = mean_ranks(long)
    by_hand = np.mean([stats.rankdata(-row) for row in auc], axis=0)
    assert {str(j): by_hand[j] for j in range(4)} == pytest.approx(ranks.to_dict())
    assert p == pytest.approx(stats.friedmanchisquare(*auc.T).pvalue)
    # Table 5 of Demsar (2006): q_.05 = 2.569 for four classifiers.
    assert critical == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 8)), rel=1e-3)
