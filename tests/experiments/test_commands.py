"""`workbench reproduce` and `workbench ledger`, as typed."""

import pandas as pd
import pytest
from click.testing import CliRunner

from workbench.cli import main
from workbench.experiments import commands
from workbench.experiments.ledger import Ledger
from workbench.experiments.runner import tasks


@pytest.fixture
def workbench(tmp_path, monkeypatch):
    """Run the command with the counting experiment known to it."""
    monkeypatch.setitem(commands.EXPERIMENTS, "table2", ("experiments.counting",))
    monkeypatch.setattr(commands, "PAPER", ("table2",))

    def run(*arguments):
        return CliRunner().invoke(main, [*arguments, "--out", str(tmp_path / "out")])

    return run


def test_reproduce_measures_once_and_writes_the_tables(workbench, tmp_path):
    first = workbench("reproduce", "table2", "--quick", "--jobs", "1")
    assert first.exit_code == 0, first.output
    assert "3 measured, 0 in the ledger before" in first.output
    page = (tmp_path / "out" / "experiments.counting-quick.md").read_text()
    assert "3 squares, sum 5" in page
    assert "core minutes" in page
    second = workbench("reproduce", "all", "--runs", "5", "--jobs", "1")
    assert "2 measured, 3 in the ledger before" in second.output
    assert len(pd.read_csv(tmp_path / "out" / "experiments.counting.csv")) == 5
    assert "3 squares" in (tmp_path / "out" / "experiments.counting-quick.md").read_text()


def test_a_failure_is_said_and_the_rest_kept(workbench, tmp_path, monkeypatch):
    monkeypatch.setenv("COUNTING_FAILS", "2")
    outcome = workbench("reproduce", "table2", "--quick", "--jobs", "1")
    assert outcome.exit_code == 1
    assert "Failed: experiments.counting {'seed': 2}: RuntimeError: this cell cannot" in outcome.output
    assert "2 squares" in (tmp_path / "out" / "experiments.counting-quick.md").read_text()


def test_ledger_shows_and_exports(workbench, tmp_path):
    missing = workbench("ledger")
    assert missing.exit_code == 1
    assert "There is no ledger" in missing.output
    workbench("reproduce", "table2", "--quick", "--jobs", "1")
    assert "experiments.counting 3" in " ".join(workbench("ledger").output.split())
    assert "sum 5" in workbench("ledger", "experiments.counting").output
    exported = tmp_path / "cells.csv"
    assert "3 cells" in workbench("ledger", "experiments.counting", "--csv", str(exported)).output
    assert sorted(pd.read_csv(exported)["square"]) == [0, 1, 4]
    unknown = workbench("ledger", "table9")
    assert unknown.exit_code == 1
    assert "holds no cell of 'table9': it holds experiments.counting" in unknown.output


def test_ctrl_c_keeps_what_is_done(workbench, tmp_path, monkeypatch):
    def interrupted(*arguments, **options):
        Ledger(tmp_path / "out" / "ledger.sqlite").record(
            tasks("experiments.counting")[0], {"square": 0.0}, 0.1
        )
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.experiments.reproduce.run", interrupted)
    outcome = workbench("reproduce", "table2", "--quick")
    assert outcome.exit_code == 130
    assert "the same command goes on from there" in outcome.output
    monkeypatch.undo()
    assert len(Ledger(tmp_path / "out" / "ledger.sqlite").done()) == 1


def test_unknown_names_and_files_are_refused(workbench, tmp_path):
    assert workbench("reproduce", "table9").exit_code == 2
    assert workbench("reproduce").exit_code == 2
    assert workbench("reproduce", "table2", "--runs", "0").exit_code == 2
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "ledger.sqlite").write_text("something else " * 100)
    outcome = workbench("reproduce", "table2", "--quick")
    assert outcome.exit_code == 1
    assert "cannot be used as a ledger" in outcome.output
