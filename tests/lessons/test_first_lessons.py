"""What lessons 1 to 4, 6 and 7 compute, against closed forms and literal code."""

import numpy as np
import pytest
from scipy.stats import norm

from workbench.densities import FIG1, FIG2
from workbench.lessons import curves, distances, exercise, far_field, level_sets, quantisation, ranks
from workbench.lessons.exercises import RIGHT, WRONG
from workbench.neighbors import nearest


@pytest.mark.parametrize("rule", level_sets.RULES)
@pytest.mark.parametrize("alpha", [0.01, 0.2, 0.7])
def test_every_rule_holds_its_share(rule, alpha):
    intervals = level_sets.accepted(rule, alpha)
    assert level_sets.mass(intervals) == pytest.approx(1 - alpha, abs=1e-4)
    X = level_sets.TWO_HUMPS.sample(20_000, random_state=0)[:, 0]
    inside = sum(np.mean((low <= X) & (high >= X)) for low, high in intervals)
    assert inside == pytest.approx(1 - alpha, abs=4 * np.sqrt(alpha * (1 - alpha) / 20_000) + 1e-4)


@pytest.mark.parametrize("alpha", [0.05, 0.4])
def test_the_minimum_volume_set_is_the_shortest_and_a_level_set(alpha):
    smallest = level_sets.accepted(level_sets.RULES[0], alpha)
    assert level_sets.length(smallest) == pytest.approx(level_sets.TWO_HUMPS.volume(alpha), rel=1e-3)
    ends = np.array(smallest).ravel()
    assert level_sets.TWO_HUMPS.pdf(ends[:, None]) == pytest.approx(level_sets.TWO_HUMPS.level(alpha))
    for rule in level_sets.RULES[1:]:
        assert level_sets.length(level_sets.accepted(rule, alpha)) > level_sets.length(smallest)


def test_expected_distance_is_that_of_a_flat_density():
    rng = np.random.default_rng(0)
    n, k, repetitions = 400, 5, 4000
    # On a torus every point of the unit square is alike, and the density is 1.
    found = np.empty(repetitions)
    for i in range(repetitions):
        step = np.abs(rng.random((n, 2)) - 0.5)
        found[i] = np.sort(np.hypot(*np.minimum(step, 1 - step).T))[:k].mean()
    expected = distances.expected_distance(1.0, n, k)
    assert abs(found.mean() - expected) < 4 * found.std() / np.sqrt(repetitions)


@pytest.mark.parametrize("k", [5, 10, 20, 50, 100])
def test_the_average_distance_is_noisier_and_less_blurred_than_the_last_one(k):
    X, f = distances.fresh()
    last = nearest(distances.sample(2000), X, k)[0][:, -1]
    flat = k * distances.expected_distance(f, 2000, k) - (k - 1) * distances.expected_distance(f, 2000, k - 1)
    G = distances.measured(2000, k) / distances.expected_distance(f, 2000, k)
    dense, sparse = f > 0.05, f < 0.02
    assert np.log(G[dense]).std() > np.log((last / flat)[dense]).std()
    assert (last / flat)[sparse].mean() < G[sparse].mean() < 1


def test_order_agreement_counts_pairs():
    G, f = distances.measured(200, 5)[:40], distances.fresh()[1][:40]
    right = [(G[i] - G[j]) * (f[i] - f[j]) < 0 for i in range(40) for j in range(i)]
    assert distances.order_agreement(G, f) == pytest.approx(np.mean(right))


def test_rank_error_falls_only_if_k_grows():
    assert ranks.rmse(2000, 5) > 0.8 * ranks.rmse(200, 5)
    assert ranks.rmse(2000, 158) < 0.6 * ranks.rmse(200, 34)


def test_new_points_of_a_lesson_come_with_their_p_values():
    X, p = ranks.fresh()
    assert (np.diff(p) >= 0).all()
    assert p == pytest.approx(FIG2.p_value(X))


def test_kept_and_wrong_pairs_are_counted_as_defined():
    R, p = np.array([0.1, 0.2, 0.5, 0.7, 0.9]), np.array([0.3, 0.1, 0.6, 0.4, 0.8])
    levels = np.array([1, 1, 2, 3, 3])
    kept = [(i, j) for i in range(5) for j in range(5) if levels[i] > levels[j]]
    wrong = np.mean([p[i] < p[j] for i, j in kept])
    assert quantisation.kept_and_wrong(R, p, levels) == pytest.approx((len(kept) / 10, wrong))
    assert np.isnan(quantisation.kept_and_wrong(R, p, np.ones(5, dtype=int))[1])


def test_contrast_is_of_paired_samples():
    table = curves.contrast(100.0, samples=3)
    assert table["two less three"].to_numpy() == pytest.approx(table["two levels"] - table["three levels"])
    assert (table["±"] > 0).all()


def test_two_sets_hold_half_each():
    learned, true = curves.two_sets()
    assert learned.mean() == pytest.approx(0.5, abs=0.001)
    assert true.mean() == pytest.approx((FIG1.p_value(FIG1.sample(2000, random_state=99)) > 0.5).mean())


@pytest.mark.parametrize("anchor", [False, True])
def test_p_at_infinity_is_what_the_detector_says_far_away(anchor):
    detector = far_field.fitted(anchor)
    assert far_field.p_at_infinity(detector) == pytest.approx(detector.p_value([[1e6, -1e6]])[0])


def test_the_map_says_who_accepts():
    who = far_field._accepted(4.0, 1.0)
    places = far_field.GRID.points.reshape(*far_field.GRID.shape, 2)
    for row, column in [(0, 0), (40, 30), (40, 50), (60, 10)]:
        printed, anchored = (
            far_field.fitted(anchor, 4.0).p_value([places[row, column]])[0] > far_field.ALPHA
            for anchor in (False, True)
        )
        assert (
            list(far_field.WHO)[who[row, column]]
            == {
                (False, False): "by none",
                (True, False): "as printed only",
                (False, True): "with the anchor only",
                (True, True): "by both",
            }[bool(printed), bool(anchored)]
        )


@pytest.mark.parametrize(
    ("number", "answer", "words"),
    [
        ("1.1", level_sets.length(level_sets.accepted("central interval", 0.2)), "central interval"),
        ("1.2", "a", "more unusual than 8"),
        ("1.3", np.pi * norm.ppf(0.975) ** 2, "1.96 holds 95% of a normal law on the line"),
        ("1.3", np.sqrt(-2 * np.log(0.05)), "radius"),
        ("2.1", [0.5, 1.0, 1.0], "Average over the first k"),
        ("2.1", [0.0, 0.25, 0.5], "counts itself"),
        ("2.2", 0.5, "On a line, yes"),
        ("2.3", "a", "scatter most"),
        ("3.1", [1.0, 0.8, 0.3, 0.0], "strict"),
        ("3.1", [10, 6, 3, 0], "counts"),
        ("3.2", "a", "k = 5"),
        ("3.3", "a", "all distances"),
        ("4.1", [0, 2, 0, 1, 1, 2, 0, 1, 2, 1], "counted from 1"),
        ("4.2", 45, "all pairs of ten"),
        ("4.2", 66, "twice"),
        ("4.3", "a", "dashed"),
        ("6.1", abs(np.subtract(*(part.mean() for part in curves.two_sets()))), "equal mass"),
        ("6.2", "a", "inner curves"),
        ("6.3", "d", "The pairs are the same"),
        ("7.1", 1.0, "sum of both"),
        ("7.2", 0.0, "with the anchor"),
        ("7.3", "a", "split"),
    ],
)
def test_likely_mistakes_are_met_with_their_own_words(number, answer, words):
    feedback = exercise(number).check(answer)
    assert feedback.state == WRONG
    assert words in feedback.words


@pytest.mark.parametrize("answer", [18.82, 18.8])
def test_rounding_is_forgiven(answer):
    assert exercise("1.3").check(answer).state == RIGHT
