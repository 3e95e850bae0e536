"""The steps of a pipeline in front of its detector as a record and arrays, and back."""

from __future__ import annotations

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from . import transformers
from .values import check_type, reason

_IDLE = (None, "passthrough")


def describe(pipeline, notes):
    """Return what `restore` makes the pipeline from, its detector apart.

    Parameters
    ----------
    pipeline : Pipeline, fitted
    notes : list of str
        What cannot be kept is appended to it.

    Returns
    -------
    record : dict
        Of what JSON has.
    arrays : dict from str to array
        ``3.mean_`` is the attribute ``mean_`` of the step at index 3.
    """
    entries, arrays = [], {}
    for index, (name, step) in enumerate(pipeline.steps[:-1]):
        if step is None or step == "passthrough":
            entries.append({"name": name, "class": step})
            continue
        if not transformers.is_one(step):
            raise ValueError(
                f"The step {name!r}, {type(step).__name__}, cannot be saved: in front of a detector a file "
                f'keeps {transformers.NAMES}, and "passthrough". Save the detector alone, '
                "`pipeline[-1].save(path)`, and prepare its points in the same way each time."
            )
        check_is_fitted(step)
        entry, own = transformers.describe(step, notes, name)
        entries.append({"name": name} | entry)
        arrays |= {f"{index}.{attribute}": array for attribute, array in own.items()}
    for name in ("memory", "transform_input"):
        if getattr(pipeline, name) is not None:  # a cache may hold pickles
            notes.append(f"{name}={getattr(pipeline, name)!r} of the pipeline is not kept.")
    record = {"steps": entries, "detector": pipeline.steps[-1][0], "verbose": bool(pipeline.verbose)}
    try:
        restore(record, arrays, pipeline[-1])
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"This pipeline cannot be saved, for it could not be loaded: {error}. Fit it anew as a whole, or "
            "save its detector alone, `pipeline[-1].save(path)`."
        ) from error
    return record, arrays


def restore(record, arrays, detector):
    """Return the fitted pipeline that `describe` described, or raise an exception that says what is wrong."""
    names = [check_type("name of a step", entry["name"], str) for entry in record["steps"]]
    names.append(check_type("name of a step", record["detector"], str))
    steps, width, used = [(names[-1], detector)], detector.n_features_in_, 0
    # From the end: what comes next says how many features a step must give.
    for index, entry in reversed(list(enumerate(record["steps"]))):
        step, beginning = entry["class"], f"{index}."
        if step not in _IDLE:
            own = {
                name.removeprefix(beginning): array
                for name, array in arrays.items()
                if name.startswith(beginning)
            }
            try:
                step = transformers.restore(entry, own, width)
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(f"at the step {names[index]!r}, {reason(error)}") from error
            width, used = step.n_features_in_, used + len(own)
        steps.insert(0, (names[index], step))
    if used < len(arrays):
        raise ValueError(f"its arrays {sorted(arrays)} are not all of its steps")
    pipeline = Pipeline(steps, verbose=check_type("verbose", record["verbose"], bool))
    pipeline._validate_names(names)
    return pipeline
