"""Lessons as pages to read: every notebook run, with its pictures, and no network needed."""

from __future__ import annotations

import re
import shutil
import time
from asyncio import CancelledError
from html import escape
from importlib.resources import files
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from ..files import replacing
from ..plots import SCRIPT, script
from .course import LESSONS

ERRATA = "ERRATA.md"
MATHJAX = "mathjax"

BEFORE = (
    "from IPython import get_ipython\n\nfrom workbench.lessons.statics import show_statically\n\n"
    "show_statically(get_ipython())"
)
FONTS = """<script type="text/x-mathjax-config">MathJax.Hub.Config({"HTML-CSS":
{availableFonts: [], preferredFont: null, imageFont: null, webFont: "STIX-Web"}});</script>"""
"""The fonts that come with MathJax here."""

# A progress bar needs a kernel. Without one it would stand at 0%.
WIDGET = "application/vnd.jupyter.widget-view+json"

# It warns of running over TCP at each start.
QUIET = "--IPKernelApp.log_level=ERROR"

AFTER = "import resource\n\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"


def render(notebooks, out, lessons=LESSONS, *, timeout=600, report=print):
    """Run lessons and write each as a page; their list, with the time and memory each took, as the index.

    Parameters
    ----------
    notebooks : str or path
        The folder they are in.
    out : str or path
        Folder for the pages; made if it is not there.
    lessons : sequence of Lesson
    timeout : float
        Seconds that a cell may take.
    report : callable
        Told of each page that is written.

    Returns
    -------
    list of dict
        ``lesson``, ``seconds`` and ``megabytes`` (peak memory of its kernel) of each.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell fails; pages written before stay.
    OSError
        If the folder cannot be written.
    """
    notebooks, out = Path(notebooks), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    _write(out / SCRIPT, script())
    shutil.copytree(files("jupyter_server_mathjax") / "static", out / MATHJAX, dirs_exist_ok=True)
    pages = {lesson.notebook for lesson in lessons}
    records = []
    for lesson in lessons:
        notebook, seconds, megabytes = run(notebooks / f"{lesson.notebook}.ipynb", timeout)
        _write(out / f"{lesson.notebook}.html", page(notebook, pages, lesson.title))
        records.append({"lesson": lesson, "seconds": seconds, "megabytes": megabytes})
        report(f"{lesson.notebook}: {seconds:.0f} s, {megabytes:.0f} MB")
    errata = nbformat.v4.new_notebook(cells=[_markdown((notebooks / ERRATA).read_text("utf-8"))])
    _write(out / "ERRATA.html", page(errata, pages, "Errata"))
    index = nbformat.v4.new_notebook(cells=[_markdown(contents(records))])
    _write(out / "index.html", page(index, pages, "RankAD: the lessons"))
    return records


def run(path, timeout=600):
    """Run a notebook for display without a kernel.

    Parameters
    ----------
    path : str or path
    timeout : float
        Seconds that a cell may take.

    Returns
    -------
    notebook : NotebookNode
        With outputs.
    seconds : float
    megabytes : float
        Peak memory of the kernel.
    """
    path = Path(path)
    notebook = nbformat.read(path, as_version=4)
    new = nbformat.v4.new_code_cell
    notebook.cells = [new(BEFORE), *notebook.cells, new(AFTER)]
    started = time.perf_counter()
    client = NotebookClient(
        notebook,
        timeout=timeout,
        shutdown_kernel="immediate",
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=[QUIET],
    )
    try:
        client.execute()
    except (AssertionError, RuntimeError, CancelledError) as error:
        # nbclient answers Ctrl-C by ending the kernel, and stumbles where it then misses it.
        if client.km is None:
            raise KeyboardInterrupt from error
        raise
    seconds = time.perf_counter() - started
    megabytes = int(notebook.cells[-1].outputs[0]["text"]) / 1024
    notebook.cells = notebook.cells[1:-1]
    _number_from_one(notebook)
    _drop_widgets(notebook)
    return notebook, seconds, megabytes


def page(notebook, pages, title):
    """Return a notebook as HTML whose scripts lie beside it, and whose links to other lessons lead to pages.

    Parameters
    ----------
    notebook : NotebookNode
    pages : set of str
        Notebooks, without their ending, that are pages too.
    title : str
    """
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"\((\d\d_\w+)\.ipynb\)", _link(pages), cell.source)
            cell.source = cell.source.replace(f"({ERRATA})", "(ERRATA.html)")
    exporter = HTMLExporter(
        mathjax_url=f"{MATHJAX}/MathJax.js?config=TeX-AMS-MML_HTMLorMML-full,Safe",
        require_js_url="",
        jquery_url="",
        template_name="lab",
    )
    html, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title}})
    # Diagrams, which no lesson has, would be drawn by a script from elsewhere.
    html = re.sub(r'<script type="module">.*?</script>', "", html, flags=re.DOTALL)
    return html.replace("<head>", f'<head><script src="{SCRIPT}"></script>{FONTS}', 1)


def contents(records):
    """Return the list of lessons in Markdown, with what each asked for when it was run.

    Parameters
    ----------
    records : list of dict
        As :func:`render` returns them.
    """
    lines = [
        "# RankAD: the lessons",
        "",
        "| | question | minutes | computing | memory |",
        "| --- | --- | --: | --: | --: |",
    ]
    lines += [
        f"| [{each['lesson'].number}. {each['lesson'].title}]({each['lesson'].notebook}.ipynb) "
        f"| {escape(each['lesson'].question)} | {each['lesson'].minutes} | {each['seconds']:.0f} s "
        f"| {each['megabytes']:.0f} MB |"
        for each in records
    ]
    return "\n".join([*lines, "", f"What is wrong in print: [errata]({ERRATA})."])


def _link(pages):
    return lambda match: f"({match[1]}.html)" if match[1] in pages else match[0]


def _number_from_one(notebook):
    """Count the cells from 1, the one before them left out."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.execution_count:
            cell.execution_count -= 1
            for output in cell.outputs:
                if "execution_count" in output:
                    output["execution_count"] = cell.execution_count


def _drop_widgets(notebook):
    """Leave out what only a kernel can draw."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [each for each in cell.outputs if WIDGET not in each.get("data", {})]
    notebook.metadata.pop("widgets", None)


def _markdown(text):
    return nbformat.v4.new_markdown_cell(text)


def _write(path, text):
    with replacing(path) as file:
        file.write(text.encode())
