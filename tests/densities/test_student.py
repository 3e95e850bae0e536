import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln

from workbench.densities import HEAVY_TAIL, GaussianMixture, StudentT
from workbench.levelsets import Grid

ALPHAS = np.array([1e-12, 1e-3, 0.05, 0.3, 0.8, 0.999, 1 - 1e-9])


def a_student(df, d):
    factor = np.random.default_rng(d).normal(size=(d, d)) + 2 * np.eye(d)
    return StudentT(df, np.arange(d), factor @ factor.T)


CASES = [a_student(df, d) for df in (0.5, 1.0, 3.0, 30.0) for d in (1, 2, 5)]


def squared_distance(density, X):
    difference = X - density.location
    return np.einsum("ij,jk,ik->i", difference, np.linalg.inv(density.scatter), difference)


@pytest.mark.parametrize("density", CASES)
def test_logpdf_against_scipy(density):
    X = np.random.default_rng(0).normal(size=(100, density.d)) * 10
    truth = stats.multivariate_t(density.location, density.scatter, density.df).logpdf(X)
    np.testing.assert_allclose(density.logpdf(X), truth, rtol=1e-9)
    assert density.logpdf([density.location])[0] == pytest.approx(
        stats.multivariate_t(density.location, density.scatter, density.df).logpdf(density.location)
    )


@pytest.mark.parametrize("density", CASES)
def test_truth_is_the_f_law(density):
    X = density.sample(1000, random_state=0)
    law = stats.f(density.d, density.df)
    np.testing.assert_allclose(
        density.p_value(X), law.sf(squared_distance(density, X) / density.d), atol=1e-7
    )
    d = density.d
    ball = np.exp(d / 2 * np.log(np.pi) - gammaln(d / 2 + 1)) * np.sqrt(np.linalg.det(density.scatter))
    q = (density.volume(ALPHAS) / ball) ** (2 / d)
    np.testing.assert_allclose(law.sf(q / d), ALPHAS, rtol=1e-7)
    np.testing.assert_allclose(law.cdf(q / d), 1 - ALPHAS, rtol=1e-5)
    peak = density.pdf([density.location])[0]
    level = peak * (1 + q / density.df) ** (-(density.df + d) / 2)
    np.testing.assert_allclose(density.level(ALPHAS), level, rtol=1e-7)


def test_truth_on_the_line_and_in_the_plane():
    x = np.linspace(-30, 30, 101)
    line = StudentT(2.5, [0.0], [[4.0]])
    np.testing.assert_allclose(line.p_value(x[:, None]), 2 * stats.t(2.5).sf(np.abs(x) / 2), atol=1e-7)
    plane = StudentT(2.5, [0.0, 0.0], np.eye(2))
    np.testing.assert_allclose(
        plane.p_value(np.column_stack([x, 0 * x])), (1 + x**2 / 2.5) ** -1.25, rtol=1e-9
    )
    np.testing.assert_allclose(plane.volume(ALPHAS[:-1]), 2.5 * np.pi * (ALPHAS[:-1] ** -0.8 - 1), rtol=1e-9)


def test_many_degrees_of_freedom_make_a_gaussian():
    gaussian = GaussianMixture([1.0], [[1.0, 2.0]], [[[2.0, 0.5], [0.5, 1.0]]])
    student = StudentT(1e6, [1.0, 2.0], [[2.0, 0.5], [0.5, 1.0]])
    X = gaussian.sample(500, random_state=0)
    np.testing.assert_allclose(student.logpdf(X), gaussian.logpdf(X), atol=1e-4)
    np.testing.assert_allclose(student.p_value(X), gaussian.p_value(X), atol=1e-5)
    np.testing.assert_allclose(student.bounds(1e-3), [[-4, -1], [6, 5]], atol=1)


@settings(max_examples=20, deadline=None)
@given(
    entries=st.tuples(*[st.floats(-2, 2)] * 4),
    shift=st.tuples(st.floats(-100, 100), st.floats(-100, 100)),
)
def test_affine_maps(entries, shift):
    A = np.reshape(entries, (2, 2)) + 5 * np.eye(2)
    moved = StudentT(3.0, A @ HEAVY_TAIL.location + shift, A @ HEAVY_TAIL.scatter @ A.T)
    X = HEAVY_TAIL.sample(100, random_state=0)
    np.testing.assert_allclose(moved.p_value(X @ A.T + shift), HEAVY_TAIL.p_value(X), atol=1e-9)
    stretch = np.linalg.det(A)
    np.testing.assert_allclose(moved.volume(ALPHAS), HEAVY_TAIL.volume(ALPHAS) * stretch, rtol=1e-9)


@pytest.mark.filterwarnings("error")
def test_far_away():
    """The tail is a power law all the way: p = (1 + r^2 / nu)^(-nu / 2), to the end of the numbers."""
    plane = StudentT(3.0, [0.0, 0.0], np.eye(2))
    r = np.array([1e2, 1e10, 1e80, 1e100])
    np.testing.assert_allclose(
        plane.p_value(np.column_stack([r, 0 * r])), np.exp(-1.5 * (2 * np.log(r) - np.log(3))), rtol=1e-3
    )
    beyond = np.array([[1e160, 0.0], [-1e200, 1e200], [1.7e308, -1.7e308]])
    assert np.isfinite(plane.logpdf(beyond)).all()
    assert (np.diff(plane.logpdf(beyond)) < 0).all()
    np.testing.assert_allclose(plane.p_value(beyond), 0, atol=1e-300)
    astray = StudentT(3.0, [-1.7e308, 0.0], np.eye(2))
    assert astray.logpdf([[1.7e308, 0.0]])[0] == pytest.approx(plane.logpdf([[1.7e308, 0.0]])[0], abs=5)


def test_needles_and_giants():
    for scale in (1e-100, 1e100):
        density = StudentT(3.0, [0.0, 0.0], scale**2 * np.eye(2))
        assert density.p_value([[3 * scale, 0.0]])[0] == pytest.approx(4**-1.5)
        assert density.volume(0.1) == pytest.approx(3 * np.pi * (0.1 ** (-2 / 3) - 1) * scale**2)


def test_the_tail_is_heavy_and_its_grid_is_not_wide():
    """All but 1e-6 would take a box of 290 units; cells over it would miss the middle."""
    assert np.ptp(HEAVY_TAIL.bounds(1e-6), axis=0).min() > 200
    grid = Grid.covering(HEAVY_TAIL, 110)
    assert np.ptp(grid.x) < 40
    assert (grid.evaluate(HEAVY_TAIL.pdf) * grid.cell_area).sum() == pytest.approx(1, abs=2e-3)
    X = HEAVY_TAIL.sample(100_000, random_state=0)
    assert 1e-4 < np.mean(np.abs(X).max(axis=1) > 20) < HEAVY_TAIL.negligible < 1e-3
    assert StudentT(30.0, [0.0, 0.0], np.eye(2)).negligible == 1e-6
    assert 0.05 < StudentT(1.0, [0.0, 0.0], np.eye(2)).negligible < 0.1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ((0.0, [0.0], [[1.0]]), "df must be a positive, finite number, got 0.0"),
        ((np.inf, [0.0], [[1.0]]), "df must be a positive, finite number, got inf"),
        (("3", [0.0], [[1.0]]), "df must be a positive, finite number, got '3'"),
        ((0.01, [0.0], [[1.0]]), "df must lie between 0.1 and 1e6, got 0.01"),
        ((1e7, [0.0], [[1.0]]), "got 10000000.0: .* a GaussianMixture is the same"),
        ((3.0, 0.0, [[1.0]]), r"got \(\) and \(1, 1\): give one"),
        ((3.0, [], np.empty((0, 0))), r"got \(0,\) and \(0, 0\)"),
        ((3.0, [0.0, 0.0], [[1.0]]), r"got \(2,\) and \(1, 1\)"),
        ((3.0, [0.0, np.nan], np.eye(2)), "location must be finite, got nan"),
        ((3.0, [0.0, 0.0], np.full((2, 2), np.inf)), "scatter must be finite, got inf"),
        ((3.0, [0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]]), "scatter must be symmetric"),
        ((3.0, [0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]]), "scatter must be positive definite, got smallest"),
    ],
)
def test_hostile_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        StudentT(*parameters)


def test_parameters_cannot_go_stale():
    location = np.zeros(2)
    density = StudentT(3.0, location, np.eye(2))
    location[0] = 9.0
    assert density.location[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        density.scatter[0, 0] = 2.0
