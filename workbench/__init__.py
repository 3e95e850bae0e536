"""RankAD Workbench: see, teach and trust level-set anomaly detection."""

from importlib import import_module

# Where each public name lives. Loaded on first use: `import workbench` stays quick.
_HOMES = {
    "RankAD": ".detector",
    "RankADCV": ".selection",
    "RankSVMSolution": ".ranksvm",
    "load_dataset": ".datasets",
}
_ROOMS = ("baselines", "bounds", "datasets", "densities", "explorer", "kernels", "labs", "levelsets")
_ROOMS += ("neighbors", "plots", "preferences", "pvalues", "ranksvm", "theorems")

__all__ = sorted([*_HOMES, *_ROOMS])


def __getattr__(name):
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        return getattr(import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__
