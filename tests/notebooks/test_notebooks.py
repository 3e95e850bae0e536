"""Every notebook runs from top to bottom, is stored without outputs, and defines nothing."""

import ast
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from workbench.lessons import LESSONS
from workbench.lessons.course import exercises

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


def code_cells(path):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def solved(path):
    """Return cells that a student would add who asked for every solution and tried it."""
    lesson = next((lesson for lesson in LESSONS if lesson.notebook == path.stem), None)
    return [
        nbformat.v4.new_code_cell(
            f"{each.code}\nassert exercise('{number}').check(answer).state == 'right', answer"
        )
        for number, each in (exercises(lesson) if lesson else {}).items()
    ]


def test_there_is_a_start():
    assert NOTEBOOKS[0].name == "00_start_here.ipynb"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_from_top_to_bottom(path, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    own = len(notebook.cells)
    notebook.cells += solved(path)
    NotebookClient(notebook, timeout=180, resources={"metadata": {"path": str(path.parent)}}).execute()
    for cell in notebook.cells[:own]:
        if cell.cell_type == "code":
            warnings = [o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stderr"]
            assert warnings == [], cell.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_without_outputs_and_defines_nothing(path):
    for cell in code_cells(path):
        assert cell.outputs == []
        assert cell.execution_count is None
        definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
        assert not [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, definitions)]
