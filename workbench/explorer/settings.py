"""The state of the explorer: what can be set, what it may be set to, and how it is written down."""

from __future__ import annotations

import json

import numpy as np
import traitlets

from .. import datasets
from ..calibration import CALIBRATIONS
from ..densities import DENSITIES
from ..ranksvm import LOSSES, SOLVERS

DRAWN = "points drawn by hand"
MAX_POINTS = 2000


class Settings(traitlets.HasTraits):
    """Everything a picture of the explorer depends on.

    Attributes
    ----------
    data : str
        A density of :data:`workbench.densities.DENSITIES`, a data set, or "points drawn by hand".
    x_column, y_column : str
        The two columns of a data set; standardised over its nominal points.
    points : list of [x, y]
        The points drawn by hand.
    n, seed : int
        Sample size and seed of the draw.
    k, resamples : int
        Neighbours in Eq. 2, and half splits over which ranks are averaged.
    left_m, right_m : int
        Uniform levels of the two detectors.
    left_edges, right_edges : str
        Cut points of the ranks in their place, as "0.03" or "0.1, 0.5"; empty for uniform levels.
    sigma_over_DK : float
        Bandwidth in multiples of D_K, the mean average k-NN distance of the sample.
    C_times_n : float
        Price of a violated pair in multiples of 1/n.
    loss : str
    anchor : bool
        Whether the point at infinity takes part,
    anchor_over_n : float
        and its weight in multiples of n.
    calibration : str
    solver : str
    alpha : float
        False-alarm level.
    colour : {"level", "p-value"}
        What the points' colour shows.
    show_support : bool
        Whether support vectors are ringed.
    """

    data = traitlets.Enum([*DENSITIES, *datasets.DATASETS, DRAWN], next(iter(DENSITIES)))
    x_column = traitlets.Unicode("")
    y_column = traitlets.Unicode("")
    points = traitlets.List(traitlets.List(traitlets.Float(), minlen=2, maxlen=2), maxlen=MAX_POINTS)
    n = traitlets.Int(600, min=10, max=MAX_POINTS)
    seed = traitlets.Int(0, min=0, max=2**31 - 1)
    k = traitlets.Int(20, min=1, max=300)
    resamples = traitlets.Int(20, min=0, max=50)
    left_m = traitlets.Int(2, min=1, max=10)
    left_edges = traitlets.Unicode("0.03")
    right_m = traitlets.Int(3, min=1, max=10)
    right_edges = traitlets.Unicode("")
    sigma_over_DK = traitlets.Float(2**2.5, min=2**-4, max=2**6)
    C_times_n = traitlets.Float(100.0, min=1e-3, max=1e6)
    loss = traitlets.Enum(LOSSES, "hinge")
    anchor = traitlets.Bool(True)
    anchor_over_n = traitlets.Float(1.0, min=1 / 64, max=64.0)
    calibration = traitlets.Enum(CALIBRATIONS, "in-sample")
    solver = traitlets.Enum(["auto", *SOLVERS], "auto")
    alpha = traitlets.Float(0.05, min=0.01, max=0.5)
    colour = traitlets.Enum(["level", "p-value"], "level")
    show_support = traitlets.Bool(False)

    @traitlets.validate("points")
    def _finite_points(self, proposal):
        if not np.isfinite(np.array(proposal["value"], dtype=float)).all():
            raise traitlets.TraitError("points must be finite numbers, got NaN or infinity among them.")
        return proposal["value"]

    @traitlets.validate("sigma_over_DK", "C_times_n", "anchor_over_n", "alpha")
    def _finite(self, proposal):
        if not np.isfinite(proposal["value"]):
            raise traitlets.TraitError(
                f"{proposal['trait'].name} must be a finite number, got {proposal['value']}."
            )
        return proposal["value"]

    def values(self):
        """Return every setting by name."""
        return {name: getattr(self, name) for name in NAMES}

    def to_json(self):
        """Write every setting down as JSON."""
        return json.dumps(self.values(), indent=1)

    def restore(self, text):
        """Take over the settings in a JSON text; those it does not name keep their defaults.

        Raises
        ------
        ValueError
            If the text is not JSON, names something unknown or holds a value out of range: nothing changes.
        """
        try:
            values = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError(
                f"These settings are not JSON ({error}): paste what the explorer wrote."
            ) from None
        if not isinstance(values, dict):
            raise ValueError(f"Settings are a JSON object, got {text[:40]!r}: paste what the explorer wrote.")
        self.set(**values)

    def set(self, **values):
        """Take over the settings given, and the defaults for all others: all of them or none.

        Raises
        ------
        ValueError
            If a name is unknown or a value out of range.
        """
        if unknown := sorted(set(values) - set(NAMES)):
            raise ValueError(f"There is no setting {unknown[0]!r}: choose from {', '.join(NAMES)}.")
        try:
            complete = Settings(**values).values()
        except (traitlets.TraitError, OverflowError, TypeError) as error:
            raise ValueError(f"{str(error)[:300]} Nothing was changed.") from None
        with self.hold_trait_notifications():
            for name, value in complete.items():
                setattr(self, name, value)


NAMES = tuple(name for name, value in vars(Settings).items() if isinstance(value, traitlets.TraitType))
"""Names of all settings."""

VIEW = ("alpha", "colour", "show_support")
"""Those that change the picture and not the fits."""


def parse_edges(text):
    """Return the cut points written in `text`, or None for uniform levels.

    Raises
    ------
    ValueError
        If they are not numbers separated by commas or spaces.
    """
    words = text.replace(",", " ").split()
    try:
        return [float(word) for word in words] or None
    except ValueError:
        raise ValueError(
            f"Cut points must be numbers between 0 and 1 separated by commas, got {text!r}: "
            "for example 0.03, or leave them empty for uniform levels."
        ) from None


PRESETS = {
    "Fig. 1: two levels against three": (
        {"n": 1000, "C_times_n": 100.0, "sigma_over_DK": 2**3.0},
        "The paper's Figure 1 (a) and (b), \u03c3 near its 1.5. One bit a point, left, leaves the inner "
        "curves to chance; three levels find both peaks. The outermost curve, though, is better on the left.",
    ),
    "Fig. 1 with a small C": (
        {"n": 1000, "C_times_n": 1.0, "sigma_over_DK": 2**2.0},
        "The same densities with C = 1/n: g becomes a weighted kernel density estimate, one bit suffices, "
        "and the paper's contrast is gone.",
    ),
    "Fig. 2: elongated components": (
        {"data": "Fig. 2: two ellipses", "n": 600, "C_times_n": 1.0, "sigma_over_DK": 4.0},
        "The toy of Figure 2 and Table 1: 20% of the points in the upright component, 80% in the other.",
    ),
    "the far field without the anchor": (
        {"data": "Fig. 2: two ellipses", "sigma_over_DK": 1.0, "C_times_n": 1.0, "anchor": False},
        "As printed: far from the data g returns to 0, in the middle of the training scores, and whole "
        "corners of the plane are accepted. Tick the anchor to see the cure.",
    ),
    "\u03c3 too small": (
        {"sigma_over_DK": 0.5, "C_times_n": 1.0},
        "g follows single points: the sets fall apart, and below, in (a), false alarms come several times "
        "as often as \u03b1 says, because training scores flatter themselves.",
    ),
    "split calibration": (
        {"sigma_over_DK": 1.0, "C_times_n": 1.0, "calibration": "split"},
        "Half of the sample trains, half calibrates: curve (a) returns to the diagonal, at the price of a "
        "rougher set. Switch to in-sample to see what it protects from.",
    ),
    "K = 20 is not enough": (
        {"n": 2000, "k": 20, "resamples": 0, "right_m": 10, "sigma_over_DK": 2**2.5},
        "Ranks by 20 neighbours stay noisy however large n is: the points' ranks agree with the truth "
        "only to the Kendall \u03c4 given below the panels. Move k to 150, about n^(2/3), and watch it rise.",
    ),
    "m = 1: the anchor alone": (
        {"left_m": 1, "left_edges": "", "right_m": 3, "C_times_n": 1.0},
        "Left nothing is ranked: the anchored problem with one level is a one-class SVM. Right is RankAD.",
    ),
}
"""Settings that each make one point, and the point."""
