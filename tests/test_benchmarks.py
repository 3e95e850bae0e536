import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from workbench import cli
from workbench.benchmarks import path, ranks, scoring, solver, training
from workbench.benchmarks.timing import growth, in_turn, table

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


def test_scoring_benchmark_writes_table_and_findings(tmp_path, monkeypatch):
    monkeypatch.setattr(scoring, "CASES", ((60, 2, 300), (120, 2, 300), (60, 2, 1)))
    monkeypatch.setattr(scoring, "CALLS_FOR_ONE", 2)
    outcome = CliRunner().invoke(
        cli.main, ["bench", "scoring", "--out", str(tmp_path / "out"), "--repetitions", "1"]
    )
    assert outcome.exit_code == 0, outcome.output
    frame = pd.DataFrame(json.loads((tmp_path / "out" / "scoring.json").read_text()))
    assert set(frame["n"]) == {60, 120}
    assert np.all(frame["seconds"] > 0)
    assert {scoring.EXACT, scoring.FEW, "IsolationForest", "OneClassSVM", *scoring.KNN} <= set(
        frame["contender"]
    )
    text = (tmp_path / "out" / "scoring.md").read_text()
    assert "### n = 60, d = 2, 300 to score" in text
    assert "- k-NN is faster than exact scoring at: " in text
    assert "Seconds grow like n^" in text
    if scoring.find_spec("pyod") is None:
        assert "PyOD is not installed: its KNN, HBOS, ECOD are left out." in outcome.output


def test_scoring_contenders_score_every_point_with_every_support_vector():
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(300, 2)), rng.normal(size=(40, 2))
    contenders = scoring.make_contenders(X, queries)
    exact, few = (contenders[name].func.__self__ for name in (scoring.EXACT, scoring.FEW))
    assert len(exact.support_) == 300
    assert len(few.support_) <= scoring.LANDMARKS
    np.testing.assert_array_equal(contenders[scoring.EXACT](), exact.score_samples(queries))


def test_scoring_findings_name_the_crossover():
    def case(n, exact, knn):
        seconds = dict.fromkeys(("IsolationForest", "OneClassSVM", scoring.KNN[0]), 1.0)
        for name, value in ((scoring.EXACT, exact), (scoring.FEW, exact**2)):
            seconds |= {name: value, name + scoring.FLOOR: value / 2}
        seconds[scoring.KNN[1]] = knn
        return [(n, 2, 10, name, value, value, value, 1.0) for name, value in seconds.items()]

    frame = pd.DataFrame(case(100, 0.1, 0.2) + case(1000, 1.0, 0.4), columns=scoring.COLUMNS)
    text = "\n".join(scoring._findings(frame))
    assert "k-NN is faster than exact scoring at: n = 1,000, d = 2." in text
    assert "- k-NN, tree is faster than landmarks at: n = 1,000, d = 2, 10 to score." in text
    assert "IsolationForest is faster" not in text
    assert "takes 2.00 and landmark scoring 2.00 times" in text
    assert "Seconds grow like n^1.00 (exact) and n^2.00 (landmarks)" in text
    assert "nowhere in the cases measured" in "\n".join(scoring._findings(frame[frame["n"] == 100]))


def test_ranks_benchmark_writes_ratios(tmp_path, monkeypatch):
    monkeypatch.setattr(ranks, "SIZES", ((100, 2), (200, 2), (3000, 2)))
    outcome = CliRunner().invoke(
        cli.main,
        ["bench", "ranks", "--out", str(tmp_path), "--repetitions", "2", "--largest", "2000"],
    )
    assert outcome.exit_code == 0, outcome.output
    row, _ = json.loads((tmp_path / "ranks.json").read_text())
    assert row["lowest"] <= row["ratio"] <= row["highest"]
    text = (tmp_path / "ranks.md").read_text()
    assert text.startswith("# Seconds for ranks over 20 random half splits")
    assert "Made by `workbench bench ranks` on " in text
    assert "| 100 | 2 | " in text
    assert "- d = 2: seconds for ranks grow like n^" in text


def test_training_benchmark_splits_a_fit_into_stages(tmp_path, monkeypatch):
    monkeypatch.setattr(
        training, "CASES", ((150, 2, "wide", 1e-6), (300, 2, "wide", 1e-6), (3000, 2, "auto", 1e-3))
    )
    outcome = CliRunner().invoke(cli.main, ["bench", "training", "--out", str(tmp_path), "--largest", "2000"])
    assert outcome.exit_code == 0, outcome.output
    rows = json.loads((tmp_path / "training.json").read_text())
    assert [row["n"] for row in rows] == [150, 300]
    for row in rows:
        stages = [row[stage] for stage in training.STAGES]
        # Nothing is counted twice, and a wide sigma needs no D_K.
        assert sum(stages) <= row["total"]
        assert all(
            seconds > 0 for stage, seconds in zip(training.STAGES, stages, strict=True) if stage != "D_K"
        )
        assert row["D_K"] == 0
        assert row["gap"] <= 1e-6
    text = (tmp_path / "training.md").read_text()
    assert "- d = 2, wide, asked for 1e-06: n = 300 takes " in text
    assert "- d = 2, wide, asked for 1e-06: seconds grow like n^" in text


def test_bench_all_hands_its_options_on(tmp_path, monkeypatch):
    asked = []
    for name in ("ranks", "scoring", "training", "solver", "path"):
        command = cli.bench.commands[name]
        monkeypatch.setattr(command, "callback", lambda name=name, **options: asked.append((name, options)))
    outcome = CliRunner().invoke(cli.main, ["bench", "all", "--out", str(tmp_path), "--largest", "3000"])
    assert outcome.exit_code == 0, outcome.output
    assert [name for name, _ in asked] == ["ranks", "scoring", "training", "solver", "path"]
    assert {str(options["out"]) for _, options in asked} == {str(tmp_path)}
    assert asked[0][1]["largest"] == asked[3][1]["largest"] == 3000


def test_path_page(tmp_path):
    record = {"n": 100, "fits": 16, "seconds": 120.0, "tol": 1e-3, "largest gap": 2e-3, "above tol": 1}
    path.save(record, tmp_path)
    assert json.loads((tmp_path / "path.json").read_text()) == [record]
    assert (
        "16 fits at n = 100 in 2.0 minutes, largest relative gap 2.0e-03, 1 fits above tol = 0.001."
        in (tmp_path / "path.md").read_text()
    )


def test_contenders_take_turns():
    order = []
    seconds = in_turn(
        {"a": lambda: order.append("a"), "b": lambda: order.append("b")}, repetitions=2, calls=2
    )
    assert order == ["a", "a", "b", "b"] * 2
    assert all(len(runs) == 2 for runs in seconds.values())
    assert growth([1, 10, 100], [2, 200, 20_000]) == pytest.approx(2)
    assert table(["x"], [[1]]) == "| x |\n| --: |\n| 1 |"
