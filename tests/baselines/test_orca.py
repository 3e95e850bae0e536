"""ORCA: exact outliers whatever the order, and what its scores of the others are worth."""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from workbench.baselines import AKLPE, ORCA, LSHOutlier, top_outliers
from workbench.baselines.orca import scan
from workbench.densities import FIG2


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(8, 400), st.integers(1, 7), st.integers(1, 8), st.integers(1, 3))
def test_pruning_returns_the_outliers_of_brute_force(seed, n, k, L, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, size=(n, d)).round(rng.integers(0, 3))  # rounded: ties and copies
    found = top_outliers(X, k, L, rng.permutation(n), rng.permutation(n))
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(distances, np.inf)
    exact = np.sort(distances, axis=1)[:, :k].mean(axis=1)
    np.testing.assert_allclose(found.distance, np.sort(exact)[::-1][:L], rtol=1e-12)
    np.testing.assert_allclose(exact[found.index], found.distance, rtol=1e-12)
    assert len(set(found.index)) == L
    assert found.n_distances <= n * n


def test_brute_force_here_is_the_slow_oracle():
    X = FIG2.sample(50, random_state=0)
    exact = oracles.knn_statistic(X, X, 5, exclude_self=True)
    found = top_outliers(X, 5, 50, np.arange(50))
    np.testing.assert_array_equal(found.index, np.argsort(-exact))
    np.testing.assert_allclose(found.distance, np.sort(exact)[::-1])


def test_pruning_saves_work_most_where_few_outliers_are_wanted():
    X = FIG2.sample(3000, random_state=0)
    order = np.random.default_rng(0).permutation(3000)
    work = [top_outliers(X, 5, L, order).n_distances / 3000**2 for L in (10, 300, 3000)]
    assert work[0] < 0.2 < work[1] < work[2] == 1.0


def test_a_ranking_by_buckets_finds_the_same_outliers_sooner():
    X = FIG2.sample(3000, random_state=0)
    ranking = LSHOutlier(random_state=0).fit(X).ranking_
    assert sorted(ranking) == list(range(3000))
    order = np.random.default_rng(0).permutation(3000)
    chance = top_outliers(X, 5, 20, order)
    ranked = top_outliers(X, 5, 20, ranking, reference=order)
    np.testing.assert_array_equal(ranked.index, chance.index)
    assert ranked.n_distances < chance.n_distances
    worst = top_outliers(X, 5, 20, ranking[::-1], reference=order)
    assert worst.n_distances > chance.n_distances


def test_scores_are_exact_above_the_cutoff_and_upper_bounds_below():
    X, fresh = FIG2.sample(1500, random_state=0), FIG2.sample(800, random_state=1)
    detector = ORCA(k=5, L=50, random_state=0).fit(X)
    estimate, exact = -detector.score_samples(fresh), oracles_free_average(X, fresh, 5)
    above = exact >= detector.cutoff_
    assert 5 < above.sum() < 200
    np.testing.assert_allclose(estimate[above], exact[above])
    assert np.all(estimate[~above] >= exact[~above] - 1e-12)
    assert np.all(estimate[~above] < detector.cutoff_)
    assert np.mean(estimate[~above] > exact[~above] * 1.01) > 0.5  # estimates, not the distances


def oracles_free_average(X, fresh, k):
    return np.sort(np.linalg.norm(fresh[:, None] - X, axis=2), axis=1)[:, :k].mean(axis=1)


def test_calibration_scores_are_the_training_points_own():
    X = FIG2.sample(700, random_state=0)
    detector = ORCA(k=5, L=30, random_state=0).fit(X)
    top = np.sort(-detector.calibration_scores_)[::-1]
    np.testing.assert_allclose(top[:30], detector.outliers_.distance)
    assert top[30] < detector.cutoff_
    assert detector.predict(X[detector.outliers_.index[:3]], alpha=0.05).tolist() == [-1, -1, -1]


def test_without_pruning_orca_is_ak_lpe():
    X, fresh = FIG2.sample(300, random_state=0), FIG2.sample(100, random_state=1)
    orca, lpe = ORCA(k=5, L=300, random_state=0).fit(X), AKLPE(k=5).fit(X)
    # the cutoff is the least of the training points' averages; only a still denser point is pruned
    exact = -lpe.score_samples(fresh) >= orca.cutoff_
    assert exact.mean() > 0.95
    np.testing.assert_allclose(orca.score_samples(fresh[exact]), lpe.score_samples(fresh[exact]))


def test_few_outliers_make_a_poor_ranking_and_many_a_better_one():
    """What the paper says of ORCA: small L is quick and its AUC is poor, large L is slow and better."""
    X = FIG2.sample(1500, random_state=0)
    nominal = FIG2.sample(600, random_state=1)
    anomalies = np.random.default_rng(2).uniform(-18, 18, (600, 2))
    both, y = np.concatenate([nominal, anomalies]), np.repeat([0, 1], 600)
    auc, work = [], []
    for L in (5, 500, 1500):
        detector = ORCA(k=10, L=L, random_state=0).fit(X)
        auc.append(roc_auc_score(y, -detector.score_samples(both)))
        work.append(detector.outliers_.n_distances)
    exact = roc_auc_score(y, -AKLPE(k=10).fit(X).score_samples(both))
    assert auc[0] < auc[1] - 0.01
    assert auc[2] == pytest.approx(exact, abs=0.002)
    assert work[0] < work[1] < work[2]


def test_a_scan_leaves_each_point_out_of_its_own_neighbours():
    X = FIG2.sample(200, random_state=0)
    average, n_distances = scan(X, X, 3, -np.inf, itself=np.arange(200))
    np.testing.assert_allclose(average, oracles.knn_statistic(X, X, 3, exclude_self=True))
    assert n_distances == 200 * 200
    assert np.all(scan(X, X, 3, -np.inf)[0] < average)


def test_scores_are_those_of_the_nested_loop():
    """The rule as Bay and Schwabacher state it: one distance at a time, dropped once below the cutoff."""
    X, queries = FIG2.sample(150, random_state=0), FIG2.sample(40, random_state=1)
    k, cutoff = 3, 0.9
    expected, looked_at = [], 0
    for query in queries:
        closest = []
        for x in X:
            looked_at += 1
            closest = sorted([*closest, np.sqrt(np.sum((x - query) ** 2))])[:k]
            if len(closest) == k and np.mean(closest) < cutoff:
                break
        expected.append(np.mean(closest))
    average, n_distances = scan(queries, X, k, cutoff)
    np.testing.assert_allclose(average, expected)
    assert n_distances == looked_at < 40 * 150
    assert 0 < np.sum(average < cutoff) < 40
