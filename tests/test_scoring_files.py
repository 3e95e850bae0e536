import errno
import gzip
import io
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from workbench import RankAD, cli, files, scoring_files, tables
from workbench.densities import FIG2

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def detector():
    X = pd.DataFrame(FIG2.sample(150, random_state=0), columns=["a", "b"])
    return RankAD(random_state=0, calibration="split").fit(X)


@pytest.fixture(scope="module")
def frame():
    frame = pd.DataFrame(np.vstack([FIG2.sample(350, random_state=1), [[30, 30]] * 50]), columns=["a", "b"])
    return frame.assign(note="x")[["b", "note", "a"]]


@pytest.fixture
def folder(detector, frame, tmp_path):
    detector.save(tmp_path / "model")
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(tables.columns, "CHUNK_BYTES", 2000)


def score(folder, *options, data="data.csv", out="out.csv"):
    command = ["score", str(folder / "model"), str(folder / data), "--out", str(folder / out), *options]
    return CliRunner().invoke(cli.main, command)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("data", ["data.csv", "data.csv.gz", "data.parquet"])
def test_every_row_is_scored(data, out, folder, detector, frame, small_chunks):
    if data.endswith("parquet"):
        frame.to_parquet(folder / data, row_group_size=90)
    else:
        frame.to_csv(folder / data, index=False)
    outcome = score(folder, "--alpha", "0.1", "--fdr", "0.2", data=data, out=out)
    assert outcome.exit_code == 0, outcome.output
    found = pd.read_csv(folder / out) if out.endswith("csv") else pd.read_parquet(folder / out)
    assert list(found) == ["row", "score", "p_value", "alarm", "discovery"]
    X = frame[["a", "b"]]
    np.testing.assert_array_equal(found.row, np.arange(400))
    np.testing.assert_allclose(found.score, detector.score_samples(X), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found.p_value, detector.p_value(X))
    np.testing.assert_array_equal(found.alarm, detector.predict(X, alpha=0.1) == -1)
    discovery = false_discovery_control(detector.p_value(X)) <= 0.2
    assert 0 < discovery.sum() < 400
    np.testing.assert_array_equal(found.discovery, discovery)
    assert f"400 rows scored, {found.alarm.sum()} alarms, {discovery.sum()} discoveries." in outcome.output
    assert "Columns not used: note." in outcome.output
    assert "Warning" not in outcome.output
    assert set(names(folder)) == {"model", "data.csv", data, out}


def test_alpha_of_the_fit_and_no_discoveries_unless_asked(folder, detector, frame):
    outcome = score(folder)
    found = pd.read_csv(folder / "out.csv")
    assert list(found) == ["row", "score", "p_value", "alarm"]
    np.testing.assert_array_equal(found.alarm, detector.predict(frame[["a", "b"]]) == -1)
    assert "discover" not in outcome.output


def test_discoveries_without_a_split_come_with_a_word(folder, frame):
    RankAD(random_state=0).fit(frame[["a", "b"]][:100]).save(folder / "model")
    assert "no false discovery rate is promised" in score(folder, "--fdr", "0.1").output


def test_a_model_without_names(folder, frame):
    detector = RankAD(random_state=0).fit(frame[["b", "a"]].to_numpy()[:100])
    detector.save(folder / "model")
    assert score(folder).exit_code == 0
    found = pd.read_csv(folder / "out.csv")
    np.testing.assert_array_equal(found.p_value, detector.p_value(frame[["b", "a"]].to_numpy()))


@given(
    p=st.lists(st.integers(0, 20).map(lambda k: k / 20), min_size=1, max_size=60), q=st.floats(0.001, 0.999)
)
def test_counting_rejects_what_benjamini_and_hochberg_reject(p, q):
    largest = scoring_files.largest_rejected(Counter(p), q)
    np.testing.assert_array_equal(np.array(p) <= largest, false_discovery_control(p) <= q)


BAD = {
    "header.csv": "a,note\n1,x\n",
    "text.csv": "a,b\n" + "1,2\n" * 400 + "1,red\n",
    "missing.csv": "a,b\n" + "1,2\n" * 400 + "1,\n",
    "ragged.csv": "a,b\n" + "1,2\n" * 400 + "1\n",
    "line.csv": "a,b\n" + "1,2\n" * 400 + "1" * 3000,
    "empty.csv": "",
    "latin.csv": "a,b\n" + "1,2\n" * 400 + "1,\udce9\n",
    "data.xlsx": "a,b\n1,2\n",
    "names.csv": "a,b\n",
    "semicolons.csv": "a;b\n1;2\n",
    "twice.csv": "a,b,b\n1,2,3\n",
    "longer.csv": "a,b\n1,2\n1,2,3\n",
    "commas.csv": 'a,b\n"1,5",2\n',
    "quote.csv": 'a,b\n1,"2\n',
    "latin_header.csv": "a,b,\udce9\n1,2,3\n",
    "utf16.csv": "\udcff\udcfea\0,\0b\0\n\0001\0,\0002\0\n\0",
    "nul.csv": "a,b\n1,2\n1,\0002\n",
    "nul.csv.gz": "a,b\n1,2\n",
}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("header.csv", "lacks 1 of the columns that the model was fitted on: 'b'"),
        ("text.csv", "row 400 (line 402), column 'b', holds 'red', which is not a finite number"),
        ("missing.csv", "row 400 (line 402), column 'b', holds no value ('')"),
        ("ragged.csv", "row 400 (line 402) holds 1 values, and there are 2 columns"),
        ("line.csv", "row 400 (line 402) is longer than 2000 bytes"),
        ("empty.csv", "empty.csv is empty"),
        ("latin.csv", "row 400 (line 402) is not UTF-8 text (byte 0xe9)"),
        ("data.xlsx", "is of no kind that is read here"),
        ("nowhere.csv", "does not exist"),
        ("names.csv", "has a line of column names, and no row in the line below it"),
        (
            "semicolons.csv",
            "lacks 2 of the columns that the model was fitted on: 'a', 'b'. Its columns are 'a;b'",
        ),
        ("twice.csv", "has more than one column named 'b'"),
        ("longer.csv", "row 1 (line 3) holds 3 values, and there are 2 columns"),
        ("commas.csv", "row 0 (line 2), column 'a', holds '1,5', which is not a finite number"),
        ("quote.csv", "row 0 (line 2) cannot be read as comma-separated values"),
        ("latin_header.csv", "the header is not UTF-8 text (byte 0xe9)"),
        ("utf16.csv", "holds NUL bytes, as UTF-16 does. Save the file as UTF-8 text"),
        ("nul.csv", "row 1 (line 3), column 'b', holds '\\x002', which is not a finite number"),
        ("nul.csv.gz", "is not a whole gzip file"),
        ("folder.csv", "is a directory"),
    ],
)
def test_unusable_data_end_in_a_sentence_and_leave_nothing(data, message, folder, small_chunks):
    if data in BAD:
        (folder / data).write_bytes(BAD[data].encode(errors="surrogateescape"))
    (folder / "folder.csv").mkdir()
    before = names(folder)
    outcome = score(folder, data=data)
    assert outcome.exit_code == 2
    assert message in outcome.stderr
    assert "Traceback" not in outcome.output
    assert names(folder) == before


@pytest.mark.parametrize(
    ("options", "out", "message"),
    [
        ([], "out.txt", "can be a file .csv or .parquet"),
        ([], "there.csv", "exists. Use --overwrite"),
        (["--overwrite"], "data.csv", "is what is read"),
        ([], "missing/out.csv", "its folder is missing"),
        ([], "folder.csv", "it is a folder"),
        ([], "data.csv/out.csv", "its folder is missing"),
        ([], "x" * 300 + ".csv", "of the result is too long"),
        (["--alpha", "0"], "out.csv", "Invalid value"),
        (["--fdr", "1"], "out.csv", "Invalid value"),
    ],
)
def test_unusable_results_and_options(options, out, message, folder):
    (folder / "there.csv").write_text("mine")
    (folder / "folder.csv").mkdir()
    before = names(folder)
    outcome = score(folder, *options, out=out)
    assert outcome.exit_code == 2
    assert message in outcome.output
    assert names(folder) == before
    assert (folder / "there.csv").read_text() == "mine"


def test_a_byte_order_mark_is_no_part_of_a_name(folder):
    text = (folder / "data.csv").read_bytes()
    expected = whole(folder)
    (folder / "marked.csv").write_bytes(b"\xef\xbb\xbf" + text)
    assert score(folder, data="marked.csv").exit_code == 0
    assert (folder / "out.csv").read_bytes() == expected


@pytest.mark.parametrize("place", ["header", "row", "compressed"])
def test_a_line_without_end_takes_little_memory(place, folder):
    long = b"1" * 50_000_000
    if place == "header":
        data = "long.csv"
        (folder / data).write_bytes(long)
    elif place == "row":
        data = "long.csv"
        (folder / data).write_bytes(b"a,b\n" + long)
    else:
        data = "long.csv.gz"
        (folder / data).write_bytes(gzip.compress(b"a,b\n1,2\n" + long, 1))
    del long
    tracemalloc.start()
    try:
        outcome = score(folder, data=data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert outcome.exit_code == 2
    assert "is longer than 4194304 bytes" in outcome.stderr
    assert peak < 25_000_000
    assert names(folder) == sorted(["data.csv", "model", data])


@pytest.mark.parametrize("kind", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_folder_that_takes_no_files(kind, folder, monkeypatch):
    def refuse(path, *_, **__):
        raise OSError(kind, os.strerror(kind), str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    outcome = score(folder)
    assert outcome.exit_code == 2
    assert f"cannot be made: {os.strerror(kind)}. Choose another place for the result." in outcome.stderr
    assert names(folder) == ["data.csv", "model"]


def test_a_result_is_replaced_when_asked(folder):
    (folder / "out.csv").write_text("old")
    assert score(folder, "--overwrite").exit_code == 0
    assert (folder / "out.csv").read_text().startswith("row,score")


def test_a_foreign_model_and_a_foreign_working_folder(folder):
    (folder / "out.csv.partial").mkdir()
    (folder / "out.csv.partial" / "mine").write_text("precious")
    outcome = score(folder)
    assert outcome.exit_code == 2
    assert "is in the way" in outcome.output
    assert names(folder / "out.csv.partial") == ["mine"]
    (folder / "model").write_bytes(b"x")
    assert "is not a model file" in score(folder).output


@pytest.fixture
def stop_after(monkeypatch):
    """Make the run end in the given exception at the write of a given number."""

    def arrange(count, error):
        written = []

        def failing(path):
            if len(written) == count:
                raise error
            written.append(path)
            return files.replacing(path)

        monkeypatch.setattr(scoring_files, "replacing", failing)

    return arrange


def whole(folder, **options):
    """Bytes of an undisturbed result."""
    assert score(folder, out="whole.csv", **options).exit_code == 0
    return (folder / "whole.csv").read_bytes()


@pytest.mark.parametrize("data", ["data.csv", "data.csv.gz", "data.parquet"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_run_that_stopped_goes_on(data, error, folder, frame, stop_after, small_chunks, monkeypatch):
    if data == "data.parquet":
        frame.to_parquet(folder / data, row_group_size=90)
    elif data == "data.csv.gz":
        frame.to_csv(folder / data, index=False)
    expected = whole(folder, data=data)
    stop_after(3, error)
    outcome = score(folder, data=data)
    assert outcome.exit_code == (2 if isinstance(error, OSError) else 130)
    assert "goes on from there" in outcome.output
    assert "out.csv" not in names(folder)
    parts = sorted(path.name for path in (folder / "out.csv.partial").glob("*.npy"))
    assert [part[:8] for part in parts] == ["00000000", "00000001"]  # the manifest was the first of three

    monkeypatch.setattr(scoring_files, "replacing", files.replacing)
    read, chunks = [], tables.CsvTable.chunks
    monkeypatch.setattr(tables.CsvTable, "chunks", lambda *a: (read.append(a[1:]), chunks(*a))[1])
    outcome = score(folder, data=data)
    assert outcome.exit_code == 0, outcome.output
    assert (folder / "out.csv").read_bytes() == expected
    assert "out.csv.partial" not in names(folder)
    if data != "data.parquet":
        assert read[0][0] == int(parts[-1].removesuffix(".npy")[9:])  # what was finished is not read again


def test_a_full_disk_at_the_end_keeps_the_scores(folder, stop_after, small_chunks, monkeypatch):
    expected = whole(folder)
    count = len(list(tables.open_table(folder / "data.csv", ["a", "b"], 2).chunks()))
    (folder / "out.csv").write_text("old")
    stop_after(1 + count, OSError(errno.ENOSPC, "No space left on device"))
    assert score(folder, "--overwrite").exit_code == 2
    assert (folder / "out.csv").read_text() == "old"
    monkeypatch.setattr(scoring_files, "replacing", files.replacing)
    monkeypatch.setattr(RankAD, "score_samples", None)  # nothing is scored again
    assert score(folder, "--overwrite").exit_code == 0
    assert (folder / "out.csv").read_bytes() == expected


@pytest.mark.parametrize("change", ["data", "model"])
def test_work_on_other_data_or_by_another_model_is_not_used(
    change, folder, stop_after, small_chunks, monkeypatch
):
    stop_after(3, KeyboardInterrupt())
    score(folder)
    monkeypatch.setattr(scoring_files, "replacing", files.replacing)
    if change == "data":
        text = (folder / "data.csv").read_text().splitlines(keepends=True)
        (folder / "data.csv").write_text("".join([text[0], *text[:0:-1]]))
    else:
        X = pd.DataFrame(FIG2.sample(150, random_state=5), columns=["a", "b"])
        RankAD(random_state=0).fit(X).save(folder / "model")
    assert score(folder).exit_code == 0
    assert (folder / "out.csv").read_bytes() == whole(folder)


def test_data_that_change_under_the_reader_are_refused(folder, monkeypatch):
    chunks = tables.CsvTable.chunks

    def growing(*arguments):
        yield from chunks(*arguments)
        with open(folder / "data.csv", "a") as file:
            file.write("1,x,2\n")

    monkeypatch.setattr(tables.CsvTable, "chunks", growing)
    outcome = score(folder)
    assert outcome.exit_code == 2
    assert "was changed while it was read" in outcome.output
    assert names(folder) == ["data.csv", "model"]


def run(folder, prelude, out="out.csv", data="data.csv"):
    """Start `workbench score` in a process of its own, after some lines of Python."""
    program = f"{prelude}\nfrom workbench import cli\ncli.main()"
    command = [sys.executable, "-c", program, "score", str(folder / "model"), str(folder / data)]
    return subprocess.Popen([*command, "--out", str(folder / out)], stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_kill_9_and_resume(folder, small_chunks):
    expected = whole(folder)
    prelude = (
        "import time\n"
        "from workbench import RankAD, tables\n"
        "tables.columns.CHUNK_BYTES = 2000\n"
        "score = RankAD.score_samples\n"
        "RankAD.score_samples = lambda *a: (time.sleep(0.2), score(*a))[1]"
    )
    process = run(folder, prelude)
    partial = folder / "out.csv.partial"
    while len(list(partial.glob("*.npy"))) < 3:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    process.stderr.close()
    kept = {path.name: path.stat().st_mtime_ns for path in partial.glob("*.npy")}
    assert 3 <= len(kept) < len(range(0, os.path.getsize(folder / "data.csv"), 2000))
    assert "out.csv" not in names(folder)
    assert score(folder).exit_code == 0
    assert (folder / "out.csv").read_bytes() == expected
    assert names(folder) == ["data.csv", "model", "out.csv", "whole.csv"]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited in another way here")
def test_a_file_larger_than_the_memory_allowed(tmp_path):
    """240 MB of text and as much Parquet, in one row group, by a process that may take 200 MB for them."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    d, rows = 50, 4000
    X = rng.normal(size=(rows, d))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    detector = RankAD(k=3, resamples=0, sigma=10.0, random_state=0).fit(frame[:12])
    detector.save(tmp_path / "model")
    text = io.StringIO()
    frame.to_csv(text, index=False, header=False)
    copies = 240_000_000 // len(text.getvalue())
    with open(tmp_path / "data.csv", "w") as file:
        file.write(",".join(frame) + "\n")
        for _ in range(copies):
            file.write(text.getvalue())
    table = pa.concat_tables([pa.Table.from_pandas(frame)] * (240_000_000 // X.nbytes))
    parquet.write_table(
        table, tmp_path / "data.parquet", row_group_size=len(table), compression="none", use_dictionary=False
    )
    for name in ("data.csv", "data.parquet"):
        assert os.path.getsize(tmp_path / name) > 230_000_000

    program = """
import re, resource, sys
from pathlib import Path
import pyarrow, pandas
from pyarrow import csv, parquet
from workbench import scoring_files
folder = Path(sys.argv[1])
status = Path("/proc/self/status").read_text()
at_rest = int(re.search(r"VmData:\\s+(\\d+) kB", status)[1]) * 1024
limit = at_rest + 200_000_000
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
for kind in (".csv", ".parquet"):
    found = scoring_files.score_file(folder / "model", folder / f"data{kind}", folder / f"out{kind}.parquet")
    print(found.rows, found.alarms)
for name in ("data.csv", "data.parquet"):
    try:
        (folder / name).read_bytes()
        print("it fits")
    except MemoryError:
        print("too large")
"""
    outcome = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"},
    )
    alarms = int((detector.predict(frame) == -1).sum())
    expected = [f"{count * rows} {count * alarms}" for count in (copies, len(table) // rows)]
    # The last two are the control.
    assert outcome.stdout.splitlines() == [*expected, "too large", "too large"], outcome.stderr
    scores = parquet.read_table(tmp_path / "out.csv.parquet")["score"].to_numpy()
    np.testing.assert_allclose(scores.reshape(-1, rows), scores[:rows][None].repeat(copies, 0), atol=1e-12)
    np.testing.assert_allclose(scores[:rows], detector.score_samples(frame), atol=1e-12)
