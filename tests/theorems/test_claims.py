"""Every claim's quick run has the verdict it should have, and every control the other one."""

import numpy as np
import pytest
from oracles import ThroughItsBox

from workbench import densities
from workbench.theorems import CLAIMS, Claim, refute_theorem3
from workbench.theorems.claim import VERDICTS, seed_of

SMALL = {
    "theorem_1": {"ns": (250, 2000), "repetitions": 12},
    "theorem_1_printed": {"ns": (250, 2000), "repetitions": 12},
    "lemma_1": {"ns": (125, 1000), "repetitions": 5},
    "lemma_2_law": {"ns": (200,), "repetitions": 80},
    "lemma_2_rate": {"ns": (1000, 100_000), "repetitions": 3},
    "theorem_2": {"ns": (50, 800), "repetitions": 8},
    "theorem_3_printed": {"ns": (10_000,), "repetitions": 120},
    "theorem_3": {"ns": (10_000,), "repetitions": 120},
    "beta_law_held_out": {"ns": (20,), "repetitions": 50},
    "beta_law_in_sample": {"ns": (20,), "repetitions": 50},
}
CHEAP = ["lemma_2_tail", "surrogate_bound", "order_lemma"]


@pytest.mark.parametrize("name", CLAIMS)
def test_verdict_and_control(name):
    claim = CLAIMS[name]
    result = claim.run(**SMALL.get(name, {}))
    control = claim.control(**SMALL.get(name, {}))
    assert result.verdict == claim.expected, result
    assert control.verdict == claim.control_expected, control
    assert {result.verdict, control.verdict} == {"holds", "refuted"}
    for outcome in (result, control):
        tidy(claim, outcome, SMALL.get(name, {}))


def tidy(claim, result, arguments):
    frame = result.frame
    assert list(frame.columns[:2]) == ["n", "repetition"]
    assert frame.notna().all(axis=None)
    assert frame.columns.is_unique
    assert list(frame.index) == list(range(len(frame)))
    assert sorted(frame["n"].unique()) == list(arguments.get("ns", claim.ns))
    assert frame["repetition"].nunique() == arguments.get("repetitions", claim.repetitions)
    assert frame.groupby(["n", "repetition"]).size().nunique() == 1
    assert list(result.summary.columns) == ["estimate", "low", "high", "predicted"]
    assert (result.summary["low"] <= result.summary["estimate"]).all()
    assert (result.summary["estimate"] <= result.summary["high"]).all()
    assert result.verdict in VERDICTS
    assert result.verdict in str(result)
    assert result.sentence.endswith(".")
    for words in (result.name, result.location, result.statement, result.assumes, result.refuted_if):
        assert words


def test_every_claim_says_what_breaks_it():
    for name, claim in CLAIMS.items():
        assert isinstance(claim, Claim)
        assert claim.name == name
        assert claim.broken_by
        assert claim.control_expected != claim.expected


@pytest.mark.parametrize("name", ["theorem_1", "lemma_1", "lemma_2_rate", "theorem_2", "beta_law_held_out"])
def test_same_seed_same_bytes_and_other_seed_other_bytes(name):
    claim, size = CLAIMS[name], {"ns": (100, 200), "repetitions": max(3, CLAIMS[name].fewest)}
    size["ns"] = {"lemma_2_rate": (1000, 2000), "beta_law_held_out": (20,)}.get(name, size["ns"])
    frames = [claim.run(**size, random_state=seed).frame for seed in (0, 0, 1)]
    as_bytes = [frame.select_dtypes("number").to_numpy().tobytes() for frame in frames]
    assert as_bytes[0] == as_bytes[1] != as_bytes[2]


def test_a_longer_run_begins_as_a_shorter_one():
    claim = CLAIMS["order_lemma"]
    short, long = (claim.run(ns=(50, 100), repetitions=r).frame for r in (4, 9))
    assert long[long["repetition"] < 4].reset_index(drop=True).equals(short)


def test_random_states():
    assert seed_of(7) == 7
    assert seed_of(np.random.default_rng(3)) == seed_of(np.random.default_rng(3))
    assert seed_of(None) != seed_of(None)


def test_interrupted_and_run_again(monkeypatch):
    claim = CLAIMS["order_lemma"]
    before = claim.run(ns=(50, 100), repetitions=4).frame

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(claim), "_measure", interrupted)
        with pytest.raises(KeyboardInterrupt):
            claim.run()
    assert claim.run(ns=(50, 100), repetitions=4).frame.equals(before)


def test_progress_is_shown_only_when_asked_for(capsys):
    CLAIMS["lemma_2_tail"].run(ns=(1000,))
    assert capsys.readouterr().err == ""
    CLAIMS["lemma_2_tail"].run(ns=(1000,), progress=True)
    assert "lemma_2_tail" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"density": "FIG1"}, "density must be a workbench.densities.Density, got 'FIG1'"),
        ({"ns": ()}, "ns must be at least 2 increasing whole numbers"),
        ({"ns": (100,)}, "at least 2 increasing"),
        ({"ns": 100}, "at least 2 increasing"),
        ({"ns": (200, 100)}, "increasing whole numbers"),
        ({"ns": (100, 100)}, "increasing whole numbers"),
        ({"ns": (10, 100)}, "none below 20"),
        ({"ns": (100, 200.5)}, "whole numbers"),
        ({"ns": (100, np.nan)}, "whole numbers"),
        ({"ns": (100, np.inf)}, "whole numbers"),
        ({"ns": (True, 100)}, "whole numbers"),
        ({"ns": "many"}, "whole numbers"),
        ({"ns": ((100, 200), (300, 400))}, "whole numbers"),
        ({"repetitions": 2}, "repetitions must be a whole number, at least 3, got 2"),
        ({"repetitions": 5.0}, "repetitions must be a whole number"),
        ({"repetitions": True}, "repetitions must be a whole number"),
        ({"random_state": -1}, "random_state must be None, a whole number that is not negative"),
        ({"random_state": 0.5}, "random_state must be"),
        ({"random_state": np.random.RandomState(0)}, "numpy Generator"),
    ],
)
def test_hostile_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        CLAIMS["order_lemma"].run(**arguments)


@pytest.mark.parametrize("name", CHEAP)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_any_density_with_only_the_general_machinery(name, d):
    shape = densities.GaussianMixture([1.0], [np.zeros(d)], [np.eye(d)])
    claim = CLAIMS[name]
    assert claim.run(ThroughItsBox(shape)).verdict == claim.expected
    assert claim.control(ThroughItsBox(shape)).verdict == claim.control_expected


@pytest.mark.parametrize("d", [1, 5])
def test_exponent_of_the_relative_bias_in_other_dimensions(d):
    shape = densities.GaussianMixture([1.0], [np.zeros(d)], [np.eye(d)])
    result = CLAIMS["lemma_2_rate"].run(shape, ns=(10_000, 1_000_000), repetitions=3)
    assert result.verdict == "holds"
    assert result.summary.loc["slope", "estimate"] == pytest.approx(2 / d, rel=0.15)


def test_the_measured_mean_distance_is_the_computed_one():
    summary = CLAIMS["lemma_2_law"].run(ns=(100,), repetitions=150).summary
    assert summary.loc["mean of D_(l) / E D_(l)", "low"] < 1 < summary.loc["mean of D_(l) / E D_(l)", "high"]


@pytest.mark.parametrize("name", ["lemma_1", "theorem_2"])
def test_a_true_claim_is_not_refuted_where_the_ladder_is_too_short(name):
    """A thin ring, where balls of mass l/m reach across: errors decline, but too slowly to tell."""
    assert CLAIMS[name].run(densities.RING, ns=(100, 200), repetitions=4).verdict != "refuted"


def test_a_flat_density_is_outside_theorem_1():
    result = CLAIMS["theorem_1"].run(densities.SQUARE, ns=(250, 1000), repetitions=4)
    assert "no flat regions" in result.assumes
    assert result.verdict == "refuted"


def test_in_sample_false_alarms_are_shifted_by_so_much():
    summary = CLAIMS["beta_law_in_sample"].run(ns=(100,), repetitions=30).summary
    row = summary.loc["mean false-alarm rate, n = 100"]
    assert row["predicted"] == pytest.approx(5 / 101)
    assert row["low"] > 2 * row["predicted"]


# The refutation of Theorem 3 for one function


@pytest.mark.parametrize(
    ("n", "share", "noted", "repetitions"),
    [
        (1000, 0.5, 0.038, 400),
        (10_000, 0.5, 0.244, 400),
        (10_000, 0.05, 0.060, 400),
        (100_000, 0.5, 0.397, 60),
        (100_000, 0.05, 0.275, 60),
        (1_000_000, 0.5, 0.462, 12),
        (1_000_000, 0.05, 0.413, 12),
    ],
)
def test_refutation_of_theorem_3(n, share, noted, repetitions):
    row = refute_theorem3([n], share, repetitions=repetitions).loc[n]
    assert row["exact"] == pytest.approx(noted, abs=0.002)
    assert abs(row["simulated"] - row["exact"]) < 4 * row["error"]


def test_theorem_3_is_true_for_the_smallest_score():
    table = refute_theorem3([100, 1000], 1e-9, repetitions=50)
    assert (table["m"] == 1).all()
    assert (table["exact"] < 0.05).all()
    assert (table["simulated"] == 0).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ns": [0]}, "n must be an integer of at least 1"),
        ({"ns": [10.5]}, "n must be an integer"),
        ({"share": 0}, "share must be m/n"),
        ({"share": np.nan}, "share must be m/n"),
        ({"delta": 1}, "delta must be"),
        ({"repetitions": 0}, "repetitions must be"),
        ({"random_state": "a"}, "random_state must be"),
    ],
)
def test_hostile_refutations(arguments, message):
    with pytest.raises(ValueError, match=message):
        refute_theorem3(**{"ns": [100], "repetitions": 2} | arguments)
