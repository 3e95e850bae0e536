import json

import numpy as np
import pandas as pd
from click.testing import CliRunner

from workbench import cli
from workbench.benchmarks import solver


def test_solver_benchmark_writes_table_and_figure(tmp_path, monkeypatch):
    monkeypatch.setattr(solver, "SIZES", (40, 60))
    outcome = CliRunner().invoke(
        cli.main, ["bench", "solver", "--out", str(tmp_path / "out"), "--repetitions", "1"]
    )
    assert outcome.exit_code == 0, outcome.output
    rows = json.loads((tmp_path / "out" / "solver.json").read_text())
    assert {row["solver"] for row in rows} >= {"newton", "cvxpy CLARABEL"}
    assert {row["n"] for row in rows} == {40, 60}
    assert all(row["gap"] < 1e-5 and row["seconds"] > 0 for row in rows if row["solver"] == "newton")
    assert "| 60 | 1,200 |" in (tmp_path / "out" / "solver.md").read_text()
    assert "<html>" in (tmp_path / "out" / "solver.html").read_text()


def test_a_contender_that_fails_is_reported_and_sits_out(monkeypatch):
    def fail(problem):
        raise RuntimeError

    monkeypatch.setattr(solver, "_contenders", lambda: {"ours": solver._newton, "other": fail})
    frame = solver.run((40, 60), repetitions=1, report=lambda line: None)
    other = frame[frame["solver"] == "other"]
    assert set(other["n"]) == {40}
    assert other["gap"].isna().all()
    assert "failed" in solver.markdown(frame)


def test_each_cell_of_the_table_stands_in_its_solvers_column():
    rows = [
        ("hinge", "a", 10, 5, 1.0, 1e-7),
        ("hinge", "b", 10, 5, 2.0, 1e-7),
        ("hinge", "b", 20, 9, 3.0, 1e-8),
    ]
    frame = pd.DataFrame(rows, columns=["loss", "solver", "n", "pairs", "seconds", "gap"])
    table = solver.markdown(frame).splitlines()
    assert table[2] == "| n | pairs | a | b |"
    assert table[4] == "| 10 | 5 | 1 s (1e-07) | 2 s (1e-07) |"
    assert table[5] == "| 20 | 9 | - | 3 s (1e-08) |"


def test_a_slow_contender_sits_out_larger_sizes(monkeypatch):
    monkeypatch.setattr(solver, "_contenders", lambda: {"ours": solver._newton})
    frame = solver.run((40, 60), repetitions=1, limit=0.0, report=lambda line: None)
    assert set(frame["n"]) == {40}
    assert np.all(frame["fastest"] <= frame["slowest"])


def test_nothing_to_measure_is_said():
    outcome = CliRunner().invoke(cli.main, ["bench", "solver", "--largest", "10"])
    assert outcome.exit_code == 1
    assert "the smallest n is 100" in outcome.output
