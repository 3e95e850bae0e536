"""What every detector asks of the points that it is given."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

MOST_ROWS = 10_000_000
"""That weights may ask for."""

LARGEST = 2.0**1000
"""Of points to fit. Distances between larger ones, or sums of them, overflow."""


def check_points(estimator, X, *, reset, keep_float32=False):
    """Return X as a finite float array, or raise a ValueError that says what is wrong and where.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Remembers the number and names of the features with ``reset=True``; they are compared otherwise.
    X : array or data frame of shape (n, d)
    reset : bool
        True in ``fit``, which needs two points at least.
    keep_float32 : bool, default False
        Whether float32 stays what it is; all else becomes float64.

    Returns
    -------
    array of shape (n, d)

    Raises
    ------
    ValueError
        For text, missing, infinite or huge values, too few points, or other features than in ``fit``.
    TypeError
        For what is no table of numbers at all.
    """
    try:
        X = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, np.float32] if keep_float32 else np.float64,
            ensure_all_finite=False,
            ensure_min_samples=1 + reset,
        )
    except (ValueError, TypeError, OverflowError) as error:
        text = str(error)
        if "Complex data not supported" in text:
            raise ValueError(
                f"Complex data not supported: X must hold real numbers, got {np.asarray(X).dtype}. Real and "
                "imaginary parts may be columns of their own."
            ) from None
        if isinstance(error, ValueError) and "could not convert string" not in text:
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"X must hold numbers only, but {text}. Encode or drop columns of text.") from None
    bad = ~np.isfinite(X)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        name = getattr(estimator, "feature_names_in_", range(X.shape[1]))[column]
        raise ValueError(
            f"X contains {bad.sum()} missing or infinite values (NaN or inf), the first, "
            f"{X[row, column]}, in row {row} of column {name!r}. Drop these rows or fill them in, for "
            "example with sklearn.impute.SimpleImputer."
        )
    if reset and (largest := np.abs(X).max()) > LARGEST:
        raise ValueError(
            f"X holds values up to {largest:.3g}, and distances of points beyond {LARGEST:.3g} overflow. "
            "Rescale the features."
        )
    return X


def repeat_rows(X, sample_weight):
    """Return X with each row as many times as its weight says, in the order of X.

    Parameters
    ----------
    X : array of shape (n, d)
    sample_weight : array of shape (n,) or None
        Whole numbers, 0 or more, two at least in all; None for one of each.

    Returns
    -------
    array of shape (sum of the weights, d)

    Raises
    ------
    ValueError
        If the weights are none of these.
    """
    if sample_weight is None:
        return X
    weight = np.asarray(sample_weight)
    if weight.shape != (len(X),):
        raise ValueError(
            f"sample_weight must have a number for each of the {len(X)} rows of X, got shape {weight.shape}."
        )
    with np.errstate(invalid="ignore"):  # of what no whole number is, which is refused
        counts = weight.astype(int) if weight.dtype.kind in "buif" and np.isfinite(weight).all() else -1
    wrong = np.flatnonzero((counts != weight) | (counts < 0))
    if len(wrong):
        raise ValueError(
            "sample_weight says how often each row is there, in whole numbers, but that of row "
            f"{wrong[0]} is {weight[wrong[0]]!r}. Scale and round the weights: what is learned depends on "
            "their sum as it does on the number of points."
        )
    if weight.sum(dtype=float) > MOST_ROWS:
        raise ValueError(
            f"The sum of sample_weight is {weight.sum(dtype=float):.3g}, and rows are repeated as often as "
            f"their weights say: {MOST_ROWS:,} at most. Scale the weights down."
        )
    if counts.sum() < 2:
        raise ValueError(
            f"The sum of sample_weight is {counts.sum()}, all other rows having weight zero: give 2 or more."
        )
    return np.repeat(X, counts, axis=0)


def random_generator(random_state):
    """Return the RandomState that `random_state` stands for, or raise a ValueError that names it."""
    try:
        return check_random_state(random_state)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(
            "random_state must be a whole number from 0 to 2**32 - 1, a numpy.random.RandomState or None, "
            f"got {random_state!r}."
        ) from None
