"""The grid of bandwidths and prices, and the progress of a fit."""

import io
import itertools

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from workbench import ranksvm
from workbench.preferences import quantize
from workbench.ranksvm import newton


@pytest.fixture
def sample(rng):
    X = rng.normal(size=(60, 2))
    return X, quantize(rng.permutation(60) / 60)


@pytest.mark.parametrize("loss", ranksvm.LOSSES)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_path_is_one_solution_after_the_other(sample, loss, n_jobs):
    X, levels = sample
    sigmas, Cs = (0.05, 0.5, 5.0), (10.0, 1e-3, 0.1)
    solved = list(
        ranksvm.path(X, levels, sigmas=sigmas, Cs=Cs, loss=loss, anchor=60.0, tol=1e-7, n_jobs=n_jobs)
    )
    assert [(sigma, C) for sigma, C, _ in solved] == [(sigma, C) for sigma in sigmas for C in sorted(Cs)]
    for sigma, C, solution in solved:
        alone = ranksvm.solve(X, levels, sigma=sigma, C=C, loss=loss, anchor=60.0, tol=1e-7)
        assert solution.converged
        assert solution.primal == pytest.approx(alone.primal, rel=3e-7)
        np.testing.assert_allclose(solution.scores, alone.scores, atol=2e-2)


def test_a_solution_is_kept_only_where_it_is_still_one(sample):
    """With a nearly diagonal kernel and no weight at C, raising C changes nothing."""
    X, levels = sample
    Cs = (1e-4, 10.0, 100.0, 1000.0)
    row = [solution for _, _, solution in ranksvm.path(X, levels, sigmas=[1e-3], Cs=Cs, anchor=60.0)]
    kept = [solution.reason == "kept from the C before" for solution in row]
    assert kept == [False, False, True, True]
    assert all(solution.gap <= 1e-6 for solution in row)
    assert row[0].primal < 0.5 * row[1].primal


def test_path_checks_everything_before_solving(sample):
    X, levels = sample
    with pytest.raises(ValueError, match="C must be a positive"):
        ranksvm.path(X, levels, sigmas=[1.0], Cs=[1.0, -1.0])
    with pytest.raises(ValueError, match="sigma must be a positive"):
        ranksvm.path(X, levels, sigmas=[1.0, 0.0], Cs=[1.0])
    with pytest.raises(ValueError, match="tol must be"):
        ranksvm.path(X, levels, sigmas=[1.0], Cs=[1.0], tol=2)


def test_path_warns_where_a_solution_misses_the_tolerance(sample, monkeypatch):
    X, levels = sample
    monkeypatch.setattr(newton, "MAX_ITER", 2)
    with pytest.warns(ConvergenceWarning) as record:
        path = list(ranksvm.path(X, levels, sigmas=[0.3, 0.4], Cs=[1.0, 2.0]))
    assert len(record) == len(path) == 4
    for (sigma, C, solution), warning in zip(path, record, strict=True):
        assert not solution.converged
        assert f"at sigma={sigma:g}, C={C:g} stopped at relative gap {solution.gap:.1e}" in str(
            warning.message
        )


def test_callback_sees_every_step_and_the_gap_fall(sample):
    X, levels = sample
    seen = []
    solution = ranksvm.solve(X, levels, sigma=0.5, C=0.1, anchor=60.0, callback=seen.append)
    assert [report.n_iter for report in seen] == list(range(solution.n_iter + 1))
    assert all(later.gap <= earlier.gap for earlier, later in itertools.pairwise(seen))
    assert seen[-1].gap == pytest.approx(solution.gap, rel=1e-3, abs=1e-9)
    assert [report.rank for report in seen] == sorted(report.rank for report in seen)


def test_an_exception_in_the_callback_ends_the_fit(sample):
    X, levels = sample

    def interrupt(report):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ranksvm.solve(X, levels, sigma=0.5, C=0.1, callback=interrupt)


def test_bar_fills_as_the_gap_falls(sample):
    X, levels = sample
    stream = io.StringIO()
    with ranksvm.GapBar(1e-6, file=stream, mininterval=0) as bar:
        ranksvm.solve(X, levels, sigma=0.5, C=0.1, anchor=60.0, callback=bar)
    last = stream.getvalue().split("\r")[-1]
    assert "100%" in last
    assert "6.0/6.0 digits" in last
    assert "rank=" in last
