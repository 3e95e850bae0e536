"""Parameters, numbers and names as JSON has them, and back."""

from __future__ import annotations

import numpy as np


def parameters(estimator, notes, prefix=""):
    """Return the parameters of an estimator as JSON has them; what cannot be kept is told in `notes`."""
    if "_metadata_request" in vars(estimator):
        notes.append(f"What {type(estimator).__name__} asks for by metadata routing is not kept.")
    given = estimator.get_params(deep=False)
    return {name: _plain(prefix + name, value, notes) for name, value in given.items()}


def with_parameters(cls, parameters):
    """Return an estimator of the class with parameters from a file."""
    unknown = set(parameters) - set(cls().get_params())
    if unknown:
        raise ValueError(f"{cls.__name__} has no parameters {sorted(unknown)} in the releases installed here")
    return cls(**{name: _tuples(value) for name, value in parameters.items()})


def write_number(value):
    """JSON has no infinities: they are written as text."""
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


def read_number(value, of):
    """Return what `write_number` was given."""
    return float(value) if of is float and value in ("inf", "-inf", "nan") else value


def feature_names(estimator):
    """Names of the features that an estimator was fitted on as a list, or None."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def set_feature_names(estimator, names):
    """Give an estimator the names that `feature_names` returned of it."""
    if names is None:
        return
    d = estimator.n_features_in_
    if not isinstance(names, list) or len(names) != d or not all(isinstance(name, str) for name in names):
        raise ValueError(f"its feature names are not {d} names")
    estimator.feature_names_in_ = np.array(names, dtype=object)


def reason(error):
    """Return what an exception says is wrong with a file."""
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def check_type(name, value, of):
    """Return the value if it is of just this type."""
    if type(value) is not of:
        raise ValueError(f"its {name} is {value!r}")
    return value


def _plain(name, value, notes):
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
