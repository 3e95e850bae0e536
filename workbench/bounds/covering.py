"""Covering numbers of the unit ball of the RBF space, in sup norm on a ball.

The kernel is that of `workbench.kernels`: ``k(x, x') = exp(-|x - x'|^2 / sigma^2)``, no factor 2. N(rho) is
the least number of functions on the ball ``|x| <= radius`` in R^d such that each f with |f|_H <= 1 is within
rho of one of them everywhere; the centres need not lie in H. Only rho = gamma / B, d and radius / sigma
matter, for the ball |f|_H <= B covered to within gamma. All logarithms are natural.

Each method is a proof: the formula and the argument are in its docstring. What is searched for numerically (a
measure, a number of dimensions, a width) only selects among valid bounds, so a search that stops early costs
tightness, never truth. Floating point enters where the selected bound is evaluated: in double precision, as
sums of positive terms, but without certified rounding.
"""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from .eigenbasis import eigenbasis
from .information import information
from .lower import lower
from .random_centres import gaussian, sudakov, zhang
from .taylor import cells, taylor

ON_POINTS = {"zhang": zhang, "sudakov": sudakov, "gaussian": gaussian}
ON_BALL = {"taylor": taylor, "cells": cells, "eigenbasis": eigenbasis, "information": information}
METHODS = (*ON_POINTS, *ON_BALL)


def log_covering(rho, *, d, radius, sigma, method="eigenbasis", n=None):
    """Return an upper bound on log N(rho), in nats, for the unit ball of the RBF space.

    Parameters
    ----------
    rho : float
        Radius of the cover for the unit ball: gamma / B for the ball of radius B and margin gamma. From 1 on
        the answer is 0, as |f(x)| <= |f|_H.
    d : int
        Dimension of the data, at least 1.
    radius : float
        Radius of the ball in which the functions are compared, in the units of the data.
    sigma : float
        Bandwidth of ``exp(-|x - x'|^2 / sigma^2)``, in the units of the data.
    method : str
        On the ball:
        "information" (the tightest, :mod:`workbench.bounds.information`),
        "eigenbasis" (:func:`workbench.bounds.eigenbasis.eigenbasis`),
        "taylor" and "cells" (:mod:`workbench.bounds.taylor`).
        On n points, or on the ball through a mesh (:mod:`workbench.bounds.random_centres`):
        "zhang", "sudakov", "gaussian".
        "best" is the smallest of all.
    n : int, optional
        Bound the cover on any n points of the ball instead of the whole ball; for a ghost sample count both
        halves. A cover on the ball is one on its points, so the four methods on the ball answer the same for
        every n.

    Returns
    -------
    float
        At least log N(rho); inf if the bound is beyond the range of floats.

    Raises
    ------
    ValueError
        If rho, radius or sigma is not a positive finite number, rho is below 1e-9, d or n is not a whole
        number from 1 on, radius / sigma is outside [1e-6, 1e6], or the method is unknown.

    Examples
    --------
    >>> round(log_covering(0.1, d=2, radius=6.0, sigma=1.5, method="taylor"))
    3706
    """
    rho, d, R, n = _checked(rho, d, radius, sigma, n)
    if not isinstance(method, str) or method not in (*METHODS, "best"):
        raise ValueError(f"method must be one of best, {', '.join(METHODS)}, got {method!r}.")
    if rho >= 1:
        return 0.0
    if method != "best":
        return _run(method, rho, d, R, n)
    return min(_run(each, rho, d, R, n) for each in METHODS)


def log_covering_lower(rho, *, d, radius, sigma):
    """Return a lower bound on log N(rho), in nats: the best of three volume arguments.

    Parameters and errors are those of `log_covering`; proofs are in :mod:`workbench.bounds.lower`.

    Returns
    -------
    float
        0 for rho >= 1, else at least log 2. It bounds covers of the whole ball; on n points a cover can be
        smaller.
    """
    rho, d, R, _ = _checked(rho, d, radius, sigma, None)
    return 0.0 if rho >= 1 else lower(rho, d, R)


def covering_table(rhos, *, d, radius, sigma, methods=(*METHODS, "best"), n=None):
    """Tabulate log N(rho) by several methods, with the lower bound.

    Parameters
    ----------
    rhos : sequence of float
    d, radius, sigma, n
        As for `log_covering`.
    methods : sequence of str
        As `method` of `log_covering`.

    Returns
    -------
    pandas.DataFrame
        One row a rho (the index), a column "lower" and one for each method; nats.

    Raises
    ------
    ValueError
        As `log_covering`, or if there is no rho.
    """
    import pandas as pd

    rhos = np.atleast_1d(np.asarray(rhos, dtype=float))
    if rhos.ndim != 1 or rhos.size == 0:
        raise ValueError(
            f"rhos must be a list of numbers, got shape {rhos.shape}: pass [0.5, 0.1], for instance."
        )
    problem = {"d": d, "radius": radius, "sigma": sigma}
    columns = {"lower": [log_covering_lower(rho, **problem) for rho in rhos]}
    for method in methods:
        columns[method] = [log_covering(rho, **problem, method=method, n=n) for rho in rhos]
    return pd.DataFrame(columns, index=pd.Index(rhos, name="rho"))


def _run(method, rho, d, R, n):
    return float(ON_POINTS[method](rho, d, R, n) if method in ON_POINTS else ON_BALL[method](rho, d, R))


def _checked(rho, d, radius, sigma, n):
    """Return rho, d, radius / sigma and n, or raise a ValueError that says what is wrong."""
    for name, value in (("rho", rho), ("radius", radius), ("sigma", sigma)):
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value < np.inf:
            raise ValueError(f"{name} must be a positive finite number, got {value!r}.")
    for name, value in (("d", d), ("n", n)):
        if not (name == "n" and value is None) and (
            not isinstance(value, Integral) or isinstance(value, bool) or value < 1
        ):
            raise ValueError(f"{name} must be a whole number, at least 1, got {value!r}.")
    if rho < 1e-9:
        raise ValueError(f"rho must be at least 1e-9, got {rho!r}: below, double precision proves nothing.")
    R = float(radius) / float(sigma)
    if not 1e-6 <= R <= 1e6:
        raise ValueError(
            f"radius / sigma must lie between 1e-6 and 1e6, got {R:.3g}: give both in the units of the data."
        )
    return float(rho), int(d), R, None if n is None else int(n)
