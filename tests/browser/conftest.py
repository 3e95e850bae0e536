import os
import shutil
from pathlib import Path

import pytest

from workbench.benchmarks.browser import browser_page, chromium, lab, open_notebook

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def pytest_collection_modifyitems(items):
    """Skip in words without a browser, except where that would hide a failure."""
    if chromium() is None and "CI" not in os.environ:
        for item in items:
            if item.path.parent == Path(__file__).parent:
                item.add_marker(pytest.mark.skip(reason="Chromium is not installed on this machine."))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The start notebook in JupyterLab after Run All."""
    root = tmp_path_factory.mktemp("notebooks")
    shutil.copytree(NOTEBOOKS, root, dirs_exist_ok=True)
    with lab(root) as address, browser_page(address, height=1500) as page:
        open_notebook(page, address, "00_start_here.ipynb")
        page.locator(".js-plotly-plot .scatterlayer").first.wait_for()
        page.locator(".js-plotly-plot .scatterlayer").last.wait_for()
        yield page


@pytest.fixture
def keep_picture():
    """Keep a screenshot of a page or an element where WORKBENCH_SCREENSHOTS names a folder."""

    def keep(target, name):
        if folder := os.environ.get("WORKBENCH_SCREENSHOTS"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            target.screenshot(path=Path(folder) / f"{name}.png")

    return keep
