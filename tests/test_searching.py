"""Brute force finds, bit for bit, what the tree finds, and the tree is what it turns to where it cannot."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from workbench import searching
from workbench.searching import NeighborSearch


def check(X, queries, k):
    search = NeighborSearch(X)
    (expected, _), (distances, index) = search.by_tree(queries, k), search.by_force(queries, k)
    np.testing.assert_array_equal(distances, expected)
    assert all(len(set(row)) == k for row in index)
    np.testing.assert_allclose(np.linalg.norm(queries[:, None] - X[index], axis=2), distances, rtol=1e-14)


@settings(deadline=None)
@given(arrays(float, (15, 3), elements=st.integers(0, 2).map(float)), st.integers(1, 15))
def test_on_ties_and_copies(X, k):
    check(X / 4, X / 4, k)


@pytest.mark.parametrize("d", [1, 2, 7, 40])
@pytest.mark.parametrize("far", [0.0, 1e3, 1e9])
def test_far_from_the_origin_and_beside_an_outlier(rng, d, far):
    """Where the matrix product has lost all digits the answer is right all the same."""
    X = far + rng.normal(size=(60, d))
    X[0] *= 1e6
    check(X / 2.0**50, np.concatenate([X, 2 * X + 1]) / 2.0**50, 9)


def test_without_its_bound_on_rounding_brute_force_would_be_wrong(rng, monkeypatch):
    X = 1 + 1e-9 * rng.normal(size=(200, 3))
    X[0] = 1e4
    check(X / 2.0**14, X / 2.0**14, 5)
    monkeypatch.setattr(searching, "U", -0.1)  # nothing is taken for hidden
    with pytest.raises(AssertionError):
        check(X / 2.0**14, X / 2.0**14, 5)


@pytest.mark.parametrize("block", [1, 50, 2**19])
def test_blocks_do_not_matter(rng, monkeypatch, block):
    monkeypatch.setattr(searching, "BLOCK", block)
    X = rng.normal(size=(50, 4))
    check(X, X, 6)


def test_the_tree_is_for_few_dimensions_and_few_points(rng):
    few, flat, many = (rng.normal(size=shape) for shape in ((300, 20), (20_000, 2), (20_000, 20)))
    assert NeighborSearch(few).prefers_tree(few, 63)
    assert NeighborSearch(flat).prefers_tree(flat, 63)
    assert not NeighborSearch(many).prefers_tree(many, 63)
    embedded = np.concatenate([flat, np.zeros((20_000, 18))], axis=1)  # what counts are the data's own
    assert NeighborSearch(embedded).prefers_tree(embedded, 63)
