"""What a detector is worth, judged without anomalies: criteria for the choice of sigma and C.

Each takes scores, large where nominal, of held-out nominal points, and of other points made for the purpose.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_array, check_random_state

from .neighbors import power_of_two_above

MARGIN = 0.1
"""How far the range of a feature is widened at each end, in units of the range."""

SHARE = 0.25
"""Share of the features that are redrawn, at least one."""

MASSES = np.linspace(0.9, 0.999, 100)
"""Masses over which the mass-volume curve is averaged."""

SYNTHETIC = 400
"""Synthetic anomalies of each kind."""

LEAST_EXCESS = 0.9
"""The excess-mass curve counts down to here."""


def redraw(X, n, *, share=SHARE, random_state=None):
    """Make synthetic anomalies: nominal points in which some of the features are redrawn.

    A random `share` of the features, rounded but at least one, and another set for each point, is drawn anew
    from the uniform law on the feature's range, widened by a tenth at each end. Unlike uniform points, they
    stay near the data in many dimensions, and break what binds the features together.

    Parameters
    ----------
    X : array of shape (p, d)
        Nominal points.
    n : int
        Number of anomalies to make.
    share : float, default 0.25
        In (0, 1]; 1 gives uniform points in the widened box.
    random_state : int, RandomState or None

    Returns
    -------
    array of shape (n, d)

    Raises
    ------
    ValueError
        If X is not a finite matrix, or `n` or `share` is out of range.
    """
    X = check_array(X, dtype=float, input_name="X")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"n must be a whole number of anomalies, at least 1, got {n!r}.")
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise ValueError(f"share must be a share of the features, in (0, 1], got {share!r}. 0.25 is usual.")
    rng = check_random_state(random_state)
    d = X.shape[1]
    low, high = X.min(axis=0), X.max(axis=0)
    # Halves, as a difference of huge numbers may overflow.
    reach = MARGIN * 2 * (high / 2 - low / 2)
    low, high = low - reach, high + reach
    place = rng.random_sample((n, d))
    fresh = (1 - place) * low + place * high
    chosen = rng.random_sample((n, d)).argsort(axis=1) < max(1, round(share * d))
    return np.where(chosen, fresh, X[rng.randint(len(X), size=n)])


def synthetic_anomalies(X, n=SYNTHETIC, *, random_state=None):
    """Make synthetic anomalies of four kinds from nominal points.

    "redrawn": a quarter of the features redrawn, as by :func:`redraw`. "uniform": all of them. "permuted":
    each feature from a nominal point of its own, so that the features are independent. "noise": nominal
    points plus Gaussian noise of each feature's standard deviation.

    Parameters
    ----------
    X : array of shape (p, d)
        Nominal points.
    n : int, default 400
        Number of anomalies of each kind.
    random_state : int, RandomState or None

    Returns
    -------
    dict from str to array of shape (n, d)

    Raises
    ------
    ValueError
        As :func:`redraw`.
    """
    rng = check_random_state(random_state)
    made = {
        "redrawn": redraw(X, n, random_state=rng),
        "uniform": redraw(X, n, share=1.0, random_state=rng),
    }
    X = np.asarray(X, dtype=float)
    scale = power_of_two_above(X)  # squares of huge data would overflow
    noise = scale * (X / scale).std(axis=0) * rng.standard_normal((n, X.shape[1]))
    return made | {
        "permuted": X[rng.randint(len(X), size=(n, X.shape[1])), np.arange(X.shape[1])],
        "noise": X[rng.randint(len(X), size=n)] + noise,
    }


def separation(nominal, anomalous):
    """Area under the ROC curve of nominal against anomalous scores, ties counted half.

    Parameters
    ----------
    nominal : array of shape (p,)
    anomalous : array of shape (q,)

    Returns
    -------
    float
        1 if every nominal score is the larger, 1/2 if all are equal.

    Raises
    ------
    ValueError
        If there are no scores, or one is not finite.
    """
    nominal, anomalous = _scores("nominal", nominal), np.sort(_scores("anomalous", anomalous))
    below = np.searchsorted(anomalous, nominal, side="left")
    below_or_tied = np.searchsorted(anomalous, nominal, side="right")
    return float(np.mean(below + below_or_tied) / (2 * len(anomalous)))


def synthetic_separation(detector, X, y=None):
    """Score a fitted detector without labels: how well it tells X from anomalies made of X.

    A scorer for scikit-learn: ``GridSearchCV(detector, grid, scoring=synthetic_separation)`` chooses by it.
    The anomalies are the same at every call with the same X, so that candidates are compared on the same
    ones.

    Parameters
    ----------
    detector : scikit-learn outlier detector or pipeline
        Fitted, with ``score_samples`` large where nominal.
    X : array or data frame of shape (p, d)
        Nominal points that it was not fitted on.
    y : ignored

    Returns
    -------
    float
        Mean over the kinds of :func:`synthetic_anomalies` of the :func:`separation` of X from them.

    Raises
    ------
    ValueError
        As :func:`synthetic_anomalies` and :func:`separation`.
    """
    nominal = detector.score_samples(X)
    columns = getattr(X, "columns", None)
    values = []
    for made in synthetic_anomalies(X, random_state=0).values():
        anomalies = made if columns is None else type(X)(made, columns=columns)
        values.append(separation(nominal, detector.score_samples(anomalies)))
    return float(np.mean(values))


def mass_volume(nominal, uniform):
    """Mean volume of the score's level sets of mass 0.9 to 0.999, in units of the box: small is good.

    The area under the mass-volume curve there (Clemencon & Jakubowicz 2013): for a mass alpha, the volume
    of {g >= t} with t such that a share alpha of the nominal scores is at least t.

    Parameters
    ----------
    nominal : array of shape (p,)
    uniform : array of shape (q,)
        Scores of points uniform in a box.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If there are no scores, or one is not finite.
    """
    nominal, uniform = np.sort(_scores("nominal", nominal)), np.sort(_scores("uniform", uniform))
    # The largest threshold that at least a share alpha reaches: a mass is not interpolated.
    n = len(nominal)
    thresholds = nominal[n - np.ceil(np.round(MASSES * n, 9)).astype(int)]
    return float(1 - np.searchsorted(uniform, thresholds, side="left").mean() / len(uniform))


def excess_mass(nominal, uniform):
    """Area under the excess-mass curve down to 0.9: large is good (Goix 2016).

    ``EM(t) = max_u P{g >= u} - t vol{g >= u}``, volumes in units of the box, integrated from t = 0 to where
    EM falls to 0.9.

    Parameters
    ----------
    nominal, uniform
        As for :func:`mass_volume`.

    Returns
    -------
    float
        Infinite if level sets of mass above 0.9 hold none of the uniform points.

    Raises
    ------
    ValueError
        As :func:`mass_volume`.
    """
    nominal, uniform = np.sort(_scores("nominal", nominal)), np.sort(_scores("uniform", uniform))
    thresholds = np.unique(nominal)
    mass = 1 - np.searchsorted(nominal, thresholds, side="left") / len(nominal)
    volume = 1 - np.searchsorted(uniform, thresholds, side="left") / len(uniform)
    above = mass > LEAST_EXCESS
    mass, volume = mass[above], volume[above]
    if (volume == 0).any():
        return np.inf
    end = ((mass - LEAST_EXCESS) / volume).max()
    # EM is the upper envelope of the lines mass - t volume: trapezoids between all their crossings.
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (mass[:, None] - mass) / (volume[:, None] - volume)
    t = np.unique(np.concatenate([[0.0, end], t[(t > 0) & (t < end)]]))
    return float(np.trapezoid((mass - t[:, None] * volume).max(axis=1), t))


def _scores(name, values):
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise ValueError(
            f"{name} must be finite scores, one a point and at least one, got an array of shape "
            f"{values.shape} with {np.sum(~np.isfinite(values))} values that are not finite."
        )
    return values
