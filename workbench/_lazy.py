"""Public names that are loaded on first use, so that importing a package stays quick."""

from importlib import import_module


def lazily(package, homes, rooms=()):
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package (PEP 562).

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : dict from str to str
        Public names, and the submodule that each lives in, as ".detector".
    rooms : sequence of str
        Submodules that are public themselves.
    """
    names = sorted([*homes, *rooms])

    def load(name):
        if name in rooms:
            return import_module(f".{name}", package)
        if name in homes:
            return getattr(import_module(homes[name], package), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load, lambda: names, names
