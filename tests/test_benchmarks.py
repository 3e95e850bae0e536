import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from workbench import cli
from workbench.benchmarks import path, solver

COLUMNS = ["family", "loss", "solver", "n", "pairs", "seconds", "gap", "megabytes"]


def test_solver_benchmark_writes_table_and_figure(tmp_path, monkeypatch):
    monkeypatch.setattr(solver, "FAMILIES", {"smooth": (40, 60), "D_K": (60,)})
    outcome = CliRunner().invoke(
        cli.main, ["bench", "solver", "--out", str(tmp_path / "out"), "--repetitions", "1"]
    )
    assert outcome.exit_code == 0, outcome.output
    rows = json.loads((tmp_path / "out" / "solver.json").read_text())
    assert {row["solver"] for row in rows} >= {"newton", "cvxpy CLARABEL"}
    assert {row["n"] for row in rows} == {40, 60}
    assert all(row["gap"] < 1e-5 and row["seconds"] > 0 for row in rows if row["solver"] == "newton")
    assert {row["family"] for row in rows} == {"smooth", "D_K"}
    table = (tmp_path / "out" / "solver.md").read_text()
    assert "| 60 | 1,200 |" in table
    assert "- n = 60: " in table
    assert "<html>" in (tmp_path / "out" / "solver.html").read_text()


def test_findings_say_ratio_growth_and_memory():
    rows = [("smooth", "hinge", "newton", n, 1, n / 1e3, 1e-7, n / 10) for n in (800, 2000, 20_000)]
    rows.append(("smooth", "hinge", "cvxpy PIQP", 800, 1, 80.0, 1e-7, np.nan))
    rows.append(("smooth", "hinge", "cvxpy SCS", 800, 1, 8.0, np.nan, np.nan))  # fast, because it failed
    frame = pd.DataFrame(rows, columns=COLUMNS)
    findings = "\n".join(solver._findings(frame))
    assert "n = 800: 100 times as fast as the best other solver (cvxpy PIQP)" in findings
    assert "From n = 2,000 to 20,000 seconds grow like n^1.00." in findings
    assert "Peak memory at n = 20,000: 2,000 MB" in findings


def test_memory_is_that_of_the_solve():
    small, large = (solver._peak_memory("smooth", n, "squared_hinge") for n in (100, 4000))
    if np.isnan(small):
        pytest.skip("peak memory is read from /proc, which this system does not have")
    assert 4000**2 * 8 / 2**20 < large - small < 20 * 4000**2 * 8 / 2**20


def test_path_benchmark_walks_the_papers_grid():
    assert (len(path.CS), len(path.FACTORS), path.FOLDS) == (13, 21, 4)  # 1092 fits
    record = path.run(n=100, factors=(1.0, 4.0), Cs=(0.01, 1.0), n_jobs=1)
    assert record["fits"] == 16
    assert 0 < record["largest gap"] <= 1e-3


def test_a_contender_that_fails_is_reported_and_sits_out(monkeypatch):
    def fail(problem):
        raise RuntimeError

    monkeypatch.setattr(solver, "_contenders", lambda: {"ours": solver._newton, "other": fail})
    monkeypatch.setattr(solver, "FAMILIES", {"smooth": (40, 60)})
    frame = solver.run(repetitions=1, report=lambda line: None)
    other = frame[frame["solver"] == "other"]
    assert set(other["n"]) == {40}
    assert other["gap"].isna().all()
    assert "failed" in solver.markdown(frame)


def test_each_cell_of_the_table_stands_in_its_solvers_column():
    rows = [
        ("D_K", "hinge", "a", 10, 5, 1.0, 1e-7, np.nan),
        ("D_K", "hinge", "b", 10, 5, 2.0, 1e-7, np.nan),
        ("D_K", "hinge", "b", 20, 9, 3.0, 1e-8, np.nan),
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    table = solver.markdown(frame).splitlines()
    head = table.index("| n | pairs | a | b |")
    assert table[head + 2] == "| 10 | 5 | 1 s (1e-07) | 2 s (1e-07) |"
    assert table[head + 3] == "| 20 | 9 | - | 3 s (1e-08) |"


def test_a_slow_contender_sits_out_larger_sizes(monkeypatch):
    monkeypatch.setattr(solver, "_contenders", lambda: {"ours": solver._newton})
    monkeypatch.setattr(solver, "FAMILIES", {"smooth": (40, 60)})
    frame = solver.run(repetitions=1, limit=0.0, report=lambda line: None)
    assert set(frame["n"]) == {40}
    assert np.all(frame["fastest"] <= frame["slowest"])


def test_nothing_to_measure_is_said():
    outcome = CliRunner().invoke(cli.main, ["bench", "solver", "--largest", "10"])
    assert outcome.exit_code == 1
    assert "the smallest n is 20" in outcome.output
