"""The widget: carries values from the controls to the settings, and pictures from the fits to the screen."""

from __future__ import annotations

from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from html import escape
from threading import RLock, Timer

import ipywidgets as widgets
import numpy as np

from ..explanations import explain
from .controls import (
    STYLE,
    absolute_boxes,
    arrange,
    build_controls,
    buttons,
    column_choosers,
    preset_chooser,
)
from .fitting import EXACT_TOL, FIRST_TOL, SIDES, code, fit_side
from .measures import frame, measure
from .picture import is_exact, neighbours, reasons, status
from .sample import BOARD, column_names, draw_sample
from .screen import Screen
from .settings import DRAWN, MAX_POINTS, NAMES, PRESETS, VIEW, Settings
from .worker import Latest, StaleError

REST = 0.15
"""Seconds without a change after which the hand is taken to rest, and the exact answer is worked out."""

BUSY_AFTER = 0.2
"""Seconds after which a fit that is not there yet is announced."""

BRUSH = 0.35
"""Standard deviation of the points that one click strews, on a board of side 10."""


def _small(html):
    return f'<div style="line-height: 1.35">{html}</div>'


HINT = _small(
    "Choose a preset above: each makes one point, which is then explained here. Hold the mouse over a point "
    "of the picture to see its neighbours, and why its p-value is what it is."
)


class Explorer(Settings):
    """Level curves of two RankAD detectors side by side, with sliders for everything they depend on.

    Setting a trait is moving its control: pictures follow in the background, first from an answer of
    relative gap 1e-2, then, when nothing has changed for a moment, from one of 1e-6. `fits`, `sample` and
    `message` wait for that.

    Parameters
    ----------
    **settings
        Initial values of the traits of :class:`Settings`.

    Attributes
    ----------
    widget : ipywidgets.Widget
        What to display.
    """

    def __init__(self, **settings):
        super().__init__(**settings)
        self._message = ""
        self._drawn = None  # sample, fits by side, measures by side: what is on the screen,
        self._shown = None  # and the settings it belongs to
        self._lock = RLock()
        self._writing = False  # into controls, which then need not answer
        self._busy = None
        self._screen = Screen(self._on_hover, self._on_click)
        self._controls = build_controls(self)
        self._worker, self._followers = Latest(self._work), Latest(self._follow)
        self.widget = self._build()
        self._offer_columns()
        self._work_at(EXACT_TOL, lambda *_: None)
        self.observe(lambda _: self._offer_columns(), "data")
        self.observe(lambda _: self._follow_columns(), ["x_column", "y_column"])
        self.observe(self._on_change, [name for name in NAMES if name not in VIEW])
        self.observe(self._on_view, VIEW)

    @property
    def fits(self):
        """The fits shown, by side; those of the present settings, unless there is a message."""
        self.settle()
        return self._drawn[1] if self._drawn else {}

    @property
    def sample(self):
        """The sample shown; that of the present settings, unless there is a message."""
        self.settle()
        return self._drawn[0] if self._drawn else None

    @property
    def message(self):
        """What is wrong with the present settings, or nothing.

        The last good picture stays; of points drawn by hand, the points alone are shown.
        """
        self.settle()
        return self._message

    @property
    def figures(self):
        """The pictures, once they are those of the present settings, as a list of plotly figures."""
        self.settle()
        return self._screen.figures()

    def settle(self):
        """Wait until what is shown is what the present settings ask for."""
        self._worker.settle()
        self._followers.settle()

    def measures(self):
        """Return all measures of the fits shown, as a data frame with a row for each side and level.

        Raises
        ------
        ValueError
            If there is no fit; the message says why.
        """
        return frame(self._settings_shown(), self.fits)

    def code(self, side="right"):
        """Return Python code that rebuilds the fit shown on one side.

        Raises
        ------
        ValueError
            If there is no fit; the message says why.
        """
        return code(self._settings_shown(), self.sample, side)

    def _settings_shown(self):
        """Return the settings that the picture belongs to, at the present level."""
        self.settle()
        if self._drawn is None:
            raise ValueError(f"There is no fit to speak of. {self._message}")
        return Settings(**self._shown.values() | {name: getattr(self, name) for name in VIEW})

    def _repr_mimebundle_(self, **kwargs):
        return self.widget._repr_mimebundle_(**kwargs)

    # From settings to fits, in the background

    def _on_change(self, _):
        with self._lock:
            if self._busy is None:
                self._busy = Timer(BUSY_AFTER, self._show_busy)
                self._busy.daemon = True
                self._busy.start()
        self._worker.request()

    def _on_view(self, _):
        with self._lock:
            self._guarded(self._draw_curves)
        self._followers.request()

    def _follow(self, ticket):
        """Bring the rest in step with the level, once the hand rests: the curves alone are quick."""
        ticket.rest(REST)
        with self._lock:
            self._guarded(self._draw_rest)

    def _work(self, ticket):
        self._work_at(FIRST_TOL, ticket.check)
        if not self._message:
            ticket.rest(REST)
            self._work_at(EXACT_TOL, ticket.check)

    def _work_at(self, tol, check):
        """Sample, fit and draw; on an error keep the last good picture and say what was wrong."""

        def fit_and_draw():
            settings = Settings(**self.values())
            sample = draw_sample(settings)

            def work_out(side):
                fit = fit_side(side, settings, sample, tol, callback=check)
                return fit, measure(fit, limits=tol < FIRST_TOL)

            with ThreadPoolExecutor(len(SIDES)) as both:
                fits, measures = zip(*both.map(work_out, SIDES), strict=True)
            with self._lock:
                check()
                self._shown = settings
                self._drawn = (
                    sample,
                    dict(zip(SIDES, fits, strict=True)),
                    dict(zip(SIDES, measures, strict=True)),
                )
                self._draw_curves()
                self._draw_rest()
                self._message = ""
                self._say(status(fits))

        self._guarded(fit_and_draw)

    def _guarded(self, action):
        try:
            action()
        except StaleError:
            raise
        except Exception as error:  # whatever it is, it must not take the widget down
            with self._lock:
                self._message = str(error) or type(error).__name__
                self._complain(self._message)
                if self.data == DRAWN:
                    self._drawn = None
                    self._screen.show_board(self.points)

    def _show_busy(self):
        with self._lock:
            if self._busy is not None:
                self._status.value = _small("<b>fitting &hellip;</b>")

    def _say(self, html):
        if self._busy is not None:
            self._busy.cancel()
            self._busy = None
        self._status.value = _small(html)

    def _complain(self, message):
        self._say(f'<b style="color:#B34700">&#9888; {escape(message)}</b>')

    # From fits to pictures

    def _draw_curves(self):
        if self._drawn is not None:
            self._screen.show_curves(*self._drawn, self, drawing=self.data == DRAWN)

    def _draw_rest(self):
        """Show the plots below, and settings and code as they are now."""
        if self._drawn is None:
            return
        _, fits, measures = self._drawn
        self._screen.show_checks(fits, measures, self.alpha)
        detector = fits["right"].detector
        self._writing = True
        self._absolute["sigma_over_DK"].value = float(f"{detector.sigma_:.4g}")
        self._absolute["C_times_n"].value = float(f"{detector.C_:.4g}")
        self._writing = False
        if is_exact(fits.values()):
            self._write_down()

    def _write_down(self):
        """Keep the settings and the code in step with what is shown."""
        shown = Settings(**self._shown.values() | {name: getattr(self, name) for name in VIEW})
        self._settings.value = shown.to_json()
        self._code.value = code(shown, self._drawn[0], self._code_side.value)

    # What the mouse does in the panels

    def _on_hover(self, side=None, point=None):
        """Show the neighbours of the point under the mouse and say why its p-value is what it is."""
        with self._lock:
            if side is None or self._drawn is None:
                self._screen.show_neighbours([])
                self._note.value = self._told
                return
            fit = self._drawn[1][side]
            trained = fit.sample.X[fit.detector.train_index_]
            self._screen.show_neighbours(neighbours(trained, point, fit.detector.k_))
            self._note.value = _small(
                reasons(explain(fit.detector, [point], fit.sample.X, k=1), fit.sample.labels)
            )

    def _on_click(self, point):
        if self.data == DRAWN:
            rng = np.random.default_rng([self.seed, len(self.points)])
            spread = BRUSH * rng.standard_normal((self._brush.value, 2)) * (self._brush.value > 1)
            new = np.clip(point + spread, *BOARD)
            self.points = [*self.points, *np.round(new, 3).tolist()][:MAX_POINTS]

    # What the controls do that are not settings

    def _offer_columns(self):
        """Offer the columns of the data set chosen, and keep those picked where it has them."""
        try:
            names = column_names(self.data)
        except Exception:  # the data are not to be had: the fit that follows says why
            names = []
        with self._lock, self.hold_trait_notifications():
            for position, (trait, box) in enumerate(self._columns.items()):
                chosen = getattr(self, trait)
                if chosen not in names:
                    chosen = names[position] if names else ""
                self._writing = True
                box.options, box.layout.display = names or [""], "flex" if names else "none"
                box.value = chosen
                self._writing = False
                setattr(self, trait, chosen)
        drawn = self.data == DRAWN
        self._pen.layout.display = "flex" if drawn else "none"
        self._controls["n"].disabled = drawn

    def _follow_columns(self):
        """Show in the choosers what was set, and fill in a column where none was."""
        for position, (trait, box) in enumerate(self._columns.items()):
            chosen = getattr(self, trait)
            if chosen in box.options:
                box.value = chosen
            elif not chosen:
                setattr(self, trait, box.options[min(position, len(box.options) - 1)])

    def _on_column(self, name):
        def take(change):
            if not self._is_writing():
                setattr(self, name, change["new"] or "")

        return take

    def _is_writing(self):
        with self._lock:  # which whoever writes into a control holds
            return self._writing

    def _on_absolute(self, name):
        def take(change):
            if self._is_writing() or self._drawn is None:
                return
            fit = self._drawn[1]["right"]
            unit = fit.D_K if name == "sigma_over_DK" else 1 / len(fit.detector.train_index_)
            trait, value = self.traits()[name], change["new"] / unit
            if trait.min <= value <= trait.max:
                setattr(self, name, value)
            else:
                self._complain(
                    f"{change['owner'].description} must lie between {trait.min * unit:.3g} and "
                    f"{trait.max * unit:.3g} here, got {change['new']:.4g}."
                )

        return take

    def _on_preset(self, change):
        if change["new"]:
            settings, note = PRESETS[change["new"]]
            self.set(**settings)
            self._tell(_small(f"<b>{escape(change['new'])}.</b> {escape(note)}"))
            self._preset.value = ""  # so that it can be chosen again

    def _tell(self, html):
        """Say what stays until something else is said; what is said of a point goes with the mouse."""
        self._told = self._note.value = html

    def _on_reset(self, _):
        self._tell(HINT)
        self.set()

    def _on_restore(self, _):
        try:
            self.restore(self._settings.value)
        except ValueError as error:
            self._complain(str(error))

    def _on_format(self, change):
        self._screen.set_camera(change["new"])
        self.widget.children = self._rows()

    def _on_save(self, _):
        try:
            self._settings_shown()
        except ValueError as error:
            self._complain(str(error))
            return
        content = b64encode(self.measures().to_csv(index=False).encode()).decode()
        self._link.value = (
            f'<a download="rankad-measures.csv" href="data:text/csv;base64,{content}">rankad-measures.csv</a>'
        )

    # The layout

    def _build(self):
        c = self._controls
        # Of fixed heights, so that no message moves the pictures.
        self._status = widgets.HTML(layout={"height": "2.9em", "overflow": "auto"})
        self._note = widgets.HTML(layout={"height": "3.1em", "overflow": "auto"})
        self._tell(HINT)
        self._link = widgets.HTML()
        self._columns, self._absolute, self._preset = column_choosers(), absolute_boxes(), preset_chooser()
        self._preset.observe(self._on_preset, "value")
        for name, box in self._columns.items():
            box.observe(self._on_column(name), "value")
        for name, box in self._absolute.items():
            box.observe(self._on_absolute(name), "value")
        self._brush = widgets.BoundedIntText(value=10, min=1, max=100, description="points a click", **STYLE)
        undo = {
            "undo": lambda _: setattr(self, "points", self.points[: -self._brush.value]),
            "clear": lambda _: setattr(self, "points", []),
        }
        self._pen = widgets.VBox([self._brush, buttons(undo)])
        self._settings = widgets.Textarea(description="settings", rows=12, **STYLE)
        self._code = widgets.Textarea(description="Python", rows=12, disabled=True, **STYLE)
        self._code_side = widgets.ToggleButtons(options=SIDES[::-1], description="code of")
        self._code_side.observe(lambda _: self._drawn and self._write_down(), "value")
        camera = widgets.Dropdown(options=["png", "svg"], description="camera saves", **STYLE)
        camera.observe(self._on_format, "value")

        top = arrange(
            [self._preset, c["data"], *self._columns.values(), self._pen, c["n"], c["seed"]],
            [*(box for name in self._absolute for box in (c[name], self._absolute[name])), c["k"]],
            [c["alpha"], c["anchor"], c["anchor_over_n"], buttons({"reset": self._on_reset})],
        )
        more = arrange(
            [c["left_m"], c["left_edges"], c["right_m"], c["right_edges"]],
            [c["loss"], c["calibration"], c["resamples"], c["solver"]],
            [c["colour"], c["show_support"]],
        )
        share = arrange(
            [self._settings, buttons({"restore these settings": self._on_restore})],
            [self._code, self._code_side],
            [camera, buttons({"measures as CSV": self._on_save}), self._link],
        )
        fold = widgets.Accordion(
            [more, share], titles=("levels, loss, calibration, solver, colours", "save and share")
        )
        self._head = [top, fold, self._status, self._note]
        return widgets.VBox(self._rows(), layout={"max_width": "900px"})

    def _rows(self):
        return [*self._head, *self._screen.rows()]
