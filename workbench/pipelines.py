"""What a scikit-learn pipeline that ends in a detector is made of."""

from __future__ import annotations

from sklearn.pipeline import Pipeline


def estimators(model):
    """Return what points go through, in order: the steps of a pipeline that do something, then the last.

    Parameters
    ----------
    model : estimator or pipeline
        Of another estimator than a pipeline the answer is that estimator alone.

    Returns
    -------
    list of estimators
    """
    if not isinstance(model, Pipeline):
        return [model]
    steps = [step for _, step in model.steps]
    return [step for step in steps[:-1] if step is not None and step != "passthrough"] + steps[-1:]
