"""The house rules that a machine can check."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import api_page
import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [("check",), ("format", "--check")], ids=["lint", "format"])
def test_ruff(arguments):
    outcome = run(sys.executable, "-m", "ruff", *arguments, ".")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_doors_between_rooms():
    outcome = run(sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "0 broken" in outcome.stdout


def test_import_is_light():
    heavy = ("sklearn", "scipy", "cvxpy", "plotly", "ipywidgets", "pandas")
    outcome = run(
        sys.executable, "-c", f"import sys, workbench; print([m for m in {heavy} if m in sys.modules])"
    )
    assert outcome.stdout.strip() == "[]"


def test_every_public_name_exists():
    import workbench

    for name in workbench.__all__:
        assert getattr(workbench, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        workbench.missing  # noqa: B018


def test_environment_pins_exact_versions_within_the_ranges_of_pyproject():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (pip_section,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert "-e ." in pip_section
    pins = {}
    for line in pip_section:
        if line != "-e .":
            match = re.fullmatch(r"([A-Za-z0-9_.-]+)==([0-9][0-9a-z.]*)", line)
            assert match, f"{line} is not an exact version"
            pins[match[1].lower()] = match[2]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    for requirement in map(Requirement, wanted):
        assert requirement.name in pins, f"{requirement.name} is not pinned"
        assert requirement.specifier.contains(pins[requirement.name]), f"{requirement} excludes the pin"
    (python,) = [e for e in environment["dependencies"] if isinstance(e, str) and e.startswith("python=")]
    assert python.removeprefix("python=").startswith("3.11.")


def test_the_ci_command_is_the_readmes():
    command = (ROOT / ".ci" / "run").read_text().strip().splitlines()[-1]
    assert f"\n{command}\n" in (ROOT / "README.md").read_text()


def test_the_readmes_python_runs(capsys):
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    names = {}
    exec(block, names)
    assert names["detector"][-1].solution_.converged


def test_the_picture_in_contributing_is_the_contracts():
    picture = re.search(r"```text\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)[1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (layers,) = [
        contract["layers"]
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract.get("containers") == ["workbench"]
    ]
    floors = [sorted(floor.split(" | ")) for floor in layers]
    assert [sorted(line.split(" | ")) for line in picture.splitlines()] == floors
    rooms = {path.stem for path in (ROOT / "workbench").iterdir() if (path / "__init__.py").exists()}
    rooms |= {path.stem for path in (ROOT / "workbench").glob("*.py")} - {"__init__", "_lazy"}
    assert {room for floor in floors for room in floor} == rooms


def test_the_list_of_public_names_is_what_the_package_offers():
    assert (ROOT / "notebooks" / "API.md").read_text("utf-8") == api_page.page(), (
        "Run python tests/api_page.py > notebooks/API.md"
    )


def test_citation_and_changes_are_of_this_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == version
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text()


IMPORT = re.compile(r"^\s*(?:import|from) ([a-zA-Z_]+)", re.MULTILINE)


def importers(*modules):
    """Files of the package that import one of these."""
    paths = (ROOT / "workbench").rglob("*.py")
    return {path.stem for path in paths if set(IMPORT.findall(path.read_text())) & set(modules)}


def test_what_the_readme_says_about_security():
    """Who could reach a network, and that nothing is unpickled or evaluated."""
    assert importers("socket", "urllib", "http", "requests", "aiohttp", "httpx", "ftplib", "smtplib") == {
        "browser"
    }
    assert importers("pooch") == {
        "datasets",
        "false_alarms",
    }  # the second asks it for the cache's folder only
    assert importers("distributed") == {"runner"}
    assert not importers("pickle", "marshal", "shelve", "dill", "cloudpickle")
    for path in (ROOT / "workbench").rglob("*.py"):
        assert not re.search(
            r"\b(eval|exec)\(|allow_pickle=True|joblib\.load|read_pickle", path.read_text()
        ), path


def test_no_lock_file_with_download_addresses():
    tracked = run("git", "ls-files").stdout.split()
    assert not [name for name in tracked if name.endswith(".lock")]
