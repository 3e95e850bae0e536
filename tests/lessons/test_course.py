"""The notebooks are the lessons that the course lists, and say so."""

import re
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from workbench.cli import main
from workbench.lessons import LESSONS
from workbench.lessons.course import exercises, solutions

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
ROOT = NOTEBOOKS.parent

lessons = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.notebook)


def cells(lesson, kind):
    notebook = nbformat.read(NOTEBOOKS / f"{lesson.notebook}.ipynb", as_version=4)
    return [cell.source for cell in notebook.cells if cell.cell_type == kind]


def test_the_course_is_the_numbered_notebooks():
    assert [f"{lesson.notebook}.ipynb" for lesson in LESSONS] == sorted(
        path.name for path in NOTEBOOKS.glob("[0-9]*.ipynb")
    )
    assert [lesson.number for lesson in LESSONS] == list(range(len(LESSONS)))


def test_what_a_lesson_needs_comes_before_it():
    for lesson in LESSONS:
        assert all(number < lesson.number for number in lesson.needs)


@lessons
def test_a_lesson_says_what_the_course_says(lesson):
    first = cells(lesson, "markdown")[0]
    assert first.startswith(f"# {lesson.title}\n")
    assert f"About {lesson.minutes} minutes" in first
    assert f"**The question.** {lesson.question}" in first
    for number in lesson.needs:
        assert f"({LESSONS[number].notebook}.ipynb)" in first


@lessons
def test_a_lesson_ends_with_a_summary_and_leads_on(lesson):
    *_, last = cells(lesson, "markdown")
    assert "## In short" in last
    assert "**In the paper:**" in last
    assert "**In the code:**" in last
    for neighbour in LESSONS[max(0, lesson.number - 1) : lesson.number + 2]:
        if neighbour != lesson:
            assert f"({neighbour.notebook}.ipynb)" in last


@lessons
def test_files_that_a_lesson_names_exist(lesson):
    for text in cells(lesson, "markdown"):
        for path in re.findall(r"`(workbench/[\w/]+(?:\.py|/))`", text):
            assert (ROOT / path).exists(), path
        for path in re.findall(r"\]\(([\w./-]+)\)", text):
            assert (NOTEBOOKS / path).exists(), path


@lessons
def test_a_lesson_has_its_exercises_in_order_and_each_asks_for_an_answer(lesson):
    checked = re.findall(r'exercise\("([\d.]+)"\)\.check\(answer\)', "\n".join(cells(lesson, "code")))
    assert checked == list(exercises(lesson))
    asked = re.findall(r"\*\*Exercise ([\d.]+)\.\*\*", "\n".join(cells(lesson, "markdown")))
    assert asked == checked
    assert len(checked) in ((0,) if not lesson.module else (2, 3))


@lessons
def test_a_lesson_has_something_to_move(lesson):
    source = "\n".join(cells(lesson, "code"))
    assert "scene" in source or "Explorer(" in source or "FalseAlarmLab(" in source


def test_exercises_leave_no_likely_question_open():
    for lesson in LESSONS:
        for number, each in exercises(lesson).items():
            for text in (each.because, each.hint, each.words, each.code):
                assert text.strip(), number


def test_the_command_lists_lessons_and_solutions():
    listed = CliRunner().invoke(main, ["lessons"])
    assert listed.exit_code == 0
    assert all(lesson.title in listed.output for lesson in LESSONS)
    solved = CliRunner().invoke(main, ["lessons", "--solutions", "1"])
    assert "answer = np.pi" in solved.output
    assert CliRunner().invoke(main, ["lessons", "99"]).exit_code == 2


def test_the_teachers_page_has_every_goal_and_the_solutions():
    page = (NOTEBOOKS / "TEACHING.md").read_text()
    for lesson in LESSONS:
        assert lesson.goal in page
    assert page.endswith(solutions())


def test_readme_and_start_list_every_lesson():
    readme, start = (ROOT / "README.md").read_text(), "\n".join(cells(LESSONS[0], "markdown"))
    for lesson in LESSONS:
        assert f"{lesson.notebook}.ipynb" in readme
        assert lesson.number == 0 or f"({lesson.notebook}.ipynb)" in start
