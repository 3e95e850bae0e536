"""The study against literal code, its choices against ties made by hand, and the lesson's claims about it."""

import numpy as np
import pytest

from workbench import RankAD, ranksvm
from workbench.lessons import rules
from workbench.lessons.rules import DETECTORS, FACTORS, PRICES, RULES, Study, study
from workbench.neighbors import ranks
from workbench.preferences import quantize


def made_up(auc, disagreement):
    shape = len(FACTORS), len(PRICES)
    values = {"disagreement": np.full(shape, 0.5)}
    values["disagreement"][disagreement] = 0.1
    return Study(None, None, None, 1.0, np.broadcast_to(auc, shape), values, None)


def test_ties_go_to_the_largest_sigma_then_to_the_smallest_price():
    auc = np.arange(len(FACTORS))[:, None] * np.ones(len(PRICES))
    everywhere = made_up(auc, (slice(None), slice(None)))
    assert everywhere.chosen("disagreement") == (len(FACTORS) - 1, 0)
    some = made_up(auc, ([2, 5, 5], [0, 1, 2]))
    assert some.chosen("disagreement") == (5, 1)
    assert some.chosen("disagreement", PRICES[0]) == (2, 0)
    assert some.regret("disagreement") == len(FACTORS) - 1 - 5
    assert some.regret("disagreement", PRICES[0]) == len(FACTORS) - 1 - 2
    assert some.regret("oracle") == 0


def test_a_price_that_was_not_tried_is_an_error():
    with pytest.raises(ValueError, match="index"):
        made_up(1.0, (0, 0)).chosen("disagreement", 2.0)


@pytest.mark.parametrize("detector", DETECTORS)
def test_a_setting_is_what_it_says(detector):
    found, cell = study(detector), (5, 1)
    sigma, C = FACTORS[5] * found.D_K, PRICES[1]
    rng = np.random.RandomState(rules.SAMPLE)
    X = rules.DENSITY.sample(rules.N, rng)
    assert np.array_equal(X, found.X)
    levels = quantize(ranks(X, rules.NEIGHBOURS, 20, rng), 3)
    anchor = rules.N if detector == "with the anchor" else 0.0
    beta = ranksvm.solve(X, levels, sigma=sigma, C=C, anchor=anchor, tol=1e-6).beta

    def g(points, weights):
        distances = ((points[:, None] - X[None]) ** 2).sum(axis=2)
        return np.exp(-distances / sigma**2) @ weights

    own, other = g(found.nominal, found.betas[cell]), g(found.anomalies, found.betas[cell])
    literal = np.mean(own[:, None] > other[None]) + np.mean(own[:, None] == other[None]) / 2
    assert found.auc[cell] == pytest.approx(literal)
    assert np.corrcoef(own, g(found.nominal, beta))[0, 1] > 0.99  # solved to 1e-3 and to 1e-6


def test_the_rules_against_loops():
    rng = np.random.default_rng(0)
    own, levels = np.round(rng.normal(size=30), 1), rng.integers(1, 4, 30)
    others = {kind: np.round(rng.normal(-1, 1, 25), 1) for kind in ("redrawn", "uniform")}
    found = rules._judge(own, levels, others)
    pairs = [(i, j) for i in range(30) for j in range(30) if levels[i] > levels[j]]
    wrong = sum((own[i] < own[j]) + (own[i] == own[j]) / 2 for i, j in pairs) / len(pairs)
    assert found["disagreement"] == pytest.approx(wrong)
    lost = [(a < b) + (a == b) / 2 for a in own for other in others.values() for b in other]
    assert found["synthetic anomalies"] == pytest.approx(np.mean(lost))
    volumes = []
    for mass in np.linspace(0.9, 0.999, 100):
        t = max(t for t in own if np.mean(own >= t) >= mass - 1e-12)
        volumes.append(np.mean(others["uniform"] >= t))
    assert found["mass-volume"] == pytest.approx(np.mean(volumes))
    assert found["excess-mass"] <= 0


def test_disagreement_cannot_see_what_synthetic_anomalies_see():
    rng = np.random.default_rng(1)
    own, levels, other = rng.normal(size=40), rng.integers(1, 4, 40), rng.normal(size=40)
    before = rules._judge(own, levels, {"uniform": other})
    after = rules._judge(own, levels, {"uniform": np.full(40, 1000.0)})
    assert after["disagreement"] == before["disagreement"]
    assert after["synthetic anomalies"] == 1
    assert after["mass-volume"] == 1


def test_a_detector_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="no detector 'anchored': choose one of as printed, with the anchor"):
        study("anchored")


def test_a_study_is_done_once():
    assert study("as printed") is study("as printed", rules.SAMPLE)


def test_what_the_lesson_says_of_the_detector_as_printed():
    found = study("as printed")
    one, four, j = FACTORS.index(1.0), FACTORS.index(4.0), PRICES.index(10.0)
    assert found.auc[one, j] < 0.65
    assert found.auc[four, j] > 0.9
    assert 0.045 < found.rules["disagreement"][four, j] < found.rules["disagreement"][one, j] < 0.06
    assert found.regret("disagreement") > 0.2
    assert max(found.regret(rule) for rule in RULES[1:]) < 0.05


def test_what_the_lesson_says_of_the_anchor():
    found = study("with the anchor")
    assert found.auc[: FACTORS.index(4.0) + 1].min() > 0.9
    assert found.auc[-1].max() < 0.85  # a control: it is not flat everywhere
    assert all(found.regret(rule, price) < 0.05 for rule in RULES for price in PRICES)
    assert max(found.regret(rule) for rule in RULES) < 0.03


def test_tables_are_the_study():
    found, j = study("as printed"), PRICES.index(1.0)
    table = rules.table("as printed", 1.0)
    assert list(table.index) == list(FACTORS)
    assert np.array_equal(table["AUC"], found.auc[:, j])
    assert np.array_equal(table["mass-volume"], found.rules["mass-volume"][:, j])
    regrets = rules.regrets()
    assert list(regrets.columns) == list(DETECTORS)
    assert regrets.loc["disagreement", "as printed"] == found.regret("disagreement")


def test_the_default_is_hard_to_beat_here():
    found = study("with the anchor")
    scores = RankAD(random_state=0).fit(found.X).score_samples
    auc = np.mean(scores(found.nominal)[:, None] > scores(found.anomalies)[None])
    assert auc > found.auc.max() - 0.01
