"""All false-alarm bounds side by side: what each says, what it assumes, and whether it says anything."""

from __future__ import annotations

import numpy as np

from . import learned, order_statistics, pac_bayesian, resampling
from .checks import check_count, check_grid, check_positive, check_probability

ONE = "one m, with probability 1 - delta"
ALL = "all m at once, with probability 1 - delta"
AVERAGE = "on average over samples"

RULE = "g < g^(m)"
MARGIN = "g < g^(m) - 2 rho |g|"
CROSS = "cross-conformal p <= m / (n + 1)"

HELD_OUT = "calibration points that g was not trained on"
HALF = "g trained on the other half"
REFITS = "g trained once per fold, symmetric in its points"
KERNEL = "independent training points; kernel fixed beforehand"
COVER = KERNEL + "; points stay in the set that is covered"


def false_alarm_table(
    n,
    alpha,
    delta,
    *,
    split=False,
    folds=5,
    support_vectors=None,
    levels=3,
    scores=None,
    norm=None,
    rho=None,
    log_covering=None,
):
    """Every bound on the false-alarm rate at level alpha that the arguments allow.

    Parameters
    ----------
    n : int
        Number of nominal points that a bound may use, at least 2: as calibration points for the held-out
        bounds, in all for those that train on them too.
    alpha : float
        False-alarm level asked for.
    delta : float
        Probability of being wrong.
    split : bool, default False
        Which p-value alpha refers to: False for ``#{g(x_i) <= g} / n``, True for the split one; see
        :func:`order`.
    folds : int, default 5
        K of CV+.
    support_vectors, levels : int
        For the compression bound; see :func:`sample_compression`. `levels` is 3 by default.
    scores : array of shape (n,), optional
        Training scores, for the bounds on the rule without margin; needs `norm`.
    norm : float, optional
        ``|g|``.
    rho : float or array of shape (J,), optional
        Grid of margins, fixed beforehand, for the bounds with margin. Rademacher's and the corrected
        Theorem 3 pay for its length, so that all its rows hold together.
    log_covering : float or array of shape (J,), optional
        ``ln N(rho)`` of the unit ball in nats, one for each rho; needs `rho`.

    Returns
    -------
    pandas.DataFrame
        Indexed by the bound's name, with columns

        - ``false_alarm``, the upper limit;
        - ``m`` and ``points``, the threshold's order statistic and the number of scores it is one of;
        - ``rho``, NaN where there is no margin;
        - ``region`` that is bounded, ``holds`` (for one m, all m, or on average), and ``assumes``;
        - ``proved``, False for Theorem 3 as printed at m > 1;
        - ``vacuous``, True if the limit is no smaller than ``(1 - delta)^(1/n)``, the limit for the largest
          of n held-out scores as threshold, which holds whatever alpha is; so also if it is 1 or more.

    Raises
    ------
    ValueError
        If no alarm is possible at this alpha, arguments that belong together are not given together, or
        one is out of range.

    Examples
    --------
    >>> from workbench import bounds
    >>> table = bounds.false_alarm_table(1000, 0.05, 0.05)
    >>> table.loc[["Clopper-Pearson", "ELL"], "false_alarm"].round(4)
    bound
    Clopper-Pearson    0.0629
    ELL                0.0744
    Name: false_alarm, dtype: float64
    """
    import pandas as pd

    n = check_count("n", n, least=2)
    m = order_statistics.order(alpha, n, split=split)
    delta = check_probability("delta", delta)
    if m == 0:
        raise ValueError(
            f"No alarm is possible at alpha={alpha:g}: the smallest split p-value of n={n} points is "
            f"1/{n + 1}. Give more points or raise alpha."
        )
    if (scores is None) != (norm is None):
        raise ValueError(
            "scores and norm must be given together: the margin of g is measured against its norm."
        )
    if scores is not None and len(scores) != n:
        raise ValueError(f"scores must be the n={n} training scores, got {len(scores)}.")
    if log_covering is not None:
        if rho is None:
            raise ValueError("log_covering needs rho, the radii at which the covering numbers were computed.")
        rho, log_covering = check_grid(rho, log_covering)

    rows = []

    def add(bound, false_alarm, holds, assumes, *, region=RULE, points=n, m=m, rho=np.nan, proved=True):
        rows.append((bound, float(false_alarm), m, points, rho, region, holds, assumes, proved))

    names = {"clopper_pearson": "Clopper-Pearson", "simes": "Simes", "ell": "ELL", "dkw": "DKW"}
    scope = {method: ONE if method == "clopper_pearson" else ALL for method in names}
    for method, name in names.items():
        add(name, order_statistics.upper_limits(n, delta, method)[m - 1], scope[method], HELD_OUT)
    half = {"points": n // 2, "m": order_statistics.order(alpha, n // 2, split=split)}
    for method, name in names.items():
        limit = resampling.half_split(alpha, n, delta, method, split=split)
        add(f"{name}, half split", limit, scope[method], HALF, **half)

    add(f"CV+, {folds} folds", resampling.cv_plus(m, n, folds), AVERAGE, REFITS, region=CROSS)
    add("jackknife+", resampling.jackknife_plus(m, n), AVERAGE, REFITS, region=CROSS)
    limit = resampling.cv_plus_conditional(m, n, folds, delta)
    add(f"CV+, {folds} folds, given the sample", limit, ALL, REFITS, region=CROSS)

    if support_vectors is not None:
        limit = learned.sample_compression(m, n, support_vectors, delta, levels=levels)
        add("compression", limit, ALL, KERNEL + "; C and anchor too")
    if scores is not None:
        add("PAC-Bayes", pac_bayesian.pac_bayes(scores, m, norm, delta), ALL, KERNEL)
        if log_covering is not None:
            limit = learned.theorem3_rule(scores, m, norm, rho, log_covering, delta)
            add("Theorem 3 corrected, no margin", limit, ALL, COVER)
    if rho is not None:
        rho = np.atleast_1d(check_positive("rho", rho))
        covers = [None] * len(rho) if log_covering is None else log_covering
        for r, cover in zip(rho, covers, strict=True):
            margin = {"region": MARGIN, "rho": r}
            add("PAC-Bayes, margin", pac_bayesian.pac_bayes_margin(m, n, r, delta), ALL, KERNEL, **margin)
            add("Rademacher", learned.rademacher(m, n, r, delta / len(rho)), ALL, KERNEL, **margin)
            if cover is not None:
                limit = learned.theorem3_corrected(m, n, cover, delta, radii=len(rho))
                add("Theorem 3 corrected", limit, ALL, COVER, **margin)
                limit = learned.theorem3_printed(m, n, cover, delta)
                add("Theorem 3 as printed", limit, ALL, "false for all m at once", proved=m == 1, **margin)

    columns = ["bound", "false_alarm", "m", "points", "rho", "region", "holds", "assumes", "proved"]
    table = pd.DataFrame(rows, columns=columns).set_index("bound")
    table["vacuous"] = table["false_alarm"] >= (1 - delta) ** (1 / n)
    return table
