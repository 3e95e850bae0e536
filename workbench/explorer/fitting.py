"""From settings and a sample to the two detectors, and to the code that would rebuild them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..densities import DENSITIES
from ..detector import RankAD
from ..kernels import kernel_sum_on_grid
from ..neighbors import check_k, knn_statistic, largest_k
from ..preferences import check_edges
from ..pvalues import p_value, threshold
from .sample import Sample
from .settings import DRAWN, parse_edges

SIDES = ("left", "right")

FIRST_TOL = 1e-2
EXACT_TOL = 1e-6
"""Relative gaps of the first answer, while a slider is dragged, and of the one that stays."""

CVXPY_LIMIT = 150
"""Up to here the one-slack-a-pair program answers within about a second."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A detector fitted to a sample, and its scores on the sample's grid.

    Attributes
    ----------
    title : str
    detector : RankAD
    sample : Sample
    D_K : float
    values : array of shape (ny, nx)
        g on the grid.
    """

    title: str
    detector: RankAD
    sample: Sample
    D_K: float
    values: np.ndarray

    @property
    def split(self):
        """Whether p-values count held-out scores."""
        return self.detector.calibration == "split"

    def threshold(self, alpha):
        """Score below which an alarm is raised at level alpha."""
        return threshold(self.detector.calibration_scores_, alpha, split=self.split)

    def p_value(self, g):
        """p-values of scores."""
        return p_value(g, self.detector.calibration_scores_, split=self.split)


def fit_side(side, settings, sample, tol, callback=None):
    """Fit the detector of one side.

    Parameters
    ----------
    side : {"left", "right"}
    settings : Settings
    sample : Sample
    tol : float
        Relative gap of the RankSVM solution.
    callback : callable, optional
        Called after each step of the solver; what it raises ends the fit.

    Returns
    -------
    Fit

    Raises
    ------
    ValueError
        If the settings do not fit the sample.
    """
    parameters, D_K = _parameters(side, settings, sample.X)
    detector = RankAD(tol=tol, **parameters)
    with warnings.catch_warnings():
        # What they say stands in the line below the panel.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        detector.fit(sample.X, callback=callback)
    coefficients = detector.beta_[detector.beta_ != 0]
    grid = sample.grid
    values = kernel_sum_on_grid(grid.x, grid.y, detector.support_vectors_, coefficients, detector.sigma_)
    return Fit(side_title(side, settings), detector, sample, D_K, values)


def side_title(side, settings):
    """Say what levels one side was given, as "m = 2, cut at 3%"."""
    edges = _edges(side, settings)
    if edges is None:
        m = getattr(settings, f"{side}_m")
        return f"m = {m}, uniform" if m > 1 else "m = 1, the anchor alone"
    return f"m = {len(edges) + 1}, cut at {', '.join(f'{100 * edge:.4g}%' for edge in edges)}"


def code(settings, sample, side="right"):
    """Return Python code that rebuilds the fit of one side.

    Parameters
    ----------
    settings : Settings
    sample : Sample
        What the settings draw.
    side : {"left", "right"}

    Returns
    -------
    str
    """
    parameters, _ = _parameters(side, settings, sample.X)
    arguments = [f"    {name}={value!r}," for name, value in parameters.items()]
    return "\n".join(
        [
            *_sample_code(settings),
            "detector = RankAD(",
            *arguments,
            f"    alpha={settings.alpha!r},",
            ").fit(X)",
            "detector.p_value(X)",
            "",
        ]
    )


def _sample_code(settings):
    """Lines that rebuild X."""
    if settings.data == DRAWN:
        return [
            "import numpy as np",
            "from workbench import RankAD",
            "",
            f"X = np.array({settings.points!r})",
        ]
    if settings.data in DENSITIES:
        draw = f"densities.DENSITIES[{settings.data!r}].sample({settings.n}, random_state={settings.seed})"
        return ["from workbench import RankAD, densities", "", f"X = {draw}"]
    return [
        "from sklearn.preprocessing import StandardScaler",
        "from sklearn.utils import check_random_state",
        "from workbench import RankAD, load_dataset",
        "",
        f"dataset = load_dataset({settings.data!r})",
        f"names = {[settings.x_column, settings.y_column]!r}",
        "columns = [dataset.feature_names.index(name) for name in names]",
        "nominal = StandardScaler().fit_transform(dataset.X[dataset.y == 0][:, columns])",
        f"X = nominal[check_random_state({settings.seed}).permutation(len(nominal))[:{settings.n}]]",
    ]


def _parameters(side, settings, X):
    """Return the constructor parameters of one side's detector, and D_K."""
    n = len(X) - len(X) // 2 if settings.calibration == "split" else len(X)
    check_k(settings.k, largest_k(n, settings.resamples), f"{n} training points")
    D_K = float(knn_statistic(X, k=settings.k).mean())
    if D_K == 0:
        raise ValueError(
            f"Every point has {settings.k} exact copies, so that D_K is 0: choose a larger k or other points."
        )
    solver = settings.solver
    if solver == "cvxpy" and n > CVXPY_LIMIT:
        solver = "newton"
    edges = _edges(side, settings)
    levels = {"m": getattr(settings, f"{side}_m")} if edges is None else {"edges": edges}
    parameters = {
        "k": settings.k,
        **levels,
        "sigma": settings.sigma_over_DK * D_K,
        "C": settings.C_times_n / n,
        "loss": settings.loss,
        "anchor": settings.anchor and (True if settings.anchor_over_n == 1 else settings.anchor_over_n * n),
        "resamples": settings.resamples,
        "solver": solver,
        "calibration": settings.calibration,
        "random_state": settings.seed,
    }
    return parameters, D_K


def _edges(side, settings):
    edges = parse_edges(getattr(settings, f"{side}_edges"))
    if edges is not None:
        check_edges(edges)
    return edges
