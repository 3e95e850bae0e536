"""Landmarks: the projection against linear algebra written out, and its error bound."""

import numpy as np
import oracles
import pytest

from workbench.expansions import KernelExpansion
from workbench.projection import Projector


def expansion(rng, n=50, d=2, sigma=1.0, offset=0.0):
    return KernelExpansion(offset + rng.normal(size=(n, d)), rng.normal(size=n), sigma)


@pytest.mark.parametrize("sigma", [0.1, 1.0, 5.0])
def test_projection_is_the_nearest_function_of_the_span(rng, sigma):
    g = expansion(rng, sigma=sigma)
    K = oracles.gram(g.centres, sigma)
    projector = Projector(g, 12)
    projection = projector.onto(projector.largest)
    S = projection.index
    assert np.all(projection.expansion.centres == g.centres[S])
    c = np.linalg.lstsq(K[np.ix_(S, S)], K[S] @ g.coefficients, rcond=None)[0]
    points = 3 * rng.normal(size=(40, 2))
    across = np.exp(-np.sum((points[:, None] - g.centres[S]) ** 2, axis=2) / sigma**2)
    np.testing.assert_allclose(projection.expansion(points), across @ c, atol=1e-5)
    rest = g.coefficients.copy()
    rest[S] -= c
    assert projection.distance == pytest.approx(np.sqrt(rest @ K @ rest), rel=1e-4)
    assert projection.slope < 1e-3 * projection.distance


@pytest.mark.parametrize(("sigma", "offset"), [(0.1, 0.0), (0.5, 0.0), (1.0, 1e6), (5.0, 0.0), (30.0, 0.0)])
@pytest.mark.parametrize("r", [1, 5, 20, 49, 50])
def test_error_bound_holds(rng, sigma, offset, r):
    g = expansion(rng, sigma=sigma, offset=offset)
    projector = Projector(g)
    projection = projector.onto(min(r, projector.largest))
    X = np.concatenate([offset + 2 * rng.normal(size=(500, 2)), g.centres, np.full((1, 2), 1e200)])
    error = np.abs(g(X) - projection.expansion(X))
    bound = projection.error(X)
    slack = g.rounding + projection.expansion.rounding
    assert np.all(error <= bound + slack)
    assert np.all(bound <= projection.distance)


def test_bound_is_attained_at_the_centre_left_out(rng):
    """Control: half of it would be broken."""
    g = expansion(rng, sigma=0.7, n=20)
    projector = Projector(g)
    projection = projector.onto(19)
    left_out = np.setdiff1d(np.arange(20), projection.index)
    X = g.centres[left_out]
    error = np.abs(g(X) - projection.expansion(X))
    bound = projection.error(X)
    assert error == pytest.approx(bound, rel=1e-3)
    assert np.all(error > bound / 2)


def test_wrong_coefficients_break_the_bound(rng):
    """Control: the error of anything but the projection is not bounded so."""
    g = expansion(rng, sigma=3.0)
    projection = Projector(g, 12).onto(12)
    wrong = KernelExpansion(projection.expansion.centres, 1.01 * projection.expansion.coefficients, g.sigma)
    X = 2 * rng.normal(size=(500, 2))
    assert np.any(np.abs(g(X) - wrong(X)) > projection.error(X))


def test_pointwise_factor_matters_where_the_kernel_is_wide(rng):
    g = expansion(rng, sigma=5.0)
    projection = Projector(g, 8).onto(8)
    assert np.median(projection.error(rng.normal(size=(200, 2)))) < projection.distance / 20


def test_enough_is_the_least_number(rng):
    g = expansion(rng, sigma=0.8)
    projector = Projector(g)
    for tol in (3.0, 0.3, 1e-3):
        r = projector.enough(tol)
        assert projector.onto(r).distance <= tol * (1 + 1e-6)
        assert projector.onto(r - 1).distance > tol
    assert projector.enough(1e9) == 1


def test_duplicated_centres_are_one_landmark(rng):
    centres = np.repeat(rng.normal(size=(10, 2)), 3, axis=0)
    g = KernelExpansion(centres, rng.normal(size=30), 1.0)
    projector = Projector(g)
    assert projector.largest == 10
    assert projector.onto(10).distance < 1e-4
