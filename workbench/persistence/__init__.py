"""Fitted models in files: :func:`save`, :func:`load` and the model card, with no pickle anywhere.

The file is that of :mod:`workbench.archive`. What its header and its arrays hold of a detector,
:mod:`workbench.persistence.detectors` says. A pipeline that ends in a detector is that, and what
:mod:`workbench.persistence.steps` adds: the field ``pipeline`` of the header, and arrays whose names begin
with the index of a step. A detector alone has format 1 and a pipeline format 2, so that a release that knows
of no steps refuses it, and does not score without them.
"""

from __future__ import annotations

import platform
from importlib import metadata

import numpy as np
import sklearn
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .. import archive
from ..pipelines import estimators
from . import detectors, steps, transformers
from .values import check_type, feature_names, reason

__all__ = ["card", "load", "save"]

_ALONE, _PIPELINE = 1, 2  # format versions
_WRONG = ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError, MemoryError
"""What comes of a header that says other things than `save` would."""


def save(model, path):
    """Write a fitted detector, or a pipeline that ends in one, to a file for `load` and ``workbench card``.

    The file appears whole or not at all. It holds no pickle; :mod:`workbench.archive` and
    :mod:`workbench.persistence` say what is in it, support vectors, which are training points as the detector
    saw them, included. What is not kept the card says: a `random_state` that is a generator, the `memory` of
    a pipeline.

    Parameters
    ----------
    model : RankAD, RankADCV, or a Pipeline of preprocessing steps that ends in one
        The steps: StandardScaler, RobustScaler, MinMaxScaler, MaxAbsScaler, PCA, and "passthrough".
    path : str or path
        A file that is there is replaced.

    Raises
    ------
    ValueError
        If the model is none of these, of a class of your own, which `load` would not know, or not fitted.
    OSError
        If the file cannot be written; one that was there is unchanged.

    Examples
    --------
    The p-values of a pipeline are those of its last step at the points that the others make:

    >>> import tempfile, workbench
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = workbench.densities.FIG2.sample(100, random_state=0)
    >>> pipeline = make_pipeline(StandardScaler(), workbench.RankAD(random_state=0)).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     workbench.save(pipeline, f"{folder}/scaled.rankad")
    ...     again = workbench.load(f"{folder}/scaled.rankad")
    >>> p = again[-1].p_value(again[:-1].transform(X))
    >>> bool((p == pipeline[-1].p_value(pipeline[:-1].transform(X))).all())
    True
    """
    is_pipeline = type(model) is Pipeline and len(model.steps) > 0
    detector = model.steps[-1][1] if is_pipeline else model
    if not detectors.is_one(detector):
        raise ValueError(
            f"Only {' and '.join(detectors.HOMES)} can be saved, and pipelines of {transformers.NAMES} that "
            f"end in one, not {type(detector).__qualname__}. Of something larger save the part that is one, "
            "for example `search.best_estimator_`."
        )
    check_is_fitted(detector)
    notes = []
    header, arrays = detectors.describe(detector, notes)
    version = _ALONE
    if is_pipeline:
        version = _PIPELINE
        header["pipeline"], more = steps.describe(model, notes)
        arrays |= more
    header |= {"written_with": _versions(), "notes": notes}
    archive.write(path, header, arrays, version)


def load(path):
    """Read a model that :func:`save` or :meth:`workbench.RankAD.save` wrote. It scores bit for bit as it did.

    Nothing in the file is executed: it holds numbers and text, and names some of the classes that `save`
    takes. The same bits are those of the same machine and libraries; elsewhere the last digits of a score
    may differ, as they may for any program.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    RankAD, RankADCV or Pipeline
        Fitted. The `solution_` of a detector has no ``dual_point``; sequences among parameters are tuples.

    Raises
    ------
    ValueError
        If the file is not such a file, is altered or truncated, or comes from a later release.
    OSError
        If there is no such file, or it cannot be read.

    Examples
    --------
    >>> import tempfile, workbench
    >>> X = workbench.densities.FIG2.sample(100, random_state=0)
    >>> detector = workbench.RankAD(random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     detector.save(f"{folder}/fig2.rankad")
    ...     again = workbench.load(f"{folder}/fig2.rankad")
    >>> bool((again.p_value(X) == detector.p_value(X)).all())
    True
    """
    return _read(path)[0]


def card(path):
    """Model card of a saved model as text: what it was fitted on and how, and what is certified of it.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    str

    Raises
    ------
    ValueError, OSError
        As :func:`load`.
    """
    model, header = _read(path)
    *front, detector = estimators(model)
    first = [*front, detector][0]
    solution, data, versions = detector.solution_, header["data"], header["written_with"]
    names = feature_names(first)
    tol = detector.tol
    sections = {
        "written with": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "data": f"{data['n_samples']} points of {first.n_features_in_} features, {data['n_train']} trained "
        f"on, {data['n_calibration']} scores counted by p-values",
        "features": "not named" if names is None else ", ".join(names),
        "parameters": ", ".join(f"{name}={value!r}" for name, value in detector.get_params().items()),
        "fitted": f"k = {detector.k_}, sigma = {detector.sigma_:g}, C = {detector.C_:g}, "
        f"{len(detector.support_)} support vectors",
        "certificate": f"{solution.n_pairs} pairs, primal {solution.primal!r}, dual {solution.dual!r}, "
        f"relative gap {solution.gap:.2g} ({'within' if solution.converged else 'ABOVE'} tol={tol!r}), "
        f"solver {solution.solver}, {solution.n_iter} iterations",
        "calibration": f"{_promise(detector, front)}. Alarms below the score {detector.offset_:.6g} at the "
        "level of the fit",
        "notes": " ".join(header["notes"]) or "none",
    }
    if isinstance(model, Pipeline):
        said = [f"{name}: {' '.join(repr(step).split())}" for name, step in model.steps[:-1]]
        sections = {"steps": "; ".join(said) or "none"} | sections
    width = max(map(len, sections)) + 2
    kind = f"Pipeline that ends in {header['class']}" if isinstance(model, Pipeline) else header["class"]
    lines = [f"{kind}, model file format {header['format_version']}"]
    return "\n".join(lines + [f"{title:{width}}{text}" for title, text in sections.items()])


def _promise(detector, front):
    if detector._split:
        promise = "split: a nominal point has p <= alpha with probability at most alpha"
        return promise + ", exactly so if the steps were fitted on other points" * bool(front)
    return (
        f"{detector.calibration}: p-values count scores of the training points, and promise nothing about "
        "false alarms"
    )


def _read(path):
    header, arrays = archive.read(path)
    try:
        return _model(header, arrays), header
    except _WRONG as error:
        raise ValueError(
            f"The model file {path} does not describe a fitted model: {reason(error)}."
        ) from error


def _model(header, arrays):
    is_pipeline = header["format_version"] == _PIPELINE
    if is_pipeline != ("pipeline" in header):
        raise ValueError(f"its format is {header['format_version']}, and 2 is that of pipelines alone")
    for text in [*header["notes"], *header["written_with"].values()]:
        check_type("text for the card", text, str)
    of_steps = {name: array for name, array in arrays.items() if is_pipeline and name[:1].isdecimal()}
    detector = detectors.restore(header, {name: arrays[name] for name in arrays if name not in of_steps})
    return steps.restore(header["pipeline"], of_steps, detector) if is_pipeline else detector


def _versions():
    try:
        own = metadata.version("rankad-workbench")
    except metadata.PackageNotFoundError:  # run from a folder, not installed
        own = "unknown"
    return {
        "workbench": own,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
