"""The scene draws every setting and says what the study says; answers are met with the right words."""

import numpy as np
import pytest

from workbench.lessons import choosing, exercise, rules
from workbench.lessons.rules import DETECTORS, FACTORS, PRICES, study


def test_the_scene_draws_every_setting():
    scene = choosing.bandwidths()
    for detector in DETECTORS:
        for name, values in {"detector": [detector], "C": PRICES, "sigma": FACTORS}.items():
            for value in values:
                scene.set(**{name: value})
                assert scene.message == ""
                assert scene.values[name] == value


def test_the_scene_says_what_the_study_says():
    scene = choosing.bandwidths()
    found, j = study("as printed"), PRICES.index(10.0)
    scene.set(sigma=1.0, C=10.0, detector="as printed")
    auc = found.auc[FACTORS.index(1.0), j]
    assert f"AUC {auc:.3f}, {found.auc[:, j].max() - auc:.3f} less" in scene.words
    assert f"2 by disagreement (regret {found.regret('disagreement', 10.0):.3f})" in scene.words
    assert "98% of the square is accepted; the true set is 11% of it" in scene.words
    scene.set(detector="with the anchor")
    assert "10% of the square is accepted" in scene.words


def test_the_symbols_stand_at_the_choices():
    figure, _ = choosing._draw(1.0, 10.0, "as printed")
    traces = {trace.name: trace for trace in figure.data}
    found, j = study("as printed"), PRICES.index(10.0)
    for rule, (name, *_) in choosing.LINES.items():
        trace = traces[name]
        assert np.argmax(trace.marker.size) == found.chosen(rule, 10.0)[0]
        assert np.count_nonzero(trace.marker.size) == 1
        assert np.array_equal(trace.y, 1 - found.rules[rule][:, j])


def test_the_true_set_has_the_share_it_is_said_to_have():
    f, level, share = choosing._truth()
    assert np.mean(f >= level) == pytest.approx(share, abs=0.003)


def test_four_kinds_are_drawn_beside_the_sample():
    assert [trace.name for trace in choosing.four_kinds().data] == ["synthetic", "nominal"] * 4


def test_a_disagreement_by_hand():
    level, score = choosing.SIX["level"], choosing.SIX["score"]
    wrong = [
        (score[i] < score[j]) + (score[i] == score[j]) / 2
        for i in range(6) for j in range(6) if level[i] > level[j]
    ]  # fmt: skip
    assert (sum(wrong), len(wrong)) == (1.5, 12)
    assert exercise("8.1").check(0.125).state == "right"
    assert exercise("8.1").check(np.float32(0.125)).state == "right"
    for mistake, words in {
        1 / 12: "counts half",
        1 / 6: "counts half",
        0.1: "15 is",
        1.5: "share",
        0.875: "right order",
    }.items():
        feedback = exercise("8.1").check(mistake)
        assert feedback.state == "not yet"
        assert words in feedback.words


def test_the_regret_of_disagreement():
    table = rules.table("as printed", 10.0)
    best = table["AUC"].max()
    assert table["disagreement"].idxmin() == 2.0  # as the answer's words say
    assert exercise("8.2").check(best - table["AUC"][2.0]).state == "right"
    assert exercise("8.2").check(round(best, 3) - round(table["AUC"][2.0], 3)).state == "right"
    for mistake, words in {
        table["AUC"][2.0] - best: "sign is turned",
        best: "largest AUC",
        table["AUC"][2.0]: "AUC of the choice",
        best - table["AUC"][table["synthetic anomalies"].idxmin()]: "synthetic",
        best - table["AUC"][table["disagreement"].idxmax()]: "small is good",
    }.items():
        assert words in exercise("8.2").check(mistake).words
    assert "is a number" in exercise("8.2").check([2.0, 0.1]).words


def test_who_looks_where():
    assert exercise("8.3").check("b").state == "right"
    answers = {"a": "held-out", "c": "other way", "d": "above every", "z": "letters", 7: "letters"}
    for letter, words in answers.items():
        assert words in exercise("8.3").check(letter).words
