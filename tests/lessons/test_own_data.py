"""Lesson 12: the made-up pump, the two rules, the scene and the exercises."""

from itertools import product

import numpy as np
import pytest
import replies
from scipy.stats import norm

from workbench.lessons import own_data
from workbench.lessons.own_data import FAULTS, RULES, SENSORS


def slow_benjamini_hochberg(p, q):
    """Indices by the definition: the largest i with p_(i) <= q i/n, and all that are no larger."""
    largest = max(
        (sorted(p)[i - 1] for i in range(1, len(p) + 1) if sorted(p)[i - 1] <= q * i / len(p)), default=-1
    )
    return {i for i, each in enumerate(p) if each <= largest}


def test_the_pump_is_as_described():
    normal = own_data.pump(20_000, random_state=0)
    assert list(normal) == list(SENSORS)
    rest = normal["flow_m3h"] - 2 * normal["load_kW"]
    assert abs(rest.mean()) < 0.1
    assert abs(rest.std() - 2) < 0.05
    leak = own_data.pump(2000, "leak", random_state=1)
    low, high = normal.quantile(0.001), normal.quantile(0.999)
    # Each sensor alone finds hardly any leak; flow and load together find all.
    assert (((leak < low) | (leak > high)).mean() < 0.01).all()
    assert ((leak["flow_m3h"] - 2 * leak["load_kW"]) < -10).mean() > 0.99
    bearing = own_data.pump(2000, "bearing", random_state=1)
    assert bearing["vibration_mm_s"].median() == pytest.approx(
        1.8 * normal["vibration_mm_s"].median(), rel=0.03
    )
    warm = own_data.pump(20_000, summer=4.0, random_state=0)
    assert (warm - normal).mean().round(2).to_dict() == dict.fromkeys(SENSORS, 0.0) | {"temperature_C": 4.0}


def test_no_such_fault():
    with pytest.raises(ValueError, match="None or one of leak, bearing, got 'rust'"):
        own_data.pump(5, "rust")


def test_the_log_has_a_clock_a_constant_and_gaps():
    table = own_data.logged(3000, random_state=0)
    assert list(table) == ["minute", *SENSORS, "rated_rpm"]
    assert table["rated_rpm"].nunique() == 1
    gaps = table.isna().sum()
    assert gaps.sum() == gaps["temperature_C"]
    assert abs(gaps["temperature_C"] - 30) < 5 * np.sqrt(30)
    assert table.equals(own_data.logged(3000, random_state=0))


def test_watched_marks_the_faulty_rows():
    rows, is_faulty = own_data.watched(500, 41, random_state=0)
    assert is_faulty.sum() == 41
    assert rows.shape == (500, 5)
    broken = rows["flow_m3h"] - 2 * rows["load_kW"] < -10
    assert broken.sum() == 21
    assert is_faulty[broken].all()


@pytest.mark.parametrize("seed", range(5))
def test_decisions_against_the_definitions(seed):
    p = np.tile(np.random.default_rng(seed).beta(0.4, 1, 15), 2)
    for level in (0.01, 0.1, 0.3):
        alarm, flat = own_data.decided(p, RULES[0], level)
        assert set(np.flatnonzero(alarm)) == {i for i in range(30) if p[i] <= level}
        assert (flat == level).all()
        discovery, line = own_data.decided(p, RULES[1], level)
        assert set(np.flatnonzero(discovery)) == slow_benjamini_hochberg(p.tolist(), level)
        assert line[6] == pytest.approx(level * 7 / 30)


def test_the_false_discovery_rate_is_kept_on_average_and_one_level_does_not_keep_it():
    """Over fresh calibration rows; 950 of 1000 rows are normal, so the rate is about q times 0.95."""
    shares = {rule: [] for rule in RULES}
    for repetition in range(100, 160):
        normal, faulty = own_data._p_values.__wrapped__(repetition)
        p = np.concatenate([normal[:950], faulty[:50]])
        for rule in RULES:
            declared, _ = own_data.decided(p, rule, 0.1)
            shares[rule].append(declared[:950].sum() / max(1, declared.sum()))
    controlled = np.array(shares[RULES[1]])
    half = norm.ppf(0.999) * controlled.std(ddof=1) / np.sqrt(len(controlled))
    assert abs(controlled.mean() - 0.095) < half
    assert np.mean(shares[RULES[0]]) > 0.5


def test_every_position_of_the_scene_draws():
    scene = own_data.monday()
    traces = len(scene.figures[0].data)
    for rule, (name, values) in product(RULES, {"level": own_data.ALPHAS, "share": own_data.SHARES}.items()):
        for value in values:
            scene.set(rule=rule, **{name: value})
            assert scene.message == ""
            assert len(scene.figures[0].data) == traces
    for repetition in own_data.REPETITIONS:
        scene.set(repetition=repetition)
        assert scene.message == ""


def test_the_scene_counts_what_it_shows():
    scene = own_data.monday()
    normal, faulty = own_data._p_values(1)
    false, found = (normal[:950] <= 0.05).sum(), (faulty[:50] <= 0.05).sum()
    assert scene.words == (
        f"50 of 1000 new rows are faulty. {false + found} alarms, of which {false} false "
        f"({false / (false + found):.0%}). {found} of the 50 faulty rows are found. Expected at α = "
        "0.05: 47.5 false."
    )
    bars = scene.figures[0].data[3]
    assert list(bars.y) == [false, found, 50 - found]
    scene.set(rule=RULES[1], share=0.002, level=0.1)
    assert "is 1/1001, and 10 rows would have to be that unusual" in scene.words
    scene.set(share=0.0)
    assert scene.words.startswith("None of 1000 new rows are faulty. No alarm")


def test_too_few_unusual_rows_are_no_discovery_and_just_enough_are():
    """What the sentence about 1/1001 says, at q = 0.1 and at q = 0.05."""
    for q, needed in ((0.1, 10), (0.05, 20)):
        p = np.linspace(0.5, 1, 1000)
        p[: needed - 1] = 1 / 1001
        assert not own_data.decided(p, RULES[1], q)[0].any()
        p[needed - 1] = 1 / 1001
        assert own_data.decided(p, RULES[1], q)[0].sum() == needed


def test_two_faulty_rows_in_a_thousand_are_never_discovered():
    for repetition, level in product(own_data.REPETITIONS, own_data.ALPHAS):
        normal, faulty = own_data._p_values(repetition)
        assert not own_data.decided(np.concatenate([normal[:998], faulty[:2]]), RULES[1], level)[0].any()


@pytest.mark.parametrize(
    ("number", "answer", "state", "words"),
    [
        ("12.1", 0.666, "right", "two alarms in three"),
        ("12.1", 0.01, "not yet", "share of the normal rows"),
        ("12.1", 0.334, "not yet", "alarms that are right"),
        ("12.1", 99.5, "not yet", "Divide"),
        ("12.1", 0.995, "not yet", "among all rows"),
        ("12.1", "two thirds", "not yet", "The answer is a number"),
        ("12.2", [0, 2, 3, 6], "right", "above its own line"),
        ("12.2", np.array([6, 3, 2, 0]), "right", ""),
        ("12.2", {0, 6}, "not yet", "2 of 4 indices are missing. Go on to the last"),
        ("12.2", [0, 2, 3, 5, 6], "not yet", "compares each p-value with 0.1"),
        ("12.2", [0, 2, 3, 4, 6], "not yet", "Look again at 4"),
        ("12.2", [1, 3, 4, 7], "not yet", "count them from 0"),
        ("12.2", [0.003, 0.011, 0.040, 0.045], "not yet", "their p-values"),
        ("12.2", 4, "not yet", "a list of indices"),
        ("12.3", 999, "right", "n = 999"),
        ("12.3", 1000, "not yet", "not 1/n"),
        ("12.3", 998, "not yet", "1/999"),
        ("12.3", 1998, "not yet", "calibrates with half"),
        ("12.3", 5000, "not yet", "too large"),
        ("12.3", None, "not answered", "three dots"),
    ],
)  # fmt: skip
def test_answers_meet_words(number, answer, state, words):
    replies.expect(number, answer, state, words)


def test_truths_by_other_means():
    assert slow_benjamini_hochberg(own_data.P_VALUES, 0.1) == {0, 2, 3, 6}
    assert own_data.P_VALUES[2] > 0.1 * 3 / 8  # the one that only the step up declares


def test_both_faults_are_found_by_the_scenes_detector():
    _, faulty = own_data._p_values(1)
    found = [(faulty[i::2] <= 0.05).mean() for i in range(len(FAULTS))]
    assert min(found) > 0.8
