import doctest
import subprocess
import sys
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
import sklearn
from click.testing import CliRunner
from crafted import craft
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

import workbench
from workbench import RankAD, RankADCV, archive, cli, persistence
from workbench.baselines import KLPE
from workbench.persistence.transformers import STATES

RNG = np.random.default_rng(0)
UNITS = np.array([1.0, 30.0, 0.2, 5.0, 1e3])
X = RNG.normal(size=(120, 5)) @ RNG.normal(size=(5, 5)) * UNITS + [0, 1, 2, 3, 4]
QUERIES = np.vstack([X, RNG.normal(size=(80, 5)) * 4 * UNITS])
COLUMNS = ["a", "Größe", "c", "d", "e"]


def rankad(**parameters):
    return RankAD(resamples=2, random_state=0, **parameters)


PIPELINES = {
    "standard": lambda: make_pipeline(StandardScaler(), rankad()),
    "mean only": lambda: make_pipeline(StandardScaler(with_std=False), rankad()),
    "nothing": lambda: make_pipeline(StandardScaler(with_mean=False, with_std=False), rankad()),
    "robust": lambda: make_pipeline(RobustScaler(quantile_range=(10.0, 90), unit_variance=True), rankad()),
    "not centred": lambda: make_pipeline(RobustScaler(with_centering=False), rankad()),
    "not scaled": lambda: make_pipeline(RobustScaler(with_scaling=False), rankad()),
    "range": lambda: make_pipeline(MinMaxScaler(feature_range=(-2, 3), clip=True), rankad()),
    "largest": lambda: make_pipeline(MaxAbsScaler(), rankad()),
    "whitened": lambda: make_pipeline(PCA(0.9, whiten=True), rankad()),
    "randomized": lambda: make_pipeline(
        StandardScaler(), PCA(np.int64(2), svd_solver="randomized", random_state=0), rankad()
    ),
    "arpack": lambda: make_pipeline(PCA(3, svd_solver="arpack", random_state=0), rankad()),
    "long": lambda: Pipeline(
        [
            ("first", "passthrough"),
            ("scale", StandardScaler()),
            ("none", None),
            ("turn", PCA(4, svd_solver="full")),
            ("../again", RobustScaler()),
            ("last", rankad(calibration="split", alpha=0.1)),
        ],
        verbose=True,
    ),
    "frames": lambda: make_pipeline(MinMaxScaler(), PCA(3), rankad()).set_output(transform="pandas"),
    "cv": lambda: make_pipeline(
        StandardScaler(), RankADCV(sigma_factors=(1, 4), Cs=(0.01, 0.1), resamples=2, random_state=0)
    ),
    "idle": lambda: Pipeline([("idle", "passthrough"), ("last", rankad(calibration="leave-one-out"))]),
    "alone": lambda: make_pipeline(rankad()),
}


def assert_same_fit(one, other):
    """Fitted attributes equal to the last bit, and arrays at the same places relative to each other."""
    assert type(one) is type(other)
    fitted = {name for name in vars(one) if name.endswith("_") and not name.startswith("_")}
    assert fitted == {name for name in vars(other) if name.endswith("_") and not name.startswith("_")}
    for name in fitted:
        value, again = getattr(one, name), getattr(other, name)
        if isinstance(value, np.ndarray):
            assert (value.dtype, value.strides) == (again.dtype, again.strides), name
            np.testing.assert_array_equal(value, again)
        else:
            assert value == again


def answers(pipeline, queries):
    """Scores, p-values and labels, as bytes."""
    front, last = pipeline[:-1], pipeline[-1]
    points = front.transform(queries) if len(front) else queries
    found = [pipeline.score_samples(queries), last.p_value(points), pipeline.predict(queries)]
    return b"".join(answer.tobytes() for answer in [*found, pipeline.decision_function(queries[:1])])


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("kind", ["array", "single precision", "frame"])
@pytest.mark.parametrize("make", PIPELINES.values(), ids=PIPELINES)
def test_round_trip_to_the_last_bit(make, kind, tmp_path):
    given, queries = X, QUERIES
    if kind == "single precision":
        given, queries = X.astype(np.float32), QUERIES.astype(np.float32)
    elif kind == "frame":
        given, queries = pd.DataFrame(X, columns=COLUMNS), pd.DataFrame(QUERIES, columns=COLUMNS)
    pipeline = make().fit(given)
    workbench.save(pipeline, tmp_path / "model")
    again = workbench.load(tmp_path / "model")

    assert type(again) is Pipeline
    assert [name for name, _ in again.steps] == [name for name, _ in pipeline.steps]
    assert again.verbose == pipeline.verbose
    assert again[-1].get_params() == pipeline[-1].get_params()
    for (_, step), (_, other) in zip(pipeline.steps[:-1], again.steps[:-1], strict=True):
        if step in (None, "passthrough"):
            assert step is other or step == other
        else:
            assert step.get_params() == other.get_params()
            assert_same_fit(step, other)
            assert list(step.get_feature_names_out()) == list(other.get_feature_names_out())
    assert answers(again, queries) == answers(pipeline, queries)
    assert answers(again, QUERIES) == answers(pipeline, QUERIES)  # of another type than it was fitted on
    if kind == "frame":
        wrong = queries.rename(columns={"a": "b"})
        with pytest.raises(ValueError, match="feature names"):
            again.score_samples(wrong)
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            again.score_samples(QUERIES)
    workbench.save(again, tmp_path / "once more")
    assert (tmp_path / "once more").read_bytes() == (tmp_path / "model").read_bytes()
    assert answers(clone(again).fit(given), queries) == answers(pipeline, queries)


def test_the_examples_hold():
    failed, tried = doctest.testmod(persistence)
    assert failed == 0
    assert tried > 10


def test_frames_go_on_being_made(tmp_path):
    frame = pd.DataFrame(X, columns=COLUMNS)
    pipeline = PIPELINES["frames"]().fit(frame)
    workbench.save(pipeline, tmp_path / "model")
    made = workbench.load(tmp_path / "model")[:-1].transform(frame)
    pd.testing.assert_frame_equal(made, pipeline[:-1].transform(frame), check_exact=True)
    assert list(made) == ["pca0", "pca1", "pca2"]


def test_a_new_process_scores_the_same_bits(tmp_path):
    expected = b""
    for name, make in sorted(PIPELINES.items()):
        pipeline = make().fit(X)
        workbench.save(pipeline, tmp_path / name)
        expected += answers(pipeline, QUERIES)
    program = (
        "import sys, pathlib, numpy as np, workbench\n"
        "X = np.frombuffer(sys.stdin.buffer.read()).reshape(-1, 5)\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):\n"
        "    model = workbench.load(path)\n"
        "    points = model[:-1].transform(X) if len(model) > 1 else X\n"
        "    for answer in (model.score_samples(X), model[-1].p_value(points), model.predict(X),\n"
        "                   model.decision_function(X[:1])):\n"
        "        sys.stdout.buffer.write(answer.tobytes())\n"
        "heavy = {'dask', 'distributed', 'pyarrow.csv', 'pyarrow.parquet'} & set(sys.modules)\n"
        "assert not heavy, f'plain use imports {heavy}'\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    outcome = subprocess.run(command, input=QUERIES.tobytes(), capture_output=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == expected


STEPS = st.one_of(
    st.sampled_from([None, "passthrough"]),
    st.builds(StandardScaler, with_mean=st.booleans(), with_std=st.booleans()),
    st.builds(
        RobustScaler, with_centering=st.booleans(), with_scaling=st.booleans(), unit_variance=st.booleans()
    ),
    st.builds(MinMaxScaler, feature_range=st.sampled_from([(0, 1), (-1.0, 5)]), clip=st.booleans()),
    st.builds(MaxAbsScaler),
    st.builds(
        PCA,
        n_components=st.sampled_from([None, 1, 0.8]),
        whiten=st.booleans(),
        svd_solver=st.sampled_from(["full", "auto"]),
    ),
)


@settings(max_examples=50, deadline=None)
@given(
    steps=st.lists(STEPS, max_size=4), rows=st.integers(12, 40), d=st.integers(1, 5), seed=st.integers(0, 999)
)
def test_any_chain_of_steps(steps, rows, d, seed, tmp_path_factory):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(rows, d)) * 10.0 ** rng.integers(-3, 4, d)
    last = RankAD(k=3, resamples=0, tol=0.01, random_state=0)
    pipeline = Pipeline([(f"s{i}", clone(step, safe=False)) for i, step in enumerate([*steps, last])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline.fit(data)
    path = tmp_path_factory.mktemp("chain") / "model"
    workbench.save(pipeline, path)
    assert answers(workbench.load(path), data) == answers(pipeline, data)


def test_a_detector_compressed_in_its_pipeline(tmp_path):
    scale = StandardScaler().fit(X)
    small = make_pipeline(scale, rankad().fit(scale.transform(X)).compress(landmarks=10))
    workbench.save(small, tmp_path / "model")
    again = workbench.load(tmp_path / "model")
    assert again[-1].compressed
    assert answers(again, QUERIES) == answers(small, QUERIES)


def test_formats_are_the_earliest_that_will_do(tmp_path):
    """Releases that know of no steps read detectors, and refuse pipelines."""
    pipeline = make_pipeline(StandardScaler(), rankad()).fit(X)
    for model, version in ((pipeline, 2), (pipeline[-1], 1)):
        workbench.save(model, tmp_path / "model")
        assert archive.read(tmp_path / "model")[0]["format_version"] == version
    pipeline[-1].save(tmp_path / "own")
    assert (tmp_path / "own").read_bytes() == (tmp_path / "model").read_bytes()


class Own(StandardScaler):
    pass


class OwnPipeline(Pipeline):
    pass


def with_missing():
    holed = X.copy()
    holed[0, 0] = np.nan
    scale = StandardScaler().fit(holed)
    return make_pipeline(scale, rankad().fit(scale.transform(X)))


def of_a_later_release():
    pipeline = make_pipeline(StandardScaler(), rankad()).fit(X)
    pipeline[0].skewness_ = np.ones(5)
    return pipeline


def switched_on():
    pipeline = make_pipeline(StandardScaler(with_std=False), rankad()).fit(X)
    pipeline[0].set_params(with_std=True)
    return pipeline


def from_a_callable():
    pipeline = make_pipeline(StandardScaler(), rankad()).fit(X)
    pipeline[0].copy = print
    return pipeline


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: make_pipeline(PolynomialFeatures(), rankad()).fit(X),
            "The step 'polynomialfeatures', PolynomialFeatures, cannot be saved: in front of a detector a "
            "file keeps StandardScaler, RobustScaler, MinMaxScaler, MaxAbsScaler and PCA",
        ),
        (lambda: make_pipeline(Own(), rankad()).fit(X), "The step 'own', Own, cannot be saved"),
        (lambda: make_pipeline(make_pipeline(StandardScaler()), rankad()).fit(X), "The step 'pipeline'"),
        (lambda: OwnPipeline([("r", rankad())]).fit(X), "not OwnPipeline"),
        (lambda: make_pipeline(StandardScaler(), KLPE()).fit(X), "not KLPE"),
        (lambda: make_pipeline(rankad(), StandardScaler()), "not StandardScaler"),
        (lambda: make_pipeline(StandardScaler(), "passthrough").fit(X), "not str"),
        (lambda: Pipeline([]), "not Pipeline"),
        (lambda: StandardScaler().fit(X), "not StandardScaler"),
        (
            lambda: make_pipeline(PCA(3).fit(X), rankad().fit(X)),
            "at the step 'pca', its PCA gives 3 features, and what comes next was fitted on 5",
        ),
        (
            lambda: Pipeline([("a", StandardScaler().fit(X)), ("a", rankad().fit(X))]),
            "could not be loaded: Names provided are not unique",
        ),
        (with_missing, "could not be loaded: at the step 'standardscaler', .*n_samples_seen_"),
        (of_a_later_release, r"its attributes \['skewness_'\] are not known here"),
        (switched_on, "at the step 'standardscaler', it cannot transform"),
        (from_a_callable, "The parameter standardscaler__copy=<built-in function print> cannot be saved"),
    ],
)
def test_what_cannot_be_saved(make, message, tmp_path):
    (tmp_path / "model").write_bytes(b"mine")
    with pytest.raises(ValueError, match=message):
        workbench.save(make(), tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == b"mine"


@pytest.mark.parametrize(
    "pipeline",
    [
        make_pipeline(StandardScaler(), RankAD()),
        make_pipeline(StandardScaler(), RankAD(resamples=0).fit(X)),
        make_pipeline(StandardScaler().fit(X), RankAD()),
    ],
    ids=["both", "scaler", "detector"],
)
def test_what_is_not_fitted(pipeline, tmp_path):
    with pytest.raises(NotFittedError):
        workbench.save(pipeline, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_kept_stands_on_the_card(tmp_path):
    pipeline = Pipeline(
        [("turn", PCA(2, random_state=np.random.RandomState(0))), ("last", rankad())],
        memory=str(tmp_path / "cache"),
    ).fit(X)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline[-1].set_fit_request(sample_weight=True)
    workbench.save(pipeline, tmp_path / "model")
    again, card = workbench.load(tmp_path / "model"), persistence.card(tmp_path / "model")
    assert again.memory is None
    assert again[0].random_state is None
    assert f"memory={str(tmp_path / 'cache')!r} of the pipeline is not kept." in card
    assert "turn__random_state was a RandomState generator" in card
    assert "What RankAD asks for by metadata routing is not kept." in card


@pytest.fixture
def path(tmp_path):
    pipeline = make_pipeline(StandardScaler(), MinMaxScaler(), PCA(3), rankad())
    workbench.save(pipeline.fit(pd.DataFrame(X, columns=COLUMNS)), tmp_path / "model")
    return tmp_path / "model"


def test_no_byte_can_be_flipped(path):
    content = path.read_bytes()
    for place in (*range(0, len(content), 97), *range(len(content) - 64, len(content))):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        with pytest.raises(ValueError, match=r"not a model file|altered or truncated"):
            workbench.load(path)
    path.write_bytes(content)
    workbench.load(path)  # the control: the bytes themselves are accepted


def test_the_crafting_itself_is_accepted(path):
    before = answers(workbench.load(path), pd.DataFrame(X, columns=COLUMNS))
    craft(path)
    assert answers(workbench.load(path), pd.DataFrame(X, columns=COLUMNS)) == before


def step(index, **changes):
    """Change fields of a step; `fitted__name` is a field of a field."""

    def change(header):
        for name, value in changes.items():
            *outer, last = name.split("__")
            place = header["pipeline"]["steps"][index]
            for key in outer:
                place = place[key]
            place[last] = value

    return change


def pipeline(change):
    return lambda header: change(header["pipeline"])


def array(wanted, change):
    return lambda name, value: change(value) if name == wanted else value


def put(place, value):
    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change


def renamed(old, new):
    """An array under another name, listed so."""

    def header(fields):
        fields["arrays"] = {new if name == old else name: value for name, value in fields["arrays"].items()}

    def members(contents):
        return [(f"{new}.npy" if name == f"{old}.npy" else name, content) for name, content in contents]

    return {"header": header, "members": members}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"header": step(0, **{"class": "FunctionTransformer"})}, "the class is 'FunctionTransformer', and"),
        ({"header": step(0, **{"class": "os.system"})}, "the class is 'os.system'"),
        ({"header": step(0, **{"class": "RankAD"})}, "the class is 'RankAD'"),
        ({"header": step(0, **{"class": ["StandardScaler"]})}, "does not describe"),
        ({"header": step(0, **{"class": "RobustScaler"})}, "has no parameters"),
        ({"header": step(0, **{"class": "passthrough"})}, "are not all of its steps"),
        ({"header": step(0, name=3)}, "name of a step is 3"),
        ({"header": step(0, name="pca")}, "Names provided are not unique"),
        ({"header": step(0, name="a__b")}, "must not contain __"),
        ({"header": step(0, name="memory")}, "conflict with constructor arguments"),
        ({"header": step(0, parameters__evil=1)}, r"StandardScaler has no parameters \['evil'\]"),
        ({"header": step(0, parameters__with_mean="yes")}, "'with_mean' parameter of StandardScaler must be"),
        ({"header": step(0, parameters__with_mean={})}, "a parameter is {}"),
        (
            {"header": step(1, parameters__feature_range=["a", "b"], parameters__clip=True)},
            "cannot transform",
        ),
        ({"header": step(0, fitted__n_features_in_=4)}, r"shape \(5,\), not \(4,\)"),
        ({"header": step(0, fitted__n_features_in_=5.0)}, "its n_features_in_ is 5.0"),
        ({"header": step(0, fitted__n_samples_seen_=-1)}, "its n_samples_seen_ goes down to -1"),
        ({"header": step(0, fitted__n_samples_seen_="120")}, "its n_samples_seen_ is '120'"),
        ({"header": step(0, fitted__n_samples_seen_=True)}, "its n_samples_seen_ is True"),
        ({"header": step(0, fitted__n_samples_seen_=None)}, "its n_samples_seen_ is None"),
        ({"header": step(0, fitted__mean_=[1.0] * 5)}, "has the attributes"),
        ({"header": step(0, fitted__evil_=1)}, "has the attributes .*'evil_'"),
        ({"header": step(0, fitted=None)}, "does not describe"),
        ({"header": step(0, output="evil")}, "the output of its StandardScaler is 'evil'"),
        ({"header": step(0, feature_names=["a"])}, "feature names are not 5 names"),
        ({"header": step(0, feature_names=3)}, "feature names are not 5 names"),
        ({"header": step(0, layout={})}, "it has no 'mean_'"),
        ({"header": step(0, layout__mean_=["object", [1]])}, "'mean_' is said to be of dtype 'object'"),
        ({"header": step(0, layout__mean_=["float32", [1]])}, "not what its dtype and its strides can hold"),
        ({"header": step(0, layout__mean_=["float64", [0]])}, "not what its dtype and its strides can hold"),
        ({"header": step(0, layout__mean_=["float64", [10**6]])}, "over 4000001 places in memory"),
        ({"header": step(0, layout__mean_=["float64", [-(10**6)]])}, "over 4000001 places"),
        ({"header": step(0, layout__mean_=["float64", [1.0]])}, "does not describe"),
        ({"header": step(0, layout__mean_=["float64", ["1"]])}, "does not describe"),
        ({"header": step(0, layout__mean_=["float64", [1, 1]])}, "does not describe"),
        ({"header": step(2, layout__components_=["float64", [1, 1]])}, "not what its dtype and its strides"),
        ({"header": step(2, fitted__n_components_=2)}, r"shape \(3, 5\), not \(2, 5\)"),
        ({"header": step(2, fitted__n_components_=None)}, "its n_components_ is None"),
        ({"header": pipeline(lambda p: p["steps"].pop(0))}, "at the step"),
        ({"header": pipeline(lambda p: p["steps"].pop())}, "gives 5 features, and what comes next .* on 3"),
        ({"header": pipeline(lambda p: p["steps"].reverse())}, "at the step"),
        ({"header": pipeline(lambda p: p["steps"].append(p["steps"][2]))}, "at the step"),
        ({"header": pipeline(lambda p: p["steps"].append(3))}, "does not describe"),
        ({"header": pipeline(lambda p: p.update(verbose="loud"))}, "its verbose is 'loud'"),
        ({"header": pipeline(lambda p: p.update(detector=None))}, "name of a step is None"),
        ({"header": pipeline(lambda p: p.pop("detector"))}, "it has no 'detector'"),
        ({"header": lambda header: header.update(pipeline=[])}, "does not describe"),
        ({"header": lambda header: header.pop("pipeline")}, "its format is 2, and 2 is that of pipelines"),
        ({"header": lambda header: header.update(format_version=1)}, "its format is 1, and 2 is that of"),
        ({"arrays": array("0.scale_", put(1, -1.0))}, r"its scale_ goes down to -1\.0"),
        ({"arrays": array("0.scale_", put(1, 0.0))}, r"its scale_ goes down to 0\.0"),
        ({"arrays": array("1.scale_", put(1, -1.0))}, r"its scale_ goes down to -1\.0"),
        ({"arrays": array("0.var_", put(1, -1.0))}, r"its var_ goes down to -1\.0"),
        ({"arrays": array("2.explained_variance_", put(1, -1.0))}, "its explained_variance_ goes down"),
        ({"arrays": array("0.mean_", put(1, np.nan))}, "its mean_ holds missing or infinite"),
        ({"arrays": array("2.components_", put((1, 1), np.inf))}, "its components_ holds missing or inf"),
        ({"arrays": array("0.mean_", lambda a: a[1:])}, r"its mean_ has shape \(4,\), not \(5,\)"),
        ({"arrays": array("2.components_", lambda a: a[:, 1:])}, r"shape \(3, 4\), not \(3, 5\)"),
        ({"arrays": array("2.components_", lambda a: a[1:])}, r"shape \(2, 5\), not \(3, 5\)"),
        ({"arrays": array("2.mean_", lambda a: a[:, None])}, "does not describe"),
        (renamed("0.mean_", "0.evil_"), "it has no 'evil_'"),
        (renamed("0.mean_", "9.mean_"), "has the attributes"),
        (renamed("0.mean_", "mean_"), "its arrays are"),
        (renamed("beta_", "7.beta_"), "its arrays are"),
        (renamed("0.mean_", "..%2f0.mean_"), "its arrays are"),
    ],
)
def test_sealed_files_that_are_wrong_inside_are_refused(change, message, path):
    craft(path, **change)
    with pytest.raises(ValueError, match=message) as caught:
        workbench.load(path)
    assert str(caught.value).startswith(f"The model file {path} does not describe a fitted model: ")


def test_a_chain_whose_widths_do_not_match(tmp_path):
    """A PCA of three components, and a detector of two features from another file."""
    workbench.save(make_pipeline(PCA(3), rankad()).fit(X), tmp_path / "three")
    workbench.save(make_pipeline(PCA(2), rankad()).fit(X), tmp_path / "two")
    (header, arrays), (other, its_arrays) = (archive.read(tmp_path / name) for name in ("two", "three"))
    header["pipeline"] = other["pipeline"]
    arrays |= {name: array for name, array in its_arrays.items() if name.startswith("0.")}
    archive.write(tmp_path / "both", header, arrays, 2)
    with pytest.raises(ValueError, match="its PCA gives 3 features, and what comes next was fitted on 2"):
        workbench.load(tmp_path / "both")


def test_a_small_file_cannot_fill_the_memory(tmp_path):
    """A scaler that keeps no array, of as many features as it says."""
    scaler = StandardScaler(with_mean=False, with_std=False)
    workbench.save(make_pipeline(scaler, rankad()).fit(X), tmp_path / "model")
    craft(tmp_path / "model", header=step(0, fitted__n_features_in_=10**12))
    with pytest.raises(ValueError, match="gives 1000000000000 features, and what comes next was fitted on 5"):
        workbench.load(tmp_path / "model")


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
ANYTHING = st.recursive(
    VALUES | st.sampled_from([*STATES]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@settings(max_examples=100, deadline=None)
@given(data=st.data(), value=ANYTHING)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_whatever_a_step_says_is_read_or_refused_in_a_sentence(data, value, tmp_path_factory):
    path = tmp_path_factory.mktemp("said") / "model"
    workbench.save(make_pipeline(StandardScaler(), MinMaxScaler(), PCA(3), rankad()).fit(X), path)
    steps = archive.read(path)[0]["pipeline"]["steps"]
    index = data.draw(st.integers(0, 2))
    fields = [*steps[index]]
    for outer in ("parameters", "fitted", "layout"):
        fields += [f"{outer}__{name}" for name in steps[index][outer]]
    craft(path, header=step(index, **{data.draw(st.sampled_from(fields)): value}))
    model = None
    with suppress(ValueError):
        model = workbench.load(path)
    if model is None:
        with pytest.raises(ValueError, match=r"(?s)^The model file .* (does not|is sealed but) .*\.$"):
            workbench.load(path)
    else:
        model.score_samples(X)


def test_card(path):
    outcome = CliRunner().invoke(cli.main, ["card", str(path)])
    assert outcome.exit_code == 0
    assert outcome.output == persistence.card(path) + "\n"
    for words in (
        "Pipeline that ends in RankAD, model file format 2",
        "steps         standardscaler: StandardScaler(); minmaxscaler: MinMaxScaler(); pca: PCA(n_comp",
        f"scikit-learn {sklearn.__version__}",
        "120 points of 5 features, 120 trained on",
        "features      a, Größe, c, d, e",
        "calibration   in-sample: p-values count",
        "notes         none",
    ):
        assert words in outcome.output


def test_the_card_of_a_split_says_what_it_rests_on(tmp_path):
    words = "probability at most alpha, exactly so if the steps were fitted on other points. Alarms"
    for first, told in ((StandardScaler(), True), ("passthrough", False)):
        workbench.save(make_pipeline(first, rankad(calibration="split")).fit(X), tmp_path / "model")
        assert (words in persistence.card(tmp_path / "model")) is told


def score(folder, *options):
    command = ["score", str(folder / "model"), str(folder / "data.csv"), "--out", str(folder / "out.csv")]
    return CliRunner().invoke(cli.main, [*command, *options])


@pytest.mark.parametrize("name", ["long", "frames", "whitened", "idle"])
@pytest.mark.parametrize("named", [True, False])
def test_files_are_scored_in_raw_columns(name, named, tmp_path, monkeypatch):
    monkeypatch.setattr(workbench.scoring_files.tables.columns, "CHUNK_BYTES", 4000)
    frame = pd.DataFrame(QUERIES, columns=COLUMNS)
    pipeline = PIPELINES[name]().fit(pd.DataFrame(X, columns=COLUMNS) if named else X)
    workbench.save(pipeline, tmp_path / "model")
    table = frame.assign(note="x")[["note", *reversed(COLUMNS)]] if named else frame
    table.to_csv(tmp_path / "data.csv", index=False)
    outcome = score(tmp_path, "--alpha", "0.2")
    assert outcome.exit_code == 0, outcome.output
    found = pd.read_csv(tmp_path / "out.csv")
    queries = frame if named else QUERIES
    last, points = pipeline[-1], pipeline[:-1].transform(queries)
    np.testing.assert_allclose(found.score, pipeline.score_samples(queries), rtol=0, atol=1e-10)
    # Counts over 120 or fewer: some releases of pandas read the last digit otherwise.
    np.testing.assert_allclose(found.p_value, last.p_value(points), rtol=1e-12)
    np.testing.assert_array_equal(found.alarm, pipeline.predict(queries, alpha=0.2) == -1)
    assert ("Columns not used: note." in outcome.output) is named


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,Größe,c,d\n1,2,3,4\n", "lacks 1 of the columns that the model was fitted on: 'e'"),
        ("a,Größe,c,d,e\n1,2,3,4,x\n", "row 0 (line 2), column 'e', holds 'x'"),
        (
            "a,Größe,c,d,e\n" + "1,2,3,4,5\n" * 300 + "1,2,1e308,4,5\n",
            "In the chunk that begins with row 222: ",
        ),
    ],
    ids=["missing column", "text", "overflow"],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_unusable_data_end_in_a_sentence_and_leave_nothing(text, message, path, monkeypatch):
    monkeypatch.setattr(workbench.scoring_files.tables.columns, "CHUNK_BYTES", 2222)
    folder = path.parent
    (folder / "data.csv").write_text(text)
    (folder / "out.csv").write_text("mine")
    outcome = score(folder, "--overwrite")
    assert outcome.exit_code == 2
    assert message in outcome.output
    assert "Traceback" not in outcome.output
    assert sorted(file.name for file in folder.iterdir()) == ["data.csv", "model", "out.csv"]
    assert (folder / "out.csv").read_text() == "mine"


def test_streams_of_chunks(path):
    frame = pd.DataFrame(QUERIES, columns=COLUMNS)
    model = workbench.load(path)
    one, other = workbench.score_chunks(model, [frame[:150], frame[150:]], alpha=0.2)
    assert len(one.score) == 150
    p = np.concatenate([one.p_value, other.p_value])
    np.testing.assert_array_equal(p, model[-1].p_value(model[:-1].transform(frame)))
    alarm = np.concatenate([one.alarm, other.alarm])
    np.testing.assert_array_equal(alarm, model.predict(frame, alpha=0.2) == -1)
