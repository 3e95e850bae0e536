import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from workbench import cli, datasets


@pytest.fixture
def started(monkeypatch):
    """Commands that would have been run."""
    commands = []

    def run(command, **_):
        commands.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    return commands


def test_lab_opens_the_start_notebook_and_passes_options_on(started):
    outcome = CliRunner().invoke(cli.main, ["lab", "--no-browser", "--port=8889"])
    assert outcome.exit_code == 0
    (command,) = started
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    root = Path(command[3].removeprefix("--ServerApp.root_dir="))
    notebook = command[4].removeprefix("--LabApp.default_url=/lab/tree/")
    assert (root / notebook).exists()
    assert command[5:] == ["--no-browser", "--port=8889"]


def test_dashboard_is_local_and_asks_for_a_token(started):
    outcome = CliRunner().invoke(cli.main, ["dashboard", "--port=8899", "--Voila.base_url=/x/"])
    assert outcome.exit_code == 0
    (command,) = started
    assert command[:3] == [sys.executable, "-m", "voila"]
    assert Path(command[3]).exists()
    assert "--Voila.ip=127.0.0.1" in command
    token = next(option for option in command if option.startswith("--token=")).removeprefix("--token=")
    assert len(token) >= 32
    assert f"http://127.0.0.1:8899/?token={token} " in outcome.output
    assert command[-1] == "--Voila.base_url=/x/"
    CliRunner().invoke(cli.main, ["dashboard"])
    assert f"--token={token}" not in started[1]


def test_the_address_that_is_printed_has_the_token_and_the_ip_that_were_given(started):
    outcome = CliRunner().invoke(cli.main, ["dashboard", "--ip=0.0.0.0", "--token=s3cret"])
    assert "http://0.0.0.0:8866/?token=s3cret " in outcome.output
    assert {"--Voila.ip=0.0.0.0", "--token=s3cret"} <= set(started[0])


def test_lab_of_an_installed_package_copies_the_notebooks(started, monkeypatch, tmp_path):
    installed = tmp_path / "site-packages" / "workbench"
    (installed / "notebooks").mkdir(parents=True)
    (installed / "notebooks" / cli.START).write_text("{}")
    monkeypatch.setattr(cli, "PACKAGE", installed)
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli.main, ["lab"]).exit_code == 0
    copy = tmp_path / "rankad-notebooks" / cli.START
    assert copy.exists()
    copy.write_text("my work")
    assert CliRunner().invoke(cli.main, ["lab"]).exit_code == 0
    assert copy.read_text() == "my work"


def test_data_lists_and_checks():
    listing = CliRunner().invoke(cli.main, ["data"]).output
    assert [line.split()[0] for line in listing.splitlines()] == list(datasets.DATASETS)
    outcome = CliRunner().invoke(cli.main, ["data", "mammography"])
    assert outcome.output == "mammography: 11183 rows, 6 columns, 260 anomalies, checksum verified\n"


def test_data_names_the_sets_there_are():
    outcome = CliRunner().invoke(cli.main, ["data", "mamography"])
    assert outcome.exit_code == 1
    assert "There is no data set 'mamography': choose from annthyroid, cover" in outcome.output
    assert "Traceback" not in outcome.output


@pytest.mark.parametrize(
    "command",
    [
        ["dashboard", "--port", "0"],
        ["dashboard", "--port", "99999"],
        ["dashboard", "--token", ""],
        ["dashboard", "--token", "a&b"],
        ["bench", "path", "--n", "10"],
        ["bench", "path", "--jobs", "0"],
        ["bench", "path", "--tol", "0"],
        ["bench", "explorer", "--repetitions", "0"],
        ["bench", "explorer", "--n", "5"],
        ["bench", "scoring", "--repetitions", "0"],
        ["bench", "ranks", "--repetitions", "0"],
        ["bench", "ranks", "--largest", "10"],
    ],
)
def test_numbers_out_of_range_are_refused_in_words(command, started):
    outcome = CliRunner().invoke(cli.main, command)
    assert outcome.exit_code == 2
    assert "Invalid value" in outcome.output
    assert started == []
