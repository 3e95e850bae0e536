"""The fast sum against the literal one, in more digits than it has, and its bound on rounding."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from workbench import expansions
from workbench.expansions import KernelExpansion


def literal(X, centres, coefficients, sigma):
    """``sum_j c_j exp(-|x - y_j|^2 / sigma^2)`` in extended precision."""
    X, centres, c = (np.asarray(a, dtype=np.longdouble) for a in (X, centres, coefficients))
    if np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("extended precision is no more than double here")
    return np.array(
        [np.sum(c * np.exp(-np.sum(((x - centres) / np.longdouble(sigma)) ** 2, axis=1))) for x in X]
    )


def make(rng, n=60, d=3, offset=0.0, scale=1.0, sigma=1.5, signs=True):
    centres = offset + scale * rng.normal(size=(n, d))
    c = rng.normal(size=n) if signs else rng.uniform(size=n)
    return KernelExpansion(centres, c, sigma * scale), offset + scale * 1.5 * rng.normal(size=(80, d))


SHAPES = [
    {},
    {"d": 1},
    {"d": 100, "sigma": 15.0},
    {"n": 1},
    {"offset": 1e9},
    {"offset": -1e9, "scale": 1e3, "d": 10},
    {"scale": 1e-12},
    {"scale": 1e-300},
    {"scale": 1e300},
    {"sigma": 1e-2},
    {"sigma": 1e-5},  # only coordinate differences will do
    {"sigma": 1e4},
    {"offset": 1e9, "scale": 1e-3},
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_are_the_literal_sum_within_the_bound(rng, shape, dtype):
    if dtype == np.float32 and shape.get("scale", 1) in (1e300, 1e-300):
        pytest.skip("float32 does not hold such numbers")
    g, X = make(rng, **shape)
    X = np.concatenate([X, g.centres[:20], g.centres[:5]]).astype(dtype)
    truth = literal(X, g.centres, g.coefficients, g.sigma)
    scores, rounding = g.with_rounding(X)
    assert scores.dtype == np.float64
    np.testing.assert_array_equal(scores, g(X))
    assert np.all(np.abs(scores - truth) <= rounding)
    if dtype == np.float64:
        assert np.all(np.abs(scores - truth) <= g.rounding)
        assert np.all(rounding <= g.rounding * (1 + 1e-9))
    assert g.rounding <= 1e-6 * np.abs(g.coefficients).sum()


@pytest.mark.parametrize("tile", [7, 20, 512])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_at_the_centres_every_kernel_value_serves_twice(rng, monkeypatch, shape, tile):
    monkeypatch.setattr(expansions, "TILE", tile)
    monkeypatch.setattr("workbench.threads._allowed", lambda: 3)
    g, _ = make(rng, **shape)
    scores, rounding = g.at_centres()
    assert np.all(np.abs(scores - literal(g.centres, g.centres, g.coefficients, g.sigma)) <= rounding)
    np.testing.assert_allclose(rounding, g.with_rounding(g.centres)[1], rtol=1e-9)
    np.testing.assert_array_equal(g.at_centres()[0], scores)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 40),
    st.floats(-9, 9),
    st.floats(-12, 12),
    st.floats(-2, 3),
    st.sampled_from([np.float64, np.float32]),
)
def test_bound_holds_whatever_the_shape(seed, d, n, offset, scale, sigma, dtype):
    rng = np.random.default_rng(seed)
    g, X = make(rng, n=n, d=d, offset=np.sign(offset) * 10 ** abs(offset), scale=10**scale, sigma=10**sigma)
    X = X.astype(dtype)
    scores, rounding = g.with_rounding(X)
    assert np.all(np.abs(scores - literal(X, g.centres, g.coefficients, g.sigma)) <= rounding)


def test_the_bound_is_not_idle():
    """Control: rounding is really there, so that a bound a thousand times smaller would be broken."""
    rng = np.random.default_rng(0)
    g, X = make(rng, n=10, sigma=0.5, signs=False)
    X = X.astype(np.float32)
    scores, rounding = g.with_rounding(X)
    error = np.abs(scores - literal(X, g.centres, g.coefficients, g.sigma))
    assert np.any(error > rounding / 1000)


def test_an_offset_costs_nothing(rng):
    """Control: the product without centring loses every digit at 1e9."""
    g, X = make(rng, offset=1e9)
    truth = literal(X, g.centres, g.coefficients, g.sigma)
    assert np.abs(g(X) - truth).max() < 1e-12
    Y, c, s2 = g.centres, g.coefficients, g.sigma**2
    squared = np.sum(X**2, axis=1)[:, None] + np.sum(Y**2, axis=1) - 2 * X @ Y.T
    assert np.abs(np.exp(-squared.clip(0) / s2) @ c - truth).max() > 0.1


def uses(g, X, monkeypatch):
    """Precisions that the kernel values of X are worked out in."""
    seen = set()
    fill = KernelExpansion._fill
    monkeypatch.setattr(
        KernelExpansion, "_fill", lambda self, K, X: seen.add(K.dtype.type) or fill(self, K, X)
    )
    g(X)
    monkeypatch.undo()
    return seen


def test_float32_stays_float32_where_the_bound_allows(rng, monkeypatch):
    g, X = make(rng, signs=False)
    assert uses(g, X, monkeypatch) == {np.float64}
    assert uses(g, X.astype(np.float32), monkeypatch) == {np.float32}
    assert uses(g, np.round(X).astype(int), monkeypatch) == {np.float64}
    narrow, X = make(rng, signs=False, sigma=0.02)
    assert uses(narrow, X.astype(np.float32), monkeypatch) == {np.float64}
    # Coefficients that cancel: what is left of g is no larger than the rounding of its parts.
    centres = np.repeat(rng.normal(size=(30, 2)), 2, axis=0)
    c = np.tile([1e4, -1e4 + 1], 30)
    cancelling = KernelExpansion(centres, c, 1.0)
    assert uses(cancelling, centres.astype(np.float32), monkeypatch) == {np.float64}


def test_tiny_coefficients_survive_float32(rng):
    g, X = make(rng, signs=False)
    tiny = KernelExpansion(g.centres, g.coefficients * 1e-60, g.sigma)
    np.testing.assert_allclose(tiny(X.astype(np.float32)) * 1e60, g(X.astype(np.float32)), rtol=1e-6)


@pytest.mark.parametrize("sigma", [1.5, 1e-5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_far_points_score_0(rng, sigma, dtype):
    g, _ = make(rng, sigma=sigma)
    far = np.array(
        [[1e3, 0, 0], [-3e37, 3e37, 1.0], [0, 0, np.finfo(dtype).max], [-np.finfo(dtype).max] * 3], dtype
    )
    scores, rounding = g.with_rounding(far)
    np.testing.assert_array_equal(scores, 0.0)
    assert np.all(np.isfinite(rounding))


def test_blocks_and_threads_change_no_more_than_rounding(rng, monkeypatch):
    g, X = make(rng)
    whole, rounding = g.with_rounding(X)
    for size in (1, 64, 8 * 63 * 7, 2**30):
        monkeypatch.setattr(expansions, "BLOCK_BYTES", size)
        for fewest in (1, 7):
            monkeypatch.setattr(expansions, "FEWEST_ROWS", fewest)
            assert np.all(np.abs(g(X) - whole) <= 2 * rounding)
    monkeypatch.setattr(expansions, "PORTION", 100)
    one_by_one = g(X)
    before = [pool["num_threads"] for pool in threadpool_info()]
    monkeypatch.setattr(expansions, "SPREAD_FROM", 1)
    monkeypatch.setattr("workbench.threads._allowed", lambda: 3)
    threaded = g(X)
    assert np.all(np.abs(threaded - one_by_one) <= 2 * rounding)
    np.testing.assert_array_equal(threaded, g(X))  # nor does it depend on who is first
    assert [pool["num_threads"] for pool in threadpool_info()] == before
    assert np.all(np.abs([g(x[None])[0] for x in X] - whole) <= 2 * rounding)


def test_an_exception_comes_through_threads(rng, monkeypatch):
    g, X = make(rng)
    monkeypatch.setattr(expansions, "SPREAD_FROM", 1)
    with pytest.raises(ValueError, match="broadcast"):
        g(X[:, :2])


def test_memory_is_that_of_blocks(rng):
    g, _ = make(rng, n=500, d=4)
    peaks = []
    for q in (5_000, 50_000):
        X = rng.normal(size=(q, 4))
        tracemalloc.start()
        g(X)
        peaks.append(tracemalloc.get_traced_memory()[1] - 8 * q)
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0] + 2**20
    assert peaks[1] < 8 * 50_000 * 500 / 10  # a tenth of the whole kernel matrix


def test_kernel_values_that_vanish_are_0_to_the_last_digit_that_matters(rng):
    """Points between narrow kernels, out of reach of most or all centres but not out of the sample."""
    g, X = make(rng, sigma=0.03, signs=False)
    truth = literal(X, g.centres, g.coefficients, g.sigma)
    scores, rounding = g.with_rounding(X)
    assert np.sum(truth < 1e-270) > 10
    assert np.all(np.abs(scores - truth) <= rounding)
    assert np.all(scores[truth < 1e-270] < 1e-255)


@pytest.mark.parametrize(("q", "n"), [(0, 5), (5, 0), (0, 0), (1, 1)])
def test_empty_and_single(q, n):
    g = KernelExpansion(np.ones((n, 2)), np.ones(n), 1.0)
    np.testing.assert_array_equal(g(np.ones((q, 2))), np.full(q, float(n)))
    np.testing.assert_array_equal(g.at_centres()[0], np.full(n, float(n)))


def test_duplicates_and_identical_centres():
    g = KernelExpansion(np.full((50, 3), 7.0), np.ones(50), 1e-3)
    np.testing.assert_allclose(g(np.full((4, 3), 7.0)), 50.0, rtol=1e-12)


def test_other_layouts_of_the_same_points(rng):
    g, X = make(rng)
    rounding = 2 * g.rounding
    for same in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X[::-1][::-1]):
        assert np.all(np.abs(g(same) - g(X)) <= rounding)
