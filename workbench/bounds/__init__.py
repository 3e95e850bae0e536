"""How often does a nominal point raise an alarm? Bounds on the false-alarm rate, each with what it assumes.

Throughout, g is large where nominal, ``g^(1) <= ... <= g^(n)`` are the sorted scores of n nominal points,
m is the 1-based order statistic that serves as threshold, and the alarm region is ``{g < g^(m)}``.
"""

from .._lazy import lazily

# Where each public name lives. Loaded on first use: some of these homes import scipy or pandas.
_HOMES = {
    "beta_law": ".order_statistics",
    "clopper_pearson": ".order_statistics",
    "covering_table": ".covering",
    "cv_plus": ".resampling",
    "cv_plus_conditional": ".resampling",
    "dkw": ".order_statistics",
    "ell": ".order_statistics",
    "ell_level": ".order_statistics",
    "exceedance_probability": ".crossing",
    "false_alarm_table": ".false_alarm",
    "half_split": ".resampling",
    "jackknife_plus": ".resampling",
    "largest_order": ".order_statistics",
    "log_covering": ".covering",
    "log_covering_lower": ".covering",
    "order": ".order_statistics",
    "pac_bayes": ".pac_bayesian",
    "pac_bayes_margin": ".pac_bayesian",
    "points_needed": ".needed",
    "rademacher": ".learned",
    "sample_compression": ".learned",
    "simes": ".order_statistics",
    "theorem3_corrected": ".learned",
    "theorem3_printed": ".learned",
    "theorem3_rule": ".learned",
    "upper_limits": ".order_statistics",
}

__getattr__, __dir__, __all__ = lazily(__name__, _HOMES)
