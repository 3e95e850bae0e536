"""The state of a fitted RankAD or RankADCV as fields of a header and arrays, and back.

Arrays and fields are under the names of the attributes that they were, so that other programs can score from
them: ``g(x) = sum_j b_j exp(-|x - v_j|^2 / sigma_^2)``, v_j the rows of ``support_vectors_``, which are those
rows of the training sample that ``support_`` names, and b_j the entries of ``beta_`` there (``train_index_``
names the rows that beta_ is of).

Kept: parameters, feature names, everything fitted, and of the RankSVM solution its certificate (pairs,
primal, dual, gap, solver) and its scores. Not kept: the dual point behind the certificate, which cannot be
checked without the training points. Of these the file holds the support vectors. What `compress` and
`p_interval` need beyond them is not kept either: compress first, then save.
"""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module

import numpy as np

from ..ranksvm import RankSVMSolution
from .values import (
    check_type,
    feature_names,
    parameters,
    read_number,
    set_feature_names,
    with_parameters,
    write_number,
)

HOMES = {"RankAD": "workbench.detector", "RankADCV": "workbench.selection"}
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
CERTIFICATE = {
    field.name: {"int": int, "float": float, "str": str, "bool": bool}[field.type]
    for field in fields(RankSVMSolution)
    if field.name not in ("beta", "scores", "dual_point", "rounding", "cut")
}


def is_one(model):
    """Whether this is a detector of just these classes: a subclass may score in another way."""
    kind = type(model).__name__
    return kind in HOMES and type(model) is _class(kind)


def describe(detector, notes):
    """Return the fields of the header and the arrays that `restore` makes the fitted detector from.

    Parameters
    ----------
    detector : RankAD or RankADCV, fitted
    notes : list of str
        What cannot be kept is appended to it.

    Returns
    -------
    header : dict
    arrays : dict from str to array
    """
    kind = type(detector).__name__
    arrays = {name: getattr(detector, name) for name in _ARRAYS} | {_SCORES: detector.solution_.scores}
    scalars = dict(_SCALARS)
    header = {
        "class": kind,
        "data": _data(detector),
        "feature_names": feature_names(detector),
        "parameters": parameters(detector, notes),
        "split": bool(detector._split),
        "compressed": detector.compressed,
        "certificate": {
            name: write_number(of(getattr(detector.solution_, name))) for name, of in CERTIFICATE.items()
        },
    }
    if kind == "RankADCV":
        scalars |= _CV_SCALARS
        header["best_params"] = {name: float(detector.best_params_[name]) for name in ("sigma", "C")}
        header["cv_results"] = list(detector.cv_results_)
        arrays |= {f"cv_results_.{name}": array for name, array in detector.cv_results_.items()}
    header["fitted"] = {name: of(getattr(detector, name)) for name, of in scalars.items()}
    return header, arrays


def restore(header, arrays):
    """Return the fitted detector that `describe` described, or raise an exception that says what is wrong."""
    kind = header["class"]
    if kind not in HOMES:
        raise ValueError(f"its class is {kind!r}, and only {' and '.join(HOMES)} are read")
    of_cv = kind == "RankADCV"
    detector = with_parameters(_class(kind), header["parameters"])

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
        setattr(detector, name, check_type(name, header["fitted"][name], of))
    detector._split = header["split"]
    _check_shapes(detector, arrays[_SCORES])
    set_feature_names(detector, header["feature_names"])

    detector._restore_expansion(check_type("compressed", header["compressed"], bool))
    certificate = {
        name: check_type(name, read_number(header["certificate"][name], of), of)
        for name, of in CERTIFICATE.items()
    }
    detector.solution_ = RankSVMSolution(
        beta=detector.beta_, scores=arrays[_SCORES], dual_point=None, **certificate
    )
    if of_cv:
        best = header["best_params"]
        detector.best_params_ = {name: check_type(name, best[name], float) for name in ("sigma", "C")}
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
    return getattr(import_module(HOMES[kind]), kind)


def _data(detector):
    n, counted = len(detector.train_index_), len(detector.calibration_scores_)
    return {
        "n_samples": n + counted if detector._split else n,
        "n_features": int(detector.n_features_in_),
        "n_train": n,
        "n_calibration": counted,
    }
