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
    "RankADCV": RankADCV,
    PRINTED: partial(RankADCV, anchor=False, criterion="disagreement"),
}
"""RankAD with its default; the anchor alone; the levels alone; with sigma and C selected; and the paper's."""

OTHERS = {
    "aK-LPE, k=5": partial(AKLPE, k=5),
    "LOF": lambda random_state: Adapted(LocalOutlierFactor(n_neighbors=20, novelty=True)),
}
"""Not in the paper: a smaller k, and a detector of scikit-learn's that users would try first."""

CONTENDERS = OURS | SYSTEMS | OTHERS
"""Name -> factory that takes `random_state`."""

COUNTERPART = {"RankAD": PRINTED}
"""The column of the paper's Table 3 -> which of the contenders it is, where the name differs."""
