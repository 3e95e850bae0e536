import numpy as np
import pytest

from workbench.densities import SQUARE, UniformBox

ALPHAS = np.array([1e-9, 0.05, 0.5, 0.999])
BOXES = [UniformBox([2.0], [5.0]), SQUARE, UniformBox([-1.0, 0.0, 1e3], [0.0, 0.1, 2e3])]


@pytest.mark.parametrize("density", BOXES)
def test_truth_is_the_definition(density):
    total = np.prod(density.upper - density.lower)
    X = np.array([density.lower, density.upper, (density.lower + density.upper) / 2])
    np.testing.assert_array_equal(density.p_value(X), 1)
    np.testing.assert_allclose(density.pdf(X), 1 / total)
    outside = np.array([density.lower - 1e-9, density.upper * (1 + 1e-9), np.full(density.d, 1.7e308)])
    np.testing.assert_array_equal(density.p_value(outside), 0)
    np.testing.assert_array_equal(density.logpdf(outside), -np.inf)
    np.testing.assert_allclose(density.level(ALPHAS), 1 / total)
    np.testing.assert_allclose(density.volume(ALPHAS), (1 - ALPHAS) * total)


@pytest.mark.parametrize("sides", [(0.9, 1.0), (1.0, 0.9), (0.9**0.5, 0.9**0.5)])
def test_no_minimum_volume_set_is_the_only_one(sides):
    """Boxes of the least volume, wherever they lie inside, have the mass 1 - alpha."""
    X = SQUARE.sample(200_000, random_state=0)
    extent = np.multiply(sides, SQUARE.upper - SQUARE.lower)
    assert np.prod(extent) == pytest.approx(SQUARE.volume(0.1))
    for lower in (SQUARE.lower, SQUARE.upper - extent):
        inside = ((lower <= X) & (lower + extent >= X)).all(axis=1)
        assert inside.mean() == pytest.approx(0.9, abs=3e-3)


def test_level_set_is_the_whole_square():
    X = SQUARE.sample(1000, random_state=0)
    for alpha in (0.01, 0.5, 0.99):
        assert (SQUARE.logpdf(X) >= np.log(SQUARE.level(alpha)) - 1e-12).all()


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        (0.0, 1.0, r"same shape \(d,\), got \(\) and \(\)"),
        ([], [], r"got \(0,\) and \(0,\): give one number"),
        ([0.0, 0.0], [1.0], r"got \(2,\) and \(1,\)"),
        ([0.0, 1.0], [1.0, 1.0], "lower must be below upper in every coordinate"),
        ([0.0, np.nan], [1.0, 1.0], r"got \[0.0, nan\] and \[1.0, 1.0\]: swap or replace"),
        ([0.0, 0.0], [1.0, np.inf], "both finite"),
    ],
)
def test_hostile_corners(lower, upper, message):
    with pytest.raises(ValueError, match=message):
        UniformBox(lower, upper)
