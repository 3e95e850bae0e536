import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from workbench.preferences import disagreement, n_pairs, pairs, quantize

small_levels = arrays(int, st.integers(1, 12), elements=st.integers(-2, 3))


@given(arrays(float, st.integers(1, 30), elements=st.floats(0, 1)), st.integers(1, 12))
def test_uniform_levels_are_the_formula(ranks, m):
    expected = [min(m, 1 + int(np.floor(m * r + 1e-14))) for r in ranks]
    np.testing.assert_array_equal(quantize(ranks, m), expected)


def test_uniform_levels_of_a_sample_are_equally_large():
    assert np.bincount(quantize(np.arange(9) / 9, 3)).tolist() == [0, 3, 3, 3]


@pytest.mark.parametrize("n", [3, 49, 98, 107, 1000])
def test_ranks_on_the_border_of_a_level_belong_to_the_upper_one(n):
    for m in range(1, min(n, 120) + 1):
        np.testing.assert_array_equal(quantize(np.arange(n) / n, m), 1 + m * np.arange(n) // n)


def test_edges():
    levels = quantize([0.0, 0.02, 0.03, 0.5, 1.0], edges=(0.03,))
    np.testing.assert_array_equal(levels, [1, 1, 2, 2, 2])
    np.testing.assert_array_equal(quantize([0.05, 0.3, 0.9], edges=[0.1, 0.5]), [1, 2, 3])


@given(st.integers(1, 6))
def test_uniform_edges_are_uniform_levels(m):
    ranks = np.arange(60) / 60
    if m > 1:
        np.testing.assert_array_equal(quantize(ranks, edges=np.arange(1, m) / m), quantize(ranks, m))


@given(small_levels)
def test_pairs_and_their_number(levels):
    expected = oracles.preference_pairs(levels)
    assert list(zip(*(index.tolist() for index in pairs(levels)), strict=True)) == expected
    assert n_pairs(levels) == len(expected)


def test_number_of_pairs_does_not_overflow():
    assert n_pairs(np.repeat([1, 2], 3_000_000)) == 9 * 10**12


@given(small_levels, st.data())
def test_disagreement_counts_pairs(levels, data):
    scores = data.draw(arrays(float, len(levels), elements=st.integers(0, 3).map(float)))
    expected = [
        1.0 if scores[i] < scores[j] else 0.5 if scores[i] == scores[j] else 0.0
        for i, j in oracles.preference_pairs(levels)
    ]
    if expected:
        assert disagreement(scores, levels) == pytest.approx(np.mean(expected))
    else:
        with pytest.raises(ValueError, match="in one level"):
            disagreement(scores, levels)


def test_disagreement_at_its_ends():
    levels = [1, 1, 2, 3]
    assert disagreement([0.0, 0.1, 1.0, 2.0], levels) == 0
    assert disagreement([2.0, 1.5, 1.0, 0.0], levels) == 1
    assert disagreement(np.zeros(4), levels) == 0.5


@pytest.mark.parametrize(
    "edges", [(), (0.5, 0.2), (0.3, 0.3), (0.0, 0.5), (0.5, 1.0), (np.nan,), "a", [[0.1, 0.2]]]
)
def test_bad_edges(edges):
    with pytest.raises(ValueError, match="edges must be strictly increasing"):
        quantize([0.1, 0.2], edges=edges)


@pytest.mark.parametrize("m", [0, -1, 2.0, "3", True, None])
def test_bad_m(m):
    with pytest.raises(ValueError, match="m must be a whole number"):
        quantize([0.1, 0.2], m)


@pytest.mark.parametrize("ranks", [[-0.1, 0.5], [0.5, 1.1]])
def test_ranks_out_of_range(ranks):
    with pytest.raises(ValueError, match=r"ranks must lie in \[0, 1\]"):
        quantize(ranks)


def test_scores_and_levels_must_match():
    with pytest.raises(ValueError, match="inconsistent numbers"):
        disagreement([0.1, 0.2], [1, 2, 3])
    with pytest.raises(ValueError, match="NaN"):
        disagreement([np.nan, 0.2], [1, 2])
