import doctest

import numpy as np
import pytest

from workbench import bounds
from workbench.bounds import false_alarm

N = 200
SCORES = np.linspace(-0.4, 0.8, N)
EVERYTHING = {
    "support_vectors": 20,
    "scores": SCORES,
    "norm": 1.0,
    "rho": [0.1, 0.5],
    "log_covering": [417.0, 133.0],
}


def test_the_example():
    assert doctest.testmod(false_alarm).failed == 0


def test_every_row_is_its_function():
    table = bounds.false_alarm_table(N, 0.05, 0.1, **EVERYTHING)
    m, half = 11, (6, 100)
    expected = {
        "Clopper-Pearson": bounds.clopper_pearson(m, N, 0.1),
        "Simes": bounds.simes(N, 0.1)[m - 1],
        "ELL": bounds.ell(N, 0.1)[m - 1],
        "DKW": bounds.dkw(m, N, 0.1),
        "Clopper-Pearson, half split": bounds.clopper_pearson(*half, 0.1),
        "Simes, half split": bounds.simes(100, 0.1)[5],
        "ELL, half split": bounds.ell(100, 0.1)[5],
        "DKW, half split": bounds.dkw(*half, 0.1),
        "CV+, 5 folds": bounds.cv_plus(m, N, 5),
        "jackknife+": bounds.jackknife_plus(m, N),
        "CV+, 5 folds, given the sample": bounds.cv_plus_conditional(m, N, 5, 0.1),
        "compression": bounds.sample_compression(m, N, 20, 0.1),
        "PAC-Bayes": bounds.pac_bayes(SCORES, m, 1.0, 0.1),
        "Theorem 3 corrected, no margin": bounds.theorem3_rule(SCORES, m, 1.0, [0.1, 0.5], [417, 133], 0.1),
    }
    for name, value in expected.items():
        assert table.loc[name, "false_alarm"] == pytest.approx(value, rel=1e-12), name
    margins = table[table["rho"] == 0.5]
    expected_margins = {
        "PAC-Bayes, margin": bounds.pac_bayes_margin(m, N, 0.5, 0.1),
        "Rademacher": bounds.rademacher(m, N, 0.5, 0.1 / 2),
        "Theorem 3 corrected": bounds.theorem3_corrected(m, N, 133.0, 0.1, radii=2),
        "Theorem 3 as printed": bounds.theorem3_printed(m, N, 133.0, 0.1),
    }
    assert margins["false_alarm"].to_dict() == pytest.approx(expected_margins)
    assert (margins["region"] == "g < g^(m) - 2 rho |g|").all()
    assert len(table) == len(expected) + 2 * len(expected_margins)
    assert tuple(table.loc["Simes, half split", ["m", "points"]]) == half


def test_marks():
    table = bounds.false_alarm_table(N, 0.05, 0.05, **EVERYTHING)
    held_out = table.index.isin(["Clopper-Pearson", "Simes", "ELL", "DKW"])
    assert not table.loc[held_out, "vacuous"].any()
    assert table.loc["Theorem 3 as printed", "vacuous"].all()
    assert not table.loc["Theorem 3 as printed", "proved"].any()
    assert table.drop("Theorem 3 as printed")["proved"].all()
    assert (table["assumes"].str.len() > 0).all()
    assert table.loc["Clopper-Pearson", "holds"] == "one m, with probability 1 - delta"
    assert table.loc["jackknife+", "holds"] == "on average over samples"
    smallest = bounds.false_alarm_table(N, 0.004, 0.05, rho=0.1, log_covering=417.0)
    assert smallest.loc["Theorem 3 as printed", "m"] == 1
    assert smallest.loc["Theorem 3 as printed", "proved"]


def test_vacuous_just_below_one():
    """A limit of 1 - 1e-9 says less than the largest of n held-out scores, whatever alpha."""
    table = bounds.false_alarm_table(N, 0.05, 0.05, rho=0.1, log_covering=5000.0)
    corrected = table.loc["Theorem 3 corrected"]
    assert corrected["false_alarm"] < 1
    assert corrected["vacuous"]
    limit = bounds.clopper_pearson(N, N, 0.05)
    assert limit == pytest.approx(0.95 ** (1 / N))
    assert (table["vacuous"] == (table["false_alarm"] >= limit)).all()


def test_split_rule_has_its_own_order():
    both = [bounds.false_alarm_table(N, 0.05, 0.05, split=split) for split in (False, True)]
    assert [table.loc["DKW", "m"] for table in both] == [11, 10]
    assert [table.loc["DKW, half split", "m"] for table in both] == [6, 5]
    assert both[1].loc["Clopper-Pearson", "false_alarm"] == pytest.approx(0.0772, abs=6e-5)
    assert both[1].loc["ELL, half split", "false_alarm"] == pytest.approx(0.1294, abs=6e-5)


def test_what_is_not_given_is_not_in_the_table():
    table = bounds.false_alarm_table(50, 0.1, 0.05, folds=7)
    assert len(table) == 11
    assert "CV+, 7 folds" in table.index
    assert table["rho"].isna().all()


def test_refusals():
    with pytest.raises(ValueError, match=r"No alarm is possible at alpha=0.05: .* of n=10 points is 1/11"):
        bounds.false_alarm_table(10, 0.05, 0.05, split=True)
    with pytest.raises(ValueError, match="scores and norm must be given together"):
        bounds.false_alarm_table(N, 0.05, 0.05, scores=SCORES)
    with pytest.raises(ValueError, match="scores must be the n=100 training scores, got 200"):
        bounds.false_alarm_table(100, 0.05, 0.05, scores=SCORES, norm=1.0)
    with pytest.raises(ValueError, match="log_covering needs rho"):
        bounds.false_alarm_table(N, 0.05, 0.05, log_covering=1.0)
    with pytest.raises(ValueError, match="rho and log_covering must be lists of one length"):
        bounds.false_alarm_table(N, 0.05, 0.05, rho=[0.1, 0.2], log_covering=[1.0])
    with pytest.raises(ValueError, match="delta must be a number strictly between 0 and 1, got 2"):
        bounds.false_alarm_table(N, 0.05, 2)
    with pytest.raises(ValueError, match="n must be an integer of at least 2, got 1"):
        bounds.false_alarm_table(1, 0.5, 0.05)
