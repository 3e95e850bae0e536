import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

from workbench import bounds
from workbench.bounds import pac_bayesian

DELTA = 0.05


def kl(q, p):
    return special.rel_entr(q, p) + special.rel_entr(1 - q, 1 - p)


def literal(scores, m, norm, delta):
    """The smallest bound over the whole grid, one (a, t) at a time."""
    g = np.sort(scores) / norm
    n, s, best = len(g), g[m - 1], np.inf
    for i in range(40):
        a = 2 ** (i / 4)
        steps = int(np.ceil(2 * a / 0.05))
        share = delta / 40 / (steps + 1)
        allowed = (a**2 / 2 + np.log(2 * np.sqrt(n) / share)) / n
        for j in range(0, steps + 1, max(1, steps // 400)):
            t = -1 + 0.05 * j / a
            loss = special.ndtr(a * (t - g)).mean()
            if kl(loss, 1 - 1e-15) <= allowed:
                p = 1.0
            else:
                p = optimize.brentq(lambda p, q=loss, c=allowed: kl(q, p) - c, loss, 1 - 1e-15)
            with np.errstate(divide="ignore", over="ignore"):
                best = min(best, p / special.ndtr(a * (t - s)))
    return best


@pytest.mark.parametrize("m", [1, 8, 60])
def test_against_the_whole_grid(rng, m):
    scores = rng.normal(size=150)
    norm = 1.5 * np.abs(scores).max()
    fast, slow = bounds.pac_bayes(scores, m, norm, DELTA), literal(scores, m, norm, DELTA)
    assert slow * 0.999 <= fast <= slow * 1.01 or min(fast, slow) >= 1


@given(st.integers(1, 60), st.floats(0.05, 0.9), st.integers(60, 3000))
@settings(max_examples=20)
def test_scores_with_the_margin_do_no_worse_than_the_margin_bound(k, rho, n):
    """k scores at -rho and all others at +rho: {g < g^(k+1) - 2 rho} is {g < g^(k)}."""
    scores = np.r_[np.full(k, -rho), np.full(n - k, rho)]
    margin = bounds.pac_bayes_margin(k + 1, n, rho, DELTA) if k < n else 1.0
    assert bounds.pac_bayes(scores, k, 1.0, DELTA) <= margin * 1.001 or margin >= 0.99


def test_margin_formula():
    m, n, rho = 31, 600, 0.2
    terms = []
    for i in range(40):
        a = 2 ** (i / 4)
        reach = a * rho - 0.025
        loss = (m - 1) / n + (1 - (m - 1) / n) * stats.norm.cdf(-reach)
        share = DELTA / 40 / (np.ceil(2 * a / 0.05) + 1)
        allowed = (a**2 / 2 + np.log(2 * np.sqrt(n) / share)) / n
        if kl(loss, 1 - 1e-15) > allowed:
            p = optimize.brentq(lambda p, q=loss, c=allowed: kl(q, p) - c, loss, 1 - 1e-15)
            terms.append(p / stats.norm.cdf(reach))
    assert bounds.pac_bayes_margin(m, n, rho, DELTA) == pytest.approx(min(terms), rel=1e-9)
    table = bounds.pac_bayes_margin(np.array([[1], [31]]), n, np.array([0.1, 0.2, 0.5]), DELTA)
    assert table.shape == (2, 3)
    assert table[1, 1] == pytest.approx(min(terms), rel=1e-9)
    assert (np.diff(table, axis=1) < 0).all()
    assert (table[1] > table[0]).all()


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 10)), min_size=1, max_size=5))
def test_kl_inverse(pairs):
    q, budget = np.array(pairs).T
    p = pac_bayesian._kl_inverse(q, budget)
    assert (p >= q).all()
    assert (p <= 1).all()
    inside = p < 1 - 1e-9
    np.testing.assert_allclose(kl(q, p)[inside], budget[inside], rtol=1e-5, atol=1e-9)


def test_the_constant_of_maurer():
    """E exp(n kl(k/n || p)), k binomial, is sum_k C(n, k) (k/n)^k (1 - k/n)^(n - k) at worst."""
    for n in range(1, 300):
        k = np.arange(n + 1)
        log_terms = -special.betaln(k + 1, n - k + 1) - np.log(n + 1)
        log_terms += special.xlogy(k, k / n) + special.xlogy(n - k, 1 - k / n)
        assert np.exp(log_terms).sum() <= 2 * np.sqrt(n) * (1 + 1e-12)


def test_coverage_on_the_sphere_where_a_held_out_limit_fails():
    """g = w.x, w the mean of n points on the sphere in R^40: it points at its own sample."""
    n, d, repetitions = 300, 40, 40
    rng = np.random.default_rng(0)
    m = np.array([1, 4, 16, 60])
    broken, naive = [], []
    for _ in range(repetitions):
        X = rng.normal(size=(n, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        w = X.mean(axis=0)
        scores = np.sort(X @ w)
        norm = np.linalg.norm(w)
        rate = stats.beta((d - 1) / 2, (d - 1) / 2).cdf((1 + scores[m - 1] / norm) / 2)
        limits = bounds.pac_bayes(scores, m, norm, DELTA)
        broken.append((rate > limits).any())
        naive.append((rate > bounds.clopper_pearson(m, n, DELTA))[2])
    assert limits[0] < 1
    assert np.mean(broken) < DELTA + 3.5 * np.sqrt(DELTA * (1 - DELTA) / repetitions)
    assert np.mean(naive) > 0.5  # control


@given(st.floats(0.01, 100), st.permutations(list(range(12))))
@settings(max_examples=10)
def test_only_order_and_ratio_matter(c, places):
    scores = np.linspace(-0.7, 0.9, 12)
    plain = bounds.pac_bayes(scores, 3, 1.0, DELTA)
    assert bounds.pac_bayes(c * scores[places], 3, c, DELTA) == pytest.approx(plain, rel=0.01)


def test_no_worse_than_the_noted_values():
    """Those came from a coarser grid with a separate one for rho."""
    noted = {0.1: (0.718, 0.454, 0.361, 0.263), 0.5: (0.278, 0.165, 0.135, 0.107)}
    for rho, values in noted.items():
        for n, value in zip((200, 600, 1000, 2000), values, strict=True):
            limit = bounds.pac_bayes_margin(bounds.order(0.05, n), n, rho, 0.05)
            assert 0.88 * value < limit < value
    sizes = {
        0.5: ((65, 0.5), (2.5e3, 0.1)),
        0.1: ((480, 0.5), (2.8e4, 0.1)),
        0.05: ((1.7e3, 0.5), (1.1e5, 0.1)),
    }
    for rho, pairs in sizes.items():
        for n, target in pairs:
            assert bounds.pac_bayes_margin(bounds.order(0.05, int(n)), int(n), rho, 0.05) < target * 1.01


def test_refusals():
    scores = np.linspace(-1, 1, 10)
    with pytest.raises(ValueError, match="cannot be the norm of g: a score of size 1 needs at least"):
        bounds.pac_bayes(scores, 1, 0.9, 0.05)
    with pytest.raises(ValueError, match="norm must be finite and positive, got nan"):
        bounds.pac_bayes(scores, 1, np.nan, 0.05)
    with pytest.raises(ValueError, match="scores must be a list of finite numbers"):
        bounds.pac_bayes([np.inf, 0.0], 1, 1.0, 0.05)
    with pytest.raises(ValueError, match="m must be the 1-based place of the threshold among n=10"):
        bounds.pac_bayes(scores, 11, 1.0, 0.05)
    for rho in (0, -1, np.nan, "1", None, []):
        with pytest.raises(ValueError, match="rho must be finite and positive, got"):
            bounds.pac_bayes_margin(1, 10, rho, 0.05)
