"""The explorer: sliders over level curves of RankAD, m = 2 beside m = 3, next to the truth.

State lives in the traits of :class:`Explorer`, which tests and notebooks can set without a browser.
Everything else is a function of it: settings -> sample -> detectors -> arrays -> traces.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from html import escape

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go
import traitlets
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from . import datasets, densities, plots
from .detector import RankAD
from .levelsets import Grid, contour_lines, filled_region, set_distance
from .neighbors import knn_statistic
from .pvalues import threshold

LADDER = (0.03, 0.1, 0.25, 0.5, 0.75, 0.9)
PANELS = {"m = 2, cut at 3%": {"edges": (0.03,)}, "m = 3, uniform": {"m": 3}}
DENSITIES = {"Fig. 1 toy": densities.FIG1, "Fig. 2 toy": densities.FIG2}
GRID = 110
"""Cells along each side of the plane: fine enough for the eye, and 12 100 scores a panel."""

CVXPY_LIMIT = 150
"""Up to here the one-slack-a-pair program answers within about a second."""


class LiveFigure(go.FigureWidget):
    """A FigureWidget that a page reload shows as it is now.

    plotly keeps the state the widget was constructed with for whoever connects later.
    """

    def get_state(self, *args, **kwargs):
        """Return the widget's state, with the data and layout of this moment."""
        if hasattr(self, "_layout_obj"):  # plotly asks for the state before it has any
            self._trait_values["_widget_data"] = deepcopy(self._data)
            self._trait_values["_widget_layout"] = deepcopy(self._layout_obj._props)
        return super().get_state(*args, **kwargs)


@dataclass(frozen=True)
class Sample:
    """The training points, and what is known about where they come from.

    Attributes
    ----------
    X : array of shape (n, 2)
    density : Density or None
        The density they were drawn from, for toys.
    held_out : array of shape (q, 2)
        Other nominal points, where no density is known.
    grid : Grid
        Where scores are evaluated; covers all but a negligible mass.
    view : array of shape (2, 2)
        Lower and upper corner of what is shown.
    labels : (str, str)
    """

    X: np.ndarray
    density: object
    held_out: np.ndarray
    grid: Grid
    view: np.ndarray
    labels: tuple[str, str]


class Explorer(traitlets.HasTraits):
    """Level curves of RankAD with one bit (m = 2, cut at 3%) beside three levels.

    Parameters
    ----------
    **traits
        Initial values of the traits below.

    Attributes
    ----------
    data : str
        "Fig. 1 toy", "Fig. 2 toy" or the name of a data set.
    x_column, y_column : str
        The two columns of a data set; standardised over its nominal points.
    n : int
        Sample size.
    seed : int
    k : int
        Neighbours.
    sigma_over_DK : float
        Bandwidth in multiples of D_K, the mean average k-NN distance of the sample.
    C_times_n : float
        Price of a violated pair in multiples of 1/n.
    alpha : float
        False-alarm level; moving it does not refit.
    anchor : bool
        Whether the point at infinity takes part.
    solver : {"auto", "newton", "cvxpy"}
    detectors : list of RankAD
        The two fits, left to right.
    message : str
        What went wrong with the last change, or empty. The last good picture stays.
    widget : ipywidgets.Widget
        What to display.
    """

    data = traitlets.Enum([*DENSITIES, *datasets.DATASETS], "Fig. 1 toy")
    x_column = traitlets.Unicode("")
    y_column = traitlets.Unicode("")
    n = traitlets.Int(600, min=10, max=1500)
    seed = traitlets.Int(0, min=0, max=2**31 - 1)
    k = traitlets.Int(20, min=1, max=100)
    sigma_over_DK = traitlets.Float(2**2.5, min=2**-4, max=2**6)
    C_times_n = traitlets.Float(100.0, min=1e-3, max=1e4)
    alpha = traitlets.Float(0.05, min=0.01, max=0.5)
    anchor = traitlets.Bool(True)
    solver = traitlets.Enum(["auto", "newton", "cvxpy"], "auto")

    def __init__(self, **traits):
        super().__init__(**traits)
        self.message = ""
        self.sample = None
        self.detectors = []
        self._values = []
        self._paused = False
        self._figure = LiveFigure()
        self._status = widgets.HTML()
        self._summary = widgets.HTML()
        self._lines = [widgets.HTML(layout={"width": "50%"}) for _ in PANELS]
        self._columns = [widgets.Dropdown(description=f"{axis} column") for axis in "xy"]
        self._fit_error = ""
        self.widget = self._build()
        self._refit(new_data=True)
        self.observe(self._on_data, "data")
        self.observe(self._on_fit_change, FIT_TRAITS)
        self.observe(self._on_alpha, "alpha")

    def _repr_mimebundle_(self, **kwargs):
        return self.widget._repr_mimebundle_(**kwargs)

    def _on_data(self, _):
        self._refit(new_data=True)

    def _on_fit_change(self, _):
        if not self._paused:
            self._refit()

    def _on_alpha(self, _):
        self._redraw()

    def _choose_columns(self):
        """Offer the columns of the data set chosen, and keep those picked where it has them."""
        names = column_names(self.data)
        self._paused = True
        for position, (trait, box) in enumerate(zip(("x_column", "y_column"), self._columns, strict=True)):
            chosen = getattr(self, trait)
            if chosen not in names:
                chosen = names[position] if names else ""
            box.options = names or [""]
            box.layout.display = "flex" if names else "none"
            setattr(self, trait, chosen)
            box.value = chosen
        self._paused = False

    def _refit(self, new_data=False):
        """Sample, fit and redraw; on an error keep the last good picture and say what was wrong."""
        self._status.value = "<b>&#9203; fitting&hellip;</b>"
        try:
            if new_data:
                self._choose_columns()
            sample = draw_sample(self.data, self.x_column, self.y_column, self.n, self.seed)
            D_K = float(knn_statistic(sample.X, k=self.k).mean())
            detectors = [self._fit(sample.X, D_K, parameters) for parameters in PANELS.values()]
            values = [sample.grid.evaluate(detector.score_samples) for detector in detectors]
        except Exception as error:  # whatever it is, it must not take the widget down
            self._fit_error = str(error) or type(error).__name__
            self._show_status()
            return
        self._fit_error = ""
        self.sample, self.detectors, self._values = sample, detectors, values
        self._summary.value = (
            f"D<sub>K</sub> = {D_K:.3g}, &sigma; = {detectors[0].sigma_:.3g}, C = {detectors[0].C_:.3g}"
        )
        self._redraw()

    def _fit(self, X, D_K, parameters):
        solver = "newton" if self.solver == "cvxpy" and len(X) > CVXPY_LIMIT else self.solver
        detector = RankAD(
            k=self.k,
            sigma=self.sigma_over_DK * D_K,
            C=self.C_times_n / len(X),
            anchor=self.anchor,
            solver=solver,
            random_state=self.seed,
            **parameters,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the line below the panel says so
            return detector.fit(X)

    def _redraw(self):
        """Show the fits in hand at the chosen alpha."""
        if self.sample is None:
            return
        fits = list(zip(PANELS, self.detectors, self._values, strict=True))
        panels = [panel_arrays(title, fit, values, self.sample, self.alpha) for title, fit, values in fits]
        lines = [summary_line(fit, values, self.sample, self.alpha) for _, fit, values in fits]
        ranges, labels = self.sample.view.T, self.sample.labels
        with self._figure.batch_update():
            if not self._figure.data:
                figure = plots.level_curves(panels, *ranges, *labels)
                self._figure.add_traces(figure.data)
                self._figure.layout = figure.layout
            else:
                traces = [trace for panel in panels for trace in plots.panel_traces(panel)]
                for shown, trace in zip(self._figure.data, traces, strict=True):
                    shown.update({key: trace[key] for key in ("x", "y", "customdata") if key in trace})
                self._figure.update_layout(plots.axes_layout(len(panels), *ranges, *labels))
        for box, line in zip(self._lines, lines, strict=True):
            box.value = line
        self._show_status()

    def _show_status(self):
        self.message = self._fit_error
        if self.message:
            self._status.value = f'<b style="color:#D55E00">&#9888; {escape(self.message)}</b>'
        else:
            self._status.value = "ready"

    def _build(self):
        """Lay out the controls and tie each to its trait."""

        def limits(name):
            trait = self.traits()[name]
            return {"min": trait.min, "max": trait.max}

        wide = {"style": {"description_width": "90px"}, "layout": {"width": "97%"}}
        controls = {
            "data": widgets.Dropdown(options=self.traits()["data"].values, description="data", **wide),
            "x_column": self._columns[0],
            "y_column": self._columns[1],
            "n": widgets.IntSlider(**limits("n"), step=10, description="n points", **wide),
            "seed": widgets.BoundedIntText(**limits("seed"), description="seed", **wide),
            "k": widgets.IntSlider(**limits("k"), description="k neighbours", **wide),
            "sigma_over_DK": widgets.FloatLogSlider(
                base=2, min=-4, max=6, step=0.25, readout_format=".2f", description="\u03c3 / D_K", **wide
            ),
            "C_times_n": widgets.FloatLogSlider(
                base=10, min=-3, max=4, step=0.25, readout_format=".3g", description="C \u00d7 n", **wide
            ),
            "alpha": widgets.FloatSlider(
                **limits("alpha"), step=0.01, readout_format=".2f", description="\u03b1 (level)", **wide
            ),
            "anchor": widgets.Checkbox(description="anchor: the point at infinity", indent=False),
            "solver": widgets.Dropdown(
                options=[
                    ("auto", "auto"),
                    ("newton: any n", "newton"),
                    (f"cvxpy: n up to {CVXPY_LIMIT}, newton beyond", "cvxpy"),
                ],
                description="solver",
                **wide,
            ),
        }
        for box in self._columns:
            box.style, box.layout.width = wide["style"], wide["layout"]["width"]
        for name, control in controls.items():
            if control not in self._columns:
                traitlets.link((self, name), (control, "value"))
        for name, box in zip(("x_column", "y_column"), self._columns, strict=True):
            traitlets.dlink((box, "value"), (self, name), lambda value: value or "")
        columns = (
            ("data", "x_column", "y_column", "n", "seed"),
            ("sigma_over_DK", "C_times_n", "k"),
            ("alpha", "anchor", "solver"),
        )
        third = {"width": "33.3%"}
        boxes = [widgets.VBox([controls[name] for name in column], layout=third) for column in columns]
        boxes[1].children += (self._summary,)
        boxes[2].children += (self._status,)
        self._controls = controls
        return widgets.VBox([widgets.HBox(boxes), self._figure, widgets.HBox(self._lines)])


FIT_TRAITS = ["x_column", "y_column", "n", "seed", "k", "sigma_over_DK", "C_times_n", "anchor", "solver"]


def column_names(data):
    """Columns to choose from: those of a data set, none for a toy."""
    return [] if data in DENSITIES else list(_load(data).feature_names)


@lru_cache(maxsize=4)
def _load(name):
    return datasets.load_dataset(name)


def draw_sample(data, x_column, y_column, n, seed):
    """Draw a training sample from a toy density, or from two columns of a data set's nominal points.

    Returns
    -------
    Sample
    """
    if data in DENSITIES:
        density = DENSITIES[data]
        X = density.sample(n, random_state=seed)
        return Sample(
            X, density, np.empty((0, 2)), Grid.covering(density, GRID), density.bounds(3e-3), ("x", "y")
        )
    for column in (x_column, y_column):
        if column not in column_names(data):
            raise ValueError(f"{data} has no column {column!r}: choose from {', '.join(column_names(data))}.")
    if x_column == y_column:
        raise ValueError(f"Both axes show the column {x_column!r}. Choose two different columns.")
    dataset = _load(data)
    index = [dataset.feature_names.index(name) for name in (x_column, y_column)]
    nominal = StandardScaler().fit_transform(dataset.X[dataset.y == 0][:, index])
    if n > len(nominal) // 2:
        raise ValueError(
            f"{data} has {len(nominal)} nominal points; n={n} would leave too few to check with."
        )
    order = check_random_state(seed).permutation(len(nominal))
    held_out = nominal[order[n : n + 2000]]
    box = np.quantile(nominal, [0.002, 0.998], axis=0)
    labels = tuple(f"{name} (standardised)" for name in (x_column, y_column))
    return Sample(nominal[order[:n]], None, held_out, Grid.covering(box, GRID), box, labels)


def panel_arrays(title, detector, values, sample, alpha):
    """Level curves, regions and points of one panel.

    Parameters
    ----------
    title : str
    detector : RankAD
    values : array of shape (ny, nx)
        g on the sample's grid.
    sample : Sample
    alpha : float

    Returns
    -------
    workbench.plots.Panel
    """
    grid = sample.grid
    cut = threshold(detector.calibration_scores_, alpha)
    truth = []
    if sample.density is not None:
        log_density = grid.evaluate(sample.density.logpdf)
        truth = contour_lines(grid, log_density, np.log(sample.density.level(alpha)))
    ladder = [(a, contour_lines(grid, values, threshold(detector.calibration_scores_, a))) for a in LADDER]
    return plots.Panel(
        title=title,
        points=sample.X,
        levels=detector.levels_,
        ladder=ladder,
        region=filled_region(grid, values, cut),
        chosen=contour_lines(grid, values, cut),
        truth=truth,
    )


def summary_line(detector, values, sample, alpha):
    """Pairs, certificate, time and what the region at alpha really does, as a line of HTML."""
    solution = detector.solution_
    text = (
        f"{solution.n_pairs:,} pairs, relative gap {solution.gap:.1e}"
        f"{'' if solution.converged else ' (not converged)'}, {solution.solver} {solution.seconds:.2f} s"
    )
    if sample.density is not None:
        margin = values - threshold(detector.calibration_scores_, alpha)
        distance = set_distance(sample.density, alpha, margin, sample.grid)
        return (
            f"{text}<br><b>true false-alarm rate {distance.false_alarm_rate:.3f}</b> at &alpha; = "
            f"{alpha:g}<br>mass of the difference from the true set "
            f"{distance.symmetric_difference_mass:.3f}"
        )
    rate = np.mean(detector.predict(sample.held_out, alpha=alpha) == -1)
    return (
        f"{text}<br><b>alarms on {rate:.3f}</b> of {len(sample.held_out)} held-out nominal points "
        f"at &alpha; = {alpha:g}"
    )
