import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import eval_gegenbauer, ive
from scipy.special import gamma as gamma_function
from scipy.stats import poisson

from workbench.bounds import covering_table, log_covering, log_covering_lower
from workbench.bounds.covering import METHODS
from workbench.bounds.eigenbasis import _log_volume
from workbench.bounds.harmonics import RadialBasis, degree_for, poisson_tail, spread
from workbench.bounds.information import _hitting_cost
from workbench.bounds.mesh import log_nodes, ring_radii
from workbench.bounds.random_centres import log_inside
from workbench.bounds.taylor import n_cells
from workbench.kernels import rbf

# Radius 6, sigma 1.5, d = 2: independent computations of the same formulas, rounded; on points: n = 2000.
RHOS = [0.5, 0.1, 0.05, 0.01, 0.005, 0.001, 1e-4]
TABLE = {
    "zhang": [1.5e3, 4.3e4, 1.8e5, 5.1e6, 2.2e7, 6.0e8, 6.8e10],
    "gaussian": [32, 305, 752, 3145, 4485, 7718, 12289],
    "cells": [854, 3274, 4943, 10118, 12940, 20927, 36295],
    "taylor": [1366, 3706, 5063, 8935, 10891, 16107, 25043],
    "eigenbasis": [133, 417, 581, 1059, 1359, 1999, 3640],
}
LOWER = [1.6, 47, 96, 273, 368, 692, 1325]


def bound(rho, d, R, method, n=None):
    return log_covering(rho, d=d, radius=R, sigma=1.0, method=method, n=n)


@pytest.fixture(scope="module")
def table():
    return covering_table(RHOS, d=2, radius=6.0, sigma=1.5, n=2000)


@pytest.mark.parametrize("method", TABLE)
def test_table_is_reproduced_or_bettered(table, method):
    assert (table[method] <= 1.1 * np.array(TABLE[method])).all()
    if method in ("zhang", "gaussian", "taylor"):  # no choice is left open, so these must agree
        np.testing.assert_allclose(table[method], TABLE[method], rtol=0.03)


def test_lower_bound_of_the_table_and_how_tight_the_best_is(table):
    assert (table["lower"] >= 0.97 * np.array(LOWER)).all()
    upper = table["information"]
    assert (upper <= 1.03 * np.array([28.5, 130, 208, 473, 624, 1062, 1910])).all()
    assert (table["best"] == table[list(METHODS)].min(axis=1)).all()
    assert (table["lower"] < table["best"]).all()
    assert (table.drop(columns="lower").diff().iloc[1:] > 0).all(axis=None)


@pytest.mark.parametrize(
    ("d", "printed"),
    [
        (1, [17, 29, 40]),
        (2, [49, 135, 268]),
        (3, [117, 554, 1568]),
        (4, [255, 2010, 8024]),
        (6, [953, 2e4, 1.5e5]),
    ],
)
def test_other_dimensions(d, printed):
    for R, value in zip((1.0, 2.0, 3.0), printed, strict=True):
        assert bound(0.1, d, R, "eigenbasis") <= 1.1 * value
        assert log_covering_lower(0.1, d=d, radius=R, sigma=1) <= bound(0.1, d, R, "information") <= value


arguments = {
    "rho": st.floats(1e-4, 0.999),
    "d": st.integers(1, 8),
    "R": st.floats(1e-3, 4.0),
}


@settings(max_examples=15, deadline=None)
@given(**arguments, method=st.sampled_from(METHODS))
def test_upper_is_above_lower(rho, d, R, method):
    assert bound(rho, d, R, method) >= log_covering_lower(rho, d=d, radius=R, sigma=1) >= np.log(2)


@settings(max_examples=15, deadline=None)
@given(**arguments, method=st.sampled_from(METHODS))
def test_monotone_up_to_the_search(rho, d, R, method):
    value = bound(rho, d, R, method)
    assert bound(rho * 0.8, d, R, method) >= 0.99 * value
    assert bound(rho, d, R * 1.25, method) >= 0.95 * value
    assert bound(rho, d + 1, R, method) >= 0.95 * value


@settings(max_examples=10, deadline=None)
@given(**arguments, method=st.sampled_from(METHODS), scale=st.integers(-60, 60))
def test_only_radius_over_sigma_matters(rho, d, R, method, scale):
    c = 2.0**scale
    assert log_covering(rho, d=d, radius=c * R, sigma=c, method=method) == bound(rho, d, R, method)
    assert log_covering_lower(rho, d=d, radius=c * R, sigma=c) == log_covering_lower(
        rho, d=d, radius=R, sigma=1
    )


@pytest.mark.parametrize("method", METHODS)
def test_extreme_arguments_give_a_bound(method):
    for rho, d, R in [
        (1e-9, 1, 1e-6),
        (0.999, 1000, 1e-6),
        (1e-9, 2, 1e6),
        (0.5, 3, 1e6),
        (0.3, 100_000, 1.0),
    ]:
        assert bound(rho, d, R, method) >= log_covering_lower(rho, d=d, radius=R, sigma=1) >= np.log(2)
    assert bound(1.0, 2, 4.0, method) == log_covering_lower(5.0, d=2, radius=4, sigma=1) == 0


@pytest.mark.parametrize("method", ["zhang", "sudakov", "gaussian"])
def test_on_points(method):
    assert bound(0.1, 2, 4.0, method, n=100) < bound(0.1, 2, 4.0, method, n=1000)
    assert bound(0.1, 2, 4.0, method, n=1000) < bound(0.1, 2, 4.0, method)
    assert bound(0.1, 2, 4.0, method, n=1000) == bound(0.1, 9, 1.0, method, n=1000)
    assert bound(0.1, 2, 4.0, method, n=1) >= np.log(10)  # the interval [-1, 1] by intervals of length 0.2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rho": 0.0}, "rho must be a positive"),
        ({"rho": np.nan}, "rho must be a positive"),
        ({"rho": "0.1"}, "rho must be a positive"),
        ({"rho": 1e-12}, "at least 1e-9"),
        ({"sigma": np.inf}, "sigma must be a positive"),
        ({"radius": -1.0}, "radius must be a positive"),
        ({"radius": 1e9}, "between 1e-6 and 1e6"),
        ({"d": 0}, "d must be a whole number"),
        ({"d": 2.0}, "d must be a whole number"),
        ({"d": True}, "d must be a whole number"),
        ({"n": 0}, "n must be a whole number"),
        ({"method": "zhou"}, "method must be one of best, zhang"),
        ({"method": None}, "method must be one of"),
    ],
)
def test_hostile_arguments(change, message):
    with pytest.raises(ValueError, match=message):
        log_covering(**{"rho": 0.1, "d": 2, "radius": 4.0, "sigma": 1.0} | change)


def test_hostile_table():
    with pytest.raises(ValueError, match="rhos must be"):
        covering_table([], d=2, radius=4.0, sigma=1.0)
    with pytest.raises(ValueError, match="rho must be"):
        covering_table([0.1, np.nan], d=2, radius=4.0, sigma=1.0)


# The basis, against the kernel itself


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_radial_parts_against_bessel_functions(d):
    basis, r = RadialBasis(d, 90), np.array([0.2, 1.0, 2.5])
    K = basis.radial(r) @ basis.radial(r).transpose(0, 2, 1)
    for order in range(min(5, len(basis.order))):
        z = 2 * np.outer(r, r)
        bessel = (2 / z) ** (d / 2 - 1) * ive(order + d / 2 - 1, z) * gamma_function(d / 2)
        np.testing.assert_allclose(K[order], bessel * np.exp(-(np.subtract.outer(r, r) ** 2)), rtol=1e-11)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_harmonics_add_up_to_the_kernel(d, rng):
    x, y = rng.normal(size=(2, d)) * 0.8
    basis = RadialBasis(d, 60)
    r, s = np.linalg.norm(x), np.linalg.norm(y)
    K = np.einsum("lj,lj->l", *(basis.radial(np.array([t]))[:, 0] for t in (r, s)))
    u = x @ y / (r * s)
    if d == 2:
        legendre = np.cos(basis.order * np.arccos(u))
    else:
        legendre = eval_gegenbauer(basis.order, d / 2 - 1, u) / eval_gegenbauer(basis.order, d / 2 - 1, 1.0)
    value = np.sum(basis.multiplicity * legendre * K)
    assert value == pytest.approx(rbf(x[None], y[None], 1.0).item(), rel=1e-12)


def test_taylor_tail_identity():
    for d, R, T in [(1, 1.3, 4), (2, 0.9, 5), (3, 1.1, 3)]:
        x = np.full(d, R / np.sqrt(d))
        v = np.stack(np.meshgrid(*[np.arange(40)] * d), axis=-1).reshape(-1, d)
        one = np.stack([poisson.pmf(np.arange(40), 2 * t**2) for t in x])  # e^(-2t^2) (2t^2)^v / v!
        energy = np.prod([one[i][v[:, i]] for i in range(d)], axis=0)
        assert energy[v.sum(axis=1) >= T].sum() == pytest.approx(poisson_tail(T, R), rel=1e-12)
        basis = RadialBasis(d, T)
        inside = basis.weighted_squares(
            np.array([R]),
            np.eye(basis.radial(np.array([R])).shape[2])[None].repeat(len(basis.order), axis=0),
            np.ones((len(basis.order), (T + 1) // 2)),
        )
        assert inside[0] == pytest.approx(energy[v.sum(axis=1) < T].sum(), rel=1e-12)


def test_eigenvalues_against_quadrature_in_the_plane():
    # Radii and weights of Gauss-Legendre, 64 equal angles; brute force builds the whole Gram matrix.
    t, weights = np.polynomial.legendre.leggauss(10)
    r, weights = 0.8 * (t + 1), weights * (t + 1) / np.sum(weights * (t + 1))
    angle = 2 * np.pi * np.arange(64) / 64
    X = np.stack([np.outer(r, np.cos(angle)), np.outer(r, np.sin(angle))], axis=-1).reshape(-1, 2)
    root = np.sqrt(np.repeat(weights / 64, 64))
    brute = np.linalg.eigvalsh(root[:, None] * rbf(X, X, 1.0) * root)[::-1]
    basis = RadialBasis(2, 50)
    mu, U = basis.eigen(r, weights)
    ours = np.sort(np.repeat(mu, basis.multiplicity.astype(int), axis=0).ravel())[::-1]
    np.testing.assert_allclose(ours[:60], brute[:60], atol=1e-13)
    np.testing.assert_allclose(U.transpose(0, 2, 1) @ U, np.broadcast_to(np.eye(25), U.shape), atol=1e-13)


def test_degree_is_the_smallest():
    T = degree_for(1e-6, 2, 2.0)
    assert poisson_tail(T, 2.0) <= 1e-6 < poisson_tail(T - 1, 2.0)
    assert degree_for(1e-6, 2, 50.0) is None


# The mesh


@pytest.mark.parametrize("d", [1, 2])
def test_interpolation_from_the_mesh_errs_by_less_than_it_says(d, rng):
    R, error = 2.0, 0.01
    rings = ring_radii(error / d, R)
    counts = np.round(np.exp(log_nodes(d, rings, error / d, R))).astype(int)
    assert counts[0] == 1

    def weights(x):
        """Nodes and convex weights for one point, written out from the head of the module."""
        r = np.linalg.norm(x)
        j = min(np.searchsorted(rings, r, side="right") - 1, len(rings) - 2)
        outer = (r - rings[j]) / (rings[j + 1] - rings[j])
        nodes = []
        for ring, share in ((j, 1 - outer), (j + 1, outer)):
            if d == 1:
                nodes.append((np.sign(x) * rings[ring], share))
                continue
            step = 2 * np.pi / counts[ring]
            place = np.arctan2(x[1], x[0]) / step
            for k, part in ((np.floor(place), 1 - place % 1), (np.floor(place) + 1, place % 1)):
                nodes.append((rings[ring] * np.array([np.cos(k * step), np.sin(k * step)]), share * part))
        return np.array([node for node, _ in nodes]), np.array([share for _, share in nodes])

    worst = 0.0
    for _ in range(300):
        x = rng.normal(size=d)
        x *= R * rng.uniform() ** (1 / d) / np.linalg.norm(x)
        X, beta = weights(x)
        assert np.linalg.norm(X, axis=1).max() <= R * (1 + 1e-12)
        # the largest error over the unit ball of H is the norm of k_x - sum beta k_i
        square = 1 - 2 * beta @ rbf(X, x[None], 1.0)[:, 0] + beta @ rbf(X, X, 1.0) @ beta
        worst = max(worst, np.sqrt(max(square, 0)))
    assert 0.5 * error < worst <= error  # and not by much less: a mesh twice as coarse would fail


def test_more_nodes_on_larger_spheres_and_in_more_dimensions():
    r = np.linspace(0, 2, 50)
    sizes = np.array([log_nodes(d, r, 0.01, 2.0) for d in (1, 2, 3, 5, 12, 14)])
    assert (np.diff(sizes, axis=0) >= 0).all()
    assert (np.diff(sizes, axis=1) >= -1e-12).all()
    # d = 3: area over the cell of a square lattice, plus the rounding up
    angle = np.sqrt(8 * 0.01 / np.hypot(np.sqrt(12) * 4, np.sqrt(2) * 2))
    assert 4 * np.pi / angle**2 < np.exp(sizes[2, -1]) < 1.1 * 4 * np.pi / angle**2


# The covers


def test_sidak(rng):
    X = rng.uniform(-1, 1, size=(30, 2))
    G = rng.multivariate_normal(np.zeros(30), rbf(X, X, 1.0), size=20_000)
    for ell in (0.5, 1.5, 2.5):
        assert np.mean(np.abs(G).max(axis=1) <= ell) + 0.01 > np.exp(log_inside(ell, np.log(30)))


def test_volume_of_the_sum_of_two_ellipsoids():
    a = np.array([40.0, 5.0])
    # the support function of disc + ellipse gives its area: int (h^2 - h'^2) / 2
    angle = np.linspace(0, 2 * np.pi, 20001)
    h = 1 + np.sqrt(np.cos(angle) ** 2 / a[0] + np.sin(angle) ** 2 / a[1])
    area = np.trapezoid(h**2 - np.gradient(h, angle) ** 2, angle) / 2
    ratio = np.log(area / (np.pi / np.sqrt(a[0] * a[1])))
    assert ratio <= _log_volume(np.ones(2), a) <= ratio + 0.05
    assert _log_volume(np.array([7]), np.array([9.0])) == pytest.approx(7 * np.log(1 + 3.0), rel=1e-6)


@pytest.mark.parametrize("b", [0.0, 30.0])
def test_centres_hit_as_often_as_the_bound_says(b, rng):
    """P{Z - y in K} by sampling, d = 1: at least exp(-bound), and a bound far too good would be found out."""
    R, s = 1.0, 0.45
    basis = RadialBasis(1, 14)
    mu, U = spread(basis, R, 30.0)
    rings = np.linspace(0, R, 6)
    log_n = np.where(rings > 0, np.log(2), 0.0)
    u = basis.tail(rings) + basis.weighted_squares(rings, U, 1 / (1 + b * mu))
    claimed = _hitting_cost(s, b * mu, basis.multiplicity, u, log_n)

    X = np.concatenate([-rings[:0:-1], rings])[:, None]
    K = rbf(X, X, 1.0)
    root = np.linalg.cholesky(K + 1e-12 * np.eye(len(X)))
    y = rng.normal(size=(len(X), 20))
    y = np.hstack([root @ (y / np.linalg.norm(y, axis=0)), K])  # values of functions of norm 1
    hits = 0.0
    for alpha in (0.1, 0.2, 0.3, 0.5):  # the bound holds at one alpha; take the best for the worst y
        Z = np.sqrt(alpha) * root @ rng.normal(size=(len(X), 40_000))
        hits = max(hits, min(np.mean(np.abs(Z - each[:, None]).max(axis=0) <= s) for each in y.T))
    assert hits >= np.exp(-claimed)
    assert hits < np.exp(-claimed / 4)


def unit_functions(x, rng, size=4000):
    """Values at x of functions of norm 1: directions at random, and among the four largest eigenvalues."""
    lam, V = np.linalg.eigh(rbf(x, x, 1.0))
    root = V * np.sqrt(np.maximum(lam, 0))
    c = rng.normal(size=(2 * size, len(x)))
    c[size:, :-4] = 0
    return c / np.linalg.norm(c, axis=1, keepdims=True) @ root.T, root


def test_functions_far_apart_need_a_centre_each(rng):
    R, rho = 0.5, 0.4
    f, _ = unit_functions(np.linspace(-R, R, 41)[:, None], rng)
    left, size = f, 0
    while len(left):
        left = left[np.abs(left - left[0]).max(axis=1) > rho]
        size += 1
    for method in METHODS:
        assert bound(rho / 2, 1, R, method) >= np.log(size)
    assert np.log(size) > 0.3 * bound(rho / 2, 1, R, "best")  # a bound far too small would be found out


def test_a_cover_of_the_size_claimed_covers(rng):
    R, rho = 0.5, 0.5
    f, root = unit_functions(np.linspace(-R, R, 41)[:, None], rng)

    def missed(n_centres):
        centres = np.sqrt(0.3) * rng.normal(size=(n_centres, 41)) @ root.T
        gap = np.full(len(f), np.inf)
        for centre in centres:
            gap = np.minimum(gap, np.abs(f - centre).max(axis=1))
        return np.mean(gap > rho)

    assert missed(int(np.exp(bound(rho, 1, R, "information")))) == 0
    assert missed(int(np.exp(log_covering_lower(rho, d=1, radius=R, sigma=1))) - 1) > 0


def test_what_the_eigenbasis_claims_of_functions_of_the_unit_ball(rng):
    """Random f: the part outside the span is below tau, and the gauge bounds the sup norm on the spheres."""
    R, level = 1.5, 1e-3
    basis = RadialBasis(2, 40)
    mu, U = spread(basis, R, 100.0)
    r = np.linspace(0, R, 60)
    squares = basis.squares(r, U)
    kept = mu >= level
    kappa = np.einsum("lri,li->r", squares, np.where(kept, 1 / np.maximum(mu, level), 0)).max()
    tau = np.sqrt((np.einsum("lri,li->r", squares, ~kept + 0.0) + basis.tail(r)).max())
    phi = basis.radial(r) @ U
    angle = rng.uniform(0, 2 * np.pi, 60)
    functions = []
    for ell, i in zip(*np.nonzero(mu > 1e-9), strict=True):
        if ell == 0:
            functions.append((phi[ell, :, i], mu[ell, i]))
        else:
            functions += [
                (np.sqrt(2) * phi[ell, :, i] * g(ell * angle), mu[ell, i]) for g in (np.cos, np.sin)
            ]
    E, values = np.array([f for f, _ in functions]), np.array([m for _, m in functions])
    inside = values >= level
    c = rng.normal(size=(3000, len(E)))
    c /= np.linalg.norm(c, axis=1, keepdims=True)
    assert np.abs(c[:, ~inside] @ E[~inside]).max() <= tau < 1
    gauge = np.sqrt((c[:, inside] ** 2 * values[inside]).sum(axis=1) * kappa)
    sup = np.abs(c[:, inside] @ E[inside]).max(axis=1)
    assert (sup <= gauge * (1 + 1e-9)).all()
    # the extreme function at a point reaches both, so smaller ones would be wrong
    point = np.argmax(((E[~inside]) ** 2).sum(axis=0))
    extreme = E[~inside, point] / np.linalg.norm(E[~inside, point])
    assert np.abs(extreme @ E[~inside]).max() > 0.9 * tau


def test_number_of_cubes(rng):
    for d, R, h in [(1, 3.0, 1.0), (2, 3.0, 0.7), (3, 1.0, 0.3)]:
        # count the cubes of both lattices that random points of the ball fall in
        x = rng.normal(size=(200_000, d))
        x *= R * rng.uniform(size=(len(x), 1)) ** (1 / d) / np.linalg.norm(x, axis=1, keepdims=True)
        seen = [len(np.unique(np.floor(x / (2 * h) + shift), axis=0)) for shift in (0, 0.5)]
        assert min(seen) <= n_cells(h, d, R) <= min(seen) * 1.1 + 2


def test_second_derivatives_on_lines_and_circles():
    # |D^2 k| by differences of the kernel: the norm of k(t + h) - 2 k(t) + k(t - h), over h^2
    h, r = 1e-2, 0.7
    line = np.array([[-h], [0.0], [h]])
    stencil = np.array([1, -2, 1]) / h**2
    assert np.sqrt(stencil @ rbf(line, line, 1.0) @ stencil) == pytest.approx(np.sqrt(12), rel=1e-3)
    circle = r * np.stack([np.cos(line[:, 0]), np.sin(line[:, 0])], axis=1)
    size = np.sqrt(stencil @ rbf(circle, circle, 1.0) @ stencil)
    assert size == pytest.approx(np.hypot(np.sqrt(12) * r**2, np.sqrt(2) * r), rel=1e-3)


def test_poisson_tail_against_the_integral():
    for T, R in [(1, 0.3), (5, 1.2), (40, 3.0)]:
        density = lambda x, T=T: np.exp((T - 1) * np.log(x) - x - np.sum(np.log(np.arange(1, T))))  # noqa: E731
        assert quad(density, 0, 2 * R**2)[0] == pytest.approx(poisson_tail(T, R), rel=1e-8)
