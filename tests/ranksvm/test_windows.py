"""The sliding windows against loops over all pairs."""

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from workbench.ranksvm import windows
from workbench.ranksvm.windows import Zone, pair_sums, total_slack

sizes = st.shared(st.integers(1, 14))
scores = arrays(float, sizes, elements=st.one_of(st.integers(-3, 3).map(float), st.floats(-5, 5)))
levels = arrays(int, sizes, elements=st.integers(1, 4))
shifts = st.one_of(st.integers(-2, 3).map(float), st.floats(-3, 3))


def slow(F, T, levels, anchor, upper):
    n = len(F)
    total, node, largest = 0.0, np.zeros(n), 0.0
    L = np.zeros((n, n))
    for i, j in oracles.preference_pairs(levels):
        x = T - F[i] + F[j]
        value = min(max(x, 0), upper)
        total, largest = total + value, max(largest, value)
        node[i] += value
        node[j] -= value
        if 0 < x < upper:
            edge = np.zeros(n)
            edge[[i, j]] = 1, -1
            L += np.outer(edge, edge)
    for i in range(n):
        if anchor:
            x = T - F[i]
            value = min(max(x, 0), upper)
            total, largest = total + anchor * value, max(largest, value)
            node[i] += anchor * value
            L[i, i] += anchor * (0 < x < upper)
    return total, node, largest, L


@given(scores, shifts, levels, st.sampled_from([0.0, 1.0, 2.5]), st.sampled_from([1.0, np.inf]))
def test_windows_equal_loops(F, T, levels, anchor, upper):
    # On a grid of 2^-30 no sum rounds, so a pair on the border of its zone is there for both.
    F, T = np.round(F * 2**30) / 2**30, round(T * 2**30) / 2**30
    total, node, largest, L = slow(F, T, levels, anchor, upper)
    sums = pair_sums(F, T, levels, anchor, upper)
    assert sums.total == pytest.approx(total, abs=1e-12)
    assert sums.largest == pytest.approx(largest, abs=1e-12)
    np.testing.assert_allclose(sums.node, node, atol=1e-12)
    np.testing.assert_allclose(sums.degree, np.diag(L))
    zone = Zone(sums)
    np.testing.assert_array_equal(zone.active, np.flatnonzero(np.diag(L)))
    rows = np.sin(np.arange(3 * len(F), dtype=float)).reshape(-1, 3)[zone.active]
    L_A = L[np.ix_(zone.active, zone.active)]
    np.testing.assert_allclose(zone.product(np.eye(len(L_A))), L_A, atol=1e-12)
    np.testing.assert_allclose(zone.product(rows), L_A @ rows, atol=1e-9)
    np.testing.assert_allclose(zone.product(rows[:, 0]), L_A @ rows[:, 0], atol=1e-9)
    np.testing.assert_allclose(zone.congruence(rows), rows.T @ L_A @ rows, atol=1e-9)


@given(scores, shifts, levels, st.sampled_from([0.0, 1.0, 2.5]))
def test_total_slack_equals_loops(F, T, levels, anchor):
    total = slow(F, T, levels, anchor, np.inf)[0]
    assert total_slack(F, T, levels, anchor) == pytest.approx(total, rel=1e-12, abs=1e-12)


def test_small_sums_of_large_scores_keep_their_digits():
    """With multipliers F grows without bound; differences of prefix sums must not lose the rest."""
    rng = np.random.default_rng(0)
    n = 2000
    levels = rng.integers(1, 4, n)
    small = np.round(rng.random(n) * 2**12) / 2**12
    offset = 2.0**35 * levels  # exact in floating point, and cancels pairwise up to the shift
    F = small + offset
    sums = pair_sums(F, 2.0**35, levels)
    neighbouring = [(i, j) for i, j in oracles.preference_pairs(levels) if levels[i] == levels[j] + 1]
    expected = sum(min(max(small[j] - small[i], 0.0), 1.0) for i, j in neighbouring)
    assert sums.total == pytest.approx(expected, rel=1e-15)


def test_both_sides_count_the_same_pairs():
    rng = np.random.default_rng(1)
    levels = rng.integers(1, 6, 3000)
    sums = pair_sums(rng.normal(size=3000), 0.3, levels)
    assert abs(sums.node.sum()) < 1e-12 * np.abs(sums.node).sum()


@pytest.mark.parametrize("memory", [1, 8 * 40 * 3])
def test_the_hessian_is_the_same_in_blocks_of_few_columns(monkeypatch, memory):
    rng = np.random.default_rng(2)
    sums = pair_sums(rng.normal(size=40), 0.5, rng.integers(0, 3, 40))
    zone = Zone(sums)
    rows = rng.normal(size=(len(zone.active), 10))
    whole = zone.congruence(rows)
    monkeypatch.setattr(windows, "COLUMN_BYTES", memory)
    np.testing.assert_allclose(zone.congruence(rows), whole, rtol=0, atol=1e-11)
