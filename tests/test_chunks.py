import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import workbench
from workbench import RankAD, chunks
from workbench.baselines import KLPE
from workbench.densities import FIG2

METHODS = ("score_samples", "p_value", "predict", "decision_function")


@pytest.fixture(scope="module")
def detector():
    return RankAD(random_state=0, calibration="split").fit(FIG2.sample(200, random_state=0))


@pytest.fixture(scope="module")
def X():
    return FIG2.sample(1000, random_state=1)


@pytest.fixture(scope="module")
def frame(X):
    return pd.DataFrame(X, columns=["a", "b"])


def agree(method, found, expected):
    assert found.dtype == expected.dtype
    if method in ("p_value", "predict"):
        np.testing.assert_array_equal(found, expected)
    else:  # the last bits of a sum depend on the block it is taken in
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_dask_arrays_are_scored_lazily(method, detector, X):
    da = pytest.importorskip("dask.array")
    read = []

    def noting(block):
        read.append(len(block))
        return block

    # Columns in blocks of their own, too, and a block without rows.
    lazy = da.from_array(X, chunks=((300, 0, 600, 100), 1)).map_blocks(noting, meta=np.empty((0, 0)))
    answer = getattr(detector, method)(lazy)
    assert read == []
    assert isinstance(answer, da.Array)
    assert answer.chunks == ((300, 0, 600, 100),)
    agree(method, answer.compute(), getattr(detector, method)(X))
    assert len(read) > 0


@pytest.mark.parametrize("method", METHODS)
def test_dask_data_frames_are_scored_lazily(method, frame):
    dd = pytest.importorskip("dask.dataframe")
    detector = RankAD(random_state=0).fit(frame[:200])
    partitions = dd.from_pandas(frame, npartitions=4)
    agree(method, getattr(detector, method)(partitions).compute(), getattr(detector, method)(frame))
    some = partitions[partitions.a > frame.a[:250].max()]  # none is left of the first partition
    expected = getattr(detector, method)(frame[frame.a > frame.a[:250].max()])
    agree(method, getattr(detector, method)(some).compute(), expected)


def test_baselines_take_dask_too(X):
    da = pytest.importorskip("dask.array")
    detector = KLPE().fit(X[:200])
    lazy = detector.predict(da.from_array(X, chunks=400), alpha=0.01)
    np.testing.assert_array_equal(lazy.compute(), detector.predict(X, alpha=0.01))


def test_what_is_wrong_is_said_before_anything_is_computed(detector, frame):
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    with pytest.raises(ValueError, match="X has 3 features, but RankAD is expecting 2"):
        detector.score_samples(da.zeros((10, 3)))
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        detector.score_samples(da.zeros(10))
    with pytest.raises(ValueError, match="alpha must be"):
        detector.predict(da.zeros((10, 2)), alpha=2)
    named = RankAD(random_state=0).fit(frame[:100])
    with pytest.raises(ValueError, match="feature names"):
        named.p_value(dd.from_pandas(frame.rename(columns={"a": "c"}), npartitions=2))
    with pytest.raises(NotFittedError):
        RankAD().p_value(da.zeros((10, 2)))


def test_a_missing_value_names_its_block(detector, X):
    da = pytest.importorskip("dask.array")
    X = X.copy()
    X[700, 1] = np.nan
    with pytest.raises(ValueError, match=r"In block 2: X contains 1 missing .* in row 100 of column 1"):
        detector.score_samples(da.from_array(X, chunks=300)).compute(scheduler="synchronous")


def test_on_a_cluster_of_two_processes(detector, X, frame):
    distributed = pytest.importorskip("distributed")
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    named = RankAD(random_state=0).fit(frame[:200])
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert len(client.scheduler_info()["workers"]) == 2
        blocks = da.from_array(X, chunks=100)
        p = client.compute(detector.p_value(blocks)).result(timeout=60)
        np.testing.assert_array_equal(p, detector.p_value(X))
        alarms = named.predict(dd.from_pandas(frame, npartitions=4), alpha=0.01).compute()
        np.testing.assert_array_equal(alarms, named.predict(frame, alpha=0.01))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_memory_maps_are_read_block_by_block(method, dtype, detector, X, tmp_path, monkeypatch):
    np.save(tmp_path / "X.npy", X.astype(dtype))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    seen = []
    module = sys.modules[RankAD.score_samples.__module__]
    check = module.check_points

    def noting(estimator, block, **options):
        seen.append(len(block))
        return check(estimator, block, **options)

    monkeypatch.setattr(module, "check_points", noting)
    expected = getattr(detector, method)(X.astype(dtype))
    monkeypatch.setattr(chunks, "BLOCK_BYTES", 300 * 16)
    seen.clear()
    agree(method, getattr(detector, method)(mapped), expected)
    assert seen == [300, 300, 300, 100]


def test_a_missing_value_in_a_memory_map_is_found(detector, X, tmp_path, monkeypatch):
    X = X.copy()
    X[650] = np.inf
    np.save(tmp_path / "X.npy", X)
    monkeypatch.setattr(chunks, "BLOCK_BYTES", 300 * 16)
    with pytest.raises(ValueError, match=r"In the block that begins with row 600: .* in row 50 of column 0"):
        detector.p_value(np.load(tmp_path / "X.npy", mmap_mode="r"))


@pytest.mark.parametrize("alpha", [None, 0.2])
def test_a_generator_in_gives_a_generator_out(alpha, detector, X):
    taken = []

    def stream():
        for first in (0, 300, 300, 900):
            taken.append(first)
            yield X[first : {0: 300, 300: 300, 900: 1000}[first]] if len(taken) != 3 else X[300:900]

    answers = workbench.score_chunks(detector, stream(), alpha=alpha)
    assert taken == []
    first = next(answers)
    assert taken == [0]
    answers = [first, *answers]
    assert [len(answer.score) for answer in answers] == [300, 0, 600, 100]
    score, p_value, alarm = map(np.concatenate, zip(*answers, strict=True))
    agree("score_samples", score, detector.score_samples(X))
    np.testing.assert_array_equal(p_value, detector.p_value(X))
    np.testing.assert_array_equal(alarm, detector.predict(X, alpha=alpha) == -1)


def test_a_bad_chunk_says_where_it_begins(detector, X):
    answers = workbench.score_chunks(detector, [X[:300], [["a", 1]]])
    next(answers)
    with pytest.raises(ValueError, match="In the chunk that begins with row 300: X must hold numbers only"):
        next(answers)
    with pytest.raises(ValueError, match="alpha must be"):
        next(workbench.score_chunks(detector, [X], alpha=1))
