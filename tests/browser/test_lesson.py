"""A lesson in a real JupyterLab, as a student works through it: a figure to move, answers right and wrong."""

import shutil

import pytest
from conftest import NOTEBOOKS
from explorer_page import chooser, press, slider

from workbench.benchmarks.browser import browser_page, lab, open_notebook


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    root = tmp_path_factory.mktemp("notebooks")
    shutil.copy(NOTEBOOKS / "01_what_is_an_anomaly.ipynb", root)
    with lab(root) as address, browser_page(address, height=1100) as page:
        open_notebook(page, address, "01_what_is_an_anomaly.ipynb")
        page.locator(".js-plotly-plot .scatterlayer").first.wait_for()
        yield page


def sentence(page):
    return page.locator(".widget-html-content [role=status]")


def exercise(page, number):
    return page.locator(".jp-CodeCell", has_text=f'exercise("{number}").check')


def try_answer(page, number, code):
    cell = exercise(page, number)
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(f'answer = {code}\nexercise("{number}").check(answer)')
    page.keyboard.press("Shift+Enter")


def test_the_lesson_runs_without_error(page, keep_picture):
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.get_by_text("Put your answer in place of the three dots").count() == 3
    figure = page.locator(".jp-CodeCell", has=page.locator(".js-plotly-plot")).first
    figure.scroll_into_view_if_needed()
    keep_picture(figure, "lesson-1-figure")


def test_the_figure_and_its_sentence_move_by_keyboard(page):
    before = sentence(page).inner_text()
    curve = page.locator(".js-plotly-plot .scatterlayer path.js-fill").first
    drawn = curve.get_attribute("d")
    press(page, "α, mass left outside")
    page.get_by_text("At α = 0.1 the minimum-volume set").wait_for()
    assert slider(page, "α, mass left outside")[1].inner_text() == "0.1"
    assert sentence(page).inner_text() != before
    assert curve.get_attribute("d") != drawn
    chooser(page, "accept").select_option(label="central interval")
    page.get_by_text("At α = 0.1 the central interval").wait_for()


def test_answers_wrong_right_and_given_up(page, keep_picture):
    cell = exercise(page, "1.3")
    try_answer(page, "1.3", "'a disc'")
    cell.get_by_text("The answer is a number, and this is str 'a disc'").wait_for()
    try_answer(page, "1.3", "(-2 * np.log(0.05)) ** 0.5")
    cell.get_by_text("That is the radius.").wait_for()
    hint = cell.get_by_text("The level sets are discs about 0.")
    assert not hint.is_visible()
    cell.locator("summary").focus()
    page.keyboard.press("Enter")
    assert hint.is_visible()
    keep_picture(cell, "lesson-1-hint")
    try_answer(page, "1.3", "np.pi * -2 * np.log(0.05)")
    cell.get_by_text("Right.").wait_for()
    keep_picture(cell, "lesson-1-right")
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text('exercise("1.3").solution()  # exercise("1.3").check')
    page.keyboard.press("Shift+Enter")
    cell.locator(".jp-RenderedMarkdown code", has_text="answer = np.pi").wait_for()
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
