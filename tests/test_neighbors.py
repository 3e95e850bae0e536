import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from workbench import neighbors
from workbench.neighbors import knn_statistic, rank, ranks
from workbench.searching import NeighborSearch


def lattice(n, d):
    """Points on a coarse lattice: full of ties and duplicates."""
    return arrays(float, (n, d), elements=st.integers(0, 3).map(float))


@given(lattice(12, 2), st.integers(1, 11))
def test_knn_statistic_is_the_mean_of_sorted_distances(X, k):
    expected = oracles.knn_statistic(X, X, k, exclude_self=True)
    np.testing.assert_allclose(knn_statistic(X, k=k), expected, rtol=1e-13)


def test_knn_statistic_of_queries_and_closed_form(rng):
    X = np.arange(6.0)[:, None]
    np.testing.assert_allclose(knn_statistic(X, k=2), [1.5, 1, 1, 1, 1, 1.5])
    np.testing.assert_allclose(knn_statistic(X, [[10.0], [2.0]], k=3), [6.0, 2 / 3])
    Z, queries = rng.normal(size=(40, 5)), rng.normal(size=(7, 5))
    np.testing.assert_allclose(knn_statistic(Z, queries, k=40), oracles.knn_statistic(Z, queries, 40))


@given(lattice(9, 1))
def test_in_sample_rank_keeps_the_strict_inequality(X):
    G = knn_statistic(X, k=3)
    np.testing.assert_array_equal(ranks(X, k=3, resamples=0), oracles.rank(G, G))


def test_rank_of_new_points_counts_strictly():
    np.testing.assert_array_equal(
        rank(np.array([0.5, 1.0, 2.0, 9.0]), np.array([1.0, 2.0, 2.0])), [1, 2 / 3, 0, 0]
    )


@given(lattice(20, 2), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_fast_resampling_equals_searching_every_split_on_ties(X, k, seed):
    fast = ranks(X, k=k, resamples=4, random_state=seed)
    np.testing.assert_array_equal(fast, oracles.resampled_ranks(X, k, 4, seed))


@pytest.mark.parametrize(("n", "d", "k"), [(101, 2, 20), (80, 3, 39), (61, 10, 1), (150, 36, 7)])
def test_fast_resampling_equals_searching_every_split(rng, n, d, k):
    X = rng.normal(size=(n, d))
    X[: n // 4] = X[n // 4 : 2 * (n // 4)]
    fast = ranks(X, k=k, resamples=20, random_state=3)
    np.testing.assert_array_equal(fast, oracles.resampled_ranks(X, k, 20, 3))


def test_lists_that_run_out_are_searched_again(rng, monkeypatch):
    """With lists that end below average length nearly every one runs out, some several times."""
    X = rng.normal(size=(60, 2))
    expected = oracles.resampled_ranks(X, 5, 9, 0)
    for spare in (-3.0, -2.0, 0.0, 20.0):
        monkeypatch.setattr(neighbors, "SPARE", spare)
        np.testing.assert_array_equal(ranks(X, k=5, resamples=9, random_state=0), expected)


@pytest.mark.parametrize("rows", [1, 7, 60])
def test_ranks_do_not_depend_on_how_many_lists_are_worked_on_at_a_time(rng, monkeypatch, rows):
    X = np.round(rng.normal(size=(60, 2)), 1)
    monkeypatch.setattr(neighbors, "ROWS", rows)
    fast = ranks(X, k=5, resamples=17, random_state=0)  # more splits than two bytes have bits
    np.testing.assert_array_equal(fast, oracles.resampled_ranks(X, 5, 17, 0))


@pytest.mark.parametrize("portion", [8, 60])
def test_brute_force_gives_the_same_ranks_and_neighbours(rng, monkeypatch, portion):
    X = np.concatenate([np.round(rng.normal(size=(40, 3)), 1), np.ones((15, 3)), 50 * np.eye(3)])
    expected = oracles.resampled_ranks(X, 5, 9, 0)
    G = knn_statistic(X, k=7)
    forced = []
    monkeypatch.setattr(NeighborSearch, "prefers_tree", lambda *_: forced.append(1))
    monkeypatch.setattr(neighbors, "PORTION", portion)
    monkeypatch.setattr(neighbors, "ROWS", 5)
    np.testing.assert_array_equal(ranks(X, k=5, resamples=9, random_state=0), expected)
    np.testing.assert_array_equal(knn_statistic(X, k=7), G)
    assert forced


@pytest.mark.parametrize("copies", [0, 3, 30])
def test_a_point_is_left_out_of_its_own_neighbours_whatever_the_copies(rng, copies):
    X = rng.normal(size=(40, 2))
    X[:copies] = X[0]
    distances, index = neighbors.nearest(X, k=5)
    assert (index != np.arange(40)[:, None]).all() or copies > 6  # one of so many copies is as good
    expected = np.sort(np.linalg.norm(X[:, None] - X, axis=2) + np.diag([np.inf] * 40), axis=1)[:, :5]
    np.testing.assert_allclose(distances, expected, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(X[:, None] - X[index], axis=2), distances)


def test_same_seed_same_bytes_other_seed_other_ranks(rng):
    X = rng.normal(size=(50, 2))
    assert ranks(X, k=5, random_state=1).tobytes() == ranks(X, k=5, random_state=1).tobytes()
    assert not np.array_equal(ranks(X, k=5, random_state=1), ranks(X, k=5, random_state=2))


def test_invariances(rng):
    X = rng.normal(size=(60, 2))
    R = ranks(X, k=5, resamples=0)
    order = rng.permutation(60)
    np.testing.assert_array_equal(ranks(X[order], k=5, resamples=0), R[order])
    angle = 0.7
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    np.testing.assert_array_equal(ranks(3 * X @ rotation + 100, k=5, resamples=0), R)


def test_dense_points_rank_high(rng):
    X = np.concatenate([0.01 * rng.normal(size=(30, 2)), 5 + rng.normal(size=(10, 2))])
    R = ranks(X, k=4, random_state=0)
    assert R[:30].min() > R[30:].max()


def test_identical_points_all_rank_zero():
    np.testing.assert_array_equal(ranks(np.ones((10, 2)), k=3, random_state=0), np.zeros(10))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 10}, "k=10 neighbours are too many .* largest allowed is 4"),
        ({"k": 5}, "largest allowed is 4"),
        ({"k": 10, "resamples": 0}, "largest allowed is 9"),
        ({"k": 0}, "k must be a whole number .* got 0"),
        ({"k": 2.5}, "got 2.5"),
        ({"k": True}, "got True"),
        ({"k": 2, "resamples": -1}, "resamples must be a whole number .* got -1"),
        ({"k": 2, "resamples": 1.5}, "got 1.5"),
    ],
)
def test_bad_parameters(rng, arguments, message):
    with pytest.raises(ValueError, match=message):
        ranks(rng.normal(size=(10, 2)), **arguments)


def test_k_may_be_n_for_queries_but_not_for_the_sample(rng):
    X = rng.normal(size=(10, 2))
    assert len(knn_statistic(X, X, k=10)) == 10
    with pytest.raises(ValueError, match="largest allowed is 9"):
        knn_statistic(X, k=10)
    with pytest.raises(ValueError, match="largest allowed is 10"):
        knn_statistic(X, X, k=11)


def test_too_few_points():
    with pytest.raises(ValueError, match="minimum of 2"):
        ranks(np.ones((1, 2)), k=1)
    with pytest.raises(ValueError, match="too few points"):
        ranks(np.eye(3), k=1, resamples=1)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_non_finite(rng, value):
    X = rng.normal(size=(10, 2))
    X[3, 1] = value
    with pytest.raises(ValueError, match="X contains"):
        knn_statistic(X, k=2)


@pytest.mark.parametrize("scale", [2.0**-1000, 1e-200, 1e200, 2.0**1020, 1e307])
def test_extreme_scales(rng, scale):
    X = rng.normal(size=(20, 2))
    queries = rng.normal(size=(3, 2))
    np.testing.assert_allclose(knn_statistic(X * scale, k=3), knn_statistic(X, k=3) * scale)
    np.testing.assert_allclose(
        knn_statistic(X * scale, queries * scale, k=3), knn_statistic(X, queries, k=3) * scale
    )
    np.testing.assert_array_equal(ranks(X * scale, k=3, random_state=0), ranks(X, k=3, random_state=0))


def test_wrong_width(rng):
    with pytest.raises(ValueError, match="3 columns but the training points have 2"):
        knn_statistic(rng.normal(size=(10, 2)), rng.normal(size=(4, 3)), k=2)


def test_nearest_points_and_their_distances(rng):
    X, queries = rng.normal(size=(40, 3)), rng.normal(size=(10, 3))
    for points, exclude_self in ((queries, False), (X, True)):
        distances, index = neighbors.nearest(X, None if exclude_self else queries, k=6)
        exact = np.linalg.norm(points[:, None] - X, axis=2)
        if exclude_self:
            np.fill_diagonal(exact, np.inf)
        np.testing.assert_array_equal(index, np.argsort(exact, axis=1)[:, :6])
        np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :6])


def test_a_query_far_away_does_not_blur_the_others(rng):
    X, queries = rng.normal(size=(40, 2)), rng.normal(size=(5, 2))
    alone = neighbors.knn_statistic(X, queries, k=3)
    far = np.array([[1e300, 0.0], [3e200, -4e200], [1e307, 1e307], [1e120, 0.0]])
    together = neighbors.knn_statistic(X, np.concatenate([queries, far]), k=3)
    np.testing.assert_array_equal(together[:5], alone)
    np.testing.assert_allclose(together[5:], [1e300, 5e200, np.sqrt(2) * 1e307, 1e120])


def test_mean_distance_counts_copies_once(rng):
    X = rng.normal(size=(40, 2))
    D_K = neighbors.mean_distance(X, 5)
    assert neighbors.knn_statistic(X, k=5).mean() == D_K
    assert neighbors.mean_distance(np.repeat(X, 9, axis=0), 5) == pytest.approx(D_K, rel=1e-12)
    assert neighbors.mean_distance([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]], 20) == 5.0  # one other point
    assert neighbors.mean_distance(np.ones((30, 2))) == 0.0
