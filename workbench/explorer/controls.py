"""The controls: which widget shows which setting, and where it stands."""

from __future__ import annotations

import ipywidgets as widgets
import traitlets

from .fitting import CVXPY_LIMIT
from .settings import PRESETS

STYLE = {"style": {"description_width": "104px"}, "layout": {"width": "97%"}}


def build_controls(settings):
    """Return the widgets by the name of their setting, each tied to it both ways.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    dict from str to ipywidgets.Widget
    """
    traits = settings.traits()

    def limits(name):
        return {"min": traits[name].min, "max": traits[name].max}

    def integer(name, text, step=1):
        return widgets.IntSlider(**limits(name), step=step, description=text, **STYLE)

    def log(base, low, high, text, readout, step=0.25):
        return widgets.FloatLogSlider(
            base=base, min=low, max=high, step=step, description=text, readout_format=readout, **STYLE
        )

    def choice(name, text, options=None):
        return widgets.Dropdown(options=options or traits[name].values, description=text, **STYLE)

    def levels(side):
        return {
            f"{side}_m": integer(f"{side}_m", f"{side}: levels m"),
            f"{side}_edges": widgets.Text(
                description="or cut ranks at", placeholder="0.03, 0.5", continuous_update=False, **STYLE
            ),
        }

    controls = {
        "data": choice("data", "data"),
        "n": integer("n", "n points", 10),
        "seed": widgets.BoundedIntText(**limits("seed"), description="seed", **STYLE),
        "sigma_over_DK": log(2, -4, 6, "\u03c3 / D_K", ".2f"),
        "C_times_n": log(10, -3, 6, "C \u00d7 n", ".3g"),
        "k": integer("k", "k neighbours"),
        "alpha": widgets.FloatSlider(
            **limits("alpha"), step=0.01, description="\u03b1 (level)", readout_format=".2f", **STYLE
        ),
        "anchor": widgets.Checkbox(description="anchor: the point at infinity", indent=False),
        "anchor_over_n": log(2, -6, 6, "its weight / n", ".3g", 1),
        **levels("left"),
        **levels("right"),
        "loss": choice("loss", "loss", [("hinge", "hinge"), ("squared hinge", "squared_hinge")]),
        "resamples": integer("resamples", "resamples"),
        "calibration": choice("calibration", "calibration"),
        "solver": choice(
            "solver",
            "solver",
            [
                ("auto", "auto"),
                ("newton: any n", "newton"),
                (f"cvxpy: to n = {CVXPY_LIMIT}, then newton", "cvxpy"),
            ],
        ),
        "colour": widgets.ToggleButtons(
            options=traits["colour"].values,
            description="colour points by",
            style={"description_width": "104px", "button_width": "80px"},
        ),
        "show_support": widgets.Checkbox(description="ring the support vectors", indent=False),
    }
    for name, control in controls.items():
        traitlets.link((settings, name), (control, "value"))
    return controls


def column_choosers():
    """Two drop-down lists for the columns of a data set."""
    return {f"{axis}_column": widgets.Dropdown(description=f"{axis} column", **STYLE) for axis in "xy"}


def absolute_boxes():
    """Boxes that show sigma and C in absolute terms, and take them so."""
    return {
        name: widgets.FloatText(description=text, continuous_update=False, **STYLE)
        for name, text in (("sigma_over_DK", "\u03c3, data units"), ("C_times_n", "C"))
    }


def preset_chooser():
    """Return the drop-down list of presets, headed by an invitation."""
    return widgets.Dropdown(
        options=[("a point to make \u2026", ""), *((name, name) for name in PRESETS)],
        description="preset",
        **STYLE,
    )


def buttons(actions):
    """Return a row of buttons.

    Parameters
    ----------
    actions : dict from text to callable
    """
    row = [widgets.Button(description=text, layout={"width": "auto"}) for text in actions]
    for button, action in zip(row, actions.values(), strict=True):
        button.on_click(action)
    return widgets.HBox(row)


def arrange(*columns):
    """Return columns of equal width from lists of widgets."""
    width = f"{100 / len(columns):.1f}%"
    return widgets.HBox([widgets.VBox(column, layout={"width": width}) for column in columns])
