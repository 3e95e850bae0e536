import numpy as np
import oracles
import pytest

from workbench import kernels
from workbench.kernels import KernelMatrix, kernel_sum, rbf


@pytest.fixture
def X(rng):
    X = rng.normal(size=(80, 3))
    X[70:] = X[:10]
    return X


@pytest.fixture(params=["dense", "blocks"])
def limit(request, monkeypatch):
    if request.param == "blocks":
        monkeypatch.setattr(kernels, "DENSE_LIMIT", 10)
        monkeypatch.setattr(kernels, "BLOCK_BYTES", 8 * 80 * 7)
    return request.param


def test_rbf_is_the_formula(X):
    np.testing.assert_allclose(rbf(X, X, 1.3), oracles.gram(X, 1.3), rtol=1e-12)


def test_rbf_far_from_the_origin_and_at_extreme_scales(X):
    exact = rbf(np.round(X * 64) / 64, np.round(X * 64) / 64, 1.0)
    shifted = np.round(X * 64) / 64 + 2.0**30
    np.testing.assert_array_equal(rbf(shifted, shifted, 1.0), exact)
    for scale in (1e-300, 1e-150, 1e150, 1e300):
        np.testing.assert_allclose(rbf(X * scale, X * scale, scale), rbf(X, X, 1.0), rtol=1e-12)
    assert rbf(np.array([[1e308]]), np.array([[-1e308]]), 1.0).item() == 0.0


@pytest.mark.parametrize("sigma", [0.7, 1e-3])
def test_rbf_loses_no_digit_far_from_the_origin(X, sigma):
    """Differences of these points are exact, and so are the distances."""
    X = np.round(X * 64) / 64
    np.testing.assert_array_equal(rbf(X + 2.0**30, X + 2.0**30, sigma), rbf(X, X, sigma))
    np.testing.assert_array_equal(rbf(X * 2.0**-900, X * 2.0**-900, sigma * 2.0**-900), rbf(X, X, sigma))


def test_rbf_is_zero_out_of_reach_and_never_denormal():
    x = np.linspace(0, 40, 4001)[:, None]
    K = rbf(x, np.zeros((1, 1)), 1.0)[:, 0]
    within = x[:, 0] ** 2 <= 700
    np.testing.assert_allclose(K[within], np.exp(-(x[within, 0] ** 2)), rtol=1e-12)
    assert np.all(K[within] > np.finfo(float).tiny)
    np.testing.assert_array_equal(K[~within], 0.0)
    assert (~within).any()
    assert rbf(np.empty((0, 2)), np.zeros((3, 2)), 1.0).shape == (0, 3)


def test_products(X, rng, limit):
    K = oracles.gram(X, 1.3)
    beta = rng.normal(size=80)
    np.testing.assert_allclose(KernelMatrix(X, 1.3).dot(beta), K @ beta, atol=1e-13)
    beta[10:] = 0
    np.testing.assert_allclose(KernelMatrix(X, 1.3).dot(beta), K @ beta, atol=1e-13)
    np.testing.assert_array_equal(KernelMatrix(X, 1.3).dot(np.zeros(80)), np.zeros(80))
    np.testing.assert_allclose(KernelMatrix(X, 1.3).columns([5, 2]), K[:, [5, 2]])
    np.testing.assert_allclose(kernel_sum(X[:9], X, beta, 1.3), (K @ beta)[:9], atol=1e-13)


@pytest.mark.parametrize("sigma", [1e-3, 0.5, 2.0, 1e3])
@pytest.mark.parametrize("tol", [1e-2, 1e-6, 1e-13])
def test_factor(X, limit, sigma, tol):
    K = oracles.gram(X, sigma)
    factor = KernelMatrix(X, sigma).factor(tol)
    error = K - factor.Phi @ factor.Phi.T
    assert np.diag(error).max() <= tol + 1e-15
    np.testing.assert_allclose(factor.residual, np.maximum(np.diag(error), 0), atol=1e-14)
    # positive semi-definite remainder, hence |error_ij| <= sqrt(error_ii error_jj) <= tol
    assert np.linalg.eigvalsh(error).min() > -1e-13
    # exact on the pivots
    np.testing.assert_allclose(factor.Phi @ factor.Phi[factor.pivots].T, K[:, factor.pivots], atol=1e-13)
    assert factor.rank <= 70  # ten rows are duplicates
    assert np.diag(factor.Phi[factor.pivots]).min() ** 2 > tol


def test_coefficients_carry_a_vector_of_the_span_to_the_pivots(X, rng, limit):
    factor = KernelMatrix(X, 0.5).factor(1e-10)
    w = rng.normal(size=factor.rank)
    beta = np.zeros(80)
    beta[factor.pivots] = factor.coefficients(w)
    K = oracles.gram(X, 0.5)
    np.testing.assert_allclose(K @ beta, factor.Phi @ w, atol=1e-8)
    assert beta @ K @ beta == pytest.approx(w @ w)


def test_sum_on_a_grid_is_the_sum_at_its_points():
    rng = np.random.default_rng(0)
    centres, coefficients = rng.normal(size=(30, 2)), rng.normal(size=30)
    x, y = np.linspace(-40, 2, 7), np.linspace(-1, 3, 5)
    points = np.array([[a, b] for b in y for a in x])
    expected = kernels.kernel_sum(points, centres, coefficients, 0.7).reshape(5, 7)
    np.testing.assert_allclose(
        kernels.kernel_sum_on_grid(x, y, centres, coefficients, 0.7), expected, atol=1e-14
    )
    none = kernels.kernel_sum_on_grid(x, y, np.empty((0, 2)), np.empty(0), 0.7)
    np.testing.assert_array_equal(none, np.zeros((5, 7)))
