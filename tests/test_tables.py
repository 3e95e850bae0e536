import builtins
import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import tables

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def read(path, names=None, d=2, start=0, first_row=0):
    return list(tables.open_table(path, names, d).chunks(start, first_row))


def values(path, names=None, d=2):
    return np.concatenate([chunk.X for chunk in read(path, names, d)])


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(tables.columns, "CHUNK_BYTES", 64)


@pytest.fixture
def frame(rng):
    frame = pd.DataFrame(rng.normal(size=(50, 2)), columns=["a", "b"])
    frame["note"] = 'with, comma and "quotes"'
    frame["whole"] = np.arange(50)
    return frame


def write(frame, path):
    if path.name.endswith("parquet"):
        frame.to_parquet(path, row_group_size=7)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_columns_are_found_by_name_wherever_they_are(name, frame, tmp_path):
    table = tables.open_table(write(frame, tmp_path / name), ["whole", "a"], 2)
    assert (table.columns, table.unused) == (["whole", "a"], ["b", "note"])
    X = np.concatenate([chunk.X for chunk in table.chunks()])
    np.testing.assert_array_equal(X, frame[["whole", "a"]])


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_without_names_all_columns_of_numbers_are_taken_in_order(name, frame, tmp_path):
    path = write(frame, tmp_path / name)
    np.testing.assert_array_equal(values(path, d=3), frame[["a", "b", "whole"]])
    with pytest.raises(
        ValueError, match=r"fitted on 2 features without names, and .* has 3 columns of numbers"
    ):
        tables.open_table(path, None, 2)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_reading_goes_on_at_the_end_of_any_chunk(name, frame, tmp_path, small_chunks):
    path = write(frame.drop(columns="note"), tmp_path / name)
    chunks = read(path, ["a", "b"])
    assert len(chunks) > 10
    row = 0
    for i, chunk in enumerate(chunks):
        row += len(chunk.X)
        if i % 5 and i < len(chunks) - 1:
            continue
        rest = read(path, ["a", "b"], start=chunk.stop, first_row=row)
        assert [c.stop for c in rest] == [c.stop for c in chunks[i + 1 :]]
        for one, other in zip(rest, chunks[i + 1 :], strict=True):
            np.testing.assert_array_equal(one.X, other.X)
    assert row == len(frame)


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("line", ["\n", "\r\n"])
def test_line_ends_and_chunks_of_every_size(line, end, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    text = line.join(["a,b", "1,2", "3,4", "5,6", "7,8", "9,10"]) + end
    for beginning in (b"", b"\xef\xbb\xbf"):
        path.write_bytes(beginning + text.encode())
        for size in range(8, 30):
            monkeypatch.setattr(tables.columns, "CHUNK_BYTES", size)
            np.testing.assert_array_equal(values(path), np.arange(1, 11).reshape(5, 2))


def test_blank_lines_at_the_end(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n\n\n")
    np.testing.assert_array_equal(values(tmp_path / "t.csv"), [[1, 2]])


NUMBERS = (
    st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.floats(-1e6, 1e6).map("{:.3f}".format)
    | st.integers(-(10**30), 10**30).map(str)
    | st.decimals(allow_nan=False, allow_infinity=False).map(str)
    | st.sampled_from(["+1", " 1 ", '"2.5"', "1.", ".5", "1E5", "-0", "4.9e-324", "1e-400", "0.1", "\t7"])
)
FIELDS = NUMBERS | st.sampled_from(
    ["", "NA", "nan", "inf", "x", "1_0", "1e400", "0x1", "١", "1 2", '"', '"1', "1,2"]
)


@settings(deadline=None, max_examples=80)
@given(rows=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=5))
def test_the_fast_parser_reads_the_same_bits_as_the_literal_one(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text("a,b\n" + "\n".join(map(",".join, rows)))
    table = tables.open_table(path, ["a", "b"], 2)
    lines = path.read_bytes()[4:]
    fast = table._parse_by_arrow(lines)
    if any(np.isinf(float(field.strip('"'))) for row in rows for field in row):
        assert fast is None
        with pytest.raises(ValueError, match="double precision"):
            table._parse_by_line(lines, 0)
    elif fast is not None:
        assert fast.tobytes() == table._parse_by_line(lines, 0).tobytes()
    else:
        table._parse_by_line(lines, 0)


@settings(deadline=None, max_examples=80)
@given(rows=st.lists(st.lists(FIELDS, min_size=1, max_size=3), min_size=1, max_size=5), names=st.booleans())
def test_the_fast_parser_accepts_nothing_that_the_literal_one_refuses(rows, names, tmp_path_factory):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text("a,b\n" + "\n".join(map(",".join, rows)), encoding="utf-8")
    table = tables.open_table(path, ["a", "b"], 2) if rows[0] != [""] else None
    if table is None:
        return
    lines = path.read_bytes()[4:].rstrip(b"\r\n")
    fast = table._parse_by_arrow(lines)
    if fast is not None:
        np.testing.assert_array_equal(fast, table._parse_by_line(lines, 0))


def test_the_fast_parser_is_used(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(tables.CsvTable, "_parse_by_line", None)
    path = write(frame, tmp_path / "t.csv")
    np.testing.assert_array_equal(values(path, ["a", "b"]), frame[["a", "b"]])


def test_without_pyarrow(frame, tmp_path, monkeypatch):
    there = builtins.__import__

    def absent(name, *rest):
        if name.partition(".")[0] == "pyarrow":
            raise ImportError(name)
        return there(name, *rest)

    path = write(frame, tmp_path / "t.csv.gz")
    monkeypatch.setattr(builtins, "__import__", absent)
    np.testing.assert_array_equal(values(path, ["a", "b"]), frame[["a", "b"]])
    with pytest.raises(
        ValueError, match=r"Parquet needs pyarrow: `pip install 'rankad-workbench\[cluster\]'`"
    ):
        tables.require_pyarrow("Parquet")


GOOD = "a,b,t\n" + "1,2,x\n" * 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "no row in the line below"),
        ("a,b\n\n\n", "no row in the line below"),
        (
            "a,c\n1,2\n",
            r"lacks 1 of the columns that the model was fitted on: 'b'\. Its columns are 'a', 'c'",
        ),
        ("a,b,a\n1,2,3\n", "more than one column named 'a'"),
        ("1,2\n3,4\n", r"first line of .* holds numbers \('1', '2'\), not names"),
        (
            GOOD + "1,red,x\n1,blue,x",
            r"row 4 \(line 6\), column 'b', holds 'red', which is not a finite number",
        ),
        (GOOD + "1,-inf,x\n", r"row 4 .* column 'b', holds '-inf', which is not a finite number"),
        (GOOD + "1,1e999,x\n", "row 4 .* column 'b', holds '1e999', more than a number of double precision"),
        (GOOD + "1,,x\n", r"row 4 \(line 6\), column 'b', holds no value \(''\)\. Drop such rows"),
        (GOOD + "NaN,1,x\n", r"row 4 \(line 6\), column 'a', holds no value \('NaN'\)"),
        (GOOD + "1,2\n", r"row 4 \(line 6\) holds 2 values, and there are 3 columns"),
        (GOOD + "1,2,x,y\n", r"row 4 \(line 6\) holds 4 values, and there are 3 columns"),
        (GOOD + "\n1,2,x\n", r"row 4 \(line 6\) holds nothing, and there are 3"),
        (GOOD + '1,2,"x\ny"\n', r"row 4 \(line 6\) cannot be read as comma-separated .* must be one line"),
        (GOOD + "1,2,x\r1,2,x\n", r"row 4 \(line 6\) cannot be read as comma-separated"),
        (GOOD + "1,2," + "x" * 99 + "\n", "row 4 .* is longer than 64 bytes"),
        ("a" * 99, "the header is longer than 64 bytes"),
        ("a,b\n" + "1" * 99, "row 0 .* is longer than 64 bytes"),
    ],
)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_what_is_wrong_with_a_csv_file(name, text, message, tmp_path, monkeypatch):
    if "64" in message:
        monkeypatch.setattr(tables.columns, "CHUNK_BYTES", 64)
    content = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(ValueError, match=message) as caught:
        values(tmp_path / name, ["a", "b"])
    assert str(tmp_path / name) in str(caught.value)


def test_rows_are_counted_through_chunks(tmp_path, small_chunks):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 100 + "3,?\n")
    with pytest.raises(ValueError, match=r"row 100 \(line 102\), column 'b', holds '\?'"):
        values(tmp_path / "t.csv")


def test_columns_that_pandas_named_by_position(tmp_path):
    pd.DataFrame([[5, 6]]).to_csv(tmp_path / "t.csv", index=False)
    np.testing.assert_array_equal(values(tmp_path / "t.csv"), [[5, 6]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,é\n1,2\n".encode("latin-1"), r"the header is not UTF-8 text \(byte 0xe9\)"),
        ("a,b\n1,2\n3,é\n".encode("latin-1"), r"row 1 \(line 3\) is not UTF-8 text \(byte 0xe9\)\. Save"),
        ("a,b\n1,2\n".encode("utf-16"), r"holds NUL bytes, as UTF-16 does\. Save the file as UTF-8"),
    ],
)
def test_other_encodings(content, message, tmp_path):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        values(tmp_path / "t.csv")


def test_gzip_files_that_are_none_or_cut_short(tmp_path, rng):
    whole = gzip.compress(b"a,b\n" + b"\n".join(b"%f,%f" % tuple(row) for row in rng.random((5000, 2))))
    for content in (b"a,b\n1,2\n", whole[: len(whole) // 2], whole[:200] + b"????" + whole[204:]):
        (tmp_path / "t.csv.gz").write_bytes(content)
        with pytest.raises(ValueError, match=r"t\.csv\.gz is not a whole gzip file"):
            values(tmp_path / "t.csv.gz")


def test_unknown_kinds_of_file(tmp_path):
    for name in ("t.xlsx", "t", "t.csv.zip"):
        with pytest.raises(
            ValueError, match=r"is of no kind that is read here: give a file \.csv, \.csv\.gz or"
        ):
            tables.open_table(tmp_path / name, None, 2)


def test_kinds_of_numbers_in_parquet(tmp_path):
    decimals = pa.array([1, 2], pa.decimal128(10, 2))
    table = pa.table({"i": pa.array([1, 2], pa.int8()), "f": pa.array([0.5, 2], pa.float32()), "d": decimals})
    parquet.write_table(table, tmp_path / "t.parquet")
    np.testing.assert_array_equal(values(tmp_path / "t.parquet", d=3), [[1, 0.5, 1], [2, 2, 2]])


@pytest.mark.parametrize(
    ("b", "message"),
    [
        (["red", "blue"], r"column 'b' holds (large_)?string, not numbers \(from row 0 on\)"),
        ([True, False], "column 'b' holds bool, not numbers"),
        ([1.0, None], r"row 1, column 'b', holds no value \(None\)\. Drop such rows"),
        ([1.0, np.inf], r"row 1, column 'b', holds no value \(inf\)"),
        ([], r"t\.parquet has no rows"),
    ],
)
def test_what_is_wrong_with_a_parquet_file(b, message, tmp_path):
    parquet.write_table(pa.table({"a": [1.0] * len(b), "b": b}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=message):
        values(tmp_path / "t.parquet", ["a", "b"])


def test_the_index_of_a_data_frame_is_no_column(tmp_path):
    pd.DataFrame({"a": [1.0], "b": [2.0]}, index=[7]).to_parquet(tmp_path / "t.parquet")
    np.testing.assert_array_equal(values(tmp_path / "t.parquet"), [[1, 2]])


def test_parquet_files_that_are_none_or_damaged(tmp_path, frame):
    path = write(frame, tmp_path / "t.parquet")
    content = path.read_bytes()
    for wrong in (b"", b"a,b\n1,2\n" * 10, content[:-20]):
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match=r"t\.parquet is not a Parquet file"):
            values(path, ["a", "b"])
    path.write_bytes(content[:4] + bytes(300) + content[304:])
    with pytest.raises(ValueError, match=r"t\.parquet is damaged from about row 0 on"):
        values(path, ["a", "b"])
