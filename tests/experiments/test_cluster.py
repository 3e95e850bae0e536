"""The same cells on a Dask cluster, of which a worker dies."""

import os
import threading
import time
from pathlib import Path

import psutil
import pytest

from workbench.experiments.ledger import Ledger
from workbench.experiments.runner import run, tasks

distributed = pytest.importorskip("distributed")

TESTS = Path(__file__).resolve().parents[1]


def test_the_death_of_a_worker_loses_nothing(tmp_path, monkeypatch):
    marks = tmp_path / "marks"
    marks.mkdir()
    monkeypatch.setenv("COUNTING_FOLDER", str(marks))
    monkeypatch.setenv("COUNTING_NAP", "0.3")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    todo = tasks("experiments.counting", runs=12)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        killed = []

        def kill():
            while len(list(marks.iterdir())) < 4:
                time.sleep(0.05)
            victim = psutil.Process(next(iter(cluster.workers.values())).pid)
            victim.kill()
            killed.append(victim.pid)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        outcome = run(todo, ledger, scheduler=cluster.scheduler_address, verbose=False)
        killer.join(10)
    assert killed
    assert (outcome.computed, outcome.failed) == (12, [])
    squares = ledger.records("experiments.counting")["square"]
    assert sorted(squares) == [float(seed**2) for seed in range(12)]
