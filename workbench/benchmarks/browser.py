"""A JupyterLab, or a dashboard, of its own in a real browser: for measuring and for testing.

Needs Playwright (the extra ``bench``) and a Chromium; nothing of the user's configuration is read or
touched, and requests that would leave the machine are recorded.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

TOKEN = "only-for-this-run"

SETTINGS = {
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    "@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
}
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
QUIET += ["--disable-background-networking", "--disable-component-update"]


def chromium():
    """Return the path of a Chromium, or None where none is installed."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def serving(command, status):
    """Run a server on a free port of this machine, with a home of its own; yield its address and its log.

    Parameters
    ----------
    command : callable
        From a port to the arguments of the server, after the Python interpreter.
    status : str
        Path that answers once the server is up.
    """
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        home = Path(folder)
        for name, value in SETTINGS.items():
            path = home / "settings" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value))
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        environment = os.environ | {
            f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")
        }
        environment |= {
            "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
            "IPYTHONDIR": str(home / "ipython"),
        }
        with (home / "log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, *command(port)], env=environment, stdout=log, stderr=subprocess.STDOUT
            )
            try:
                address = f"http://127.0.0.1:{port}"
                if not _answers(f"{address}{status}", process):
                    raise RuntimeError(f"The server did not start: {(home / 'log').read_text()[-2000:]}")
                yield address, home / "log"
            finally:
                process.terminate()
                process.wait(20)


@contextmanager
def lab(folder):
    """Serve a folder of notebooks by JupyterLab, and yield the address."""

    def command(port):
        arguments = ["-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}"]
        arguments += ["--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}", "--allow-root"]
        return [*arguments, f"--ServerApp.root_dir={folder}", "--LabApp.extension_manager=readonly"]

    with serving(command, f"/api/status?token={TOKEN}") as (address, _):
        yield address


PATIENCE = 120_000
"""Milliseconds that a page may take where nothing else is said: machines have other work."""


@contextmanager
def browser_page(address, width=1400, height=1000):
    """Yield a page of a fresh browser; ``page.foreign`` collects requests that leave the server."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=QUIET)
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(PATIENCE)
        page.foreign = []
        own = (address, address.replace("http", "ws"), "data:", "blob:")
        page.on("request", lambda request: request.url.startswith(own) or page.foreign.append(request.url))
        yield page
        browser.close()


def open_notebook(page, address, name):
    """Open a notebook in JupyterLab and run all its cells."""
    page.goto(f"{address}/lab/tree/{name}?token={TOKEN}&reset")
    page.locator("#jupyterlab-splash").wait_for(state="detached")
    page.locator(".jp-StatusBar-Widget", has_text="| Idle").first.wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator("li[data-command='runmenu:run-all']").click()
    page.wait_for_function(
        """() => {
            const cells = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')];
            return cells.length && cells.every(cell => /\\[\\d+\\]/.test(cell.textContent));
        }""",
        timeout=180_000,
    )


def _answers(url, process):
    for _ in range(120):
        if process.poll() is not None:
            return False
        try:
            urllib.request.urlopen(url, timeout=5)
        except OSError:
            time.sleep(0.5)
        else:
            return True
    return False
