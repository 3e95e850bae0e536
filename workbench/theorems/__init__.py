"""The paper's theorems as claims that a computation can refute.

Each claim computes both sides over a ladder of sizes and gives a verdict from confidence limits, with a
control whose verdict must be the other one. True statements have a control that must be refuted; statements
that are false as printed have one that must hold.

>>> from workbench import densities, theorems
>>> result = theorems.CLAIMS["theorem_3_printed"].run(densities.FIG1, ns=[10_000], repetitions=40)
>>> result.verdict
'refuted'
"""

from .beta_law import BetaLawHeldOut, BetaLawInSample
from .claim import Claim, Result
from .distances import Lemma2Law, Lemma2Rate, Lemma2Tail, Lemma2TailPrinted
from .false_alarms import Theorem3, Theorem3Printed, refute_theorem3
from .learned_order import Theorem2
from .ranks import Lemma1, Theorem1, Theorem1Printed
from .surrogates import OrderLemma, SurrogateBound, SurrogateMinimum

__all__ = ["CLAIMS", "Claim", "Result", "refute_theorem3"]

CLAIMS = {
    claim.name: claim
    for claim in (
        Theorem1(),
        Theorem1Printed(),
        Lemma1(),
        Lemma2Law(),
        Lemma2Rate(),
        Lemma2Tail(),
        Lemma2TailPrinted(),
        Theorem2(),
        SurrogateMinimum(),
        SurrogateBound(),
        OrderLemma(),
        Theorem3Printed(),
        Theorem3(),
        BetaLawHeldOut(),
        BetaLawInSample(),
    )
}
"""The claims by name, in the order of the paper's argument."""
