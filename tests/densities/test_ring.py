import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from workbench.densities import RING, Ring

RINGS = [Ring(3.0, 0.5), Ring(1.0, 1.0), Ring(0.1, 2.0), Ring(50.0, 0.01)]
ALPHAS = np.array([1e-12, 1e-3, 0.05, 0.3, 0.8, 0.999])


def on_circles(r):
    """Points at distances r from the origin, in all directions."""
    angles = np.arange(np.size(r)) * 2.4
    return np.ravel(r)[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])


def mass_between(density, a, b):
    """Mass of the annulus a < |x| < b, by quadrature of the pdf along a ray."""
    edges = np.unique(np.clip(density.radius + density.width * np.arange(-9, 10), a, b))
    return sum(
        integrate.quad(lambda r: 2 * np.pi * r * density.pdf([[r, 0.0]])[0], low, high, epsabs=1e-14)[0]
        for low, high in zip([a, *edges], [*edges, b], strict=True)
    )


@pytest.mark.parametrize("density", RINGS)
def test_p_value_against_the_radial_integral(density):
    R, s = density.radius, density.width
    far = R + 12 * s
    assert mass_between(density, 0, far) == pytest.approx(1, abs=1e-9)
    for t in s * np.array([0.0, 0.1, 1.0, 2.0, 3.0, 4.0]):
        p = 1 - mass_between(density, max(R - t, 0), R + t)
        np.testing.assert_allclose(density.p_value(on_circles([R + t])), p, atol=1e-7)
        if t <= R:
            np.testing.assert_allclose(density.p_value(on_circles([R - t])), p, atol=1e-7)


@pytest.mark.parametrize("density", RINGS)
def test_level_and_volume_are_those_of_an_annulus(density):
    R, s = density.radius, density.width
    t = s * np.sqrt(-2 * np.log(density.level(ALPHAS) / density.pdf([[R, 0.0]])))
    np.testing.assert_allclose(density.p_value(on_circles(R + t)), ALPHAS, atol=1e-7, rtol=1e-6)
    area = np.pi * ((R + t) ** 2 - np.maximum(R - t, 0) ** 2)
    np.testing.assert_allclose(density.volume(ALPHAS), area, rtol=1e-6)


def test_a_ring_without_a_radius_is_a_gaussian():
    density = Ring(1e-9, 2.0)
    r = np.linspace(0, 12, 200)
    np.testing.assert_allclose(density.p_value(on_circles(r)), np.exp(-(r**2) / 8), atol=1e-7)
    np.testing.assert_allclose(density.volume(ALPHAS), -8 * np.pi * np.log(ALPHAS), rtol=1e-7)


@settings(max_examples=20, deadline=None)
@given(scale=st.floats(1e-6, 1e6), angle=st.floats(0, 2 * np.pi))
def test_rotation_and_scaling(scale, angle):
    X = RING.sample(50, random_state=0)
    A = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    scaled = Ring(RING.radius * scale, RING.width * scale)
    np.testing.assert_allclose(scaled.p_value(X @ A.T), RING.p_value(X), atol=1e-6)
    np.testing.assert_allclose(scaled.volume(ALPHAS), RING.volume(ALPHAS) * scale**2, rtol=1e-9)


@pytest.mark.parametrize("density", RINGS)
def test_sample_has_the_radial_law(density):
    """Against rejection from a Gaussian, thinned in proportion to the radius."""
    rng = np.random.default_rng(0)
    r = rng.normal(density.radius, density.width, 60_000)
    top = density.radius + 8 * density.width
    r = r[rng.random(r.size) * top < r]
    X = density.sample(20_000, random_state=1)
    assert stats.ks_2samp(np.hypot(*X.T), r).pvalue > 0.01
    assert stats.kstest(np.arctan2(X[:, 1], X[:, 0]), stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 0.01


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, "wide", None, [1.0]])
def test_hostile_parameters(bad):
    with pytest.raises(ValueError, match=r"radius must be a positive, finite number, got .*: 1\.0"):
        Ring(bad, 1.0)
    with pytest.raises(ValueError, match="width must be a positive, finite number"):
        Ring(1.0, bad)
