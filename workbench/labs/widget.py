"""The widget: carries values from the controls to the design, and outcomes to the screen."""

from __future__ import annotations

import time
from collections import OrderedDict
from html import escape
from threading import RLock

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go
import traitlets

from ..calibration import CALIBRATIONS
from ..densities import DENSITIES
from ..explorer.figures import LiveFigure
from ..explorer.worker import Latest, StaleError
from . import pictures, precompute
from .design import Design, repeat
from .false_alarms import ALPHAS, orders, rates_at
from .promises import covers, held_out_limits, names_for, trained_limits

LIVE = (50, 100, 200, 300, 400, 600)
"""Sample sizes that are worked out while one waits."""

DELTAS = (0.01, 0.02, 0.05, 0.1, 0.2)
REPETITIONS = (20, 50, 100, 200, 500)

EVERY = 0.4
"""Seconds between pictures while repetitions come in."""

REST = 0.15
"""Seconds without a change before the first repetition starts."""

REMEMBERED = 3000
"""Repetitions, and promises, that are kept in memory."""

STYLE = {"style": {"description_width": "96px"}, "layout": {"width": "97%"}}


class FalseAlarmLab(traitlets.HasTraits):
    """Realised false-alarm rates over many repetitions, next to the Beta law and to what bounds promise.

    Setting a trait is moving its control. Up to n = 600 repetitions run in the background, and pictures
    follow as they come in; the newest setting wins. For larger n they come from a file that ships with the
    package, and the line above the pictures says for which settings. `outcome` and `message` wait.

    Parameters
    ----------
    **settings
        Initial values of the traits.

    Attributes
    ----------
    density : str
        A name in :data:`workbench.densities.DENSITIES`.
    n : int
        Points in each sample: one of 50, 100, 200, 300, 400, 600, or 1000, 2000, 5000 as precomputed.
    alpha : float
        Level, one of :data:`workbench.labs.ALPHAS`.
    delta : float
        Probability with which a promise may be broken: 0.01, 0.02, 0.05, 0.1 or 0.2.
    k : int
        Neighbours, 1 to 100.
    sigma_over_DK : float
        Bandwidth in multiples of D_K, 1/4 to 16.
    repetitions : int
        20, 50, 100, 200 or 500.
    calibration : {"in-sample", "split"}
    widget : ipywidgets.Widget
        What to display.
    """

    density = traitlets.Enum(tuple(DENSITIES), next(iter(DENSITIES)))
    n = traitlets.Enum((*LIVE, *precompute.SIZES), 200)
    alpha = traitlets.Enum(ALPHAS, 0.05)
    delta = traitlets.Enum(DELTAS, 0.05)
    k = traitlets.Int(20, min=1, max=100)
    sigma_over_DK = traitlets.Float(1.0, min=0.25, max=16.0)
    repetitions = traitlets.Enum(REPETITIONS, 100)
    calibration = traitlets.Enum(CALIBRATIONS, "in-sample")

    def __init__(self, **settings):
        super().__init__(**settings)
        self._message, self._outcome = "", None
        self._lock = RLock()
        self._memory = OrderedDict()
        self._figure = LiveFigure()
        self._worker = Latest(self._work)
        nothing = pictures.Outcome(
            alphas=np.array(ALPHAS),
            m=np.zeros(len(ALPHAS), dtype=int),
            points=1,
            rates=np.empty((0, len(ALPHAS))),
            wanted=self.repetitions,
            delta=self.delta,
        )
        # A page is given all traces at once: those that come while it draws can be lost.
        drawn = [trace for _, trace in pictures.traces(nothing, self.alpha)]
        self._figure.start(pictures.figure(nothing, self.alpha), drawn)
        self.widget = self._build()
        self._worker.request()
        self.observe(lambda _: self._worker.request(), list(NAMES))

    @traitlets.validate("sigma_over_DK")
    def _finite(self, proposal):
        if not np.isfinite(proposal["value"]):
            raise traitlets.TraitError(f"sigma_over_DK must be a finite number, got {proposal['value']}.")
        return proposal["value"]

    @property
    def outcome(self):
        """What is shown, once it is that of the present settings; None if they allow none."""
        self.settle()
        return None if self._message else self._outcome

    @property
    def message(self):
        """What is wrong with the present settings, or nothing. The last good picture stays."""
        self.settle()
        return self._message

    @property
    def figures(self):
        """The pictures, once they are those of the present settings, as a list of plotly figures."""
        self.settle()
        return [go.Figure(self._figure)]

    def settle(self):
        """Wait until what is shown is what the present settings ask for."""
        self._worker.settle()

    def _repr_mimebundle_(self, **kwargs):
        return self.widget._repr_mimebundle_(**kwargs)

    # From settings to outcomes, in the background

    def _work(self, ticket):
        settings = {name: getattr(self, name) for name in NAMES}
        try:
            if self.n in precompute.SIZES:
                self._recall(settings)
            else:
                self._run(settings, ticket)
        except StaleError:
            raise
        except Exception as error:  # whatever it is, it must not take the widget down
            self._message = str(error) or type(error).__name__
            with self._lock:
                self._status.value = f'<b style="color:#B34700">&#9888; {escape(self._message)}</b>'

    def _recall(self, settings):
        """Show what was worked out beforehand, and say for which settings."""
        cell = precompute.nearest(
            *(settings[name] for name in ("density", "n", "sigma_over_DK", "calibration"))
        )
        outcome = cell.outcome(settings["alpha"], settings["delta"])
        self._message = ""
        said = (
            f"n = {cell.n} is precomputed: {len(outcome.rates)} repetitions with k = {cell.k}, "
            f"\u03c3 = {cell.sigma_over_DK:g} D_K"
        )
        if not outcome.points or cell.calibration == "in-sample":
            said += f", promises at \u03b4 = {precompute.DELTA:g}"
        unlike = (settings["k"], settings["sigma_over_DK"]) != (cell.k, cell.sigma_over_DK)
        self._show(outcome, settings, said + (" (not what the sliders say)." if unlike else "."))

    def _run(self, settings, ticket):
        """Repeat, showing pictures as repetitions come in; then see which kept their promises."""
        design = Design(
            settings["density"],
            settings["n"],
            settings["k"],
            sigma_over_DK=settings["sigma_over_DK"],
            calibration=settings["calibration"],
        )
        wanted, alpha, delta = settings["repetitions"], settings["alpha"], settings["delta"]
        ticket.rest(REST)
        m, shown, done = orders(design, ALPHAS), 0.0, []
        limits = held_out_limits(design.n_scores, m, delta) if design.split else {}

        def show(broken, said):
            rates = np.array([rates_at(each.rates, m) for each in done]).reshape(-1, len(ALPHAS))
            outcome = pictures.Outcome(
                np.array(ALPHAS), m, design.n_scores, rates, wanted, delta, dict(limits), broken
            )
            ticket.check()
            self._message = ""
            self._show(outcome, settings, said)

        for repetition in range(wanted):
            done.append(self._remembered(repeat, design, repetition, 0, callback=ticket.check))
            ticket.check()
            if time.monotonic() - shown > EVERY and repetition + 1 < wanted:
                show(self._count(done, limits, m, alpha), f"<b>{repetition + 1} of {wanted} repetitions</b>")
                shown = time.monotonic()
        said = f"{wanted} repetitions"
        if design.split:
            show(self._count(done, limits, m, alpha), said)
            return
        show({}, f"{said}; <b>working out promises</b>")
        covers(design.density, design.sigma)
        ticket.check()
        limits |= self._remembered(_first_limits, design, done[0], tuple(m), delta)
        chosen = np.array([m[ALPHAS.index(alpha)]])
        broken = dict.fromkeys(names_for("in-sample"), 0)
        for repetition, each in enumerate(done, start=1):
            kept = self._remembered(_limits_at, design, repetition, each, int(chosen[0]), delta)
            ticket.check()
            for name in broken:
                broken[name] += bool(each.rates[chosen[0] - 1] > kept[name][0])
            if time.monotonic() - shown > EVERY or repetition == wanted:
                about = said if repetition == wanted else f"{said}; <b>promises of {repetition}</b>"
                show({name: (count, repetition) for name, count in broken.items()}, about)
                shown = time.monotonic()

    @staticmethod
    def _count(done, limits, m, alpha):
        """How many of the repetitions so far broke each promise made of held-out scores."""
        chosen = ALPHAS.index(alpha)
        rates = np.array([rates_at(each.rates, m)[chosen] for each in done])
        return {name: (int((rates > limit[chosen]).sum()), len(done)) for name, limit in limits.items()}

    def _remembered(self, function, *key, **more):
        """Call a function, or recall what it returned last time; keys compare by value."""
        key = (function.__name__, *key)
        if key not in self._memory:
            self._memory[key] = function(*key[1:], **more)
            if len(self._memory) > REMEMBERED:
                self._memory.popitem(last=False)
        return self._memory[key]

    # From outcomes to the screen

    def _show(self, outcome, settings, said):
        alpha = settings["alpha"]
        with self._lock:
            self._outcome = outcome
            drawn = [trace for _, trace in pictures.traces(outcome, alpha)]
            self._figure.change(drawn, pictures.layout(outcome, alpha))
            self._words.value = pictures.words(outcome, alpha)
            self._status.value = said

    def _build(self):
        def choice(name, text, options):
            box = widgets.SelectionSlider(options=[(f"{o:g}", o) for o in options], description=text, **STYLE)
            traitlets.link((self, name), (box, "value"))
            return box

        def tied(name, box):
            traitlets.link((self, name), (box, "value"))
            return box

        self._status, self._words = widgets.HTML(), widgets.HTML()
        self._controls = {
            "density": tied(
                "density", widgets.Dropdown(options=tuple(DENSITIES), description="density", **STYLE)
            ),
            "calibration": tied(
                "calibration", widgets.Dropdown(options=CALIBRATIONS, description="calibration", **STYLE)
            ),
            "n": choice("n", "n points", (*LIVE, *precompute.SIZES)),
            "alpha": choice("alpha", "\u03b1 (level)", ALPHAS),
            "delta": choice("delta", "\u03b4 (broken)", DELTAS),
            "k": tied("k", widgets.IntSlider(min=1, max=100, description="k neighbours", **STYLE)),
            "sigma_over_DK": tied(
                "sigma_over_DK",
                widgets.FloatLogSlider(
                    base=2, min=-2, max=4, step=0.5, description="\u03c3 / D_K", readout_format=".2f", **STYLE
                ),
            ),
            "repetitions": choice("repetitions", "repetitions", REPETITIONS),
        }
        c = list(self._controls.values())
        columns = [widgets.VBox(part, layout={"width": "33.3%"}) for part in (c[:3], [*c[3:5], c[7]], c[5:7])]
        rows = [widgets.HBox(columns), self._status, self._figure, self._words]
        return widgets.VBox(rows, layout={"max_width": "900px"})


NAMES = tuple(name for name, value in vars(FalseAlarmLab).items() if isinstance(value, traitlets.TraitType))
"""Names of all settings."""


def _first_limits(design, repetition, m, delta):
    """Promises of one repetition at every level."""
    return trained_limits(design, repetition, np.array(m), delta)


def _limits_at(design, _, repetition, m, delta):
    """Promises of one repetition at one level."""
    return trained_limits(design, repetition, np.array([m]), delta)
