import contextlib
import hashlib
import threading
from dataclasses import FrozenInstanceError, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

from workbench import datasets
from workbench.datasets import DATASETS, load_dataset, mulcross, nominal_split

ROOT = Path(__file__).resolve().parents[1]
MIRROR = ROOT.parent / "shared" / "data"
SHIPPED = ("annthyroid", "cover", "mammography", "satellite", "shuttle")
DOWNLOADED = ("http", "smtp")

# Table 2 as printed: N and d.
TABLE_2 = {
    "annthyroid": (6832, 6),
    "cover": (286048, 10),
    "http": (567497, 3),
    "mammography": (11183, 6),
    "mulcross": (262144, 4),
    "satellite": (6435, 36),
    "shuttle": (49097, 9),
    "smtp": (95156, 3),
}
# Where the data have more rows than print says, and by how many.
MORE_THAN_PRINTED = {"annthyroid": 368, "http": 1}  # all of class 2; one row
ANOMALIES = {
    "annthyroid": 166 + 368,  # classes 1 and 2
    "cover": 2747,
    "http": 2211,
    "mammography": 260,
    "mulcross": 26214,  # floor(.1 N + 1/2)
    "satellite": 703 + 626 + 707,  # cotton crop, damp grey soil, vegetation stubble
    "shuttle": 50 + 171 + 3267 + 10 + 13,  # classes 2, 3, 5, 6, 7
    "smtp": 30,
}

NO_MIRROR = "HTTP and SMTP are not in the repository, and no mirror folder lies beside it."
needs_mirror = pytest.mark.skipif(not MIRROR.is_dir(), reason=NO_MIRROR)


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """Load each set once for the whole module, the downloaded ones from the mirror."""
    loaded = {}

    def once(name):
        if name in DOWNLOADED and not MIRROR.is_dir():
            pytest.skip(NO_MIRROR)
        if name not in loaded:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("WORKBENCH_MIRROR", str(MIRROR))
                patch.setenv("WORKBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
                loaded[name] = load_dataset(name)
        return loaded[name]

    return once


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("WORKBENCH_CACHE", str(folder))
    monkeypatch.delenv("WORKBENCH_MIRROR", raising=False)
    return folder


@pytest.fixture
def mirror(tmp_path, monkeypatch, cache):
    """Return an empty mirror folder in force, with the cache redirected as well."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    monkeypatch.setenv("WORKBENCH_MIRROR", str(folder))
    return folder


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return a private copy of data/ that a test may damage."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("checksums.txt", "annthyroid.csv.xz"):
        (folder / name).write_bytes((ROOT / "data" / name).read_bytes())
    monkeypatch.setattr(datasets, "_data_folder", lambda: folder)
    return folder


def sorted_rows(X, y):
    table = np.column_stack([X, y])
    return table[np.lexsort(table.T)]


def in_cache(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


# Every set is what the paper's Table 2 and the source say


def test_the_names_are_those_of_table_2():
    assert set(DATASETS) == set(TABLE_2)


@pytest.mark.parametrize("name", TABLE_2)
def test_size_is_that_of_table_2_with_every_difference_named(load, name):
    dataset = load(name)
    N, d = TABLE_2[name]
    assert dataset.X.shape == (N + MORE_THAN_PRINTED.get(name, 0), d)
    assert dataset.y.sum() == ANOMALIES[name]


@pytest.mark.parametrize("name", TABLE_2)
def test_form(load, name):
    dataset = load(name)
    assert dataset.name == name
    assert "anomalies" in dataset.description
    assert dataset.X.dtype == np.float64
    assert dataset.X.flags.c_contiguous
    assert dataset.X.flags.writeable
    assert np.isfinite(dataset.X).all()
    assert np.issubdtype(dataset.y.dtype, np.integer)
    assert dataset.y.shape == (len(dataset.X),)
    np.testing.assert_array_equal(np.unique(dataset.y), [0, 1])
    assert len(set(dataset.feature_names)) == dataset.X.shape[1]


@needs_mirror
@pytest.mark.parametrize("name", SHIPPED + DOWNLOADED)
def test_rows_are_those_of_the_published_collection_to_the_last_bit(load, name):
    with np.load(MIRROR / f"{name}.npz") as arrays:
        expected = sorted_rows(arrays["X"], arrays["y"])
    np.testing.assert_array_equal(sorted_rows(load(name).X, load(name).y), expected)


def test_a_dataset_is_frozen_and_prints_without_its_rows(load):
    dataset = load("mammography")
    with pytest.raises(FrozenInstanceError):
        dataset.X = None
    assert "array" not in repr(dataset)


def test_annthyroid_columns_are_named_in_order(load):
    """The free thyroxine index is total thyroxine over uptake, a tenth of it in these units."""
    dataset = load("annthyroid")
    column = dict(zip(dataset.feature_names, dataset.X.T, strict=True))
    relative = column["FTI"] * column["T4U"] / column["TT4"]
    assert np.median(relative) == pytest.approx(0.1, rel=0.01)


# Shipped files


@pytest.mark.parametrize("name", SHIPPED)
def test_files_are_the_ones_in_the_list_and_documented(name):
    listed = dict(
        reversed(line.split("  ")) for line in (ROOT / "data/checksums.txt").read_text().splitlines()
    )
    assert set(listed) == {f"{name}.csv.xz" for name in SHIPPED} | {f"{name}.npz" for name in DOWNLOADED}
    content = (ROOT / "data" / f"{name}.csv.xz").read_bytes()
    assert hashlib.sha256(content).hexdigest() == listed[f"{name}.csv.xz"]
    N, d = TABLE_2[name]
    row = f"| {name} | {N + MORE_THAN_PRINTED.get(name, 0)} x {d} | {ANOMALIES[name]} |"
    assert row in (ROOT / "data/SOURCES.md").read_text()


@pytest.mark.parametrize("position", [0, 1000, -1])
def test_an_altered_byte_is_an_error(data, position):
    content = bytearray((data / "annthyroid.csv.xz").read_bytes())
    content[position] ^= 1
    (data / "annthyroid.csv.xz").write_bytes(content)
    with pytest.raises(ValueError, match=r"annthyroid.*damaged or altered.*git checkout -- data/annthyroid"):
        load_dataset("annthyroid")


@pytest.mark.parametrize("kept", [0, 1, 20_000, -1])
def test_a_truncated_file_is_an_error(data, kept):
    content = (data / "annthyroid.csv.xz").read_bytes()
    (data / "annthyroid.csv.xz").write_bytes(content[:kept])
    with pytest.raises(
        ValueError,
        match=r"annthyroid.csv.xz is damaged or altered: its sha256 should be \w{64} but is \w{64}",
    ):
        load_dataset("annthyroid")


def test_another_shipped_file_under_the_name_is_an_error(data):
    (data / "annthyroid.csv.xz").write_bytes((ROOT / "data/shuttle.csv.xz").read_bytes())
    with pytest.raises(ValueError, match="damaged or altered"):
        load_dataset("annthyroid")


def test_a_missing_file_is_an_error(data):
    (data / "annthyroid.csv.xz").unlink()
    with pytest.raises(
        FileNotFoundError, match=r"annthyroid.csv.xz is missing. Restore it with `git checkout"
    ):
        load_dataset("annthyroid")


@pytest.mark.parametrize("layout", ["data", "workbench/data"])
def test_data_are_found_beside_the_package_and_inside_it(tmp_path, monkeypatch, layout):
    folder = tmp_path / layout
    folder.mkdir(parents=True)
    monkeypatch.setattr(datasets, "__file__", str(tmp_path / "workbench" / "datasets.py"))
    assert datasets._data_folder() == folder.resolve()


def test_an_installed_package_ignores_a_foreign_folder_named_data(tmp_path, monkeypatch):
    (tmp_path / "workbench/data").mkdir(parents=True)
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(datasets, "__file__", str(tmp_path / "workbench" / "datasets.py"))
    assert datasets._data_folder() == (tmp_path / "workbench/data").resolve()


# Names


@pytest.mark.parametrize(
    ("name", "meant"), [("HTTP", "http"), ("mamography", "mammography"), ("forest cover", "cover")]
)
def test_a_wrong_name_suggests_the_closest(name, meant):
    with pytest.raises(ValueError, match=rf"annthyroid, cover.*smtp\. Did you mean '{meant}'\?"):
        load_dataset(name)


@pytest.mark.parametrize(
    "name", [None, 3, b"cover", ["cover"], ("cover",), np.zeros(2), "", "../cover", "wine!"]
)
def test_what_is_not_a_name_lists_the_names(name):
    with pytest.raises(ValueError, match=r"There is no data set .*annthyroid, cover, http.*smtp"):
        load_dataset(name)


# Downloads


@needs_mirror
def test_a_download_is_cached_and_the_mirror_not_needed_again(mirror, cache):
    (mirror / "smtp.npz").write_bytes((MIRROR / "smtp.npz").read_bytes())
    first = load_dataset("smtp")
    assert in_cache(cache) == ["smtp.npz"]
    (mirror / "smtp.npz").unlink()
    np.testing.assert_array_equal(load_dataset("smtp").X, first.X)


@needs_mirror
def test_a_damaged_cache_is_replaced(mirror, cache):
    (mirror / "smtp.npz").write_bytes((MIRROR / "smtp.npz").read_bytes())
    cache.mkdir()
    (cache / "smtp.npz").write_bytes(b"half a fi")
    assert load_dataset("smtp").X.shape == (95156, 3)


@needs_mirror
@pytest.mark.parametrize(
    "damage", [lambda content: content[:-1], lambda content: content + b"\0", lambda _: b""]
)
def test_an_altered_mirror_is_an_error_and_leaves_nothing(mirror, cache, damage):
    (mirror / "smtp.npz").write_bytes(damage((MIRROR / "smtp.npz").read_bytes()))
    with pytest.raises(ValueError, match=r"smtp.npz from .*mirror.* is not the published file.*34_smtp.npz"):
        load_dataset("smtp")
    assert in_cache(cache) == []


def test_a_mirror_without_the_file_is_an_error_and_leaves_nothing(mirror, cache):
    with pytest.raises(OSError, match=r"http.npz could not be brought from .*mirror.*FileNotFoundError"):
        load_dataset("http")
    assert in_cache(cache) == []


@pytest.mark.parametrize(
    ("interruption", "raised"), [(KeyboardInterrupt, KeyboardInterrupt), (ConnectionResetError, OSError)]
)
def test_an_interrupted_download_leaves_nothing(mirror, cache, monkeypatch, interruption, raised):
    def half(source, target, _):
        Path(target).write_bytes(b"PK half of an archive")
        raise interruption

    monkeypatch.setattr(datasets, "_copy", half)
    with pytest.raises(raised):
        load_dataset("http")
    assert in_cache(cache) == []


@contextlib.contextmanager
def server(content, sent):
    """Serve `content`, but hang up after `sent` bytes of it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[:sent])

        def log_message(self, *_):
            pass

    httpd = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{httpd.server_port}/"
    finally:
        httpd.shutdown()
        thread.join()
        httpd.server_close()


def test_a_connection_that_breaks_half_way_leaves_nothing(cache, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with server(bytes(100_000), sent=50_000) as address:
        monkeypatch.setattr(datasets, "_ADDRESS", address)
        with pytest.raises(OSError, match=r"http.npz could not be brought from .*connect to the network"):
            load_dataset("http")
    assert in_cache(cache) == []


@needs_mirror
def test_a_download_over_the_network(cache, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    content = (MIRROR / "smtp.npz").read_bytes()
    with server(content, sent=len(content)) as address:
        monkeypatch.setattr(datasets, "_ADDRESS", address)
        assert load_dataset("smtp").y.sum() == 30
    assert in_cache(cache) == ["smtp.npz"]


def test_no_network_is_one_sentence_with_the_way_out(cache, monkeypatch):
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(OSError, match="could not be brought") as error:
        load_dataset("http")
    message = str(error.value)
    assert "\n" not in message
    assert "https://github.com/Minqi824/ADBench/raw/main/adbench/datasets/Classical/16_http.npz" in message
    assert "WORKBENCH_MIRROR" in message
    assert in_cache(cache) == []


# Mulcross


def test_mulcross_is_white_and_reproducible(load):
    dataset = load("mulcross")
    np.testing.assert_allclose(dataset.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.cov(dataset.X.T), np.eye(4), atol=1e-10)
    again = mulcross(random_state=0)
    assert again.X.tobytes() == dataset.X.tobytes()
    assert again.y.tobytes() == dataset.y.tobytes()
    assert not np.array_equal(mulcross(100, random_state=1).X, mulcross(100, random_state=2).X)


def test_mulcross_clusters_have_the_stated_place_and_size(load):
    """Whitening is undone by the covariance of the nominal rows: N(0, I) against N(r s, 0.01 I)."""
    dataset = load("mulcross")
    nominal, anomalous = dataset.X[dataset.y == 0], dataset.X[dataset.y == 1]
    unwhitened = np.linalg.cholesky(np.cov(nominal.T))
    Z = np.linalg.solve(unwhitened, (anomalous - nominal.mean(axis=0)).T).T
    in_first = np.linalg.norm(Z - Z[0], axis=1) < 4  # the centres are at least 8 apart
    assert in_first.sum() == (~in_first).sum() == 13107
    centres = np.array([Z[in_first].mean(axis=0), Z[~in_first].mean(axis=0)])
    np.testing.assert_allclose(np.linalg.norm(centres, axis=1), 2 * np.sqrt(18.5), rtol=0.01)
    for cluster in (Z[in_first], Z[~in_first]):
        np.testing.assert_allclose(np.cov(cluster.T), 0.01 * np.eye(4), atol=5e-4)


def test_mulcross_rows_are_permuted(load):
    y = load("mulcross").y
    assert y[:20_000].mean() == pytest.approx(0.1, abs=0.01)


def test_mulcross_shrinks_by_its_formula_where_contamination_is_large():
    """a = .4, p = 4: (.6 (1.6 - .6)) / (.4 (2.4 - .4)) = .75."""
    dataset = mulcross(100_000, contamination=0.4, clusters=1, random_state=0)
    nominal, anomalous = dataset.X[dataset.y == 0], dataset.X[dataset.y == 1]
    ratio = np.linalg.det(np.cov(anomalous.T)) / np.linalg.det(np.cov(nominal.T))
    assert ratio ** (1 / 4) == pytest.approx(0.75, rel=0.02)


@pytest.mark.parametrize("n", [11, 14, 15, 104, 105])
def test_mulcross_rounds_the_number_of_anomalies_half_up(n):
    assert mulcross(n, clusters=1, random_state=0).y.sum() == (n + 5) // 10


def test_mulcross_in_one_dimension():
    assert mulcross(50, d=1, random_state=0).X.shape == (50, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n": 4}, "n must be a whole number, at least 5, got 4"),
        ({"n": 100.0}, "n must be a whole number"),
        ({"d": 0}, "d must be a whole number, at least 1, got 0"),
        ({"d": True}, "d must be a whole number"),
        ({"contamination": 0}, "contamination must be a share between 0 and 1/2, got 0"),
        ({"contamination": 0.5}, "contamination must be"),
        ({"contamination": np.nan}, "contamination must be"),
        ({"distance": 0}, "distance must be a positive number"),
        ({"distance": np.inf}, "distance must be a positive number"),
        ({"clusters": 0}, "clusters must be a whole number, at least 1, got 0"),
        ({"n": 10, "clusters": 2}, "1 anomalies cannot form 2 clusters"),
    ],
)
def test_mulcross_says_what_is_wrong(arguments, words):
    with pytest.raises(ValueError, match=words):
        mulcross(**arguments)


# The paper's split


@pytest.mark.parametrize(
    ("name", "nominal_test"), [("cover", 80_000), ("mammography", 8923), ("shuttle", 43_586)]
)
def test_split_trains_on_nominals_and_tests_on_the_rest(load, name, nominal_test):
    dataset = load(name)
    split = nominal_split(dataset, random_state=0)
    assert split.X_train.shape == (2000, dataset.X.shape[1])
    assert len(split.X_test) == len(split.y_test) == nominal_test + ANOMALIES[name]
    assert split.y_test.sum() == ANOMALIES[name]


def test_split_uses_every_row_once():
    dataset = numbered()
    split = nominal_split(dataset, n_train=30, random_state=0)
    np.testing.assert_array_equal(
        np.sort(np.concatenate([split.X_train, split.X_test])[:, 0]), np.arange(100)
    )
    labels = dict(enumerate(dataset.y))
    assert [labels[i] for i in split.X_test[:, 0]] == split.y_test.tolist()
    assert not any(labels[i] for i in split.X_train[:, 0])


def test_split_caps_the_nominal_test_points_not_the_anomalies():
    split = nominal_split(numbered(), n_train=30, max_nominal_test=7, random_state=0)
    assert (split.y_test == 0).sum() == 7
    assert (split.y_test == 1).sum() == 20


def test_split_is_random_and_reproducible():
    first, again, other = (nominal_split(numbered(), 30, random_state=seed) for seed in (0, 0, 1))
    assert first.X_train.tobytes() == again.X_train.tobytes()
    assert first.X_test.tobytes() == again.X_test.tobytes()
    assert not np.array_equal(first.X_train, other.X_train)


def test_split_leaves_at_least_one_nominal_point_to_test_on():
    assert (nominal_split(numbered(), n_train=79, random_state=0).y_test == 0).sum() == 1
    with pytest.raises(ValueError, match=r"n_train=80 leaves no nominal.*mulcross has 80. Use at most 79"):
        nominal_split(numbered(), n_train=80, random_state=0)


@pytest.mark.parametrize("value", [0, -1, 2.0, True, None, "10"])
@pytest.mark.parametrize("argument", ["n_train", "max_nominal_test"])
def test_split_wants_whole_numbers(argument, value):
    with pytest.raises(ValueError, match=f"{argument} must be a whole number, at least 1, got"):
        nominal_split(numbered(), **{argument: value}, random_state=0)


def numbered():
    """A hundred rows that hold their own number, the first twenty anomalous."""
    dataset = mulcross(100, d=1, random_state=0)
    return replace(dataset, X=np.arange(100.0)[:, None], y=(np.arange(100) < 20).astype(int))
