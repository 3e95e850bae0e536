"""The systems that the paper compares with, each with the interface of RankAD.

``fit(X)`` on nominal points, then ``score_samples`` (large where nominal), ``p_value`` (small for anomalies),
``predict(X, alpha=...)`` at any false-alarm level, and ``decision_function``.
"""

from .._lazy import lazily

# Where each public name lives. Loaded on first use: scipy and scikit-learn take a while.
_HOMES = {
    "AKLPE": ".lpe",
    "Adapted": ".adapted",
    "BPKNNG": ".bp_knng",
    "Detector": ".base",
    "GEM": ".gem",
    "IsolationForest": ".isolation_forest",
    "KDEMinimumVolume": ".kde",
    "KLPE": ".lpe",
    "LSHOutlier": ".lsh_outlier",
    "MassAD": ".mass",
    "ORCA": ".orca",
    "OneClassSVM": ".one_class_svm",
    "SYSTEMS": ".systems",
    "top_outliers": ".orca",
}

__getattr__, __dir__, __all__ = lazily(__name__, _HOMES)
