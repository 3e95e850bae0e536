"""Which untuned RankAD is best? Candidates for the default on tasks to tune on, and on the paper's data sets.

One factor at a time is varied about two centres, the default and a setting with few neighbours and squared
hinge; then what the levels add is asked where the kernel is wide, the price high or the anchor absent. The
other systems run beside them, each at its own default.
"""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import LocalOutlierFactor

from ..baselines import AKLPE, SYSTEMS, Adapted
from ..criteria import separation
from ..detector import RankAD
from ..neighbors import mean_distance
from .tables import difference_table, pipes
from .tasks import JUDGES, SCALINGS, TUNING, draw, group_of

VERSION = 1

DEFAULT = {
    "k": 20,
    "resamples": 20,
    "m": 3,
    "loss": "hinge",
    "sigma / D_k": 0.5,
    "C n": 1.0,
    "anchor / n": 1.0,
}
FEW = DEFAULT | {"k": 5, "resamples": 0, "loss": "squared_hinge", "sigma / D_k": 0.7}
"""The two centres: RankAD's default, and one with few neighbours."""

FACTORS = {
    "k": (5, 10, 20),
    "resamples": (0, 20),
    "m": (1, 2, 3, 5),
    "loss": ("hinge", "squared_hinge"),
    "sigma / D_k": (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0),
    "C n": (0.1, 1.0, 10.0, 100.0),
    "anchor / n": (0.0, 1 / 3, 1.0, 3.0),
}

TOL = 1e-4


def _candidates():
    """Return settings by name; the name says how they differ from the default, or from few neighbours."""
    found = {"default": DEFAULT, "few": FEW}
    for title, centre in (("default", DEFAULT), ("few", FEW)):
        for factor, values in FACTORS.items():
            for value in values:
                if value != centre[factor]:
                    found[
                        f"{title}, {factor} = {value:.3g}"
                        if not isinstance(value, str)
                        else f"{title}, {value}"
                    ] = centre | {factor: value}
    for wide in (1.0, 2.0, 4.0):
        for m in (1, 3):
            for change in ({"C n": 1.0}, {"C n": 100.0}, {"anchor / n": 0.0}):
                if m == 1 and change == {"anchor / n": 0.0}:
                    continue  # nothing would be left to learn from
                settings = DEFAULT | {"sigma / D_k": wide, "m": m} | change
                if settings not in found.values():
                    ((factor, value),) = change.items()
                    found[f"default, m = {m}, sigma / D_k = {wide:g}, {factor} = {value:g}"] = settings
    return found


CANDIDATES = _candidates()
"""Settings by name; lengths in units of D_k, the mean k-NN distance, of the same k."""

OTHERS = SYSTEMS | {
    "aK-LPE, k = 5, plain": lambda random_state: AKLPE(k=5),
    "aK-LPE, k = 20, plain": lambda random_state: AKLPE(k=20),
    "local outlier factor": lambda random_state: Adapted(LocalOutlierFactor(novelty=True)),
}
"""The systems of the paper at their defaults, and three more."""


def cells(quick, runs=None):
    """List the cells: a task, a scaling, a seed and a sample size each.

    Parameters
    ----------
    quick : bool
        Some twenty small cells, or all: the tasks to tune on once, the paper's data sets three times.
    runs : int, optional
        Instead of these numbers.

    Returns
    -------
    list of dict
    """
    if quick:
        return [
            {"task": task, "scaling": "standardised", "seed": seed, "n_train": 150}
            for task in (*TUNING[::4], "mammography", "satellite", "mulcross")
            for seed in range(runs or 1)
        ]
    return [
        {"task": task, "scaling": scaling, "seed": seed, "n_train": n}
        for tasks, seeds, n in ((TUNING, 1, 300), (JUDGES, 3, 600))
        for task in tasks
        for scaling in SCALINGS
        for seed in range(runs or seeds)
    ]


def run(*, task, scaling, seed, n_train):
    """Test AUC of each candidate and of each other system, by name.

    Parameters
    ----------
    task, scaling, seed, n_train
        As :func:`workbench.experiments.tasks.draw` takes them.

    Returns
    -------
    dict from str to float
        NaN where a system refuses the sample, as those do that need more points.
    """
    split = draw(task, scaling=scaling, seed=seed, n_train=n_train)
    X, n, nominal = split.X_train, len(split.X_train), split.y_test == 0
    largest = n // 2 - 1
    out = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        for name, settings in CANDIDATES.items():
            k = min(settings["k"], largest)
            detector = RankAD(
                k=k,
                m=settings["m"],
                sigma=settings["sigma / D_k"] * mean_distance(X, k),
                C=settings["C n"] / n,
                loss=settings["loss"],
                anchor=settings["anchor / n"] * n,
                resamples=settings["resamples"],
                tol=TOL,
                random_state=seed,
            )
            out[name] = _auc(detector, X, split.X_test, nominal)
        for name, make in OTHERS.items():
            try:
                out[name] = _auc(make(random_state=seed), X, split.X_test, nominal)
            except ValueError:
                out[name] = float("nan")
    return out


def report(records):
    """Compare candidates and systems with the default.

    Parameters
    ----------
    records : pandas.DataFrame
        A row for each cell: its parameters, and what `run` returned.

    Returns
    -------
    str
        Markdown.
    """
    frame = records.assign(group=records["task"].map(group_of))
    parts = ["## The default of RankAD", ""]
    for title, part in (
        ("the tasks to tune on", frame[frame["group"] != "paper"]),
        ("the paper's data sets, which nothing was tuned on,", frame[frame["group"] == "paper"]),
    ):
        for scaling in SCALINGS:
            some = part[part["scaling"] == scaling]
            if len(some):
                auc = some.groupby(["group", "task"])[[*CANDIDATES, *OTHERS]].mean()
                parts += [
                    f"AUC on {title} {scaling} ({len(auc)} tasks), the best first. The last columns show "
                    "what each gains (+) or loses (-) against the default, with 95% intervals by bootstrap "
                    'over tasks. "few" is k = 5, plain ranks, squared hinge, sigma = 0.7 D_5.',
                    "",
                    pipes(difference_table(auc, "default")),
                    "",
                ]
    return "\n".join(parts)


def _auc(detector, X, X_test, nominal):
    g = detector.fit(X).score_samples(X_test)
    return separation(g[nominal], g[~nominal])
