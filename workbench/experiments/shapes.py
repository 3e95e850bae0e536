"""How far learned level curves are from the true ones, whatever the calibration."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..levelsets import contour_lines
from .comparison import plus_minus


def differences(truth, field, alphas):
    """Return the probability on which the learned and the true set of mass 1 - alpha differ, for each alpha.

    The learned set is ``{g >= t}`` with t such that it has exactly that mass: shapes are compared.

    Parameters
    ----------
    truth : workbench.levelsets.TrueSets
    field : array of shape (ny, nx)
        g on the grid of `truth`.
    alphas : sequence of float

    Returns
    -------
    dict from str to float
        By ``column(alpha)``.
    """
    return {
        column(alpha): truth.distance(alpha, field - matched(truth, field, alpha)).symmetric_difference_mass
        for alpha in alphas
    }


def matched(truth, field, alpha):
    """Return the threshold that leaves probability alpha below it."""
    order = np.argsort(field, axis=None)
    below = np.cumsum(truth.mass.ravel()[order])
    return float(field.ravel()[order][np.searchsorted(below / below[-1], alpha)])


def column(alpha):
    """Name of the result for one alpha."""
    return f"differs at {alpha:g}"


def difference_table(records, by, alphas):
    """Table of the differing probability in units of alpha, a row for each value of the columns `by`."""
    rows = {}
    for values, runs in records.groupby(by, sort=False):
        name = ", ".join(map(str, values))
        rows[name] = {f"α = {a:g}": plus_minus(runs[column(a)].to_numpy() / a) for a in alphas}
    return pd.DataFrame.from_dict(rows, orient="index")


def curves(truth, detector, alphas):
    """Return support vectors and level curves of a detector, as ``plots.curves_beside_truth`` takes them."""
    field = truth.grid.evaluate(detector.score_samples)
    return detector.support_vectors_, {
        alpha: contour_lines(truth.grid, field, matched(truth, field, alpha)) for alpha in alphas
    }
