"""What the bounds accept, and what they say when they do not."""

from __future__ import annotations

import numpy as np


def check_count(name, value, least=1):
    """Return `value` as an int of at least `least`, or raise a ValueError that says what is wrong."""
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not (is_integer and value >= least):
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}.")
    return int(value)


def check_probability(name, value):
    """Return `value` as a float in (0, 1), or raise a ValueError."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not (is_number and 0 < value < 1):
        raise ValueError(
            f"{name} must be a number strictly between 0 and 1, got {value!r}: 0.05, for instance."
        )
    return float(value)


def check_order(m, n):
    """Return `m` as an integer array with values in 1..n, and n as an int; or raise a ValueError."""
    n = check_count("n", n)
    orders = np.asarray(m)
    if orders.dtype.kind not in "iu" or not ((orders >= 1) & (orders <= n)).all():
        raise ValueError(
            f"m must be the 1-based place of the threshold among n={n} sorted scores, an integer from 1 to "
            f"{n}, got {m!r}. order(alpha, n) gives it for a false-alarm level."
        )
    return orders.astype(np.int64), n


def check_positive(name, value, zero=False):
    """Return `value` as an array of finite numbers above zero (or zero too), or raise a ValueError."""
    numbers = np.asarray(value)
    numeric = numbers.dtype.kind in "iuf" and numbers.size > 0
    if not (numeric and (np.isfinite(numbers) & ((numbers >= 0) if zero else (numbers > 0))).all()):
        kind = "non-negative" if zero else "positive"
        raise ValueError(f"{name} must be finite and {kind}, got {value!r}.")
    return numbers.astype(float)


def check_grid(rho, log_covering):
    """Return radii and their log covering numbers as arrays of one shape (J,), or raise a ValueError."""
    rho = np.atleast_1d(check_positive("rho", rho))
    log_covering = np.atleast_1d(check_positive("log_covering", log_covering, zero=True))
    if rho.shape != log_covering.shape or rho.ndim != 1:
        raise ValueError(
            f"rho and log_covering must be lists of one length, got shapes {rho.shape} and "
            f"{log_covering.shape}: ln N(rho_j) for each rho_j."
        )
    return rho, log_covering


def check_unit_scores(scores, norm):
    """Return the ascending scores of g / norm, or raise a ValueError.

    With k(x, x) = 1 no score exceeds the norm of g, so scores beyond it prove the norm wrong.
    """
    norm = float(check_positive("norm", norm))
    scores = np.asarray(scores, dtype=float)
    if scores.ndim != 1 or not scores.size or not np.isfinite(scores).all():
        raise ValueError(
            f"scores must be a list of finite numbers g(x_1), ..., g(x_n), got shape {scores.shape} with "
            f"{np.sum(~np.isfinite(scores))} values missing or infinite."
        )
    largest = np.abs(scores).max()
    if largest > norm * (1 + 1e-9):
        raise ValueError(
            f"norm={norm:g} cannot be the norm of g: a score of size {largest:g} needs at least "
            "that much, as k(x, x) = 1. Give sqrt(beta' K beta), or anything larger."
        )
    return np.sort(scores) / norm
