"""The systems of Table 3, ours and the paper's, by name."""

from __future__ import annotations

from functools import partial

from sklearn.neighbors import LocalOutlierFactor

from ..baselines import AKLPE, SYSTEMS, Adapted
from ..detector import RankAD
from ..selection import RankADCV

PRINTED = "RankAD as printed"
DEFAULT = "RankAD"

OURS = {
    DEFAULT: RankAD,
    "RankAD, one level": partial(RankAD, m=1),
    "RankAD, no anchor": partial(RankAD, anchor=False),
}
"""RankAD with its default, the anchor alone, and the levels alone."""

SELECTED = {
    PRINTED: partial(RankADCV, anchor=False, criterion="disagreement"),
    "RankADCV": RankADCV,
}
"""With sigma and C selected: by the paper's rule, and by ours."""

OTHERS = {
    "aK-LPE, k=5": partial(AKLPE, k=5),
    "LOF": lambda random_state: Adapted(LocalOutlierFactor(n_neighbors=20, novelty=True)),
}
"""Not in the paper: a smaller k, and a detector of scikit-learn's that users would try first."""

CONTENDERS = OURS | SYSTEMS | OTHERS | SELECTED
"""Name -> factory that takes `random_state`; those that take longest come last."""

COUNTERPART = {"RankAD": PRINTED}
"""The column of the paper's Table 3 -> which of the contenders it is, where the name differs."""
