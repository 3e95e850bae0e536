"""Newton directions against a dense solve of the Hessian written out."""

import numpy as np
import pytest

from workbench.kernels import KernelMatrix
from workbench.ranksvm import directions
from workbench.ranksvm.windows import Zone, pair_sums

BOTH_PRECISIONS = pytest.mark.parametrize("precision", [np.float64, np.float32])


def system(n=90, sigma=0.3, upper=1.0, rank=None, T=0.4):
    """A span, sums with a good share of the pairs in the zone, the Laplacian and a gradient."""
    rng = np.random.default_rng(0)
    kernel = KernelMatrix(rng.normal(size=(n, 2)), sigma)
    factor = kernel.factor(1e-10)
    span = directions.Span(kernel, factor, rank or factor.rank)
    sums = pair_sums(rng.normal(size=n), T, rng.integers(1, 4, n), 2.0, upper)
    zone = Zone(sums)
    L = np.zeros((n, n))
    L[np.ix_(zone.active, zone.active)] = zone.product(np.eye(len(zone.active)))
    return span, sums, L, rng.normal(size=span.rank)


def residual(span, s, L, gradient, step):
    H = np.eye(span.rank) + s * span.Phi.T @ L @ span.Phi
    return np.linalg.norm(H @ step + gradient) / np.linalg.norm(gradient)


@pytest.fixture
def factorised(monkeypatch):
    """Count the factors worked out."""
    count = []
    original = directions.Span._factorise

    def counted(*arguments):
        count.append(1)
        return original(*arguments)

    monkeypatch.setattr(directions.Span, "_factorise", counted)
    return count


@BOTH_PRECISIONS
@pytest.mark.parametrize(("rank", "T"), [(None, 0.4), (20, 0.4), (40, -2.5)])
def test_small_systems_are_solved_by_a_factor(factorised, precision, rank, T):
    span, sums, L, gradient = system(rank=rank, T=T)
    step = span.direction(0.1, sums, gradient, precision, accuracy=0.5)
    assert len(factorised) == 1
    assert residual(span, 0.1, L, gradient, step) < (1e-12 if precision == np.float64 else 1e-4)


@BOTH_PRECISIONS
@pytest.mark.parametrize("accuracy", [0.5, 0.1, 1e-3])
def test_large_systems_are_solved_to_the_accuracy_asked_for(factorised, precision, accuracy):
    span, sums, L, gradient = system(n=320)
    step = span.direction(0.1, sums, gradient, precision, accuracy)
    assert not factorised
    assert accuracy / 1000 < residual(span, 0.1, L, gradient, step) <= 1.01 * accuracy
    assert step @ gradient < 0


def test_where_iterations_fail_a_factor_takes_over_and_serves_the_next_step(factorised):
    span, sums, L, gradient = system(n=320, sigma=0.45)
    first = span.direction(100.0, sums, gradient, np.float64, 1e-9)
    assert residual(span, 100.0, L, gradient, first) < 1e-6
    assert len(factorised) == 1
    for s in (100.0, 120.0):
        step = span.direction(s, sums, -gradient, np.float64, 1e-2)
        assert residual(span, s, L, -gradient, step) <= 1e-2
    assert len(factorised) == 1
    span.direction(1e-4, sums, gradient, np.float64, 1e-9)  # far from the factor at hand
    assert len(factorised) == 2


def test_no_gradient_no_step():
    span, sums, _, gradient = system(n=320)
    np.testing.assert_array_equal(span.direction(0.1, sums, 0 * gradient, np.float32, 0.1), 0)


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_single_precision_bears_gradients_of_any_size(size):
    span, sums, L, gradient = system(n=320)
    step = span.direction(0.1, sums, size * gradient, np.float32, 0.1)
    assert residual(span, 0.1, L, gradient, step / size) <= 0.101
