"""RankAD Workbench: see, teach and trust level-set anomaly detection."""

from ._lazy import lazily

# Where each public name lives. Loaded on first use: `import workbench` stays quick.
_HOMES = {
    "RankAD": ".detector",
    "RankADCV": ".selection",
    "RankSVMSolution": ".ranksvm",
    "load": ".persistence",
    "load_dataset": ".datasets",
    "save": ".persistence",
    "score_chunks": ".chunks",
    "to_onnx": ".export",
}
_ROOMS = (
    "adapters",
    "baselines",
    "bounds",
    "criteria",
    "datasets",
    "densities",
    "expansions",
    "explanations",
    "explorer",
    "export",
    "kernels",
    "labs",
    "lessons",
    "levelsets",
)
_ROOMS += (
    "neighbors",
    "persistence",
    "plots",
    "preferences",
    "projection",
    "pvalues",
    "ranksvm",
    "scoring_files",
    "theorems",
)

__getattr__, __dir__, __all__ = lazily(__name__, _HOMES, _ROOMS)
