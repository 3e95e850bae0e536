"""Fitted detectors in files: `RankAD.save`, :func:`load`, and the model card, with no pickle anywhere.

The file is that of :mod:`workbench.archive`. Its arrays and the fields of its header are those below, under
the names of the attributes that they were, so that other programs can score from it:
``g(x) = sum_j b_j exp(-|x - v_j|^2 / sigma_^2)``, v_j the rows of ``support_vectors_``, which are those rows
of the training sample that ``support_`` names, and b_j the entries of ``beta_`` there (``train_index_`` names
the rows that beta_ is of).

Kept: parameters, feature names, everything fitted, and of the RankSVM solution its certificate (pairs,
primal, dual, gap, solver) and its scores. Not kept: the dual point behind the certificate, which cannot be
checked without the training points. Of these the file holds the support vectors. What `compress` and
`p_interval` need beyond them is not kept either: compress first, then save.
"""

from __future__ import annotations

import platform
from dataclasses import fields
from importlib import import_module, metadata

import numpy as np
import sklearn
from sklearn.utils.validation import check_is_fitted

from . import archive
from .ranksvm import RankSVMSolution

_HOMES = {"RankAD": ".detector", "RankADCV": ".selection"}
"""The classes that can be stored, and where they live. A file names one of them, and nothing else."""

# Attributes that are arrays: dtype and number of dimensions.
_ARRAYS = {
    "train_index_": ("i", 1),
    "ranks_": ("f", 1),
    "levels_": ("i", 1),
    "beta_": ("f", 1),
    "support_": ("i", 1),
    "support_vectors_": ("f", 2),
    "calibration_scores_": ("f", 1),
}
_SCORES = "solution_scores"
_SCALARS = {"k_": int, "sigma_": float, "C_": float, "offset_": float, "score_error_": float}
_SCALARS |= {"n_features_in_": int}
_CV_SCALARS = {"best_score_": float, "n_fits_": int}
_CERTIFICATE = {
    field.name: {"int": int, "float": float, "str": str, "bool": bool}[field.type]
    for field in fields(RankSVMSolution)
    if field.name not in ("beta", "scores", "dual_point", "rounding", "cut")
}


def save(detector, path):
    """Write a fitted RankAD or RankADCV to a file; see :meth:`workbench.RankAD.save`."""
    kind = type(detector).__name__
    if kind not in _HOMES or type(detector) is not _class(kind):
        raise ValueError(f"Only {' and '.join(_HOMES)} can be saved, not {type(detector).__qualname__}.")
    check_is_fitted(detector)
    notes = []
    parameters = {name: _plain(name, value, notes) for name, value in detector.get_params().items()}
    names = getattr(detector, "feature_names_in_", None)
    arrays = {name: getattr(detector, name) for name in _ARRAYS} | {_SCORES: detector.solution_.scores}
    scalars = dict(_SCALARS)
    header = {
        "class": kind,
        "written_with": _versions(),
        "data": _data(detector),
        "feature_names": None if names is None else [str(name) for name in names],
        "parameters": parameters,
        "notes": notes,
        "split": bool(detector._split),
        "compressed": detector.compressed,
        "certificate": {
            name: _write_number(of(getattr(detector.solution_, name))) for name, of in _CERTIFICATE.items()
        },
    }
    if kind == "RankADCV":
        scalars |= _CV_SCALARS
        header["best_params"] = {name: float(detector.best_params_[name]) for name in ("sigma", "C")}
        header["cv_results"] = list(detector.cv_results_)
        arrays |= {f"cv_results_.{name}": array for name, array in detector.cv_results_.items()}
    header["fitted"] = {name: of(getattr(detector, name)) for name, of in scalars.items()}
    archive.write(path, header, arrays)


def load(path):
    """Read a detector that :meth:`workbench.RankAD.save` wrote. It scores bit for bit as it did.

    Nothing in the file is executed: it holds numbers and text, and names one of the classes RankAD and
    RankADCV. The same bits are those of the same machine and libraries; elsewhere the last digits of a score
    may differ, as they may for any program.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    RankAD or RankADCV
        Fitted. Its `solution_` has no ``dual_point``; sequences among its parameters are tuples.

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
    """Model card of a saved detector as text: what it was fitted on and how, and what is certified of it.

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
    detector, header = _read(path)
    solution, data, versions = detector.solution_, header["data"], header["written_with"]
    names = header["feature_names"]
    tol = detector.tol
    sections = {
        "written with": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "data": f"{data['n_samples']} points of {data['n_features']} features, {data['n_train']} trained on, "
        f"{data['n_calibration']} scores counted by p-values",
        "features": "not named" if names is None else ", ".join(names),
        "parameters": ", ".join(f"{name}={value!r}" for name, value in detector.get_params().items()),
        "fitted": f"k = {detector.k_}, sigma = {detector.sigma_:g}, C = {detector.C_:g}, "
        f"{len(detector.support_)} support vectors",
        "certificate": f"{solution.n_pairs} pairs, primal {solution.primal!r}, dual {solution.dual!r}, "
        f"relative gap {solution.gap:.2g} ({'within' if solution.converged else 'ABOVE'} tol={tol!r}), "
        f"solver {solution.solver}, {solution.n_iter} iterations",
        "calibration": f"{_promise(detector)}. Alarms below the score {detector.offset_:.6g} at the level of "
        "the fit",
        "notes": " ".join(header["notes"]) or "none",
    }
    width = max(map(len, sections)) + 2
    lines = [f"{header['class']}, model file format {header['format_version']}"]
    return "\n".join(lines + [f"{title:{width}}{text}" for title, text in sections.items()])


def _promise(detector):
    if detector._split:
        return "split: a nominal point has p <= alpha with probability at most alpha"
    return (
        f"{detector.calibration}: p-values count scores of the training points, and promise nothing about "
        "false alarms"
    )


def _read(path):
    header, arrays = archive.read(path)
    try:
        return _detector(header, arrays), header
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else error
        raise ValueError(f"The model file {path} does not describe a fitted detector: {reason}.") from error


def _detector(header, arrays):
    kind = header["class"]
    if kind not in _HOMES:
        raise ValueError(f"its class is {kind!r}, and only {' and '.join(_HOMES)} are read")
    of_cv = kind == "RankADCV"
    cls = _class(kind)
    parameters = {name: _tuples(value) for name, value in header["parameters"].items()}
    unknown = set(parameters) - set(cls().get_params())
    if unknown:
        raise ValueError(f"{kind} has no parameters {sorted(unknown)}")
    detector = cls(**parameters)

    searched = {f"cv_results_.{name}": ("fi", 1) for name in header["cv_results"]} if of_cv else {}
    wanted = _ARRAYS | {_SCORES: ("f", 1)} | searched
    if set(arrays) != set(wanted):
        raise ValueError(f"its arrays are {sorted(arrays)}, not {sorted(wanted)}")
    for name, (kinds, ndim) in wanted.items():
        if arrays[name].dtype.kind not in kinds or arrays[name].ndim != ndim:
            raise ValueError(
                f"the array {name!r} has dtype {arrays[name].dtype} and {arrays[name].ndim} axes"
            )
        if not np.isfinite(arrays[name]).all():
            raise ValueError(f"the array {name!r} holds missing or infinite values")
    for name in _ARRAYS:
        setattr(detector, name, arrays[name])
    for name, of in (_SCALARS | (_CV_SCALARS if of_cv else {})).items():
        setattr(detector, name, _check_type(name, header["fitted"][name], of))
    detector._split = header["split"]
    _check_shapes(detector, arrays[_SCORES])
    for text in [*header["notes"], *header["written_with"].values()]:
        _check_type("text for the card", text, str)
    if header["feature_names"] is not None:
        detector.feature_names_in_ = _check_names(header["feature_names"], detector.n_features_in_)

    detector._restore_expansion(_check_type("compressed", header["compressed"], bool))
    certificate = {
        name: _check_type(name, _read_number(header["certificate"][name], of), of)
        for name, of in _CERTIFICATE.items()
    }
    detector.solution_ = RankSVMSolution(
        beta=detector.beta_, scores=arrays[_SCORES], dual_point=None, **certificate
    )
    if of_cv:
        best = header["best_params"]
        detector.best_params_ = {name: _check_type(name, best[name], float) for name in ("sigma", "C")}
        detector.cv_results_ = {name: arrays[f"cv_results_.{name}"] for name in header["cv_results"]}
    if header["data"] != _data(detector):
        raise ValueError(f"its arrays are of other data than it says, {header['data']}")
    return detector


def _check_shapes(detector, scores):
    n, d, count = len(detector.train_index_), detector.n_features_in_, np.count_nonzero(detector.beta_)
    if {len(detector.ranks_), len(detector.levels_), len(detector.beta_), len(scores)} != {n}:
        raise ValueError("its arrays are of different numbers of training points")
    if (np.diff(detector.train_index_) <= 0).any():
        raise ValueError("its training rows are not in ascending order")
    named = np.sort(detector.support_)
    if not np.array_equal(named, detector.train_index_[np.flatnonzero(detector.beta_)]):
        raise ValueError("its support is not where its coefficients are")
    if detector.support_vectors_.shape != (count, d):
        raise ValueError(f"its support vectors are not {count} points of {d} features")
    counted = detector.calibration_scores_
    if len(counted) == 0 or (np.diff(counted) < 0).any():
        raise ValueError("its calibration scores are not in ascending order")
    if not detector.sigma_ > 0 or not isinstance(detector._split, bool):
        raise ValueError(f"its sigma is {detector.sigma_!r} and its split {detector._split!r}")
    if detector.calibration not in type(detector)._calibrations:
        raise ValueError(f"its calibration is {detector.calibration!r}")


def _class(kind):
    return getattr(import_module(_HOMES[kind], __package__), kind)


def _data(detector):
    n, counted = len(detector.train_index_), len(detector.calibration_scores_)
    return {
        "n_samples": n + counted if detector._split else n,
        "n_features": int(detector.n_features_in_),
        "n_train": n,
        "n_calibration": counted,
    }


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


def _plain(name, value, notes):
    """Return a parameter as JSON has it."""
    if isinstance(value, np.random.RandomState):
        notes.append(
            f"{name} was a RandomState generator, of which nothing is kept: a new fit would differ from "
            "this one."
        )
        return None
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(name, entry, notes) for entry in value]
    if isinstance(value, (bool, int)) or (isinstance(value, float) and np.isfinite(value)):
        return value
    raise ValueError(f"The parameter {name}={value!r} cannot be saved: give numbers, text or a list of them.")


def _tuples(value):
    if isinstance(value, dict):
        raise ValueError(f"a parameter is {value!r}")
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _write_number(value):
    """JSON has no infinities: they are written as text."""
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


def _read_number(value, of):
    return float(value) if of is float and value in ("inf", "-inf", "nan") else value


def _check_type(name, value, of):
    if type(value) is not of:
        raise ValueError(f"its {name} is {value!r}")
    return value


def _check_names(names, d):
    if not isinstance(names, list) or len(names) != d or not all(isinstance(name, str) for name in names):
        raise ValueError(f"its feature names are not {d} names")
    return np.array(names, dtype=object)
