import errno
import hashlib
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from crafted import craft, reseal
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import workbench
from workbench import RankAD, RankADCV, archive, cli, persistence
from workbench.baselines import KLPE
from workbench.densities import FIG2

QUERIES = np.vstack([FIG2.sample(200, random_state=1), [[1e3, 0.0], [0.0, 1e300]]])


@pytest.fixture(scope="module")
def X():
    return FIG2.sample(120, random_state=0)


@pytest.fixture(scope="module")
def detector(X):
    return RankAD(random_state=0, edges=[0.2, 0.6]).fit(X)


@pytest.fixture
def path(detector, tmp_path):
    detector.save(tmp_path / "model")
    return tmp_path / "model"


def same(one, other):
    """Whether two fitted attributes are equal to the last bit."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return one == other


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        lambda: RankAD(random_state=0, calibration="leave-one-out"),
        lambda: RankAD(random_state=0),
        lambda: RankAD(random_state=1, calibration="split", alpha=0.1),
        lambda: RankAD(k=np.int64(5), sigma=np.float64(2.0), C=1, edges=np.array([0.3]), random_state=0),
        lambda: RankADCV(sigma_factors=(1, 4), Cs=(0.01, 0.1), random_state=0, calibration="split"),
    ],
    ids=["leave-one-out", "in-sample", "split", "numbers of numpy", "cv"],
)
def test_round_trip_to_the_last_bit(make, as_frame, X, tmp_path):
    queries = QUERIES
    if as_frame:
        X, queries = pd.DataFrame(X, columns=["a", "Größe"]), pd.DataFrame(QUERIES, columns=["a", "Größe"])
    detector = make().fit(X)
    detector.save(tmp_path / "model")
    again = workbench.load(tmp_path / "model")
    assert type(again) is type(detector)
    assert set(vars(again)) == set(vars(detector)), "an attribute is not kept"
    parameters = detector.get_params()
    for name, value in vars(detector).items():
        if name in parameters:
            assert np.array_equal(getattr(again, name), value)
        elif name == "g_":  # a function: compared by what it gives
            continue
        elif name not in ("solution_", "_calibration_points", "_own_terms"):  # what is not kept
            assert same(value, getattr(again, name)), name
    for name in persistence.detectors.CERTIFICATE:
        assert getattr(again.solution_, name) == getattr(detector.solution_, name)
    np.testing.assert_array_equal(again.solution_.scores, detector.solution_.scores)
    assert again.solution_.dual_point is None
    for method in ("score_samples", "p_value", "predict", "decision_function"):
        np.testing.assert_array_equal(getattr(again, method)(queries), getattr(detector, method)(queries))
    if as_frame:
        with pytest.raises(ValueError, match="feature names"):
            again.score_samples(queries.rename(columns={"a": "b"}))
    again.save(tmp_path / "once more")
    assert (tmp_path / "once more").read_bytes() == (tmp_path / "model").read_bytes()
    np.testing.assert_array_equal(again.fit(X).beta_, detector.fit(X).beta_)


def test_a_new_process_scores_the_same_bits_and_cannot_write_to_a_read_only_folder(detector, path):
    program = (
        "import os, sys, numpy as np, workbench\n"
        "detector = workbench.load(sys.argv[1])\n"
        "X = np.frombuffer(sys.stdin.buffer.read()).reshape(-1, 2)\n"
        "sys.stdout.buffer.write(detector.score_samples(X).tobytes() + detector.p_value(X).tobytes())\n"
        "heavy = {'dask', 'distributed', 'pyarrow.csv', 'pyarrow.parquet'} & set(sys.modules)\n"
        "assert not heavy, f'plain use imports {heavy}'\n"
        "if os.getuid() == 0: os.setgid(65534), os.setuid(65534)\n"  # root may write anywhere
        "detector.save(sys.argv[1])"
    )
    content = path.read_bytes()
    path.parent.chmod(0o555)
    outcome = subprocess.run(
        [sys.executable, "-c", program, str(path)], input=QUERIES.tobytes(), capture_output=True, check=False
    )
    path.parent.chmod(0o755)
    assert outcome.stdout == detector.score_samples(QUERIES).tobytes() + detector.p_value(QUERIES).tobytes()
    assert b"could not be written: Permission denied. What was there before is unchanged" in outcome.stderr
    assert [file.name for file in path.parent.iterdir()] == ["model"]
    assert path.read_bytes() == content


def test_other_programs_can_score_from_the_file(detector, path):
    """By the words of the documentation: numpy alone, and nothing of ours."""
    with np.load(path, allow_pickle=False) as file:
        beta, centres = file["beta_"], file["support_vectors_"]
    with zipfile.ZipFile(path) as file:
        sigma = json.loads(file.read("header.json"))["fitted"]["sigma_"]
    squares = ((QUERIES[:200, None] - centres) ** 2).sum(axis=2)
    g = np.exp(-squares / sigma**2) @ beta[beta != 0]
    np.testing.assert_allclose(g, detector.score_samples(QUERIES[:200]), atol=1e-12)
    content = path.read_bytes()
    assert hashlib.sha256(content[:-64]).hexdigest().encode() == content[-64:]


def test_what_cannot_be_saved(X, tmp_path):
    class Own(RankAD):
        pass

    with pytest.raises(NotFittedError):
        RankAD().save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"Only RankAD and RankADCV can be saved, .* not .*Own"):
        Own(k=5).fit(X).save(tmp_path / "model")
    with pytest.raises(ValueError, match="not KLPE"):
        persistence.save(KLPE().fit(X), tmp_path / "model")
    with pytest.raises(ValueError, match=r"parameter k=<object .* cannot be saved"):
        RankAD(k=5).fit(X).set_params(k=object()).save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_generator_is_not_kept_and_the_card_says_so(X, tmp_path):
    RankAD(random_state=np.random.RandomState(0)).fit(X).save(tmp_path / "model")
    assert workbench.load(tmp_path / "model").random_state is None
    assert "random_state was a RandomState generator" in persistence.card(tmp_path / "model")


def test_infinite_numbers_of_a_certificate_are_kept(detector, tmp_path):
    from copy import copy
    from dataclasses import replace

    odd = copy(detector)
    odd.solution_ = replace(detector.solution_, gap=np.inf, converged=False)
    odd.save(tmp_path / "model")
    assert workbench.load(tmp_path / "model").solution_.gap == np.inf
    assert "ABOVE" in persistence.card(tmp_path / "model")


def test_card(detector, path):
    outcome = CliRunner().invoke(cli.main, ["card", str(path)])
    assert outcome.exit_code == 0
    assert outcome.output == persistence.card(path) + "\n"
    solution = detector.solution_
    for words in (
        "RankAD, model file format 1",
        f"numpy {np.__version__}",
        "120 points of 2 features, 120 trained on",
        "edges=(0.2, 0.6)",
        f"k = 20, sigma = {detector.sigma_:g}",
        f"{solution.n_pairs} pairs, primal {solution.primal!r}, dual {solution.dual!r}",
        "(within tol=1e-06), solver newton",
        "calibration   in-sample: p-values count scores of the training points",
    ):
        assert words in outcome.output


def test_card_refuses_in_a_sentence(tmp_path):
    (tmp_path / "model").write_bytes(b"nothing")
    outcome = CliRunner().invoke(cli.main, ["card", str(tmp_path / "model")])
    assert outcome.exit_code == 2
    assert "is not a model file of RankAD Workbench" in outcome.output


def test_no_byte_can_be_flipped_and_none_cut_off_or_added(X, tmp_path):
    RankAD(random_state=0).fit(X[:25]).save(tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    other = tmp_path / "other"
    # Whole: the first record, the directory and the seal.
    ends = (*range(100), *range(len(content) - 800, len(content)))
    for place in sorted({*ends, *range(0, len(content), 5)}):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        other.write_bytes(changed)
        with pytest.raises(ValueError, match=r"not a model file|altered or truncated"):
            workbench.load(other)
    for wrong in (content[:-1], content[:5000], content[:50], content[1:], content + b"0", b"\n" + content):
        other.write_bytes(wrong)
        with pytest.raises(ValueError, match=r"not a model file|altered or truncated"):
            workbench.load(other)
    other.write_bytes(content)
    workbench.load(other)  # the control: the bytes themselves are accepted


def test_foreign_files(tmp_path, detector):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    path = tmp_path / "model"
    with zipfile.ZipFile(tmp_path / "zip", "w") as file:
        file.writestr("readme.txt", "hello")
    np.savez(tmp_path / "some.npz", x=np.arange(3))
    path.write_bytes(pickle.dumps([Trap(), detector]))
    for foreign in (path, tmp_path / "zip", tmp_path / "some.npz"):
        with pytest.raises(ValueError, match="is not a model file of RankAD Workbench"):
            workbench.load(foreign)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="is not a model file"):
        workbench.load(path)
    with pytest.raises(FileNotFoundError):
        workbench.load(tmp_path / "missing")
    assert not (tmp_path / "executed").exists()


def test_an_array_of_objects_is_never_unpickled(path, tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    craft(path, arrays=lambda name, array: np.array([Trap()]) if name == "beta_" else array)
    with pytest.raises(ValueError, match=r"kind that is not read here \(\|O\)"):
        workbench.load(path)
    assert not (tmp_path / "executed").exists()


def test_a_future_version_is_named(path):
    craft(path, header=lambda fields: fields.update(format_version=3))
    with pytest.raises(ValueError, match=r"has format 3, and this release reads formats up to 2\. Upgrade"):
        workbench.load(path)


@pytest.mark.parametrize(
    ("what", "change", "message"),
    [
        ("compression", zipfile.ZIP_DEFLATED, "is compressed"),
        ("members", lambda c: [*c, ("../../evil.npy", b"x")], "lists other arrays"),
        ("members", lambda c: [*c, ("/etc/evil", b"x")], "lists other arrays"),
        ("members", lambda c: c[:-1], "lists other arrays"),
        ("members", lambda c: [*c, c[1]], "once each"),
        ("members", lambda c: c[1:] + c[:1], "not a model file"),
        ("header", lambda f: f.update(format="other"), "format is 'other'"),
        ("header", lambda f: f.update(format_version="1"), "version '1'"),
        ("header", lambda f: f.update(format_version=True), "version True"),
        ("header", lambda f: f.pop("arrays"), "arrays"),
        (
            "header",
            lambda f: f["arrays"]["beta_"].update(sha256="0" * 64),
            "'beta_' does not have the sha",
        ),
        (
            "header",
            lambda f: f["arrays"]["beta_"].update(shape=[7]),
            "'beta_' has not the dtype and shape",
        ),
        ("header", lambda f: f.update({"class": "os.system"}), "its class is 'os.system'"),
        ("header", lambda f: f.update({"class": ["RankAD"]}), "does not describe"),
        ("header", lambda f: f.pop("class"), "it has no 'class'"),
        ("header", lambda f: f["parameters"].update(__class__="x"), "no parameters"),
        ("header", lambda f: f["parameters"].update(k={"a": 1}), "a parameter is"),
        ("header", lambda f: f["parameters"].update(calibration="other"), "its calibration is 'other'"),
        ("header", lambda f: f["fitted"].update(sigma_="1"), "its sigma_ is '1'"),
        ("header", lambda f: f["fitted"].update(sigma_=-1.0), "its sigma is -1.0"),
        ("header", lambda f: f["fitted"].update(n_features_in_=3), "support vectors are not"),
        ("header", lambda f: f["fitted"].pop("offset_"), "it has no 'offset_'"),
        ("header", lambda f: f.update(split="yes"), "its split 'yes'"),
        ("header", lambda f: f.update(feature_names=["a"]), "feature names are not 2 names"),
        ("header", lambda f: f.update(feature_names=["a", 3]), "feature names are not 2 names"),
        ("header", lambda f: f["certificate"].update(gap="small"), "its gap is 'small'"),
        ("header", lambda f: f["data"].update(n_samples=7), "of other data than it says"),
        ("header", lambda f: f.update(notes=[{}]), "text for the card is {}"),
        ("header", lambda f: f.update(written_with=3), "does not describe"),
        ("arrays", lambda name, a: a[::-1].copy() if name == "calibration_scores_" else a, "ascending"),
        ("arrays", lambda name, a: a[::-1].copy() if name == "train_index_" else a, "training rows are not"),
        ("arrays", lambda name, a: a + 1 if name == "support_" else a, "support is not where"),
        ("arrays", lambda name, a: a[1:] if name == "beta_" else a, "different numbers of training"),
        ("arrays", lambda name, a: a * np.nan if name == "beta_" else a, "missing or infinite"),
        ("arrays", lambda name, a: a[:, :, None] if name == "support_vectors_" else a, "3 axes"),
        ("arrays", lambda name, a: a.astype("<i8") if name == "beta_" else a, "dtype int64"),
        ("arrays", lambda name, a: a.astype(">f8") if name == "beta_" else a, "not read here"),
        ("arrays", lambda name, a: np.asfortranarray(a), "not read here"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_sealed_files_that_are_wrong_inside_are_refused(what, change, message, path):
    craft(path, **{what: change})
    with pytest.raises(ValueError, match=message):
        workbench.load(path)


def test_the_crafting_itself_is_accepted(path, detector):
    """The control of the tests around it."""
    craft(path)
    np.testing.assert_array_equal(workbench.load(path).beta_, detector.beta_)


def test_a_small_file_cannot_fill_the_memory(path):
    """An array said to be of 8 TB, and members that share their bytes."""
    with zipfile.ZipFile(path) as file:
        content = file.read("beta_.npy")
    claim = content[:10] + b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(117)
    claim += b"\n" + content[128:]

    def header(fields):
        digest = hashlib.sha256(claim).hexdigest()
        fields["arrays"]["beta_"] = {"dtype": "<f8", "shape": [10**12], "sha256": digest}

    craft(path, header, members=lambda c: [(n, claim if n == "beta_.npy" else old) for n, old in c])
    with pytest.raises(ValueError, match="has 960 bytes for a shape of"):
        workbench.load(path)

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("header.json", "{}")
        file.writestr("a.npy", b"0" * 10_000)
        info = file.getinfo("a.npy")
        for i in range(100):
            twin = zipfile.ZipInfo(f"a{i}.npy")
            for name in ("header_offset", "CRC", "compress_size", "file_size"):
                setattr(twin, name, getattr(info, name))
            file.filelist.append(twin)
        file.comment = b"0" * 64
    path.write_bytes(reseal(buffer.getvalue()))
    with pytest.raises(ValueError, match="larger than the file"):
        workbench.load(path)


@settings(max_examples=60, deadline=None)
@given(
    beginning=st.binary(max_size=60)
    | st.just(b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (" + b"(" * 60),
    text=st.binary(max_size=60) | st.sampled_from([b"[" * 100_000, b"NaN", b"[]", b"3", b"\xff", b"{}"]),
    which=st.booleans(),
)
def test_whatever_is_sealed_is_refused_in_a_sentence(beginning, text, which, detector, tmp_path_factory):
    path = tmp_path_factory.mktemp("sealed") / "model"
    detector.save(path)

    def header(fields):
        fields["arrays"]["beta_"]["sha256"] = hashlib.sha256(beginning).hexdigest()

    if which:
        craft(path, header, members=lambda c: [(n, beginning if n == "beta_.npy" else old) for n, old in c])
    else:
        craft(path, members=lambda c: [("header.json", text), *c[1:]])
    with pytest.raises(ValueError, match=r"^The model file .* is sealed but not well formed: .*\.$"):
        workbench.load(path)


def test_numbers_beyond_all_floats_are_refused(path):
    with zipfile.ZipFile(path) as file:
        header = file.read("header.json").replace(b'"alpha": 0.05', b'"alpha": 1e999')
    craft(path, members=lambda c: [("header.json", header), *c[1:]])
    with pytest.raises(ValueError, match="holds 1e999, which is beyond all floats"):
        workbench.load(path)


def test_json_with_constants_of_its_own_is_refused(path):
    craft(path, header=lambda fields: fields["fitted"].update(sigma_=float("nan")))
    with pytest.raises(ValueError, match="holds NaN, which is not JSON"):
        workbench.load(path)


@pytest.mark.parametrize("there_before", [True, False])
@pytest.mark.parametrize("step", ["open", "write", "fsync", "replace", "interrupt"])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    step, there_before, detector, tmp_path, monkeypatch
):
    path = tmp_path / "model"
    if there_before:
        path.write_bytes(b"the old file")
    full = OSError(errno.ENOSPC, "No space left on device")

    def fail(*_):
        raise KeyboardInterrupt if step == "interrupt" else full

    class Full(io.FileIO):
        def write(self, content):
            super().write(content[:100])
            raise full

    def open_full(name, mode):
        return Full(name, mode) if step == "write" else fail()

    if step in ("open", "write"):
        monkeypatch.setattr("builtins.open", open_full)
    else:
        monkeypatch.setattr(os, "replace" if step == "interrupt" else step, fail)
    with pytest.raises(KeyboardInterrupt if step == "interrupt" else OSError) as caught:
        detector.save(path)
    monkeypatch.undo()
    if step != "interrupt":
        assert f"{path} could not be written: No space left on device." in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == ["model"] * there_before
    assert not there_before or path.read_bytes() == b"the old file"


def test_places_that_cannot_be_written(detector, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=r"folder could not be written: it is a folder"):
        detector.save(tmp_path / "folder")
    with pytest.raises(OSError, match=r"could not be written: No such file or directory"):
        detector.save(tmp_path / "missing" / "model")
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


def test_a_link_goes_on_pointing_at_the_model(detector, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "model")
    detector.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    workbench.load(tmp_path / "model")


def test_a_file_of_the_first_format_is_read():
    """Written by a release that knew of no pipelines, with the scores that it gave."""
    detector = workbench.load(Path(__file__).parent / "format_1.rankad")
    queries = pd.DataFrame([[-5.0, 0.0], [0.0, 15.0], [4.5, 0.5]], columns=["a", "b"])
    scores = [1.8814426317905013, 1.2484259362493482e-28, 0.86265775985575]
    np.testing.assert_allclose(detector.score_samples(queries), scores, rtol=1e-9)
    np.testing.assert_array_equal(detector.p_value(queries), [29 / 30, 0, 16 / 30])
    with pytest.raises(ValueError, match="feature names"):
        detector.score_samples(queries.rename(columns={"a": "c"}))


def test_the_header_is_what_the_documentation_says(path):
    header, arrays = archive.read(path)
    assert (header["format"], header["format_version"]) == ("rankad-workbench-model", 1)
    assert set(header["certificate"]) >= {"n_pairs", "primal", "dual", "gap", "solver"}
    with zipfile.ZipFile(path) as file:
        assert file.namelist() == ["header.json", *(f"{name}.npy" for name in arrays)]


@pytest.mark.parametrize("calibration", ["in-sample", "leave-one-out", "split"])
def test_a_compressed_detector_scores_the_same_from_its_file(tmp_path, calibration):
    X = FIG2.sample(200, random_state=0)
    compressed = RankAD(calibration=calibration, random_state=0).fit(X).compress(landmarks=30)
    compressed.save(tmp_path / "small.rankad")
    loaded = workbench.load(tmp_path / "small.rankad")
    assert loaded.compressed
    assert loaded.score_samples(X).tobytes() == compressed.score_samples(X).tobytes()
    assert loaded.p_value(X).tobytes() == compressed.p_value(X).tobytes()
    assert loaded.score_error_ == compressed.score_error_
    with pytest.raises(ValueError, match="does not keep what it was compressed from"):
        loaded.p_interval(X)
    with pytest.raises(ValueError, match="compressed to 30 landmarks already"):
        loaded.compress(landmarks=10)


def test_a_whole_detector_from_a_file_cannot_be_compressed(tmp_path):
    X = FIG2.sample(100, random_state=0)
    RankAD(random_state=0).fit(X).save(tmp_path / "whole.rankad")
    loaded = workbench.load(tmp_path / "whole.rankad")
    assert not loaded.compressed
    lower, upper = loaded.p_interval(X)
    assert (lower <= upper).all()
    with pytest.raises(ValueError, match="Compress before saving"):
        loaded.compress(landmarks=10)
