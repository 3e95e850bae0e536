"""How many points a bound needs before it says something."""

from __future__ import annotations

import numpy as np

from .checks import check_count, check_positive, check_probability
from .learned import theorem3_corrected, theorem3_printed
from .order_statistics import clopper_pearson, dkw, order

COVERS = {"theorem3_corrected": theorem3_corrected, "theorem3_printed": theorem3_printed}
HELD_OUT = {"clopper_pearson": clopper_pearson, "dkw": dkw}

LARGEST = 10**8


def points_needed(target, *, alpha, delta, log_covering=None, radii=1, method="theorem3_corrected"):
    """Smallest number of points for which a bound on the false-alarm rate at level alpha is at most `target`.

    The threshold is the m-th smallest score, m = floor(alpha n) + 1 as :func:`order` rounds it.

    Parameters
    ----------
    target : float
        In (alpha, 1): no bound of n points falls below (m - 1) / n, which tends to alpha.
    alpha : float
        False-alarm level, in (0, 1).
    delta : float
        Probability of being wrong.
    log_covering : float, optional
        ``ln N(rho)`` in nats of a cover that does not grow with n; for the two forms of Theorem 3 only.
    radii : int, default 1
        Length of the grid that rho was chosen from, for the corrected form.
    method : {"theorem3_corrected", "theorem3_printed", "clopper_pearson", "dkw"}
        The last two are for scores that g was not trained on. The printed form is false for all m at once.

    Returns
    -------
    int, or inf if more than 10^8 points are needed

    Raises
    ------
    ValueError
        If target is not in (alpha, 1), the method is unknown, log_covering is missing where it is needed or
        given where it is not, or another argument is out of range.

    Examples
    --------
    >>> points_needed(0.1, alpha=0.05, delta=0.05, method="clopper_pearson")
    76
    """
    target, alpha = check_probability("target", target), check_probability("alpha", alpha)
    if target <= alpha:
        raise ValueError(
            f"target must be above alpha={alpha:g}, got {target:g}: the rate at level alpha tends to alpha "
            "from above. Lower alpha, or ask for more than alpha."
        )
    bound = _bound(method, log_covering, radii, check_probability("delta", delta))

    def reached(m, n):
        return bound(m, n) <= target

    # At one m the limit falls as n grows; at the last n of each m, it falls as m grows.
    def last_with(m):
        n = int(np.ceil(m / alpha))
        while order(alpha, n) > m:
            n -= 1
        return n

    most = order(alpha, LARGEST)
    m = _first(lambda m: reached(m, last_with(m)), 1, most)
    if m > most:
        return np.inf
    return _first(lambda n: reached(m, n), last_with(m - 1) + 1 if m > 1 else 1, last_with(m))


def _bound(method, log_covering, radii, delta):
    """Return the limit as a function of m and n."""
    if not isinstance(method, str) or method not in (*COVERS, *HELD_OUT):
        raise ValueError(f"method must be one of {', '.join((*COVERS, *HELD_OUT))}, got {method!r}.")
    if (log_covering is None) != (method in HELD_OUT):
        need = "needs" if method in COVERS else "has no use for"
        raise ValueError(f"{method} {need} log_covering, the logarithm of a covering number.")
    if method in HELD_OUT:
        return lambda m, n: HELD_OUT[method](m, n, delta)
    log_covering = float(check_positive("log_covering", log_covering, zero=True))
    more = {"radii": check_count("radii", radii)} if method == "theorem3_corrected" else {}
    return lambda m, n: COVERS[method](m, n, log_covering, delta, **more)


def _first(holds, low, high):
    """Smallest integer in low..high from which on `holds` is true, or high + 1; by doubling and bisection."""
    step = 1
    while low + step <= high and not holds(low + step):
        step *= 2
    low, high = low + step // 2, min(low + step, high + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
