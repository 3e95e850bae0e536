"""Checks of items of notebooks/ERRATA.md that no claim and no other test covers."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from oracles import preference_pairs
from scipy.optimize import approx_fprime

from workbench import RankAD, densities, ranksvm
from workbench.neighbors import knn_statistic, rank, ranks
from workbench.preferences import disagreement, quantize
from workbench.pvalues import p_value
from workbench.theorems import CLAIMS
from workbench.theorems.balls import unit_ball
from workbench.theorems.ranks import weighted_statistic

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "notebooks" / "ERRATA.md").read_text()


def hinge(z):
    return np.maximum(0, 1 - z)


def test_every_check_named_on_the_page_exists():
    tests = {path: path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}
    named = re.findall(r"`(test_\w+)`", PAGE)
    assert named
    for name in named:
        assert any(f"def {name}(" in text for text in tests.values()), name
    claims = re.findall(r"claim `(\w+)`", PAGE)
    assert claims
    for name in claims:
        assert name in CLAIMS


def test_rows_are_numbered_and_whole():
    rows = [line for line in PAGE.splitlines() if line.startswith("| E")]
    numbers = [int(re.match(r"\| E(\d+) ", row)[1]) for row in rows]
    assert numbers == sorted(set(numbers))
    assert all(row.count(" | ") == 5 for row in rows)


def test_e1_printed_sign_alarms_on_the_densest_points():
    X, eta = densities.FIG1.sample(400, 0), densities.FIG1.sample(1000, 1)
    g_X, g_eta = densities.FIG1.logpdf(X), densities.FIG1.logpdf(eta)  # a perfect g, increasing in density
    printed = np.mean(g_eta[:, None] < g_X, axis=1)
    corrected = p_value(g_eta, np.sort(g_X))
    p = densities.FIG1.p_value(eta)
    assert p[printed <= 0.1].min() > 0.8
    assert p[corrected <= 0.1].max() < 0.2
    # With Section 3's pairs, G(x_i) > G(x_j), g grows with distance and Eq. 4 is right.
    assert np.mean(-g_eta[:, None] < -g_X, axis=1) == pytest.approx(np.mean(g_eta[:, None] > g_X, axis=1))


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.125, 0.33])
def test_e2_the_order_statistic_of_the_decision_region(alpha):
    n = 40
    g = np.arange(1.0, n + 1)
    probes = np.arange(0.5, n + 1)
    region = np.array([np.sum(g <= probe) <= alpha * n for probe in probes])
    assert np.array_equal(region, probes < g[int(np.floor(alpha * n + 1e-9))])  # g^(floor(alpha n) + 1)
    printed_middle = np.array([np.sum(probe <= g) <= alpha * n for probe in probes])
    printed_last = probes < g[int(np.ceil(alpha * n - 1e-9)) - 1]
    assert printed_middle[-1]
    assert not printed_last[-1]  # the two printed forms contradict each other
    whole = abs(alpha * n - round(alpha * n)) < 1e-9
    assert np.array_equal(region, printed_last) != whole  # off by one where alpha n is a whole number


def test_e10_bounded_differences_and_what_F_depends_on(rng):
    l, m, d = 6, 40, 2
    C = np.sqrt(d)  # diameter of the unit square
    largest = 0.0
    for _ in range(200):
        D, x, u, replacement = rng.random((m, d)), rng.random((1, d)), rng.random((1, d)), rng.random(d)
        F = [weighted_statistic(D, at, l)[0] for at in (x, u)]
        D[rng.integers(m)] = rng.choice([replacement, x[0], np.zeros(d)])
        changed = [weighted_statistic(D, at, l)[0] for at in (x, u)]
        largest = max(largest, abs((changed[0] - changed[1]) - (F[0] - F[1])))
    assert 0 < largest <= 2 ** (1 / d) * 2 * C / l <= 4 * C / l
    # Turning the sample about x keeps every |x - y_i| and changes F_x.
    x, u, D = np.zeros((1, 2)), np.array([[1.0, 0.0]]), rng.normal(size=(m, 2))
    turned = D[:, ::-1] * [1, -1]
    assert np.linalg.norm(D, axis=1) == pytest.approx(np.linalg.norm(turned, axis=1))
    assert weighted_statistic(D, u, l)[0] != pytest.approx(weighted_statistic(turned, u, l)[0])


def test_e14_the_gap_of_A_needs_the_largest_density():
    d, f_min, f_max = 2, 0.1, 2.0

    def A(f):
        return f ** (-1 / d)

    def gap(f, bound):
        return abs(f - f_max) / (d * bound ** ((d + 1) / d))

    f = np.linspace(f_min, f_max, 100)[:-1]
    assert (A(f) - A(f_max) >= gap(f, f_max)).all()
    assert (A(f) - A(f_max) < gap(f, f_min)).all()  # as printed: not even once


def test_e15_the_integral_of_an_indicator_is_not_a_product(rng):
    f = rng.random(100_000)  # f(x), with f(u) = 1/2 and X_1 = {|f(x) - f(u)| >= 0.4}
    far = np.abs(f - 0.5) >= 0.4
    u = 0.3
    near_u = np.abs(f - u) >= 0.4
    assert np.mean((f < u) & near_u) != pytest.approx(np.mean(f < u) * near_u.mean(), abs=0.02)
    assert np.mean((f < 0.5) & far) == pytest.approx(0.1, abs=0.01)


def test_e17_a_ball_at_the_edge_holds_less_mass():
    square, r = densities.SQUARE, 0.5
    X = square.sample(200_000, 0)
    flat = unit_ball(2) * r**2 / 16
    for center, share in (([0.0, 0.0], 1), ([2.0, 0.0], 1 / 2), ([2.0, 2.0], 1 / 4)):
        mass = np.mean(np.linalg.norm(X - center, axis=1) <= r)
        assert mass == pytest.approx(share * flat, rel=0.05)


def test_e19_the_regularisation_of_equation_5(rng):
    X, levels = rng.normal(size=(25, 2)), np.repeat([1, 2, 3, 4, 5], 5)
    C = 0.3
    solution = ranksvm.solve(X, levels, sigma=1.0, C=C)
    K = np.exp(-np.sum((X[:, None] - X) ** 2, axis=2))
    g, norm2 = K @ solution.beta, solution.beta @ K @ solution.beta
    pairs = preference_pairs(levels)
    risk = np.mean([hinge(g[i] - g[j]) for i, j in pairs])  # the appendix's R_{L,T}: weights 1/|P|
    scaled = {size: C * size * (risk + norm2 / (2 * C * size)) for size in (len(pairs), 1)}
    assert scaled[len(pairs)] == pytest.approx(solution.primal, rel=1e-5)
    assert scaled[1] != pytest.approx(solution.primal, rel=0.1)  # lambda = 1/(2C)


def test_e21_difference_of_hinges(rng):
    f, g = rng.normal(size=(2, 50))
    for i, j in itertools.permutations(range(50), 2):
        difference = hinge(f[i] - f[j]) - hinge(g[i] - g[j])
        assert abs(difference) <= abs((f - g)[i] - (f - g)[j]) + 1e-12 <= 2 * np.abs(f - g).max() + 2e-12
    # print: "= max{0, (g_i - g_j) - (f_i - f_j)}", never negative
    assert hinge(0.5) - hinge(0.2) < 0


def test_e23_replacing_one_point_changes_labels_of_others():
    X = densities.FIG1.sample(200, 0)
    changed = X.copy()
    changed[0] = X[1] + 1e-3
    before, after = (quantize(ranks(sample, 5, resamples=0)) for sample in (X, changed))
    assert np.sum(before[1:] != after[1:]) > 0


def test_e25_the_minimiser_on_a_sample_may_order_it_wrongly():
    X = densities.FIG1.sample(150, 0)
    f = densities.FIG1.logpdf(X)
    levels = 1 + np.argsort(np.argsort(f))
    wrong = {}
    for C in (1e-6, 1e-3):
        solution = ranksvm.solve(X, levels, sigma=1.5, C=C)
        assert solution.converged
        wrong[C] = disagreement(solution.scores, levels)
    assert wrong[1e-6] > wrong[1e-3] > 0


def pairwise_risk(g, r, L):
    """The appendix's R_{L,T} with weights D(r_i, r_j) = r_i - r_j."""
    return sum((r[a] - r[b]) * L(g[a] - g[b]) for a in range(len(r)) for b in range(len(r)) if r[a] > r[b])


def smooth(z):
    return np.logaddexp(0, -z)  # convex, differentiable, decreasing


def smooth_slope(z):
    return -1 / (1 + np.exp(z))


def test_e26_what_swapping_two_scores_changes(rng):
    r, g, L = np.array([3, 1, 6, 2, 5, 0, 4]), rng.normal(size=7), smooth
    i, j = 4, 3  # r_i = 5 > r_j = 2
    swapped = g.copy()
    swapped[[i, j]] = g[[j, i]]
    difference = pairwise_risk(swapped, r, L) - pairwise_risk(g, r, L)

    def D(a, b):
        return abs(r[a] - r[b])

    above = [k for k in range(7) if r[k] > r[i]]
    between = [k for k in range(7) if r[j] < r[k] < r[i]]
    below = [k for k in range(7) if r[k] < r[j]]
    first = sum((D(k, j) - D(k, i)) * (L(g[k] - g[i]) - L(g[k] - g[j])) for k in above)
    second = sum(D(i, k) * (L(g[j] - g[k]) - L(g[i] - g[k])) for k in between)
    third = sum(D(k, j) * (L(g[k] - g[i]) - L(g[k] - g[j])) for k in between)
    fifth = {
        name: sum((D(i, k) - D(j, k)) * (L(g[j] - g[k]) - L(g[i] - g[k])) for k in chosen)
        for name, chosen in (("printed", above), ("corrected", below))
    }
    own = D(i, j) * (L(g[j] - g[i]) - L(g[i] - g[j]))
    assert first + second + third + fifth["corrected"] + own == pytest.approx(difference)
    printed = first + second + third + first + fifth["printed"] + own
    assert printed != pytest.approx(difference, rel=0.01)


def test_e27_derivatives_at_equal_scores(rng):
    r, g = np.array([3, 1, 6, 2, 5, 0, 4]), rng.normal(size=7)
    i, j = 4, 3
    g[i] = g[j] = 0.2
    gradient = approx_fprime(g, lambda at: pairwise_risk(at, r, smooth))
    own = (r[i] - r[j]) * smooth_slope(0)

    def to_lower(a, start):
        return sum(
            (r[a] - r[k]) * smooth_slope(g[a] - g[k]) for k in range(7) if r[k] < r[a] and k not in start
        )

    def to_higher(a, start):
        return sum(
            (r[k] - r[a]) * -smooth_slope(g[k] - g[a]) for k in range(7) if r[k] > r[a] and k not in start
        )

    A = to_higher(i, (j,)) + to_lower(i, (j,))
    assert A + own == pytest.approx(gradient[i], abs=1e-5)
    assert A - own != pytest.approx(gradient[i], abs=0.1)  # print: D [-L'(0)]
    B = to_higher(j, (i,)) + to_lower(j, (i,)) - own
    assert pytest.approx(gradient[j], abs=1e-5) == B
    between = [k for k in range(7) if r[j] < r[k] < r[i]]
    right = sum((r[k] - r[j]) * -smooth_slope(g[k] - g[j]) for k in between)
    printed = sum((r[k] - r[j]) * smooth_slope(g[j] - g[k]) for k in between)
    assert B - right + printed != pytest.approx(gradient[j], abs=0.1)


def test_e27_the_hinge_has_a_kink_at_one():
    left, right = (hinge(1.0) - hinge(1 - 1e-6)) / 1e-6, (hinge(1 + 1e-6) - hinge(1.0)) / 1e-6
    assert left == pytest.approx(-1)
    assert right == 0


def test_e29_sample_points_and_test_points_are_not_exchangeable():
    # Two points and one neighbour: both sample points have the same G, so R_2 is 0 or 1, never 1/2.
    rng = np.random.default_rng(0)
    values = [
        rank(knn_statistic(X, rng.random((1, 1)), k=1), knn_statistic(X, k=1))[0]
        for X in rng.random((300, 2, 1))
    ]
    assert set(values) == {0.0, 1.0}
    assert np.mean(values) == pytest.approx(2 / 3, abs=0.1)  # exchangeable ranks 0, 1/2, 1 would give 1/2


@pytest.mark.parametrize("C", [0.001, 0.03, 1.0])
def test_e31_support_vectors_are_not_few(C):
    X = densities.FIG2.sample(200, 0)
    detector = RankAD(C=C, anchor=False, resamples=0, random_state=0).fit(X)
    assert len(detector.support_) >= 0.55 * len(X)


def test_e32_a_fixed_number_of_levels_leaves_the_order_within_them_open():
    m, eta = 3, densities.FIG1.sample(3000, 0)
    p = densities.FIG1.p_value(eta)
    level = np.minimum(m - 1, np.floor(m * p))
    g = 2 * level - (m * p - level)  # gaps of 1 and more between levels, turned round within each
    levels = 1 + level.astype(int)
    scores = [np.sort(g[levels == each]) for each in (1, 2, 3)]
    assert scores[1][0] - scores[0][-1] >= 1 - 1e-9  # so every preference has zero loss
    assert scores[2][0] - scores[1][-1] >= 1 - 1e-9
    errors = np.abs(p_value(g, np.sort(g)) - p)
    assert errors.max() == pytest.approx(1 / m, abs=0.03)
    assert disagreement(g, np.unique(p, return_inverse=True)[1]) == pytest.approx(1 / m, abs=0.02)
