"""The systems of the paper, by the names it gives them."""

from __future__ import annotations

from functools import partial

from .bp_knng import BPKNNG
from .gem import GEM
from .isolation_forest import IsolationForest
from .kde import KDEMinimumVolume
from .lpe import AKLPE, KLPE
from .lsh_outlier import LSHOutlier
from .mass import MassAD
from .one_class_svm import OneClassSVM
from .orca import ORCA

SYSTEMS = {
    "one-class svm": OneClassSVM,
    "BP-K-NNG": partial(BPKNNG, k=20),
    "aK-LPE": partial(AKLPE, k=20, resamples=20),
    "iForest": IsolationForest,
    "massAD": MassAD,
    "K-LPE": partial(KLPE, k=20),
    "GEM": partial(GEM, k=20),
    "ORCA": ORCA,
    "LSH": partial(LSHOutlier, k=20),
    "kernel LSH": partial(LSHOutlier, k=20, hashing="kernel"),
    "KDE plug-in MV set": KDEMinimumVolume,
}
"""Name in the paper -> factory; the first five are the other columns of Table 3, in its order.

A factory takes `random_state`, `alpha` and `calibration`, and any parameter of the system, as keywords.
Parameters that the paper states are set here or by default (k = 20, twenty resamplings of the aK-LPE
ranks); what it takes from elsewhere without printing it is said in each system's docstring.
"""
