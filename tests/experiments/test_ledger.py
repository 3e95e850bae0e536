"""Results stay whole whatever happens to those who write them."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest
import tqdm.std as tqdm_module

from workbench import ranksvm
from workbench.experiments import ledger as ledger_module
from workbench.experiments.ledger import Ledger, Task
from workbench.experiments.runner import run, tasks

TESTS = Path(__file__).resolve().parents[1]
COUNTING = "experiments.counting"
SCRIPT = """
import sys
from workbench.experiments.ledger import Ledger
from workbench.experiments.runner import run, tasks
todo = tasks("experiments.counting", runs=int(sys.argv[2]))
outcome = run(todo, Ledger(sys.argv[1]), n_jobs=1, verbose=False)
print(outcome.computed, outcome.found, outcome.elsewhere)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where cells leave a mark each time they are worked out, in this process and in others."""
    marks = tmp_path / "marks"
    marks.mkdir()
    monkeypatch.setenv("COUNTING_FOLDER", str(marks))
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    )
    return tmp_path


def marks(folder):
    return Counter({int(path.name): len(path.read_text()) for path in (folder / "marks").iterdir()})


def start(path, runs):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path), str(runs)], stdout=subprocess.PIPE, text=True
    )


def test_a_task_is_its_configuration_whatever_the_order():
    assert Task("e", 1, {"a": 1, "seed": 2}).key == Task("e", 1, {"seed": 2, "a": 1}).key
    keys = {Task("e", 1, {"a": 1}).key, Task("f", 1, {"a": 1}).key, Task("e", 2, {"a": 1}).key}
    keys |= {Task("e", 1, {"a": 2}).key, Task("e", 1, {"a": "1"}).key}
    assert len(keys) == 5


def test_what_is_written_is_read_back_with_what_made_it(tmp_path):
    ledger = Ledger(tmp_path / "new" / "ledger.sqlite")
    ledger.record(Task("e", 1, {"system": "x", "seed": 0}), {"auc": 0.5, "odd": float("nan")}, 1.5)
    ledger.record(Task("e", 2, {"system": "x", "seed": 0}), {"auc": 0.7, "odd": 0.0}, 1.5)
    ledger.record(Task("f", 1, {"seed": 0}), {"n": 3}, 0.5)
    row = ledger.records("e", 1).iloc[0]
    assert (row["system"], row["seed"], row["auc"], row["seconds"]) == ("x", 0, 0.5, 1.5)
    assert row["odd"] != row["odd"]
    assert row["code"].startswith("0.1")
    assert "+" in row["code"]
    assert set(json.loads(row["libraries"])) >= {"numpy", "scikit-learn", "python"}
    assert row["finished"].endswith("+00:00")
    assert len(ledger.records("e")) == 2
    assert list(ledger.records()["experiment"]) == ["e", "e", "f"]
    assert ledger.records("nobody").empty


def test_the_first_result_of_a_cell_stays(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    task = Task("e", 1, {"seed": 0})
    ledger.record(task, {"auc": 0.5}, 1.0)
    ledger.record(task, {"auc": 0.6}, 1.0)
    assert list(ledger.records("e")["auc"]) == [0.5]


def test_a_result_that_cannot_be_written_leaves_nothing(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(TypeError):
        ledger.record(Task("e", 1, {"seed": 0}), {"auc": object()}, 1.0)
    assert ledger.records().empty
    assert ledger.done() == set()


def test_other_files_are_refused_and_left_alone(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, and long enough to have a header of another kind" * 40)
    with pytest.raises(ValueError, match="cannot be used as a ledger"):
        Ledger(text)
    assert text.read_text().startswith("not a database")
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as database:
        database.execute("CREATE TABLE mine (x)")
    with pytest.raises(ValueError, match="not a ledger that this version reads"):
        Ledger(foreign)
    later = tmp_path / "later.sqlite"
    Ledger(later)
    with sqlite3.connect(later) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(ValueError, match="format 99"):
        Ledger(later)


def test_a_claim_holds_while_its_runner_lives(tmp_path):
    ledger, task = Ledger(tmp_path / "ledger.sqlite"), Task("e", 1, {"seed": 0})
    with ledger.runner() as one:
        assert ledger.claim(task, one)
        with ledger.runner() as other:
            assert not ledger.claim(task, other)
    with ledger.runner() as third:
        assert ledger.claim(task, third)
        ledger.record(task, {}, 0.0)
        assert not ledger.claim(task, third)
    assert not list(tmp_path.glob("*.runners"))


def test_nothing_is_computed_twice(folder):
    ledger = Ledger(folder / "ledger.sqlite")
    first = run(tasks(COUNTING, quick=True), ledger, n_jobs=1, verbose=False)
    assert (first.computed, first.found) == (3, 0)
    second = run(tasks(COUNTING), ledger, n_jobs=1, verbose=False)
    assert (second.computed, second.found) == (5, 3)
    assert marks(folder) == Counter(range(8))


def test_a_cell_that_fails_is_told_and_tried_again(folder, monkeypatch):
    ledger = Ledger(folder / "ledger.sqlite")
    monkeypatch.setenv("COUNTING_FAILS", "1")
    outcome = run(tasks(COUNTING, quick=True), ledger, n_jobs=1, verbose=False)
    ((task, error),) = outcome.failed
    assert task.cell == {"seed": 1}
    assert "RuntimeError: this cell cannot be worked out" in error
    assert outcome.computed == 2
    monkeypatch.delenv("COUNTING_FAILS")
    assert run(tasks(COUNTING, quick=True), ledger, n_jobs=1, verbose=False).computed == 1


def test_killed_anywhere_it_goes_on_where_it_was(folder, monkeypatch):
    monkeypatch.setenv("COUNTING_NAP", "0.15")
    path = folder / "ledger.sqlite"
    runner = start(path, 8)
    while len(marks(folder)) < 4:
        assert runner.poll() is None
        time.sleep(0.02)
    runner.send_signal(signal.SIGKILL)
    runner.communicate()
    kept = len(Ledger(path).records(COUNTING))
    assert 2 <= kept < 8
    monkeypatch.setenv("COUNTING_NAP", "0")
    again = start(path, 8)
    assert again.communicate()[0].split() == [str(8 - kept), str(kept), "0"]
    records = Ledger(path).records(COUNTING)
    assert sorted(records["square"]) == [float(seed**2) for seed in range(8)]
    twice = [seed for seed, times in marks(folder).items() if times > 1]
    assert len(twice) <= 1  # the one in hand when the axe fell
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT count(*) FROM claims").fetchone() == (0,)


@pytest.mark.skipif(sys.platform != "linux", reason="files are limited in another way here")
def test_a_full_disk_loses_nothing_that_was_written(folder):
    path = folder / "out" / "ledger.sqlite"
    full = """
import os, resource, sys
from workbench import cli
from workbench.experiments import commands
commands.EXPERIMENTS["table2"] = ("experiments.counting",)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
cli.main()
"""
    asked = ["reproduce", "table2", "--runs", "60", "--jobs", "1", "--out", str(folder / "out")]

    def reproduce(limit):
        command = [sys.executable, "-c", full, str(limit), *asked]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    outcome = reproduce(40_000)
    assert outcome.returncode == 1
    assert "ledger.sqlite could not be written or read" in outcome.stderr
    assert "the same command goes on from there" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    kept = len(Ledger(path).records(COUNTING))
    assert 0 < kept < 60
    assert f"{60 - kept} measured, {kept} in the ledger before" in reproduce(10**9).stdout


def test_a_clock_that_goes_backwards(folder, monkeypatch):
    """Results stay in the order in which they came, and no bar stumbles over negative times."""

    class Backwards(datetime):
        seconds = 2e9

        @classmethod
        def now(cls, tz=None):
            cls.seconds -= 3600
            return cls.fromtimestamp(cls.seconds, tz)

    monkeypatch.setattr(ledger_module, "datetime", Backwards)
    monkeypatch.setattr(tqdm_module, "time", lambda: Backwards.now().timestamp())
    ledger = Ledger(folder / "ledger.sqlite")
    assert run(tasks(COUNTING), ledger, n_jobs=1, verbose=True).computed == 8
    records = ledger.records(COUNTING)
    assert records["finished"].is_monotonic_decreasing
    assert records["finished"].nunique() == 8
    assert (records["seconds"] >= 0).all()
    assert records["seed"].tolist() == list(range(8))
    assert run(tasks(COUNTING), ledger, n_jobs=1, verbose=True).found == 8
    with ranksvm.GapBar(1e-6) as bar:
        for gap in (1.0, 1e-3, 1e-7):
            bar(ranksvm.Progress(n_iter=1, gap=gap, rank=2))


def test_two_runners_share_the_work(folder, monkeypatch):
    monkeypatch.setenv("COUNTING_NAP", "0.1")
    path = folder / "ledger.sqlite"
    pair = [start(path, 20) for _ in range(2)]
    said = [[int(word) for word in runner.communicate()[0].split()] for runner in pair]
    assert [runner.returncode for runner in pair] == [0, 0]
    assert sum(computed for computed, _, _ in said) == 20
    assert marks(folder) == Counter(range(20))
    assert len(Ledger(path).records(COUNTING)) == 20


def test_writers_do_not_shut_each_other_out(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: ledger.record(Task("e", 1, {"seed": i}), {"x": i}, 0.0), range(60)))
    assert sorted(ledger.records("e")["x"]) == list(range(60))


def test_a_ledger_in_a_read_only_folder_can_be_read(tmp_path):
    path = tmp_path / "ledger.sqlite"
    Ledger(path).record(Task("e", 1, {"seed": 0}), {"x": 1.0}, 0.0)
    path.chmod(0o444)
    assert list(Ledger(path).records("e")["x"]) == [1.0]
