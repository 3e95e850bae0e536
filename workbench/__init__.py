"""RankAD Workbench: see, teach and trust level-set anomaly detection."""

from ._lazy import lazily

# Where each public name lives. Loaded on first use: `import workbench` stays quick.
_HOMES = {
    "RankAD": ".detector",
    "RankADCV": ".selection",
    "RankSVMSolution": ".ranksvm",
    "load_dataset": ".datasets",
}
_ROOMS = ("baselines", "bounds", "datasets", "densities", "expansions", "explorer", "kernels")
_ROOMS += (
    "labs",
    "levelsets",
    "neighbors",
    "plots",
    "preferences",
    "projection",
    "pvalues",
    "ranksvm",
    "theorems",
)

__getattr__, __dir__, __all__ = lazily(__name__, _HOMES, _ROOMS)
