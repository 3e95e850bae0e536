"""The lesson's sums against loops over the formulas, its solution against bounds that need no solver."""

import numpy as np
import pytest

from workbench.lessons import by_hand, exercise
from workbench.lessons.by_hand import LEVELS, POINTS
from workbench.neighbors import ranks
from workbench.preferences import pairs, quantize

PAIRS = [(i, j) for i in range(12) for j in range(12) if LEVELS[i] > LEVELS[j]]
RNG = np.random.default_rng(0)


def kernel(x, y, sigma):
    return np.exp(-((x[0] - y[0]) ** 2 + (x[1] - y[1]) ** 2) / sigma**2)


def g(beta, x, sigma):
    return sum(b * kernel(point, x, sigma) for b, point in zip(beta, POINTS, strict=True))


def squared_norm(beta, sigma):
    return sum(beta[i] * g(beta, POINTS[i], sigma) for i in range(12))


def beta_of(multipliers):
    beta = np.zeros(12)
    for (i, j), weight in zip(PAIRS, multipliers, strict=True):
        beta[i] += weight
        beta[j] -= weight
    return beta


def test_the_levels_are_those_of_the_ranks():
    assert np.array_equal(quantize(ranks(POINTS, k=2, resamples=0), m=3), LEVELS)


def test_sums_agree_with_loops():
    beta, multipliers = RNG.normal(size=12), RNG.uniform(0, 3, len(PAIRS))
    slack = sum(max(0, 1 - g(beta, POINTS[i], 1.3) + g(beta, POINTS[j], 1.3)) for i, j in PAIRS)
    assert by_hand.primal(beta, 1.3, 3.0) == pytest.approx(squared_norm(beta, 1.3) / 2 + 3 * slack)
    assert by_hand.coefficients(multipliers) == pytest.approx(beta_of(multipliers))
    own = sum(multipliers) - squared_norm(beta_of(multipliers), 1.3) / 2
    assert by_hand.dual(multipliers, 1.3, 3.0) == pytest.approx(own)


def test_any_guess_brackets_the_optimum():
    sigma, C = 2.0, 1.0
    best = by_hand.solved(sigma, C)[0].primal
    for _ in range(200):
        beta, multipliers = RNG.normal(size=12), RNG.uniform(0, C * RNG.random(), len(PAIRS))
        assert by_hand.dual(multipliers, sigma, C) < best < by_hand.primal(beta, sigma, C)


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan])
def test_multipliers_outside_the_box_are_refused(bad):
    multipliers = np.full(len(PAIRS), 0.5)
    multipliers[7] = bad
    with pytest.raises(ValueError, match="they bound nothing"):
        by_hand.dual(multipliers, 2.0, 1.0)


@pytest.mark.parametrize("sigma", by_hand.SIGMAS)
@pytest.mark.parametrize("C", [0.03, 1.0, 30.0, 1000.0])
def test_solutions_have_the_two_facts_of_the_lesson(sigma, C):
    solution, multipliers = by_hand.solved(sigma, C)
    beta = by_hand.coefficients(multipliers)
    gap = by_hand.primal(solution.beta, sigma, C) - by_hand.dual(multipliers, sigma, C)
    assert -1e-9 < gap < 1e-6
    # |g - g_lambda|^2 <= 2 gap: the multipliers make up the same function.
    assert squared_norm(solution.beta - beta, sigma) <= 2 * max(gap, 0) + 1e-9
    z = by_hand.differences(solution.scores)
    assert multipliers[z < 1 - by_hand.NEAR] == pytest.approx(C, rel=1e-3)
    assert multipliers[z > 1 + by_hand.NEAR] == pytest.approx(0, abs=1e-3 * C)


@pytest.mark.parametrize("sigma", by_hand.SIGMAS)
def test_slack_falls_and_norm_rises_with_the_price(sigma):
    solutions = [by_hand.solved(sigma, C)[0] for C in by_hand.PRICES]
    slack = [np.maximum(0, 1 - by_hand.differences(each.scores)).sum() for each in solutions]
    assert (np.diff(slack) < 1e-6).all()
    assert (np.diff([each.norm for each in solutions]) > -1e-6).all()


def test_the_number_of_pairs_in_the_wrong_order_may_rise_with_the_price():
    wrong = [
        int((by_hand.differences(by_hand.solved(4.0, C)[0].scores) < 0).sum()) for C in (0.03, 0.1, 0.3, 1.0)
    ]
    assert wrong == [11, 12, 11, 12]


def test_the_scene_draws_every_setting():
    scene = by_hand.twelve_points()
    for name, values in {"C": by_hand.PRICES, "sigma": by_hand.SIGMAS}.items():
        for value in values:
            scene.set(**{name: value})
            assert scene.message == ""
            assert scene.values[name] == value


def test_the_scene_says_what_the_solution_is():
    scene = by_hand.twelve_points()
    scene.set(C=1.0, sigma=2.0)
    assert (
        "20 of the 48 pairs miss the margin (2 of them are in the wrong order) and 2 lie on it" in scene.words
    )
    assert "Primal 14.7776, dual 14.7776" in scene.words
    scene.set(C=0.01)
    assert "48 of the 48 pairs miss the margin" in scene.words
    names = [trace.name for trace in scene.figures[0].data if trace.showlegend is not False]
    assert sum("margin" in str(name) for name in names) == 3


def run_solution(number):
    from workbench.kernels import rbf

    higher, lower = pairs(LEVELS)
    names = {"np": np, "by_hand": by_hand, "rbf": rbf, "POINTS": POINTS, "higher": higher, "lower": lower}
    names |= {"new": np.array([[1.5, 0.5]]), "multipliers": by_hand.solved(2.0, 1.0)[1]}
    exec(exercise(number).solution().code, names)
    return names["answer"]


def test_the_gap_of_nothing():
    assert exercise("5.1").check(48).state == "right"
    for mistake, words in [(0, "dual at"), (96, "counts once"), (66, "one level"), (12, "not to the points")]:
        feedback = exercise("5.1").check(mistake)
        assert feedback.state == "not yet"
        assert words in feedback.words


def test_the_score_of_a_new_point():
    _, multipliers = by_hand.solved(2.0, 1.0)
    own = g(beta_of(multipliers), (1.5, 0.5), 2.0)
    assert own < by_hand.solved(2.0, 1.0)[0].scores.min()  # as the answer's words say
    assert exercise("5.2").check(own).state == "right"
    winners = sum(
        w * kernel(POINTS[i], (1.5, 0.5), 2.0) for (i, _), w in zip(PAIRS, multipliers, strict=True)
    )
    half = g(beta_of(multipliers), (1.5, 0.5), 2.0 * np.sqrt(2))
    for mistake, words in [(-own, "sign"), (winners, "winners alone"), (half, "has no 2")]:
        assert words in exercise("5.2").check(mistake).words
    assert "is a number" in exercise("5.2").check("low").words


def test_what_can_never_grow():
    assert exercise("5.3").check("c").state == "right"
    for letter, words in [
        ("a", "need not"),
        ("b", "only rise"),
        ("d", "C itself"),
        ("e", "letters"),
        (3, "letters"),
    ]:
        assert words in exercise("5.3").check(letter).words
