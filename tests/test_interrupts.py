"""Ctrl-C in every long command, as a terminal sends it: to the process and its children."""

import os
import signal
import subprocess
import sys
import time

import nbformat
import numpy as np
import pandas as pd
import pytest

from workbench import RankAD

pytestmark = pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups here")

SECONDS = 20.0
"""Long enough for a busy machine; alone it takes about one."""

SLOWLY = {
    "score": "from workbench import RankAD, scoring_files, tables\n"
    "tables.columns.CHUNK_BYTES = 200\n"
    "score = RankAD.score_samples\n"
    "RankAD.score_samples = lambda *a: (time.sleep(0.1), score(*a))[1]\n",
    "bench": "from workbench.benchmarks import ranks\n"
    "ranks.SIZES = ((100, 2),) * 1000\n"
    "ranks._ranks = lambda X: (print('at work', flush=True), time.sleep(0.05))\n",
    "reproduce": "from workbench.experiments import commands\n"
    "commands.EXPERIMENTS['table2'] = ('experiments.counting',)\n",
    "lessons": "import pathlib\nfrom workbench import cli\n"
    "from workbench.lessons import commands\n"
    "cli._notebooks = lambda: pathlib.Path(folder)\n",
}


def start(command, *arguments, folder, **environment):
    """Start a command in a group of its own, some of its parts slowed down."""
    program = f"import time\nfolder = {str(folder)!r}\n{SLOWLY[command]}from workbench import cli\ncli.main()"
    return subprocess.Popen(
        [sys.executable, "-c", program, command, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env=os.environ | environment,
    )


def interrupt(process, is_at_work):
    """Wait until it is at work, press Ctrl-C, and return what it had printed."""
    deadline = time.monotonic() + 120
    while not is_at_work():
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    try:
        output, _ = process.communicate(timeout=SECONDS)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130, output
    assert "Stopped." in output
    assert "Traceback" not in output.rpartition("Stopped.")[2]
    return output


def test_score_keeps_finished_chunks(tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(400, 2)), columns=["a", "b"])
    RankAD(resamples=0, random_state=0).fit(X[:50]).save(tmp_path / "model")
    X.to_csv(tmp_path / "data.csv", index=False)
    arguments = tmp_path / "model", tmp_path / "data.csv", "--out", tmp_path / "out.csv"
    process = start("score", *arguments, folder=tmp_path)
    partial = tmp_path / "out.csv.partial"
    output = interrupt(process, lambda: len(list(partial.glob("*.npy"))) >= 2)
    assert "the same command goes on from there" in output
    assert len(list(partial.glob("*.npy"))) >= 2
    assert not list(partial.glob(".*.part"))
    assert not (tmp_path / "out.csv").exists()


def test_bench_writes_no_half_of_a_table(tmp_path):
    process = start("bench", "ranks", "--out", tmp_path / "bench", folder=tmp_path)
    assert process.stdout.readline() == "at work\n"
    interrupt(process, lambda: True)
    assert not (tmp_path / "bench").exists()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_reproduce_keeps_finished_cells(jobs, tmp_path):
    from workbench.experiments.ledger import Ledger

    (tmp_path / "counted").mkdir()
    process = start(
        *("reproduce", "table2", "--runs", "500", "--jobs", jobs, "--out", tmp_path / "out"),
        folder=tmp_path,
        COUNTING_FOLDER=str(tmp_path / "counted"),
        COUNTING_NAP="0.1",
        PYTHONPATH=os.pathsep.join(["tests", *filter(None, sys.path)]),
    )
    interrupt(process, lambda: len(list((tmp_path / "counted").iterdir())) > 4)
    assert 1 <= len(Ledger(tmp_path / "out" / "ledger.sqlite").done()) < 500


def test_lessons_keep_finished_pages(tmp_path):
    from workbench.lessons.course import LESSONS

    cells = {0: "None", 1: f"import time\nopen({str(tmp_path / 'begun')!r}, 'w')\ntime.sleep(600)"}
    for number, source in cells.items():
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
        nbformat.write(notebook, tmp_path / f"{LESSONS[number].notebook}.ipynb")
    process = start("lessons", "0", "1", "--render", tmp_path / "pages", folder=tmp_path)
    output = interrupt(process, (tmp_path / "begun").exists)
    assert "The pages made so far are in" in output
    assert (tmp_path / "pages" / f"{LESSONS[0].notebook}.html").exists()
    assert not (tmp_path / "pages" / f"{LESSONS[1].notebook}.html").exists()
