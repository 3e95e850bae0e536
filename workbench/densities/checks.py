"""Checks of what callers hand to a density."""

from numbers import Integral, Real

import numpy as np


def checked_points(X, d):
    """Return X as an array of shape (n, d), all finite, or raise ValueError."""
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] != d:
        raise ValueError(f"X must have shape (n, {d}), got {X.shape}: one row a point, one column a feature.")
    if not np.isfinite(X).all():
        raise ValueError(f"X must be finite, got {X[~np.isfinite(X)][0]}: drop or impute such rows.")
    return X


def checked_probability(name, value):
    """Return the value as an array, strictly between 0 and 1, or raise ValueError."""
    value = np.asarray(value, dtype=float)
    if not ((value > 0) & (value < 1)).all():
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value}: 0.05, for instance.")
    return value


def checked_size(n):
    """Return n, a whole number, at least 1, or raise ValueError."""
    if not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n must be a whole number, at least 1, got {n!r}: ask for one point or more.")
    return n


def checked_positive(name, value):
    """Return the value as a positive, finite float, or raise ValueError."""
    if not isinstance(value, Real) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a positive, finite number, got {value!r}: 1.0, for instance.")
    return float(value)


def checked_factor(name, S):
    """Return the lower Cholesky factor of S, symmetric and positive definite, or raise ValueError."""
    if not np.allclose(S, S.T, rtol=0, atol=1e-9 * np.abs(S).max()):
        raise ValueError(f"{name} must be symmetric, got {S.tolist()}: use (S + S.T) / 2.")
    try:
        return np.linalg.cholesky(S)
    except np.linalg.LinAlgError:
        smallest = np.linalg.eigvalsh(S).min()
        raise ValueError(
            f"{name} must be positive definite, got smallest eigenvalue {smallest:.3g}: drop redundant "
            "coordinates or add a little to the diagonal."
        ) from None
