"""A benchmark's two files: its numbers as JSON, and a page that says what was measured, and where."""

from __future__ import annotations

import inspect
import json
import os
import platform
from pathlib import Path


def write(module, records, body, folder):
    """Write ``<name>.json`` and ``<name>.md``, named after the module, and return the folder.

    Parameters
    ----------
    module : module
        Its docstring heads the page.
    records : list of dict
    body : str
        Markdown: findings and tables.
    folder : str or path
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    name = module.__name__.rpartition(".")[2]
    title, _, rest = inspect.cleandoc(module.__doc__).partition("\n")
    (folder / f"{name}.json").write_text(json.dumps(records, indent=1) + "\n")
    parts = [
        f"# {title.rstrip('.')}",
        rest.strip(),
        f"Made by `workbench bench {name}` on {machine()}.",
        body,
    ]
    text = "\n\n".join(part.rstrip() for part in parts if part)
    (folder / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    return folder


def machine():
    """Say what the numbers depend on: cores, how busy they were, and the system."""
    try:
        busy = f"of which {os.getloadavg()[2]:.1f} were asked for on average in the last quarter of an hour, "
    except (AttributeError, OSError):  # not on every system
        busy = ""
    return f"{os.cpu_count()} cores, {busy}{platform.system()} {platform.machine()}"
