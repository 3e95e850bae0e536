"""MassAD against direct mass computation."""

import numpy as np
import pytest

from workbench.baselines import MassAD
from workbench.baselines.mass import mass


def mass_of_point(values, a):
    """Definition: over all splits between neighbours, the points on the side of the a-th smallest value."""
    total = 0.0
    for i in range(len(values) - 1):
        split = (values[i] + values[i + 1]) / 2
        p = (values[i + 1] - values[i]) / (values[-1] - values[0])
        total += p * sum((value < split) == (values[a] < split) for value in values)
    return total


@pytest.mark.parametrize("psi", [2, 3, 8, 40])
def test_mass_is_its_definition(psi, rng):
    samples = np.sort(rng.normal(size=(5, psi)), axis=1)
    expected = [[mass_of_point(row, a) for a in range(psi)] for row in samples]
    np.testing.assert_allclose(mass(samples), expected)


def test_mass_of_a_uniform_sample_in_closed_form():
    """Equally spaced: mass(x_a) = [sum_{i >= a} i + sum_{i < a} (psi - i)] / (psi - 1)."""
    psi = 9
    a = np.arange(1, psi + 1)
    expected = ((psi * (psi - 1) - a * (a - 1)) / 2 + (a - 1) * (2 * psi - a) / 2) / (psi - 1)
    np.testing.assert_allclose(mass(np.arange(psi)[None] * 3.0)[0], expected)


def test_mass_by_simulated_splits(rng):
    values = np.sort(rng.exponential(size=12))
    splits = rng.uniform(values[0], values[-1], 200_000)
    left = np.searchsorted(values, splits)
    for a in range(12):
        own_side = np.where(a < left, left, 12 - left)
        assert np.mean(own_side) == pytest.approx(mass(values[None])[0, a], abs=0.03)


def test_mass_is_concave_with_its_peak_at_the_median(rng):
    values = np.sort(rng.standard_t(2, size=21))
    curve = mass(values[None])[0]
    assert np.all(np.diff(np.diff(curve) / np.diff(values)) <= 1e-12)
    assert curve.argmax() == 10


def test_mass_of_copies_is_their_number():
    np.testing.assert_array_equal(mass(np.full((2, 6), 3.0)), 6)


def test_scores_average_the_mass_of_the_nearest_value(rng):
    X = rng.normal(size=(50, 3))
    detector = MassAD(t=30, psi=6, random_state=0).fit(X)
    queries = rng.normal(size=(10, 3)) * 2
    expected = []
    for query in queries:
        nearest = np.abs(detector.samples_ - query[detector.features_][:, None]).argmin(axis=1)
        masses = [mass_of_point(s, a) for s, a in zip(detector.samples_, nearest, strict=True)]
        expected.append(np.mean(masses))
    np.testing.assert_allclose(detector.score_samples(queries), expected)
    for feature, sample in zip(detector.features_, detector.samples_, strict=True):
        assert np.isin(sample, X[:, feature]).all()
        assert len(set(sample)) == 6


def test_one_estimate_of_the_whole_sample_is_the_mass_curve(rng):
    X = rng.normal(size=(40, 1))
    detector = MassAD(t=1, psi=40).fit(X)
    np.testing.assert_allclose(detector.calibration_scores_, np.sort(mass(np.sort(X, axis=0).T)[0]))
    assert detector.score_samples([[100.0]]) == detector.score_samples([[X.max()]])
