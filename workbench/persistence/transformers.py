"""The state of a fitted preprocessing step as a record and arrays, and back.

Which steps: those of `STATES`, whose fitted state is numbers and arrays of numbers.
"""

from __future__ import annotations

import numpy as np
from sklearn import decomposition, preprocessing

from .values import check_type, feature_names, parameters, set_feature_names, with_parameters

# What each class knows once it is fitted. Letters are the axes of an array, d features and k components; an
# attribute without is a number.
STATES = {
    "StandardScaler": {"mean_": "d", "var_": "d", "scale_": "d", "n_samples_seen_": ""},
    "RobustScaler": {"center_": "d", "scale_": "d"},
    "MinMaxScaler": {"min_": "d", "scale_": "d", "data_min_": "d", "data_max_": "d", "data_range_": "d"}
    | {"n_samples_seen_": ""},
    "MaxAbsScaler": {"max_abs_": "d", "scale_": "d", "n_samples_seen_": ""},
    "PCA": {"mean_": "d", "components_": "kd", "explained_variance_": "k", "explained_variance_ratio_": "k"}
    | {"singular_values_": "k", "noise_variance_": "", "n_components_": "", "n_samples_": ""},
}
_LENGTHS = {"d": "n_features_in_", "k": "n_components_"}
_UNLESS_ASKED_FOR = {"StandardScaler": ("mean_", "var_", "scale_"), "RobustScaler": ("center_", "scale_")}
"""Attributes that are None where a parameter says so."""

_ANY_SIGN = {"mean_", "center_", "min_", "data_min_", "data_max_", "components_"}
_ANY_SIGN |= {"noise_variance_"}  # a difference of sums, which rounding takes below 0
_OUTPUTS = (None, "default", "pandas", "polars")

_SPAN = 2**20
"""Places in memory over which any array may lie; larger ones may take 16 times their size."""

NAMES = f"{', '.join(list(STATES)[:-1])} and {list(STATES)[-1]}"


def describe(step, notes, name):
    """Return what `restore` makes the fitted step from.

    Parameters
    ----------
    step : transformer of a class in `STATES`, fitted
    notes : list of str
        What cannot be kept is appended to it.
    name : str
        Of the step, for the notes.

    Returns
    -------
    record : dict
        Of what JSON has.
    arrays : dict from str to array
    """
    state = {attribute: getattr(step, attribute) for attribute in _attributes(type(step).__name__)}
    arrays = {attribute: value for attribute, value in state.items() if np.ndim(value)}
    record = {
        "class": type(step).__name__,
        "parameters": parameters(step, notes, prefix=f"{name}__"),
        "fitted": {
            attribute: value.item() if isinstance(value, np.generic) else value
            for attribute, value in state.items()
            if attribute not in arrays
        },
        "layout": {
            attribute: [array.dtype.name, [stride // array.itemsize for stride in array.strides]]
            for attribute, array in arrays.items()
        },
        "feature_names": feature_names(step),
        "output": getattr(step, "_sklearn_output_config", {}).get("transform"),
    }
    fitted = {own for own in vars(step) if own.endswith("_") and not own.startswith("_")}
    unknown = fitted - {*state, "feature_names_in_"}
    if unknown:
        raise ValueError(
            f"The step {name!r}, {step!r}, cannot be saved: its attributes {sorted(unknown)} are not known "
            "here. Upgrade RankAD Workbench, or save the detector alone."
        )
    return record, arrays


def restore(record, arrays, width):
    """Return the fitted step that `describe` described, or raise an exception that says what is wrong.

    Parameters
    ----------
    record : dict
    arrays : dict from str to array
    width : int
        Number of features that the next step was fitted on.
    """
    kind, fitted = record["class"], record["fitted"]
    if kind not in STATES:
        raise ValueError(f"the class is {kind!r}, and only {NAMES} are read")
    step = with_parameters(_class(kind), record["parameters"])
    step._validate_params()
    arrays = {name: _laid_out(name, array, *record["layout"][name]) for name, array in arrays.items()}
    names = _attributes(kind)
    if sorted([*fitted, *arrays]) != sorted(names):
        raise ValueError(f"its {kind} has the attributes {sorted([*fitted, *arrays])}, not {sorted(names)}")
    state = fitted | arrays
    lengths = {axis: check_type(name, state[name], int) for axis, name in _LENGTHS.items() if name in state}
    for name, axes in names.items():
        if state[name] is not None or name not in _UNLESS_ASKED_FOR.get(kind, ()):
            _check(name, state[name], tuple(lengths[axis] for axis in axes))
        setattr(step, name, state[name])
    if n_features_out(step) != width:
        raise ValueError(
            f"its {kind} gives {n_features_out(step)} features, and what comes next was fitted on {width}"
        )
    try:  # whatever else would make it useless
        with np.errstate(all="ignore"):
            step.transform(np.zeros((1, step.n_features_in_)))
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"it cannot transform points ({error})") from error
    set_feature_names(step, record["feature_names"])
    if record["output"] not in _OUTPUTS:
        raise ValueError(f"the output of its {kind} is {record['output']!r}")
    return step.set_output(transform=record["output"])


def n_features_out(step):
    """Return the number of features that a fitted step gives to the next."""
    return getattr(step, "n_components_", step.n_features_in_)


def is_one(step):
    """Whether this is a transformer of just these classes."""
    kind = type(step).__name__
    return kind in STATES and type(step) is _class(kind)


def _class(kind):
    return getattr(decomposition if kind == "PCA" else preprocessing, kind)


def _attributes(kind):
    return STATES[kind] | {"n_features_in_": ""}


def _check(name, value, shape):
    if np.shape(value) != shape:
        raise ValueError(f"its {name} has shape {np.shape(value)}, not {shape}")
    if not isinstance(value, np.ndarray) if shape else type(value) not in (int, float):
        raise ValueError(f"its {name} is {value!r}")
    if not np.isfinite(value).all():
        raise ValueError(f"its {name} holds missing or infinite values")
    if name not in _ANY_SIGN and (np.min(value) < 0 or (name == "scale_" and np.min(value) == 0)):
        raise ValueError(f"its {name} goes down to {np.min(value)}")


def _laid_out(name, array, dtype, strides):
    """Return the array as it lay in memory, strides in entries: last digits of a product depend on that."""
    if dtype not in ("float64", "float32"):
        raise ValueError(f"the array {name!r} is said to be of dtype {dtype!r}")
    reaches = [abs(stride) * (length - 1) for stride, length in zip(strides, array.shape, strict=True)]
    span = 1 + sum(reaches)
    if span > _SPAN + 16 * array.size:
        raise ValueError(f"the array {name!r} is said to lie over {span} places in memory")
    memory = np.zeros(span, dtype)
    first = sum(reach for reach, stride in zip(reaches, strides, strict=True) if stride < 0)
    item = memory.itemsize
    laid_out = np.ndarray(array.shape, dtype, memory, first * item, [stride * item for stride in strides])
    laid_out[...] = array
    if not np.array_equal(laid_out, array, equal_nan=True):
        raise ValueError(f"the array {name!r} is not what its dtype and its strides can hold")
    return laid_out
