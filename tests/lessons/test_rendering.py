import re
from types import SimpleNamespace

import nbformat
import pytest
from click.testing import CliRunner
from nbclient.exceptions import CellExecutionError

from workbench.cli import main
from workbench.lessons import LESSONS, level_sets
from workbench.lessons.rendering import contents, page, render
from workbench.lessons.statics import as_html
from workbench.plots import SCRIPT

LESSON = SimpleNamespace(notebook="01_short", number=1, title="Short", question="Is 1 < 2?", minutes=1)

SOURCE = """import plotly.graph_objects as go
from workbench.lessons.level_sets import water_line

BAR = " ".join(["still", "at", "0%"])
display({"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": BAR}, raw=True)
display(go.Figure(go.Scatter(x=[1, 2], y=[3, 4], name="a line")))
water_line()"""


@pytest.fixture
def notebooks(tmp_path):
    text = "Formula $x^2$. [On](02_other.ipynb), [again](01_short.ipynb), [errata](ERRATA.md)."
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell(SOURCE)]
    )
    nbformat.write(notebook, tmp_path / "01_short.ipynb")
    (tmp_path / "ERRATA.md").write_text("# Errata\n\nNone.")
    return tmp_path


def test_pages_have_pictures_and_formulas_and_nothing_from_elsewhere(notebooks):
    out = notebooks / "pages"
    (record,) = render(notebooks, out, [LESSON], report=lambda _: None)
    assert record["seconds"] > 0
    assert 50 < record["megabytes"] < 5000
    html = (out / "01_short.html").read_text()
    assert html.count("Plotly.newPlot(") == 2
    assert "In JupyterLab this figure has controls." in html
    assert "still at 0%" not in html
    assert re.findall(r"In (?:&nbsp;)?\[(\d+)\]", html.replace("\xa0", " ")) == ["1"]
    assert "show_statically" not in html
    for source in re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"', html):
        assert not source.startswith(("http", "//")), source
        assert (out / source.partition("?")[0]).exists(), source
    assert 'href="01_short.html"' in html
    assert 'href="ERRATA.html"' in html
    assert 'href="02_other.ipynb"' in html
    for name in (SCRIPT, "ERRATA.html", "index.html", "mathjax/MathJax.js"):
        assert (out / name).exists()
    assert "Is 1 &lt; 2?" in (out / "index.html").read_text()


def test_a_lesson_that_fails_stops_the_work_and_says_where(notebooks):
    bad = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    nbformat.write(bad, notebooks / "01_short.ipynb")
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        render(notebooks, notebooks / "pages", [LESSON], report=lambda _: None)
    assert not (notebooks / "pages" / "01_short.html").exists()


def test_a_scene_stands_still_with_its_words():
    scene = level_sets.water_line()
    html = as_html(scene)
    assert "Plotly.newPlot(" in html
    assert "minimum-volume set has length 5.88" in html


def test_contents_say_what_each_lesson_took():
    text = contents([{"lesson": lesson, "seconds": 12.3, "megabytes": 456.7} for lesson in LESSONS])
    assert text.count("| 12 s | 457 MB |") == len(LESSONS)


def test_titles_reach_the_page():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("Hello")])
    assert "<title>A title</title>" in page(notebook, set(), "A title")


def test_a_folder_that_cannot_be_made_is_told_in_words(tmp_path):
    (tmp_path / "file").write_text("")
    outcome = CliRunner().invoke(main, ["lessons", "1", "--render", str(tmp_path / "file")])
    assert outcome.exit_code == 1
    assert outcome.output.startswith("Error:")
