"""Theorem 3, printed and corrected: how much mass may lie below the m-th smallest score.

The class F = {f} of one function, the density itself, decides: its covering number is 1, so k = 0, and
gamma may be smaller than any gap of the sample. If f(X) has no atoms, ``P{f < f^(m)} = p(x_(m))`` is the
m-th of n sorted uniforms, Beta(m, n + 1 - m), with deviation sqrt(m (n - m) / n^3): for m of the order of n
that is n^(-1/2), and the printed allowance is of the order of log(n)/n.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import stats

from .. import bounds
from ..bounds.checks import check_count
from .claim import Claim, seed_of
from .statistics import LEVEL, proportion_interval

DELTA = 0.05


def refute_theorem3(
    ns=(1000, 10_000, 100_000, 1_000_000), share=0.5, *, delta=DELTA, repetitions=200, random_state=0
):
    """How often the printed Theorem 3 fails for F = {identity} and P uniform on [0, 1]: simulated and exact.

    Parameters
    ----------
    ns : sequence of int
        Sample sizes.
    share : float, default 0.5
        m/n, in (0, 1]; m is rounded, and 1 at least.
    delta : float, default 0.05
        The theorem promises failures in no more than this share of samples.
    repetitions : int, default 200
        Samples drawn at each n. The default takes some four seconds, nearly all at n = 10^6.
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        A row for each n: ``m``; ``allowed``, the printed bound; ``exact``, the probability that
        Beta(m, n + 1 - m) exceeds it; ``simulated`` and its Monte Carlo standard error ``error``.

    Raises
    ------
    ValueError
        If a size or the repetitions are not whole numbers of at least 1, or share or delta out of range.

    Examples
    --------
    >>> float(refute_theorem3([10_000], repetitions=20).loc[10_000, "exact"].round(3))
    0.244
    """
    import pandas as pd

    if not 0 < share <= 1:
        raise ValueError(f"share must be m/n, above 0 and at most 1, got {share!r}: 0.5, for instance.")
    check_count("repetitions", repetitions)
    rng = np.random.default_rng(seed_of(random_state))
    rows = []
    for n in ns:
        m = max(1, round(share * check_count("n", n)))
        allowed = bounds.theorem3_printed(m, n, 0.0, delta)
        exact = stats.beta(m, n + 1 - m).sf(allowed)
        # P{x < x^(m)} = x^(m): the sample's m-th smallest value is itself the false-alarm rate.
        fails = [np.partition(rng.random(n), m - 1)[m - 1] > allowed for _ in range(repetitions)]
        error = np.sqrt(exact * (1 - exact) / repetitions)
        rows.append((n, m, float(allowed), exact, float(np.mean(fails)), error))
    columns = ["n", "m", "allowed", "exact", "simulated", "error"]
    return pd.DataFrame(rows, columns=columns).set_index("n")


@lru_cache(maxsize=32)
def _limits(n, theorem):
    """Return the limits of one version of the theorem at m = 1, ..., n, with N = 1."""
    m = np.arange(1, n + 1)
    if theorem == "printed":
        return bounds.theorem3_printed(m, n, 0.0, DELTA)
    if theorem == "corrected":
        return bounds.theorem3_corrected(m, n, 0.0, DELTA)
    return bounds.upper_limits(n, DELTA, "clopper_pearson")


class _Theorem3(Claim):
    location = "Sec. 5.2, Theorem 3"
    assumes = "no flat regions: f(X) without atoms. Nothing else"
    ns = (1000, 10_000)
    repetitions = 300
    fewest = 20
    sizes = 1

    def _measure(self, density, n, rng, broken):
        rates = np.sort(density.p_value(density.sample(n, rng)))
        excess = rates - self._limits(n, broken)
        worst = int(np.argmax(excess))
        return {
            "fails": bool(excess[worst] > 0),
            "m_worst": worst + 1,
            "rate_worst": float(rates[worst]),
            "limit_worst": float(rates[worst] - excess[worst]),
        }

    def _judge(self, frame, density, broken):
        counts = frame.groupby("n")["fails"].agg(["sum", "size"])
        level = 1 - (1 - LEVEL) / len(counts)
        shares = {n: proportion_interval(row["sum"], row["size"], level) for n, row in counts.iterrows()}
        refuted = any(share.low > DELTA for share in shares.values())
        holds = all(share.high <= DELTA for share in shares.values())
        words = ", ".join(f"{share} of samples at n = {n}" for n, share in shares.items())
        return (
            "refuted" if refuted else "holds" if holds else "undecided",
            f"The bound failed for {self._which(broken)} in {words}; it promises at most {DELTA}.",
            [(f"share of failures, n = {n}", share, DELTA) for n, share in shares.items()],
        )

    def _which(self, broken):
        return "some m"


class Theorem3Printed(_Theorem3):
    """The printed bound, which shrinks faster than order statistics can."""

    name = "theorem_3_printed"
    statement = (
        "with probability 1 - delta, P{g < g^(m) - 2 gamma} <= (m-1)/n + (2/n)(k + log2(n/delta)) for all g "
        "in F and all m (as printed; here F = {f}, k = 0, delta = 0.05)"
    )
    refuted_if = "the lower confidence limit of the share of samples in which some m fails lay above delta"
    broken_by = "m = 1 alone, for which the bound is true"
    expected = "refuted"

    def _limits(self, n, broken):
        limits = _limits(n, "printed")
        return np.where(np.arange(n) == 0, limits, np.inf) if broken else limits

    def _which(self, broken):
        return "m = 1" if broken else "some m"


class Theorem3(_Theorem3):
    """The corrected bound, from the Beta law and a union over m."""

    name = "theorem_3"
    statement = (
        "with probability 1 - delta, P{g < g^(m) - 2 rho |g|} <= U(m, ln N(rho) + ln(n/delta)) for all g and "
        "m, U(m, L) the (1 - exp(-L))-quantile of Beta(m, n + 1 - m) (corrected; here N = 1, delta = 0.05)"
    )
    refuted_if = "the lower confidence limit of the share of samples in which some m fails lay above delta"
    broken_by = "no union over m: U(m, ln(1/delta)) for every m"

    def _limits(self, n, broken):
        return _limits(n, "no union over m" if broken else "corrected")
