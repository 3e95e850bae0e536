"""Randomly pivoted Cholesky: a factor, drawn by the law it names, the same every time."""

import numpy as np
import pytest

from workbench import landmarks
from workbench.kernels import KernelMatrix
from workbench.landmarks import random_factor


def test_it_is_a_factor(rng):
    X = rng.normal(size=(80, 2))
    kernel = KernelMatrix(X, 0.7)
    factor = random_factor(kernel, 25, 1e-10)
    K, Phi, pivots = kernel.dense, factor.Phi, factor.pivots
    assert len(set(pivots)) == factor.rank == 25
    np.testing.assert_allclose(K[:, pivots], Phi @ Phi[pivots].T, atol=1e-12)
    np.testing.assert_array_equal(np.triu(Phi[pivots], 1), 0)
    np.testing.assert_allclose(np.diag(K - Phi @ Phi.T), factor.residual, atol=1e-12)
    assert np.linalg.eigvalsh(K - Phi @ Phi.T).min() > -1e-10
    np.testing.assert_array_equal(random_factor(kernel, 25, 1e-10).pivots, pivots)


def test_the_second_pivot_is_drawn_in_proportion_to_what_the_first_left(monkeypatch):
    X = np.array([[0.0], [0.3], [0.8], [3.0]])
    kernel = KernelMatrix(X, 1.0)
    drawn = np.zeros((4, 4))
    for seed in range(4000):
        monkeypatch.setattr(landmarks, "SEED", seed)
        first, second = random_factor(kernel, 2, 1e-10).pivots
        drawn[first, second] += 1
    left = 1 - kernel.dense**2
    share = drawn.sum(axis=1)
    np.testing.assert_allclose(share / 4000, 0.25, atol=0.03)
    expected = left / left.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(drawn / share[:, None], expected, atol=0.07)
    assert np.abs(expected - 1 / 3).max() > 0.15  # a uniform draw would fail


def test_copies_are_not_drawn_and_all_means_all_that_differ():
    X = np.repeat(np.eye(4), 5, axis=0)
    factor = random_factor(KernelMatrix(X, 1.0), 100, 1e-10)
    assert factor.rank == 4
    assert len(np.unique(X[factor.pivots], axis=0)) == 4


@pytest.mark.parametrize("sigma", [0.05, 0.1])
def test_few_landmarks_of_a_narrow_kernel_leave_less_than_the_farthest_would(rng, sigma):
    """In a heavy tail the farthest points are nobody's neighbours."""
    kernel = KernelMatrix(rng.standard_t(2, size=(500, 1)), sigma)
    farthest, drawn = kernel.factor(1e-10, 20), random_factor(kernel, 20, 1e-10)
    assert drawn.residual.sum() < farthest.residual.sum() - 5
