r"""A fitted detector as an ONNX graph: scores, p-values and labels in any runtime, without Python.

The graph does what :class:`workbench.expansions.KernelExpansion` does, in its order: points centred and
scaled, pulled in where they are out of every centre's reach, exponents from one matrix product, or from
coordinate differences where the detector itself needs them, exponential, weighted sum. Its scores are
within twice `score_error_` of an uncompressed detector's own; the p-value counts the calibration scores at
or below the score, as Eq. 4 does. Steps in front of the detector are affine maps, and are done in
scikit-learn's order: scalers to the same bits, PCA to the rounding of a matrix product.

All numbers are double precision. Operators are those of opset 17 (2022).
"""

from __future__ import annotations

import json
from itertools import count

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from .detector import RankAD
from .expansions import LEAST_EXPONENT, REACH
from .pipelines import estimators

OPSET = 17
IR_VERSION = 8
"""The version of the file format that came with that opset: runtimes refuse those later than themselves."""


def to_onnx(detector):
    """Write a fitted detector as an ONNX model: input ``X``; outputs ``score``, ``p_value``, ``label``.

    ``X`` is float64 of shape (q, d), q free. ``score`` and ``p_value`` are float64 of shape (q,), what
    `score_samples` and `p_value` give; ``label``, int64 of shape (q,), is what `predict` gives at the level
    `alpha` of the fit. A graph cannot refuse a row: one with a missing or infinite value, or one that steps
    make infinite, gets NaN for score and p-value, and the label of an alarm. Memory grows like q times the
    number of support vectors or calibration scores: score large tables in portions.

    Parameters
    ----------
    detector : RankAD, RankADCV, or a pipeline that ends in one
        In front may be StandardScaler, RobustScaler, MinMaxScaler, MaxAbsScaler and PCA. Compressed
        detectors (:meth:`workbench.RankAD.compress`) give smaller and faster graphs.

    Returns
    -------
    onnx.ModelProto
        For ``onnx.save``. Its `metadata_props` hold ``alpha``, ``calibration``, ``score_error`` and, if the
        detector has them, ``feature_names``, a list in JSON. Like a model file it holds training points, the
        support vectors.

    Raises
    ------
    ImportError
        If onnx is not installed.
    ValueError
        For another kind of detector or step.
    sklearn.exceptions.NotFittedError
        If it is not fitted.

    Examples
    --------
    >>> from workbench import RankAD, densities, to_onnx
    >>> model = to_onnx(RankAD(random_state=0).fit(densities.FIG2.sample(100, random_state=0)))
    >>> [output.name for output in model.graph.output]
    ['score', 'p_value', 'label']
    """
    steps, final = _steps(detector)
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            'to_onnx needs onnx, which is not installed: pip install "rankad-workbench[onnx]".'
        ) from error

    graph = _Graph()
    Z = "X"
    known = _nan_where_unknown(graph, Z)
    for step in steps:
        Z = _AFFINE[type(step)](graph, Z, step)
        known = graph.add("Add", known, _nan_where_unknown(graph, Z))
    g = graph.add("Add", _score(graph, Z, final.g_), known, to="score")
    _judge(graph, g, final)

    first, free = [*steps, final][0], "q"
    floats, integers = onnx.TensorProto.DOUBLE, onnx.TensorProto.INT64
    outputs = {"score": floats, "p_value": floats, "label": integers}
    model = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes,
            type(final).__name__,
            [onnx.helper.make_tensor_value_info("X", floats, [free, first.n_features_in_])],
            [onnx.helper.make_tensor_value_info(name, kind, [free]) for name, kind in outputs.items()],
            graph.constants,
        ),
        producer_name="rankad-workbench",
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    properties = {"alpha": repr(float(final.alpha)), "calibration": final.calibration}
    properties["score_error"] = repr(float(final.score_error_))
    names = getattr(first, "feature_names_in_", None)
    if names is not None:
        properties["feature_names"] = json.dumps([str(name) for name in names])
    onnx.helper.set_model_props(model, properties)
    return model


def _steps(detector):
    """Return the steps in front, and the RankAD at the end, all fitted."""
    steps = estimators(detector)
    final = steps.pop() if steps else None
    if not isinstance(final, RankAD):
        raise ValueError(
            f"to_onnx takes RankAD, RankADCV and pipelines that end in one, not {detector!r}. For "
            "scikit-learn's own estimators there is the package skl2onnx."
        )
    for step in steps:
        if type(step) not in _AFFINE:
            known = ", ".join(cls.__name__ for cls in _AFFINE)
            raise ValueError(
                f"to_onnx knows {known} in front of RankAD, and not {step!r}. Leave that step out, export "
                "the detector alone and prepare its points in the same way."
            )
    for step in [*steps, final]:
        check_is_fitted(step)
    return steps, final


def _standardised(graph, X, scaler):
    return _divided(graph, X, scaler.with_mean, scaler.mean_, scaler.with_std, scaler.scale_)


def _robust(graph, X, scaler):
    return _divided(graph, X, scaler.with_centering, scaler.center_, scaler.with_scaling, scaler.scale_)


def _divided(graph, X, is_centred, centre, is_scaled, scale):
    if is_centred:
        X = graph.add("Sub", X, centre)
    return graph.add("Div", X, scale) if is_scaled else X


def _to_a_range(graph, X, scaler):
    X = graph.add("Add", graph.add("Mul", X, scaler.scale_), scaler.min_)
    return graph.add("Clip", X, *map(float, scaler.feature_range)) if scaler.clip else X


def _by_the_largest(graph, X, scaler):
    X = graph.add("Div", X, scaler.scale_)
    is_clipped = getattr(scaler, "clip", False)  # early releases of scikit-learn do not have it
    return graph.add("Clip", X, -1.0, 1.0) if is_clipped else X


def _projected(graph, X, pca):
    X = graph.add("MatMul", X, pca.components_.T)
    X = graph.add("Sub", X, pca.mean_[None] @ pca.components_.T)
    if not pca.whiten:
        return X
    scale = np.sqrt(pca.explained_variance_)
    return graph.add("Div", X, np.maximum(scale, np.finfo(scale.dtype).eps))


_AFFINE = {
    StandardScaler: _standardised,
    RobustScaler: _robust,
    MinMaxScaler: _to_a_range,
    MaxAbsScaler: _by_the_largest,
    PCA: _projected,
}


def _nan_where_unknown(graph, X):
    """0 for each row of finite numbers, NaN for the others: 0 times inf is NaN."""
    return graph.add("ReduceSum", graph.add("Mul", X, 0.0), np.array([1]), keepdims=0)


def _score(graph, X, g):
    limit = g.radius + REACH
    Z = graph.add("Div", graph.add("Sub", X, g.origin), np.float64(g.sigma))
    Z = graph.add("Clip", Z, -limit, limit)
    Y = np.ascontiguousarray(g.centred(g.centres))
    if g.by_products:
        squares = np.einsum("ij,ij->i", Y, Y)
        exponents = graph.add("Sub", graph.add("MatMul", Z, 2 * Y.T), squares)
        norms = graph.add("ReduceSum", graph.add("Mul", Z, Z), np.array([1]), keepdims=1)
        exponents = graph.add("Sub", exponents, norms)
    else:
        exponents = graph.add("Neg", _squared_distances(graph, Z, Y))
    # Denormal numbers would take many times as long.
    K = graph.add("Exp", graph.add("Max", exponents, LEAST_EXPONENT))
    # A column, for runtimes take no empty matrix times a vector.
    return graph.add("Squeeze", graph.add("MatMul", K, g.coefficients[:, None]), np.array([1]))


def _squared_distances(graph, Z, Y):
    """Sum of squared differences, feature by feature: no more memory than the result takes."""
    from onnx import TensorProto, helper

    none = np.zeros((1, len(Y)))
    shape = graph.add("Concat", _length(graph, Z), np.array([len(Y)]), axis=0)
    start = graph.add("Expand", none, shape)
    step = _Graph("step_")
    difference = step.add("Sub", step.add("Unsqueeze", "z", np.array([1])), "y")
    step.add("Add", "sum", step.add("Mul", difference, difference), to="next")
    body = helper.make_graph(
        step.nodes,
        "one_feature",
        [helper.make_tensor_value_info(name, TensorProto.DOUBLE, None) for name in ("sum", "z", "y")],
        [helper.make_tensor_value_info("next", TensorProto.DOUBLE, None)],
        step.constants,
    )
    columns = graph.add("Transpose", Z, perm=[1, 0])
    return graph.add("Scan", start, columns, np.ascontiguousarray(Y.T), body=body, num_scan_inputs=2)


def _length(graph, X):
    return graph.add("Gather", graph.add("Shape", X), np.array([0]))


def _judge(graph, g, detector):
    """p-value, by counting calibration scores, and label; comparisons with NaN are false."""
    from onnx import TensorProto

    scores = detector.calibration_scores_
    split = int(detector._split)
    columns = graph.add("Unsqueeze", g, np.array([1]))
    below = graph.add("Cast", graph.add("GreaterOrEqual", columns, scores), to_type=TensorProto.DOUBLE)
    counted = graph.add("ReduceSum", below, np.array([1]), keepdims=0)
    if split:
        counted = graph.add("Add", counted, 1.0)
    p = graph.add("Div", counted, float(split + len(scores)))
    graph.add("Where", graph.add("IsNaN", g), np.nan, p, to="p_value")
    nominal = graph.add("GreaterOrEqual", g, detector.offset_)
    graph.add("Where", nominal, np.array(1), np.array(-1), to="label")


class _Graph:
    """Nodes and constants in the making; names are numbered."""

    def __init__(self, prefix=""):
        self.nodes, self.constants = [], []
        self._names = (f"{prefix}{i}" for i in count())

    def add(self, kind, *inputs, to=None, to_type=None, **attributes):
        """Add a node whose inputs are names or constants, and return the name of its output."""
        from onnx import helper

        if to_type is not None:
            attributes["to"] = to_type
        to = to or f"{kind.lower()}_{next(self._names)}"
        inputs = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        self.nodes.append(helper.make_node(kind, inputs, [to], **attributes))
        return to

    def _constant(self, value):
        from onnx import numpy_helper

        name = f"constant_{next(self._names)}"
        value = np.asarray(value)
        if value.dtype == np.float32:  # steps that were fitted on such numbers
            value = value.astype(float)
        self.constants.append(numpy_helper.from_array(value, name))
        return name
