"""K-LPE, aK-LPE, BP-kNNG and GEM against loops over their definitions."""

import numpy as np
import oracles
import pytest
from scipy import stats
from sklearn.neighbors import LocalOutlierFactor

from workbench import neighbors
from workbench.baselines import AKLPE, BPKNNG, GEM, KLPE
from workbench.densities import FIG2


@pytest.fixture(scope="module")
def X():
    return FIG2.sample(60, random_state=0)


@pytest.fixture(scope="module")
def queries():
    return np.concatenate([FIG2.sample(15, random_state=1), [[30.0, 0.0], [-5.0, 0.0]]])


def kth_distance(X, query, k):
    return sorted(float(np.sqrt(np.sum((x - query) ** 2))) for x in X)[k - 1]


@pytest.mark.parametrize("k", [1, 5, 59])
def test_k_lpe_is_its_formula(X, queries, k):
    own = [kth_distance(np.delete(X, i, axis=0), x, k) for i, x in enumerate(X)]
    detector = KLPE(k=k).fit(X)
    expected = [np.mean([r >= kth_distance(X, query, k) for r in own]) for query in queries]
    np.testing.assert_allclose(detector.p_value(queries), expected)
    assert detector.p_value([[1e4, 1e4]])[0] == 0


@pytest.mark.parametrize("k", [1, 7])
def test_ak_lpe_is_the_papers_formula(X, queries, k):
    own = oracles.knn_statistic(X, X, k, exclude_self=True)
    G = oracles.knn_statistic(X, queries, k)
    detector = AKLPE(k=k).fit(X)
    np.testing.assert_allclose(detector.score_samples(queries), -G)
    np.testing.assert_allclose(detector.p_value(queries), [np.mean(own >= g) for g in G])
    # Eq. 3 counts strictly smaller G: the same but for ties
    np.testing.assert_allclose(detector.p_value(queries), oracles.rank(G, own))


def test_k_lpe_and_ak_lpe_are_one_for_one_neighbour_and_not_otherwise(X, queries):
    for k, same in ((1, True), (10, False)):
        average, kth = (system(k=k).fit(X).score_samples(queries) for system in (AKLPE, KLPE))
        assert np.allclose(average, kth) == same


def test_resampled_ak_lpe_is_the_resampled_rank(X, queries):
    k, B, seed = 5, 4, 7
    detector = AKLPE(k=k, resamples=B, random_state=seed).fit(X)
    np.testing.assert_array_equal(
        detector.calibration_scores_, np.sort(neighbors.ranks(X, k, B, random_state=seed))
    )
    rng = np.random.RandomState(seed)
    total = np.zeros(len(queries))
    for _ in range(B):
        S = rng.permutation(60)[:30]
        T = np.setdiff1d(np.arange(60), S)
        for half, ranked in ((S, T), (T, S)):
            reference = oracles.knn_statistic(X[half], X[ranked], k)
            total += oracles.rank(oracles.knn_statistic(X[half], queries, k), reference)
    np.testing.assert_allclose(detector.score_samples(queries), total / (2 * B))


def test_resampled_ak_lpe_where_lists_run_out(queries):
    """Two tight groups: a list of neighbours may hold one half only for some splits."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    k, seed = 19, 3  # the whole other half but one
    detector = AKLPE(k=k, resamples=6, random_state=seed).fit(X)
    short = AKLPE(k=k, resamples=6, random_state=seed)
    short._list_length = lambda: k + 1
    np.testing.assert_allclose(short.fit(X).score_samples(queries), detector.score_samples(queries))


@pytest.mark.parametrize(("s", "gamma"), [(None, 1.0), (1, 1.0), (3, 2.0)])
def test_bp_knng_is_its_formula(X, queries, s, gamma):
    k = 6
    detector = BPKNNG(k=k, s=s, gamma=gamma, random_state=0).fit(X)
    X_M = X[detector.train_index_]
    X_N = np.delete(X, detector.train_index_, axis=0)
    assert len(X_M) == len(X_N) == 30

    def statistic(point):
        first = 1 if s is None else k - s + 1
        return sum(kth_distance(X_M, point, j) ** gamma for j in range(first, k + 1))

    d_N = [statistic(x) for x in X_N]
    np.testing.assert_allclose(detector.score_samples(queries), [-statistic(q) for q in queries])
    np.testing.assert_allclose(
        detector.p_value(queries), [np.mean([d >= statistic(q) for d in d_N]) for q in queries]
    )


def test_bp_knng_is_split_ak_lpe(X, queries):
    graph = BPKNNG(k=6, calibration="split", random_state=0).fit(X)
    split = AKLPE(k=6, calibration="split", random_state=0).fit(X)
    np.testing.assert_array_equal(graph.train_index_, split.train_index_)
    np.testing.assert_array_equal(graph.p_value(queries), split.p_value(queries))


def graph_length(points, k, gamma):
    total = 0.0
    for i, point in enumerate(points):
        others = [np.sqrt(np.sum((other - point) ** 2)) for j, other in enumerate(points) if i != j]
        total += sum(edge**gamma for edge in sorted(others)[:k])
    return total


@pytest.mark.parametrize(("k", "gamma"), [(1, "auto"), (4, "auto"), (4, 0.5), (4, 1.9)])
def test_gem_is_the_change_in_length_of_the_whole_graph(X, queries, k, gamma):
    X = np.concatenate([X[:30], X[:3]])  # copies tie
    detector = GEM(k=k, gamma=gamma).fit(X)
    g = detector.gamma_
    L = graph_length(X, k, g)
    added = [graph_length([*X, q], k, g) - L for q in queries]
    removed = [L - graph_length(np.delete(X, i, axis=0), k, g) for i in range(len(X))]
    np.testing.assert_allclose(detector.score_samples(queries), -np.array(added), atol=1e-9)
    np.testing.assert_allclose(detector.calibration_scores_, np.sort(-np.array(removed)), atol=1e-9)


def test_gem_needs_a_power_below_the_dimension():
    """In one dimension edges of power 1 add up to about k (k+1)/2 times the range, wherever points are."""
    X = np.random.default_rng(0).normal(size=(500, 1))
    detector = GEM(k=5).fit(X)
    assert detector.gamma_ == 0.5
    correlation = {}
    fresh = np.random.default_rng(1).normal(size=(400, 1))
    for gamma in (0.5, 0.99):
        score = GEM(k=5, gamma=gamma).fit(X).score_samples(fresh)
        correlation[gamma] = stats.spearmanr(score, -np.abs(fresh[:, 0]))[0]
    assert correlation[0.5] > correlation[0.99] + 0.1


def test_peers_in_scikit_learn(X, queries):
    """The local outlier factor's reach distances hold the k-th neighbour distance."""
    lof = LocalOutlierFactor(n_neighbors=7, novelty=True).fit(X)
    np.testing.assert_allclose(KLPE(k=7).fit(X).calibration_scores_, np.sort(-lof._distances_fit_X_[:, 6]))
