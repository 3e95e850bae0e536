import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats
from scipy.special import gammaln

from workbench.densities import FIG1, FIG2, GaussianMixture

ALPHAS = np.array([1e-3, 0.01, 0.05, 0.1, 0.3, 0.5, 0.8, 0.95, 0.99])
ONE = GaussianMixture([1.0], [[1.0, -2.0]], [[[2.0, 0.7], [0.7, 0.5]]])
LINE = GaussianMixture([0.3, 0.7], [[0.0], [4.0]], [[[1.0]], [[2.0]]])
NESTED = GaussianMixture([0.5, 0.5], [[0, 0], [0, 0]], [np.eye(2), 9 * np.eye(2)])


def mass_below_by_slices(density, levels, slices=2001):
    """P{f(Z) < c}, for components with axes along x and y, by the mass of {f >= c} in slices of constant x.

    In a slice the set is a union of intervals, whose ends are interpolated and whose mass is a sum of normal
    distribution functions.
    """
    lower, upper = density.bounds(1e-7)
    x, y = (np.linspace(lower[j], upper[j], slices) for j in range(2))
    variances = np.diagonal(density.covariances, axis1=1, axis2=2)
    log_f = density.logpdf(np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2))
    log_f = log_f.reshape(slices, slices)
    below = []
    for level in np.log(levels):
        inside = log_f >= level
        i, j = np.nonzero(inside[:, 1:] != inside[:, :-1])
        ends = y[j] + (y[1] - y[0]) * (level - log_f[i, j]) / (log_f[i, j + 1] - log_f[i, j])
        sign = np.where(inside[i, j], 1, -1)
        mass = sum(
            w * stats.norm.pdf(x[i], m[0], np.sqrt(v[0])) * stats.norm.cdf(ends, m[1], np.sqrt(v[1]))
            for w, m, v in zip(density.weights, density.means, variances, strict=True)
        )
        below.append(1 - (sign * mass).sum() * (x[1] - x[0]))
    return np.array(below)


# The truth against closed forms


def test_one_gaussian_in_the_plane():
    r = np.linspace(0, 7, 2001)
    X = ONE.means[0] + np.outer(r, np.linalg.cholesky(ONE.covariances[0]) @ [0.6, 0.8])
    root = np.sqrt(np.linalg.det(ONE.covariances[0]))
    np.testing.assert_allclose(ONE.p_value(X), np.exp(-(r**2) / 2), atol=1e-10)
    np.testing.assert_allclose(ONE.level(ALPHAS), ALPHAS / (2 * np.pi * root), rtol=1e-9)
    np.testing.assert_allclose(ONE.volume(ALPHAS), -2 * np.pi * np.log(ALPHAS) * root, rtol=1e-9)


def test_one_gaussian_on_the_line():
    density = GaussianMixture([1.0], [[3.0]], [[[4.0]]])
    z = np.linspace(-7, 7, 2001)
    np.testing.assert_allclose(density.p_value(3 + 2 * z[:, None]), 2 * stats.norm.sf(np.abs(z)), atol=1e-6)
    quantile = stats.norm.isf(ALPHAS / 2)
    np.testing.assert_allclose(density.level(ALPHAS), stats.norm.pdf(quantile) / 2, rtol=1e-6)
    np.testing.assert_allclose(density.volume(ALPHAS), 4 * quantile, rtol=1e-6)


def test_two_gaussians_on_the_line():
    """Level c bounds intervals whose ends are roots of f = c, found one by one."""
    x = np.linspace(-10, 20, 3001)
    for alpha in (0.02, 0.2, 0.5, 0.8):
        c = LINE.level(alpha)
        sign = np.sign(LINE.pdf(x[:, None]) - c)
        brackets = np.flatnonzero(sign[:-1] != sign[1:])
        ends = [optimize.brentq(lambda t, c=c: LINE.pdf([[t]])[0] - c, x[i], x[i + 1]) for i in brackets]
        lengths = np.diff(ends)[::2]
        cdf = 0.3 * stats.norm.cdf(ends) + 0.7 * stats.norm.cdf(ends, 4, np.sqrt(2))
        assert np.diff(cdf)[::2].sum() == pytest.approx(1 - alpha, abs=1e-6)
        assert LINE.volume(alpha) == pytest.approx(lengths.sum(), abs=1e-5)


def test_two_gaussians_around_one_centre():
    r = np.linspace(0, 12, 2001)
    truth = (np.exp(-(r**2) / 2) + np.exp(-(r**2) / 18)) / 2
    np.testing.assert_allclose(NESTED.p_value(np.column_stack([r, 0 * r])), truth, atol=5e-5)
    radii = np.array([0.5, 1.0, 3.0, 6.0])
    alphas = (np.exp(-(radii**2) / 2) + np.exp(-(radii**2) / 18)) / 2
    np.testing.assert_allclose(NESTED.volume(alphas), np.pi * radii**2, rtol=1e-4)


@pytest.mark.parametrize("d", [3, 6])
def test_one_gaussian_in_space_within_its_standard_error(d):
    scale = np.arange(1.0, d + 1)
    density = GaussianMixture([1.0], [np.ones(d)], [np.diag(scale**2)])
    X = 1 + np.random.default_rng(1).normal(size=(300, d)) * scale
    truth = stats.chi2.sf((((X - 1) / scale) ** 2).sum(axis=1), d)
    p, error = density.p_value(X, return_error=True)
    assert np.abs((p - truth) / np.maximum(error, 1e-5)).max() < 5
    assert 1e-4 < error.max() < 2e-3
    radius = np.sqrt(stats.chi2.isf(ALPHAS, d))
    truth = np.exp(d / 2 * np.log(np.pi) - gammaln(d / 2 + 1)) * radius**d * scale.prod()
    volume, error = density.volume(ALPHAS, return_error=True)
    assert np.abs((volume - truth) / error).max() < 5
    assert (error < 0.05 * volume).all()
    assert ((error > 0) & np.isfinite(error)).all()


# The truth against the definition


@pytest.mark.parametrize("density", [FIG1, FIG2])
def test_mixtures_against_slices(density):
    X = density.sample(40, random_state=3)
    np.testing.assert_allclose(density.p_value(X), mass_below_by_slices(density, density.pdf(X)), atol=1e-4)


def test_p_value_of_nominal_points_is_uniform():
    assert stats.kstest(FIG2.p_value(FIG2.sample(20_000, random_state=5)), "uniform").pvalue > 0.01
    assert stats.kstest(LINE.p_value(LINE.sample(20_000, random_state=5)), "uniform").pvalue > 0.01


def test_level_p_value_and_volume_agree():
    x = np.linspace(0, 15, 100_001)
    ray = FIG2.means[1] + np.column_stack([-x, 0 * x])
    for alpha in (0.01, 0.1, 0.4):
        at_level = ray[[np.argmin(np.abs(FIG2.pdf(ray) - FIG2.level(alpha)))]]
        assert FIG2.p_value(at_level)[0] == pytest.approx(alpha, abs=1e-4)
    # A little more volume takes in mass c a unit: -dv/dalpha = 1 / c.
    for density in (FIG1, FIG2, NESTED, LINE):
        for alpha in (0.05, 0.3):
            slope = (density.volume(alpha - 1e-3) - density.volume(alpha + 1e-3)) / 2e-3
            assert slope == pytest.approx(1 / density.level(alpha), rel=1e-3)


def test_bayes_auc_of_figure_2():
    """AUC of f itself against anomalies uniform on [-18, 18]^2; print says .9290."""
    axis = np.linspace(-18, 18, 601)
    X = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    p = FIG2.p_value(X).reshape(601, 601)
    by_quadrature = 1 - integrate.trapezoid(integrate.trapezoid(p, axis), axis) / 36**2
    assert by_quadrature == pytest.approx(0.976045, abs=1e-5)
    nominal = np.sort(FIG2.pdf(FIG2.sample(100_000, random_state=0)))
    anomalous = FIG2.pdf(np.random.default_rng(1).uniform(-18, 18, (100_000, 2)))
    by_ranks = 1 - np.searchsorted(nominal, anomalous).mean() / nominal.size
    assert by_ranks == pytest.approx(by_quadrature, abs=1e-3)


# Extremes


def test_scales_from_a_thousandth_to_a_thousand():
    factor = np.array([[1e3, 0.0], [1.0, 1e-3]])
    density = GaussianMixture([1.0], [[0, 0]], [factor @ factor.T])
    z = np.random.default_rng(0).normal(size=(500, 2))
    np.testing.assert_allclose(density.p_value(z @ factor.T), np.exp(-(z**2).sum(axis=1) / 2), atol=1e-9)
    assert density.volume(0.05) == pytest.approx(-2 * np.pi * np.log(0.05), rel=1e-9)


def test_well_separated_components_of_very_different_scale():
    density = GaussianMixture([0.5, 0.5], [[0, 0], [1e5, 0]], [1e-6 * np.eye(2), 1e6 * np.eye(2)])
    # Where the small one is no denser than the other's peak it has no mass left to speak of.
    r = np.array([0.0, 1.0, 3.0])
    small, large = np.column_stack([1e-3 * r, 0 * r]), np.column_stack([1e5 + 1e3 * r, 0 * r])
    np.testing.assert_allclose(density.p_value(small), 0.5 + np.exp(-(r**2) / 2) / 2, atol=1e-6)
    np.testing.assert_allclose(density.p_value(large), np.exp(-(r**2) / 2) / 2, atol=1e-6)
    assert density.volume(0.25) == pytest.approx(2 * np.pi * 1e6 * np.log(2), rel=1e-4)


def test_components_on_top_of_each_other_or_of_no_weight():
    twice = GaussianMixture([0.2, 0.8, 0.0], [*[ONE.means[0]] * 2, [9, 9]], np.repeat(ONE.covariances, 3, 0))
    X = ONE.sample(200, random_state=0)
    np.testing.assert_allclose(twice.logpdf(X), ONE.logpdf(X), atol=1e-12)
    np.testing.assert_allclose(twice.p_value(X), ONE.p_value(X), atol=1e-6)
    np.testing.assert_allclose(twice.volume(ALPHAS), ONE.volume(ALPHAS), rtol=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("density", [FIG1, ONE, LINE])
def test_far_away(density):
    far = (
        np.array([1e2, 1e5, 1e100, 1e160, 1e200, 1.7e308])[:, None] * np.array([[1.0, -1.0]])[:, : density.d]
    )
    log_f = density.logpdf(np.concatenate([far, -far]))
    assert (log_f < -100).all()
    np.testing.assert_array_equal(density.pdf(far), 0)
    np.testing.assert_array_equal(density.p_value(far), 0)


@pytest.mark.filterwarnings("error")
def test_distances_beyond_the_largest_number():
    density = GaussianMixture([1.0], [[-1e308, -1e308]], ONE.covariances)
    np.testing.assert_array_equal(density.logpdf([[1.7e308, 1.7e308], [1.7e308, 0.0]]), -np.inf)


# Invariances


@settings(max_examples=5, deadline=None)
@given(
    angle=st.floats(0, 2 * np.pi),
    scale=st.floats(1e-3, 1e3),
    shift=st.tuples(st.floats(-100, 100), st.floats(-100, 100)),
)
def test_rigid_motion_and_scaling(angle, scale, shift):
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    A = scale * rotation
    moved = GaussianMixture(FIG1.weights, FIG1.means @ A.T + shift, A @ FIG1.covariances @ A.T)
    X = FIG1.sample(200, random_state=0)
    np.testing.assert_allclose(moved.p_value(X @ A.T + shift), FIG1.p_value(X), atol=1e-4)
    np.testing.assert_allclose(moved.volume(ALPHAS), FIG1.volume(ALPHAS) * scale**2, rtol=1e-5)


def test_order_of_components():
    swapped = GaussianMixture(FIG2.weights[::-1], FIG2.means[::-1], FIG2.covariances[::-1])
    X = FIG2.sample(200, random_state=0)
    np.testing.assert_allclose(swapped.p_value(X), FIG2.p_value(X), atol=1e-12)


# Sample, density, box


def test_logpdf_against_scipy():
    X = np.random.default_rng(0).normal(size=(100, 2)) * 10
    for density in (FIG1, FIG2, ONE):
        parts = zip(density.weights, density.means, density.covariances, strict=True)
        f = sum(w * stats.multivariate_normal(m, S).pdf(X) for w, m, S in parts)
        np.testing.assert_allclose(density.pdf(X), f, rtol=1e-10)
        np.testing.assert_allclose(np.exp(density.logpdf(X)), density.pdf(X))


def test_sample():
    X = FIG2.sample(200_000, random_state=7)
    assert X.shape == (200_000, 2)
    np.testing.assert_allclose(X.mean(axis=0), [-3, 0], atol=0.05)
    np.testing.assert_allclose(np.cov(X.T), [[23.4, 0], [0, 2.6]], atol=0.3)
    correlated = ONE.sample(200_000, random_state=7)
    np.testing.assert_allclose(np.cov(correlated.T), ONE.covariances[0], atol=0.02)
    assert X.tobytes() == FIG2.sample(200_000, random_state=7).tobytes()
    assert X.tobytes() == FIG2.sample(200_000, np.random.default_rng(7)).tobytes()
    assert not np.array_equal(X, FIG2.sample(200_000, random_state=8))


def test_truth_is_reproducible():
    means, covariances = np.arange(6.0).reshape(2, 3), [np.eye(3)] * 2
    first, second = (GaussianMixture([0.5, 0.5], means, covariances).volume(0.1, True) for _ in range(2))
    assert first == second


def test_densities_of_the_paper():
    np.testing.assert_array_equal(FIG1.means, [[4, 1], [4, -1]])
    assert FIG1.pdf([[4, 1]])[0] == pytest.approx((1 + np.exp(-4)) / (2 * np.pi))
    assert FIG2.pdf([[-5, 0]])[0] == pytest.approx(0.8 / (6 * np.pi), rel=1e-4)


# Hostile input


I2 = np.eye(2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (([0.5, 0.5], [[0, 0]], [I2]), r"got \(2,\), \(1, 2\) and \(1, 2, 2\): give one weight"),
        (([1.0], [0.0, 0.0], [I2]), r"got \(1,\), \(2,\) and"),
        (([1.0], [[0.0, 0.0]], I2), r"and \(2, 2\): give"),
        (([], np.empty((0, 2)), np.empty((0, 2, 2))), r"got \(0,\)"),
        (([1.5, -0.5], [[0, 0]] * 2, [I2] * 2), r"non-negative with sum 1, got \[1\.5, -0\.5\]"),
        (([0.5, 0.4], [[0, 0]] * 2, [I2] * 2), r"with sum 0\.9: divide"),
        (([1.0], [[np.nan, 0]], [I2]), "means must be finite, got nan: replace"),
        (([1.0], [[0, 0]], [np.full((2, 2), np.inf)]), "covariances must be finite"),
        (([np.nan], [[0, 0]], [I2]), "weights must be finite"),
        (([1.0], [[0, 0]], [[[1, 0.5], [0, 1]]]), r"symmetric, got \[\[1.0, 0.5\], \[0.0, 1.0\]\]: use"),
        (([0.5] * 2, [[0, 0]] * 2, [1e12 * I2, [[1, 0.5], [0, 1]]]), "must be symmetric"),
        (([1.0], [[0, 0]], [[[1, 2], [2, 1]]]), r"positive definite, got smallest eigenvalue -1: drop"),
        (([1.0], [[0, 0]], [[[1, 1], [1, 1]]]), "covariances must be positive definite"),
    ],
)
def test_hostile_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture(*parameters)


def test_parameters_cannot_go_stale():
    weights = np.array([1.0])
    density = GaussianMixture(weights, [[0.0]], [[[1.0]]])
    weights[0] = 3.0
    assert density.weights[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        density.means[0] = 2.0
