"""Selection against a slow, literal cross-validation."""

import doctest

import numpy as np
import oracles
import pytest
from sklearn.utils.estimator_checks import check_estimator

from workbench import RankAD, RankADCV, ranksvm, selection
from workbench.densities import FIG1, FIG2
from workbench.selection import CS, SIGMA_FACTORS

PRINTED = {"criterion": "disagreement"}
SMALL = PRINTED | {"sigma_factors": (0.25, 1.0, 4.0), "Cs": (1e-3, 0.1, 10.0), "random_state": 0}


@pytest.fixture(scope="module")
def X():
    return FIG2.sample(90, random_state=0)


def slow_disagreement(g, levels, anchor):
    """Pair by pair, the point at infinity as one more point of score 0 and weight `anchor`."""
    wrong = total = 0.0
    for i in range(len(g)):
        for j in range(len(g)):
            if levels[i] > levels[j]:
                total += 1
                wrong += (g[i] < g[j]) + (g[i] == g[j]) / 2
        total += anchor
        wrong += anchor * ((g[i] < 0) + (g[i] == 0) / 2)
    return wrong / total


@pytest.mark.parametrize("anchor", [True, False])
def test_cross_validation_by_slow_code(X, anchor):
    detector = RankADCV(**SMALL, search="grid", anchor=anchor, cv_tol=1e-6).fit(X)
    results = detector.cv_results_
    assert detector.n_fits_ == 36
    n = len(X)
    for fold, (train, held_out, anomalies) in enumerate(detector._folds(X)):
        assert anomalies is None
        for row in (0, 4, 8):
            sigma, C = results["param_sigma"][row], results["param_C"][row]
            a = float(n) * anchor
            solution = ranksvm.solve(
                X[train], detector.levels_[train], sigma=sigma, C=C, anchor=a * len(train) / n
            )
            K = oracles.gram(np.vstack([X[held_out], X[train]]), sigma)[: len(held_out), len(held_out) :]
            expected = slow_disagreement(K @ solution.beta, detector.levels_[held_out], a * len(held_out) / n)
            assert results[f"split{fold}_test_score"][row] == pytest.approx(expected, abs=0.01)
    np.testing.assert_allclose(
        results["mean_test_score"], np.mean([results[f"split{f}_test_score"] for f in range(4)], axis=0)
    )


def test_synthetic_anomalies_by_slow_code(X):
    detector = RankADCV(**SMALL | {"criterion": "synthetic", "search": "grid", "cv_tol": 1e-6}).fit(X)
    results = detector.cv_results_
    for fold, (train, held_out, anomalies) in enumerate(detector._folds(X)):
        assert anomalies.shape == (1600, 2)
        for row in (0, 4, 8):
            sigma, C = results["param_sigma"][row], results["param_C"][row]
            solution = ranksvm.solve(
                X[train], detector.levels_[train], sigma=sigma, C=C, anchor=float(len(train))
            )
            g, other = (
                np.exp(-np.sum((queries[:, None] - X[train]) ** 2, axis=2) / sigma**2) @ solution.beta
                for queries in (X[held_out], anomalies)
            )
            wrong = np.mean((g[:, None] < other) + (g[:, None] == other) / 2)
            assert results[f"split{fold}_test_score"][row] == pytest.approx(wrong, abs=0.01)


def test_synthetic_anomalies_see_a_curve_that_a_flat_score_misses():
    rng = np.random.default_rng(0)
    t = rng.uniform(-3, 3, 120)
    X = np.column_stack([t, np.sin(2 * t)]) + 0.05 * rng.standard_normal((120, 2))
    grid = {"sigma_factors": (0.5, 2.0, 32.0), "Cs": (0.01,), "random_state": 0, "search": "grid"}
    scores = RankADCV(criterion="synthetic", **grid).fit(X).cv_results_["mean_test_score"]
    assert scores[2] > scores[:2].min() + 0.05


def test_the_best_is_refitted_as_rankad_would(X):
    detector = RankADCV(**SMALL).fit(X)
    best = detector.best_params_
    plain = RankAD(**best, random_state=0).fit(X)
    assert plain.beta_.tobytes() == detector.beta_.tobytes()
    first = np.argmin(detector.cv_results_["rank_test_score"])
    assert detector.cv_results_["param_sigma"][first] == best["sigma"]
    assert detector.cv_results_["param_C"][first] == best["C"]
    assert detector.cv_results_["mean_test_score"][first] == detector.best_score_
    assert detector.best_score_ == detector.cv_results_["mean_test_score"].min()


@pytest.mark.parametrize(("density", "seed"), [(FIG1, 0), (FIG2, 1)])
def test_coarse_to_fine_does_as_well_as_the_grid_with_far_fewer_fits(density, seed):
    X = density.sample(80, random_state=seed)
    settings = PRINTED | {"sigma_factors": SIGMA_FACTORS[4:17], "Cs": CS, "random_state": 0, "resamples": 0}
    grid = RankADCV(search="grid", **settings).fit(X)
    fine = RankADCV(**settings).fit(X)
    assert grid.n_fits_ == 13 * 13 * 4
    assert fine.n_fits_ < 0.5 * grid.n_fits_
    spread = grid.cv_results_["std_test_score"][np.argmin(grid.cv_results_["rank_test_score"])] / 2
    assert fine.best_score_ <= grid.best_score_ + spread  # within the standard error of four folds


def test_same_seed_same_bytes_and_ties_go_to_the_smoothest(X):
    one, two = (RankADCV(**SMALL).fit(X) for _ in range(2))
    assert one.beta_.tobytes() == two.beta_.tobytes()
    tied = RankADCV(**PRINTED, sigma_factors=(500.0, 1000.0), Cs=(1e-9, 1e-8), random_state=0).fit(X)
    scores = tied.cv_results_["mean_test_score"]
    smoothest = np.flatnonzero(scores == scores.min())
    assert tied.best_params_["sigma"] == tied.cv_results_["param_sigma"][smoothest].max()


def test_split_calibration_hides_its_points_from_the_selection(X):
    detector = RankADCV(**SMALL, calibration="split").fit(X)
    moved = X.copy()
    held_out = np.setdiff1d(np.arange(len(X)), detector.train_index_)
    moved[held_out] += 100.0
    other = RankADCV(**SMALL, calibration="split").fit(moved)
    assert other.best_params_ == detector.best_params_


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cv": 1}, "cv must be a whole number of folds from 2 to half of the 90"),
        ({"cv": 2.5}, "got 2.5"),
        ({"cv_tol": 2}, "cv_tol must be a relative gap between 0 and 1, got 2"),
        ({"search": "random"}, "search must be one of coarse-to-fine, grid, got 'random'"),
        ({"criterion": "oracle"}, "criterion must be one of synthetic, disagreement, got 'oracle'"),
        ({"criterion": None}, "criterion must be one of .* got None"),
        ({"Cs": ()}, "Cs must be positive finite numbers, one or more"),
        ({"Cs": "x"}, "Cs must be positive finite numbers, one or more, got 'x'"),
        ({"sigma_factors": (1e308, 10**400)}, "sigma_factors must be positive finite numbers"),
        ({"n_jobs": "x"}, "n_jobs must be a number of processes, -1 for one a core, or None, got 'x'"),
        ({"n_jobs": 0}, "n_jobs must be .* got 0"),
        ({"search": np.ones(2)}, "search must be one of"),
        ({"sigma_factors": (1.0, -1.0)}, "sigma_factors must be positive finite"),
        ({"m": 1, "anchor": False}, "no preference to learn from"),
    ],
)
def test_bad_parameters(X, change, message):
    with pytest.raises(ValueError, match=message):
        RankADCV(**SMALL | change).fit(X)


def test_example_in_the_docstring():
    assert doctest.testmod(selection).failed == 0


def test_no_cell_is_solved_twice(X):
    fine = RankADCV(**SMALL).fit(X)
    assert fine.n_fits_ == 4 * len(fine.cv_results_["mean_test_score"]) <= 36


def test_scikit_learns_checks():
    shuffled = {"check_sample_weight_equivalence_on_dense_data": "folds depend on the order of the points"}
    small = RankADCV(sigma_factors=(1.0, 4.0), Cs=(0.01, 1.0), cv=2)
    check_estimator(small, expected_failed_checks=shuffled)
