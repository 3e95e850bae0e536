"""The false-alarm lab in a real JupyterLab, in a real browser, its controls moved by keyboard."""

import re

import nbformat
import pytest
from conftest import NOTEBOOKS
from explorer_page import chooser, press, slider

from workbench.benchmarks.browser import browser_page, lab, open_notebook

REALISED = ".js-plotly-plot .subplot.xy .scatterlayer path.js-fill"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The notebook's first cells, down to the lab, after Run All."""
    root = tmp_path_factory.mktemp("notebooks")
    notebook = nbformat.read(NOTEBOOKS / "09_false_alarms.ipynb", as_version=4)
    first = next(i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    notebook.cells = notebook.cells[: first + 1]
    nbformat.write(notebook, root / "lab.ipynb")
    with lab(root) as address, browser_page(address) as page:
        open_notebook(page, address, "lab.ipynb")
        page.locator(REALISED).first.wait_for()
        yield page


DONE = re.compile(r"^\s*100 repetitions\s*$")


def status(page, text):
    page.locator(".widget-html-content", has_text=text).first.wait_for()


def table(page):
    return page.locator(".widget-html-content table").inner_text()


def histogram(page):
    return page.locator(REALISED).first.get_attribute("d")


def picture(page):
    return page.locator(".jp-OutputArea-output", has=page.locator(".js-plotly-plot"))


def test_in_sample_promises(page, keep_picture):
    status(page, DONE)
    page.locator("td", has_text="0 of 100").first.wait_for()
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.locator(".js-plotly-plot").count() == 1
    assert "not a promise: Clopper-Pearson" in table(page)
    assert "too often" in table(page)
    picture(page).scroll_into_view_if_needed()
    keep_picture(picture(page), "false-alarms-in-sample")


def test_split_moves_the_histogram_under_the_law(page, keep_picture):
    before = histogram(page)
    chooser(page, "calibration").select_option(label="split")
    page.locator("td", has_text="ELL").first.wait_for()
    status(page, DONE)
    assert histogram(page) != before
    assert "too often" not in table(page)
    keep_picture(picture(page), "false-alarms-split")


def test_alpha_by_keyboard(page, keep_picture):
    before = histogram(page)
    press(page, "α (level)", times=2)
    page.get_by_text("At α = 0.1 the realised rate").wait_for()
    assert slider(page, "α (level)")[1].inner_text() == "0.1"
    assert histogram(page) != before
    press(page, "α (level)", "Home")
    page.get_by_text("At α = 0.01 the realised rate").wait_for()
    keep_picture(picture(page), "false-alarms-smallest-alpha")


def test_large_samples_are_precomputed(page, keep_picture):
    press(page, "n points", "End")
    status(page, "n = 5000 is precomputed")
    press(page, "α (level)", "End")
    page.get_by_text("At α = 0.5 the realised rate").wait_for()
    keep_picture(picture(page), "false-alarms-large")


def test_a_mistake_is_answered_in_words(page, keep_picture):
    press(page, "n points", "Home")
    press(page, "k neighbours", "End")
    status(page, "neighbours are too many")
    keep_picture(picture(page), "false-alarms-mistake")
    press(page, "k neighbours", "Home")
    status(page, DONE)
    assert page.locator(".widget-html-content", has_text="\u26a0").count() == 0


def test_a_reload_shows_the_lab_as_it_was_left(page):
    page.keyboard.press("Control+s")
    page.wait_for_timeout(1500)
    before, words = histogram(page), table(page)
    page.reload()
    page.locator("#jupyterlab-splash").wait_for(state="detached")
    page.locator(REALISED).first.wait_for()
    assert (histogram(page), table(page)) == (before, words)
    press(page, "α (level)", "ArrowLeft")
    page.get_by_text("At α = 0.3 the realised rate").wait_for()  # and it is alive
    assert page.foreign == []
