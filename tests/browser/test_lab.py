"""The start notebook in a real JupyterLab, in a real browser, with the sliders moved by keyboard."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
TOKEN = "a-token-for-this-test"

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="Chromium is not installed on this machine."
)

SETTINGS = {
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    "@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
}
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
QUIET += ["--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """JupyterLab on a free port, with nothing of the user's configuration."""
    home = tmp_path_factory.mktemp("jupyter")
    for name, value in SETTINGS.items():
        path = home / "settings" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))
    shutil.copytree(ROOT / "notebooks", home / "root")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    names = ("CONFIG", "DATA", "RUNTIME")
    environment = os.environ | {f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in names}
    environment |= {
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}", "--allow-root"]
    command += [f"--ServerApp.root_dir={home / 'root'}", "--LabApp.extension_manager=readonly"]
    log = (home / "log").open("w")
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    for _ in range(120):
        try:
            urllib.request.urlopen(f"{address}/api/status?token={TOKEN}", timeout=5)
            break
        except OSError:
            time.sleep(0.5)
    else:
        process.kill()
        pytest.fail((home / "log").read_text())
    yield address
    process.terminate()
    process.wait(20)
    log.close()


@pytest.fixture(scope="module")
def page(server):
    """The start notebook after Run All; `page.foreign` collects requests that leave the machine."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.foreign = []
        page.on(
            "request",
            lambda request: (
                page.foreign.append(request.url)
                if not request.url.startswith((server, server.replace("http", "ws"), "data:", "blob:"))
                else None
            ),
        )
        page.goto(f"{server}/lab/tree/00_start_here.ipynb?token={TOKEN}&reset")
        page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=60_000)
        page.locator(".jp-StatusBar-Widget", has_text="| Idle").first.wait_for(timeout=90_000)
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.locator("li[data-command='runmenu:run-all']").click()
        page.wait_for_function(
            """() => {
                const cells = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')];
                return cells.length && cells.every(cell => /\\[\\d+\\]/.test(cell.textContent));
            }""",
            timeout=180_000,
        )
        page.locator(".js-plotly-plot .scatterlayer").first.wait_for(timeout=60_000)
        yield page
        browser.close()


def slider(page, description):
    box = page.locator(".widget-slider", has=page.get_by_text(description, exact=True))
    return box.locator(".noUi-handle"), box.locator(".widget-readout")


def lines(page):
    """The line of figures below each panel."""
    return page.locator(".widget-html-content", has_text="relative gap").all_inner_texts()


def picture(target, name):
    """Keep a screenshot of a page or an element where WORKBENCH_SCREENSHOTS names a folder."""
    if folder := os.environ.get("WORKBENCH_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        target.screenshot(path=Path(folder) / f"{name}.png")


def wait_for_change(page, before):
    page.wait_for_function(
        """before => JSON.stringify([...document.querySelectorAll('.widget-html-content')]
            .map(e => e.innerText).filter(t => t.includes('relative gap'))) !== before""",
        arg=json.dumps(before, separators=(",", ":"), ensure_ascii=False),
        timeout=30_000,
    )


def test_the_notebook_runs_without_error_or_outside_request(page):
    page.locator(".js-plotly-plot").scroll_into_view_if_needed()
    picture(page, "start")
    picture(page.locator(".jp-OutputArea-output", has=page.locator(".js-plotly-plot")), "explorer")
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.locator(".js-plotly-plot").count() == 1
    assert len(lines(page)) == 2
    assert all("true false-alarm rate" in line for line in lines(page))
    assert page.foreign == []


def test_alpha_moves_the_curves_and_does_not_refit(page):
    handle, readout = slider(page, "α (level)")
    before, curve = lines(page), page.locator(".js-plotly-plot .scatterlayer path.js-line").last
    path = curve.get_attribute("d")
    handle.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.locator(".widget-html-content", has_text="α = 0.1").first.wait_for()
    page.wait_for_timeout(500)
    assert readout.inner_text() == "0.10"
    assert curve.get_attribute("d") != path
    fits = [[line.split("\n")[0] for line in texts] for texts in (before, lines(page))]
    assert fits[0] == fits[1]  # the same pairs, gap and fitting time: the same fit


def test_sigma_refits(page):
    before = lines(page)
    slider(page, "σ / D_K")[0].focus()
    page.keyboard.press("ArrowRight")
    wait_for_change(page, before)
    page.wait_for_timeout(1000)
    assert lines(page)[0].split("\n")[0] != before[0].split("\n")[0]
    picture(page, "sigma")


def test_a_reload_shows_the_figure_as_it_was_left(page):
    page.keyboard.press("Control+s")
    page.wait_for_timeout(1000)
    before = lines(page)
    page.reload()
    page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=60_000)
    page.locator(".js-plotly-plot .scatterlayer").first.wait_for(timeout=60_000)
    page.locator(".widget-html-content", has_text="relative gap").first.wait_for(timeout=30_000)
    assert lines(page) == before
    picture(page, "reloaded")
