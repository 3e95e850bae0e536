"""`workbench dashboard` in a real browser."""

import re
import sys
import urllib.request
from pathlib import Path

import pytest
from explorer_page import curve, lines, press, wait_for_exact, wait_until_changed

from workbench.benchmarks.browser import browser_page, serving


@pytest.fixture(scope="module")
def served():
    """The dashboard's address, and the one with a token that the command prints."""
    workbench = Path(sys.executable).with_name("workbench")

    def command(port):
        return [str(workbench), "dashboard", f"--port={port}"]

    with serving(command, "/voila/static/require.min.js") as (address, log):
        yield address, re.search(r"Open (\S+)", log.read_text())[1]


def test_without_the_token_nothing_is_shown(served):
    for query in ("", "?token=guess"):
        with urllib.request.urlopen(f"{served[0]}/{query}") as answer:
            assert "login" in answer.url
            assert b"rankad" not in answer.read().lower()


def test_the_explorer_works_without_code(served, keep_picture):
    address, printed = served
    with browser_page(address) as page:
        page.goto(printed)
        page.locator(".js-plotly-plot .scatterlayer").first.wait_for()
        wait_for_exact(page)
        assert page.get_by_text("import Explorer").count() == 0
        before, path = lines(page), curve(page)
        press(page, "σ / D_K")
        wait_until_changed(page, before)
        wait_for_exact(page)
        assert curve(page) != path
        keep_picture(page, "dashboard")
        assert page.foreign == []
