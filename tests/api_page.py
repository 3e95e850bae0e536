"""The list of public names, made anew from the docstrings: `python tests/api_page.py > notebooks/API.md`."""

import inspect
import re
from importlib import import_module

import workbench

HEAD = """# Public names

What is not listed here, or begins with an underscore, may change at any time. `help(name)` tells the
rest: parameters with shapes and units, what is raised, and the equation or the reference.
"""


def public_names(module):
    """Names that a module offers: its ``__all__``, or what it defines itself without an underscore."""
    if hasattr(module, "__all__"):
        return sorted(name for name in module.__all__ if not inspect.ismodule(getattr(module, name)))
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isroutine(value))
        and value.__module__ == module.__name__
    ]


def summary(value):
    """The first paragraph of a docstring, in Markdown."""
    first = re.sub(r"\s+", " ", inspect.getdoc(value).split("\n\n")[0])
    return re.sub(r":\w+:`~?\.?([\w.]+)`", r"`\1`", first).replace("``", "`")


def line(module, name):
    """Name, arguments and the first sentence of what is said of it, as a list item."""
    value = getattr(module, name)
    if not callable(value):
        return f"- `{name}`"
    call = "" if inspect.isclass(value) else f"({', '.join(inspect.signature(value).parameters)})"
    return f"- `{name}{call}`: {summary(value)}"


def page():
    """Return the page as Markdown."""
    own = [name for name in workbench.__all__ if name not in workbench._ROOMS]
    parts = [HEAD, "## workbench", "", *(line(workbench, name) for name in own)]
    for room in sorted(workbench._ROOMS):
        module = import_module(f"workbench.{room}")
        parts += ["", f"## workbench.{room}", "", summary(module), ""]
        parts += [line(module, name) for name in public_names(module)]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    print(page(), end="")
