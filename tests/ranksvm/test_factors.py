"""The blocked factor of a large sample, where memory ends it, and the certificate that counts the rest."""

from dataclasses import replace

import numpy as np
import oracles
import pytest
from sklearn.exceptions import ConvergenceWarning

from workbench import RankAD, kernels, ranksvm
from workbench.densities import FIG2
from workbench.kernels import KernelMatrix
from workbench.neighbors import knn_statistic, rank
from workbench.preferences import quantize
from workbench.ranksvm import NodeDual, factors, newton, solution
from workbench.ranksvm.factors import CutFactor, factor


@pytest.fixture
def large(monkeypatch):
    """Treat 300 points as too many for memory, and work them off in blocks that do not divide them."""
    monkeypatch.setattr(kernels, "DENSE_LIMIT", 50)
    for name, value in (("SAMPLE", 80), ("ROWS", 70)):
        monkeypatch.setattr(factors, name, value)


def cut(monkeypatch, pivots):
    monkeypatch.setattr(factors, "PHI_BYTES", 0)
    monkeypatch.setattr(factors, "FEWEST_PIVOTS", pivots)


def problem(n=300, multiple=4.0):
    X = FIG2.sample(n, random_state=0)
    G = knn_statistic(X)
    return X, quantize(rank(G, G)), multiple * G.mean()


@pytest.mark.parametrize("tol", [1e-2, 1e-6, 1e-12])
def test_the_blocked_factor_is_a_factor(large, tol):
    X, _, sigma = problem()
    X[0] = 100.0  # which no pivot of the others serves
    K, found = oracles.gram(X, sigma), factor(KernelMatrix(X, sigma), tol)
    Phi, pivots = found.Phi, found.pivots
    assert not isinstance(found, CutFactor)
    assert found.residual.max() <= tol
    assert len(set(pivots)) == found.rank
    np.testing.assert_array_equal(np.triu(Phi[pivots], 1), 0)
    np.testing.assert_allclose(K[:, pivots], Phi @ Phi[pivots].T, atol=1e-13)
    np.testing.assert_allclose(np.diag(K - Phi @ Phi.T), found.residual, atol=1e-13)
    assert np.abs(K - Phi @ Phi.T).max() <= tol + 1e-13
    w = np.random.default_rng(0).normal(size=found.rank)
    np.testing.assert_allclose(K[:, pivots] @ found.coefficients(w), Phi @ w, atol=1e-6)
    one_by_one = KernelMatrix(X, sigma).factor(tol)
    assert found.rank <= 1.2 * one_by_one.rank + 5


def test_memory_ends_the_factor(large, monkeypatch):
    X, _, sigma = problem()
    cut(monkeypatch, 40)
    found = factor(KernelMatrix(X, sigma), 1e-12)
    assert isinstance(found, CutFactor)
    assert found.rank == 40
    assert found.residual.max() > 1e-12
    assert found.as_if_whole().residual.max() == 0
    monkeypatch.setattr(factors, "PHI_BYTES", 8 * 300 * 90)
    assert factors.most_pivots(300) == 90
    assert factors.most_pivots(30) == 30


def test_copies_end_the_factor_too(large):
    X = np.repeat(np.eye(3), 100, axis=0)
    found = factor(KernelMatrix(X, 1.0), 1e-12)
    assert found.rank == 3
    assert not isinstance(found, CutFactor)


@pytest.mark.parametrize("sigma", [0.5, 1e-4])
def test_the_best_multiple_counts_all_of_the_kernel(large, rng, sigma):
    X, levels, _ = problem()
    K, posed = oracles.gram(X, sigma), ranksvm.make_problem(X, levels, sigma=sigma, C=0.1, anchor=2.0)
    given = NodeDual(rng.normal(size=300), 0.7, 0.03)
    point, beta, scores, rounding, quadratic = posed.best_multiple(given)
    np.testing.assert_array_less(np.abs(scores - K @ beta), rounding)
    assert rounding.max() < 1e-7 * np.abs(scores).max()
    assert beta @ K @ beta <= quadratic <= beta @ K @ beta * (1 + 1e-6)
    assert posed.best_multiple(given)[2].tobytes() == scores.tobytes()
    # The best there is: neither less nor more of it, as far as C allows, has a larger dual.
    value = oracles.dual(K, levels, 0.1, "hinge", 2.0, *_written_out(posed, point))
    assert value == pytest.approx(posed.dual(point, quadratic=quadratic))
    for factor_ in (0.99, 1.01):
        other = replace(point, scale=factor_ * point.scale)
        if other.scale <= 0.1:
            assert oracles.dual(K, levels, 0.1, "hinge", 2.0, *_written_out(posed, other)) <= value


def _written_out(posed, point):
    weights = posed.pair_weights(point)
    return weights.alpha, weights.anchor


@pytest.mark.parametrize("loss", ranksvm.LOSSES)
@pytest.mark.parametrize(("multiple", "pivots"), [(4.0, 30), (1.0, 60), (0.5, 20)])
def test_a_cut_problem_is_certified_by_the_whole_kernel_and_warns(large, monkeypatch, multiple, pivots, loss):
    X, levels, sigma = problem(multiple=multiple)
    settings = {"sigma": sigma, "C": 1 / 300, "anchor": 300.0, "loss": loss}
    best = ranksvm.solve(X, levels, **settings)
    cut(monkeypatch, pivots)
    with pytest.warns(ConvergenceWarning, match=f"300 points needs more than the {pivots} landmarks"):
        found = ranksvm.solve(X, levels, **settings)
    assert found.cut == pivots
    assert best.cut is None
    assert found.dual <= best.primal * (1 + 1e-9)
    assert found.primal >= best.dual * (1 - 1e-9)
    assert found.gap < 1
    K = oracles.gram(X, sigma)
    posed = (K, levels, settings["C"], loss, settings["anchor"])
    assert oracles.primal(*posed, found.beta) == pytest.approx(found.primal)
    written_out = ranksvm.make_problem(X, levels, **settings).pair_weights(found.dual_point)
    value = oracles.dual(*posed, written_out.alpha, written_out.anchor)
    assert value == pytest.approx(found.dual, rel=1e-9, abs=1e-9)


def test_beyond_what_a_product_with_all_of_K_may_cost_the_bound_is_the_certificate(large, monkeypatch):
    X, levels, sigma = problem()
    cut(monkeypatch, 60)
    settings = {"sigma": sigma, "C": 1 / 300, "anchor": 300.0}
    with pytest.warns(ConvergenceWarning):
        exact = ranksvm.solve(X, levels, **settings)
    monkeypatch.setattr(solution, "MOST_FOR_WHOLE_PRODUCT", 200)
    with pytest.warns(ConvergenceWarning):
        bound = ranksvm.solve(X, levels, **settings)
    assert bound.gap > exact.gap


def test_a_first_few_pivots_are_enough_or_else_all_are_taken(large, monkeypatch):
    """The bound on what they leave out would not certify them; a product with all of K does."""
    X, levels, sigma = problem()
    settings = {"sigma": sigma, "C": 1 / 300, "anchor": 300.0, "tol": 1e-3}
    ranks = set()
    monkeypatch.setattr(newton, "FIRST_PIVOTS", 90)
    enough = ranksvm.solve(X, levels, callback=lambda progress: ranks.add(progress.rank), **settings)
    assert enough.cut == 90
    assert enough.gap <= 1e-3
    assert np.count_nonzero(enough.beta) <= 90
    monkeypatch.setattr(newton, "FIRST_PIVOTS", 20)
    rest = ranksvm.solve(X, levels, callback=lambda progress: ranks.add(progress.rank), **settings)
    assert rest.cut is None
    assert rest.gap <= 1e-3
    assert max(ranks) > 20


@pytest.mark.parametrize("landmarks", [5, 60])
def test_trained_among_landmarks_is_best_among_them(landmarks):
    """No small step away from it helps, and it is never behind the best g interpolated there."""
    X, levels, sigma = problem()
    settings = {"sigma": sigma, "C": 1 / 300, "anchor": 300.0}
    whole = ranksvm.make_problem(X, levels, **settings)
    beta = ranksvm.solve_in_span(X, levels, landmarks, **settings)
    index = np.flatnonzero(beta)
    assert len(index) == landmarks
    primal = whole.primal(beta)
    best = ranksvm.solve(X, levels, **settings)
    K = oracles.gram(X, sigma)
    projected = np.zeros(300)
    projected[index] = np.linalg.solve(K[np.ix_(index, index)], best.scores[index])
    assert best.primal <= primal <= whole.primal(projected)
    for step in np.random.default_rng(0).normal(size=(50, landmarks)):
        moved = beta.copy()
        moved[index] += 1e-2 * np.abs(beta).max() * step
        assert whole.primal(moved) >= primal * (1 - 1e-6)


def test_no_landmarks_is_said():
    X, levels, sigma = problem(60)
    for landmarks in (0, 2.5, True):
        with pytest.raises(
            ValueError, match=f"landmarks must be a whole number, at least 1, got {landmarks}"
        ):
            ranksvm.solve_in_span(X, levels, landmarks, sigma=sigma, C=1.0)


def test_scores_of_the_whole_kernel_calibrate_as_those_worked_out_anew(large, monkeypatch):
    X, _, sigma = problem()
    cut(monkeypatch, 30)
    with pytest.warns(ConvergenceWarning):
        detector = RankAD(sigma=sigma, resamples=5, random_state=0).fit(X)
    assert detector.solution_.rounding is not None
    np.testing.assert_allclose(
        detector.calibration_scores_, np.sort(detector._calibration()[0]), rtol=0, atol=1e-11
    )
    scores = detector.solution_.scores
    counted = np.mean(scores[:, None] >= scores, axis=1)
    p = detector.p_value(X)
    assert np.all(p >= counted)  # scored again in another way, every point is still tied with itself
    np.testing.assert_allclose(p, counted, atol=1.01 / 300)
