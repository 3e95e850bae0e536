r"""Why a p-value is low: the training points nearby, and what each feature does to the score.

The score of a point x is compared with that of its reference r, the nearest training point of the densest
level: what x would have to become to look nominal. Along the straight path from r to x the score changes by
the sum over the features of

.. math:: \phi_f = (x_f - r_f) \int_0^1 \partial_f g(r + t (x - r)) \, dt,

the integrated gradients of Sundararajan, Taly & Yan (2017). They add up to g(x) - g(r), and a feature in
which x and r agree has none. The gradient of g at x itself would not do: far from the data it vanishes, and
the path begins where it does not.

For the RBF kernel the integral has a closed form. With the unit vector u along the path, A its length in
units of sigma, :math:`s_j` how far along it the centre :math:`y_j` lies, :math:`\rho_j` the vector from
:math:`y_j` to the path at right angles, both in units of sigma, and :math:`w_j = c_j e^{-|\rho_j|^2}`,

.. math:: \phi_f = u_f^2 \sum_j w_j \left(e^{-(A - s_j)^2} - e^{-s_j^2}\right)
          - \sqrt\pi\, u_f \sum_j w_j \rho_{jf} \left(\mathrm{erf}(A - s_j) + \mathrm{erf}(s_j)\right).

The second part sums to zero over the features: it moves along the level curves what the first one adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .chunks import judge
from .detector import RankAD
from .neighbors import check_k, nearest
from .validation import check_points

if TYPE_CHECKING:
    import pandas as pd

VANISHED = 700.0
"""Squared distance, in units of sigma, from which the kernel is 0 for all purposes."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """What is said of q points, a row for each; rows are named as those of the data frame explained.

    Attributes
    ----------
    points : data frame of q rows
        ``p_value`` and ``score`` of the point; ``reference``, a row of the training points, the nearest of
        the densest level; ``reference_p_value`` and ``reference_score``, those of that training point.
    contributions : data frame of shape (q, d)
        What each feature adds to the score on the way from the reference to the point, in units of the
        score: negative where it makes the point more anomalous. Rows sum to ``score - reference_score``.
    differences : data frame of shape (q, d)
        The point less its reference, in the units of the data.
    neighbours : data frame of shape (q, k)
        Rows of the k nearest training points, nearest first. A training point finds itself.
    distances : data frame of shape (q, k)
        How far they are, in the units of the data.
    """

    points: pd.DataFrame
    contributions: pd.DataFrame
    differences: pd.DataFrame
    neighbours: pd.DataFrame
    distances: pd.DataFrame


def explain(detector, X, X_train, *, k=5):
    """Say which training points are near each point, and which features drive its score.

    Contributions depend on the units of the features, as the detector itself does. Behind a StandardScaler
    explain what the detector sees: with ``scale, rankad = pipeline[:-1], pipeline[-1]``,
    ``explain(rankad, scale.transform(X), scale.transform(X_train))``. Scaling feature by feature leaves
    straight paths straight, so that the contributions are those of the raw features too; differences and
    distances are then in standard deviations. Scaled arrays have lost the names of the columns, unless the
    scaler was told ``set_output(transform="pandas")`` before the fit.

    Parameters
    ----------
    detector : RankAD or RankADCV
        Fitted; one that was compressed or read from a file too.
    X : array or data frame of shape (q, d)
        Points to explain. Each costs O(s d) for s support vectors.
    X_train : array or data frame of shape (n, d)
        What the detector was fitted on, all rows in the same order: it keeps its support vectors only.
    k : int, default 5
        Number of neighbours to name, at most the number of points trained on.

    Returns
    -------
    Explanation

    Raises
    ------
    ValueError
        If the detector is none of these or not fitted, X_train is not what it was fitted on, X holds text,
        missing or infinite values or other features, or k is out of range.

    References
    ----------
    M. Sundararajan, A. Taly, Q. Yan. Axiomatic Attribution for Deep Networks. ICML 2017.

    Examples
    --------
    >>> from workbench import RankAD, densities
    >>> from workbench.explanations import explain
    >>> X = densities.FIG2.sample(300, random_state=0)
    >>> detector = RankAD(random_state=0).fit(X)
    >>> explanation = explain(detector, [[-5.0, 9.0]], X)
    >>> int(explanation.contributions.loc[0].idxmin())  # the second feature is what is wrong
    1
    """
    import pandas as pd

    if not isinstance(detector, RankAD):
        raise ValueError(
            f"Only RankAD and RankADCV are explained, not {type(detector).__qualname__}. Of a pipeline, take "
            "the last step, and the points as they reach it."
        )
    check_is_fitted(detector)
    training = _training_points(detector, X_train)
    k = check_k(k, len(training), f"{len(training)} training points")
    points = check_points(detector, X, reset=False)
    index = X.index if isinstance(X, pd.DataFrame) else pd.RangeIndex(len(points))
    features = getattr(detector, "feature_names_in_", pd.RangeIndex(points.shape[1]))
    order = range(1, k + 1)

    densest = np.flatnonzero(detector.levels_ == detector.levels_.max())
    reference = densest[nearest(training[densest], points, 1)[1][:, 0]]
    distances, neighbours = nearest(training, points, k)
    at = training[reference]
    with np.errstate(over="ignore"):
        differences = points - at
    judged, of_reference = (judge(detector, detector.g_(rows)) for rows in (points, at))
    summary = {
        "p_value": judged.p_value,
        "score": judged.score,
        "reference": detector.train_index_[reference],
        "reference_p_value": of_reference.p_value,
        "reference_score": of_reference.score,
    }
    return Explanation(
        pd.DataFrame(summary, index),
        pd.DataFrame(integrated_gradients(detector.g_, points, at), index, features),
        pd.DataFrame(differences, index, features),
        pd.DataFrame(detector.train_index_[neighbours], index, order),
        pd.DataFrame(distances, index, order),
    )


def integrated_gradients(g, X, references):
    """Contribution of each feature to ``g(x) - g(r)`` along the straight path from r to x.

    Parameters
    ----------
    g : workbench.expansions.KernelExpansion
    X, references : arrays of shape (q, d)
        Where the paths end, and where they begin.

    Returns
    -------
    array of shape (q, d)
        Rows sum to ``g(x) - g(r)``, but for rounding: about 1e-16 of the sum of all coefficients' sizes, for
        each sigma of the path's length up to the centres farthest along it.
    """
    return np.array([_along(g, x, r) for x, r in zip(X, references, strict=True)]).reshape(X.shape)


def _along(g, x, r):
    from scipy.special import erf

    half = x / 2 - r / 2  # the difference itself may overflow
    longest = np.abs(half).max()
    if longest == 0:
        return np.zeros_like(half)
    u = half / longest
    length = np.linalg.norm(u)
    u /= length
    with np.errstate(over="ignore"):
        A = 2 * length * (longest / g.sigma)
        to_centres = (g.centres - r) / g.sigma
        s = to_centres @ u
        rho = np.outer(s, u) - to_centres
        squares = np.einsum("ij,ij->i", rho, rho)
        near = squares < VANISHED
        s, rho = s[near], rho[near]
        w = g.coefficients[near] * np.exp(-squares[near])
        along = w @ (np.exp(-((A - s) ** 2)) - np.exp(-(s**2)))
    across = (w * (erf(A - s) + erf(s))) @ rho
    return u**2 * along - np.sqrt(np.pi) * u * across


def _training_points(detector, X_train):
    """Return the rows that the detector was trained on, after checking that they are those."""
    given = check_points(detector, X_train, reset=False)
    n = len(detector.train_index_)
    fitted_on = n + len(detector.calibration_scores_) if detector._split else n
    if len(given) != fitted_on or not np.array_equal(given[detector.support_], detector.support_vectors_):
        raise ValueError(
            f"X_train must be the {fitted_on} points that the detector was fitted on, in the same order and "
            f"scaled as they were then, but the {len(given)} points given are others."
        )
    return given[detector.train_index_]
