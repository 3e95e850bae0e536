"""Locality-sensitive hashing: collision probabilities in closed form, recall, and k-NN distances."""

import numpy as np
import pytest
from scipy import stats

from workbench.baselines import AKLPE, LSHOutlier
from workbench.baselines.hashing import HashTables, KernelHashes, PStableHashes
from workbench.densities import FIG2


@pytest.mark.parametrize("r", [0.3, 1.0, 4.0])
def test_p_stable_hashes_collide_as_often_as_they_should(r):
    width, n_hashes = 2.0, 20_000
    hashes = PStableHashes(3, n_hashes, width, np.random.RandomState(0))
    direction = np.array([2.0, -1.0, 2.0]) / 3
    one, two = hashes(np.array([[5.0, 1.0, -2.0], [5.0, 1.0, -2.0] + r * direction]))
    c = width / r
    expected = 1 - 2 * stats.norm.sf(c) - 2 / (np.sqrt(2 * np.pi) * c) * (1 - np.exp(-(c**2) / 2))
    error = np.sqrt(expected * (1 - expected) / n_hashes)
    assert abs(np.mean(one == two) - expected) < 4 * error


def test_kernel_hashes_project_with_the_kernels_covariance():
    """Signs of projections whose covariance is the centred kernel; they agree for 1 - angle / pi, nearly."""
    rng = np.random.RandomState(0)
    anchors, n_hashes = rng.normal(size=(60, 3)), 20_000
    hashes = KernelHashes(anchors, n_hashes, 20, 4.0, rng)
    K = np.exp(-np.sum((anchors[:, None] - anchors) ** 2, axis=2) / 4.0**2)
    centre = np.eye(60) - 1 / 60
    K = centre @ K @ centre
    cosine = K / np.sqrt(np.outer(np.diag(K), np.diag(K)))
    seen = np.corrcoef(K @ hashes.weights)
    np.testing.assert_allclose(seen, cosine, atol=5 / np.sqrt(n_hashes))
    bits = hashes(anchors)
    collisions = np.array([np.mean(bits[i] == bits, axis=1) for i in range(60)])
    assert np.mean(np.abs(collisions - (1 - np.arccos(np.clip(cosine, -1, 1)) / np.pi))) < 0.02


def test_candidates_are_those_that_share_a_bucket():
    rng = np.random.RandomState(0)
    X, queries = rng.normal(size=(200, 2)), rng.normal(size=(20, 2))
    hashes = PStableHashes(2, 6, 1.0, rng)
    tables = HashTables(hashes, 3, X)
    indexed, asked = hashes(X).reshape(200, 3, 2), hashes(queries).reshape(20, 3, 2)
    agree = (asked[:, None] == indexed).all(axis=3)
    for row, candidates in enumerate(tables.candidates(queries)):
        np.testing.assert_array_equal(candidates, np.flatnonzero(agree[row].any(axis=1)))
    np.testing.assert_array_equal(tables.bucket_sizes(queries), agree.sum(axis=1))


@pytest.mark.parametrize("hashing", ["p-stable", "kernel"])
def test_recall_grows_with_tables_and_falls_with_hashes(hashing):
    X = np.random.default_rng(0).normal(size=(400, 6))

    def recall(**parameters):
        systems = [LSHOutlier(k=10, hashing=hashing, random_state=seed, **parameters) for seed in range(3)]
        return np.mean([system.fit(X).recall_ for system in systems])

    by_tables = [recall(n_tables=n, n_hashes=10) for n in (1, 4, 16)]
    assert by_tables[0] + 0.1 < by_tables[1] < by_tables[2] - 0.05
    assert recall(n_tables=4, n_hashes=4) > by_tables[1] + 0.1
    assert recall(n_tables=64, n_hashes=1) == 1.0


def test_recall_is_the_share_of_true_neighbours_among_the_candidates():
    X = FIG2.sample(80, random_state=0)
    detector = LSHOutlier(k=5, n_tables=2, n_hashes=6, random_state=0).fit(X)
    shares = []
    for i, candidates in enumerate(detector.tables_.candidates(X)):
        distances = np.linalg.norm(X - X[i], axis=1)
        distances[i] = np.inf
        shares.append(np.isin(np.argsort(distances)[:5], candidates).mean())
    assert detector.recall_ == pytest.approx(np.mean(shares))
    assert 0.2 < detector.recall_ < 1


@pytest.mark.parametrize("hashing", ["p-stable", "kernel"])
def test_estimates_are_never_below_the_true_average_and_outliers_are_exact(hashing):
    X = FIG2.sample(500, random_state=0)
    fresh = np.concatenate([FIG2.sample(100, random_state=1), [[60.0, 60.0], [-5.0, 40.0]]])
    exact = -AKLPE(k=10).fit(X).score_samples(fresh)
    few = LSHOutlier(k=10, hashing=hashing, n_tables=1, n_hashes=8, random_state=0).fit(X)
    many = LSHOutlier(k=10, hashing=hashing, n_tables=40, n_hashes=2, random_state=0).fit(X)
    estimates = -few.score_samples(fresh), -many.score_samples(fresh)
    for estimate in estimates:
        assert np.all(estimate >= exact * (1 - 1e-12))
    errors = [np.mean(estimate / exact - 1) for estimate in estimates]
    assert errors[1] < errors[0]
    assert errors[1] < 0.01
    if hashing == "p-stable":  # an outlier's buckets are empty, so it is compared with all
        np.testing.assert_allclose(estimates[0][-2:], exact[-2:])


def test_calibration_leaves_each_point_out():
    X = FIG2.sample(200, random_state=0)
    all_in_one = LSHOutlier(k=5, n_tables=200, n_hashes=1, random_state=0).fit(X)
    assert all_in_one.recall_ == 1
    np.testing.assert_allclose(all_in_one.calibration_scores_, AKLPE(k=5).fit(X).calibration_scores_)
