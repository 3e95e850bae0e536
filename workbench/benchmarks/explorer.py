"""Milliseconds from a key press to a changed picture: the explorer in JupyterLab in a real browser."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd

from .browser import browser_page, chromium, lab, open_notebook

CELL = "from workbench.explorer import Explorer\n\nexplorer = Explorer(n={n})\nexplorer"

# In the page: press the right arrow on a slider some times, and wait until what is watched has changed.
WATCH = """
async ({presses, gap, exact}) => {
    const curve = () => [...document.querySelectorAll('.js-plotly-plot')][0]
        .querySelectorAll('.scatterlayer path.js-line');
    const picture = () => [...curve()].map(path => path.getAttribute('d')).join();
    const words = () => [...document.querySelectorAll('.widget-html-content')].map(e => e.innerText).join();
    const status = () => [...document.querySelectorAll('.widget-html-content')].map(e => e.innerText)
        .find(text => text.includes('solved in') || text.includes('fitting'));
    const rest = ms => new Promise(done => setTimeout(done, ms));
    const frame = () => new Promise(done => requestAnimationFrame(done));
    const handle = document.activeElement;
    const press = () => handle.dispatchEvent(new KeyboardEvent('keydown', {
        key: 'ArrowRight', code: 'ArrowRight', keyCode: 39, which: 39, bubbles: true, cancelable: true}));
    for (let i = 0; i < presses - 1; i++) { press(); await rest(gap); }
    const before = {picture: picture(), words: words(), status: status()};
    const start = performance.now();
    press();
    let drawn = null, all = null;
    while (performance.now() - start < 20000) {
        await frame();
        if (drawn === null && picture() !== before.picture) drawn = performance.now() - start;
        if (all === null && drawn !== null && words() !== before.words) all = performance.now() - start;
        if (all !== null && (!exact || (status() !== before.status && status().startsWith('exact')))) break;
    }
    return {drawn, all, settled: performance.now() - start};
}
"""


def run(n=600, repetitions=7, report=print):
    """Measure in a browser that this starts, and JupyterLab with it.

    Parameters
    ----------
    n : int
        Sample size.
    repetitions : int
        Key presses, or drags of ten, of which medians are taken.
    report : callable

    Returns
    -------
    data frame with a row for each kind of move, and medians in milliseconds: until the curves have changed,
    until everything has, and until the exact answer is there

    Raises
    ------
    RuntimeError
        If there is no Chromium.
    """
    if chromium() is None:
        raise RuntimeError("No Chromium was found: install one (apt-get install chromium).")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        _write_notebook(Path(folder) / "bench.ipynb", n)
        with lab(folder) as address, browser_page(address) as page:
            open_notebook(page, address, "bench.ipynb")
            page.locator(".js-plotly-plot .scatterlayer path.js-line").first.wait_for()
            page.wait_for_timeout(2000)
            moves = (
                ("alpha, one press", "\u03b1 (level)", 1, False),
                ("sigma, one press", "\u03c3 / D_K", 1, True),
                ("sigma, ten presses 50 ms apart", "\u03c3 / D_K", 10, True),
            )
            for name, description, presses, refits in moves:
                times = [_measure(page, description, presses, refits) for _ in range(repetitions)]
                rows.append((name, *np.median([list(each.values()) for each in times], axis=0)))
                report("{:32} curves {:4.0f} ms, everything {:4.0f} ms, exact {:4.0f} ms".format(*rows[-1]))
    return pd.DataFrame(rows, columns=["move", "curves", "everything", "exact"]).round()


def save(frame, folder, n):
    """Write the table as JSON and Markdown, and return the folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "explorer.json").write_text(json.dumps({"n": n, "rows": frame.to_dict("records")}, indent=1))
    lines = ["| move | curves, ms | everything, ms | exact, ms |", "| :-- | --: | --: | --: |"]
    lines += [
        f"| {row.move} | {row.curves:.0f} | {row.everything:.0f} | {row.exact:.0f} |"
        for row in frame.itertuples()
    ]
    (folder / "explorer.md").write_text("\n".join(lines) + "\n")
    return folder


def _measure(page, description, presses, refits):
    slider = page.locator(".widget-slider", has=page.get_by_text(description, exact=True))
    handle = slider.locator(".noUi-handle")
    handle.focus()
    if refits:
        page.get_by_role("button", name="reset", exact=True).click()
        page.wait_for_timeout(1500)
        handle.focus()
    return page.evaluate(WATCH, {"presses": presses, "gap": 50, "exact": refits})


def _write_notebook(path, n):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL.format(n=n))])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)
