"""CSV files, a chunk at a time."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from array import array

import numpy as np

from . import columns
from .columns import REMEDY, Chunk, choose, listed

_NUMBER = re.compile(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*", re.ASCII)
_MISSING = ("", "na", "n/a", "nan", "null", "none")


class CsvTable:
    """A CSV file, plain or compressed by gzip.

    Parsed by pyarrow where it is installed; a chunk that it does not take is read again line by line, as all
    are where pyarrow is absent, to say what is wrong with which row.

    Attributes
    ----------
    path : Path
    columns : list of str
        Those that are read, in the order of the model.
    unused : list of str
        The others.
    size : int or None
        Where `stop` of the last chunk will be, None if that is not known beforehand.
    unit : str
        What `size` and ``stop`` count.
    """

    unit = "B"

    def __init__(self, path, names, d):
        self.path = path
        self._compressed = path.name.endswith(".gz")
        self.size = None if self._compressed else path.stat().st_size
        with self._open() as stream:
            header = self._read_line(stream)
            self._body = stream.tell()
            first = self._read_line(stream)
        if b"\0" in header:
            raise ValueError(f"{path} holds NUL bytes, as UTF-16 does. Save the file as UTF-8 text.")
        if not header.strip():
            raise ValueError(f"{path} is empty: its first line must name the columns.")
        if not first.strip():
            raise ValueError(f"{path} has a line of column names, and no row in the line below it.")
        self._all = self._fields(self._decode(header.removeprefix(b"\xef\xbb\xbf"), None), None)
        if all(_NUMBER.fullmatch(name) for name in self._all) and not _are_positions(self._all):
            raise ValueError(
                f"The first line of {path} holds numbers ({listed(self._all)}), not names of columns. "
                "Add a line of names."
            )
        numeric = []
        if names is None:
            fields = self._fields(self._decode(first, 0), 0)
            numeric = [i for i, field in enumerate(fields[: len(self._all)]) if _might_be_a_number(field)]
        self._chosen = choose(path, self._all, numeric, names, d)
        self.columns = [self._all[i] for i in self._chosen]
        self.unused = [name for i, name in enumerate(self._all) if i not in self._chosen]

    def chunks(self, start=0, first_row=0):
        """Yield a :class:`Chunk` at a time, from the place `start` on, where row `first_row` begins.

        Raises
        ------
        ValueError
            At the first row that is not as many finite numbers as there are columns; the message names it.
        """
        start = start or self._body
        with self._open() as stream:
            self._call(stream.seek, start)
            text = b""
            while True:
                # One byte more than a chunk tells whether the file goes on.
                text += self._call(stream.read, columns.CHUNK_BYTES + 1 - len(text))
                at_end = len(text) <= columns.CHUNK_BYTES
                cut = len(text) if at_end else text.rfind(b"\n", 0, columns.CHUNK_BYTES) + 1
                if cut == 0 and not at_end:
                    raise self._too_long(first_row)
                start += cut
                lines = text[:cut].rstrip(b"\r\n") if at_end else text[: cut - 1]
                if lines or not at_end:
                    X = self._parse(lines, first_row)
                    yield Chunk(X, start)
                    first_row += len(X)
                if at_end:
                    return
                text = text[cut:]

    def _parse(self, lines, first_row):
        X = self._parse_by_arrow(lines)
        return self._parse_by_line(lines, first_row) if X is None else X

    def _parse_by_arrow(self, lines):
        """Values of the chosen columns, or None where anything is unusual."""
        try:
            import pyarrow as pa
            from pyarrow import csv as arrow_csv
        except ImportError:
            return None
        lines = lines.replace(b"\r\n", b"\n").removesuffix(b"\r")
        # pyarrow takes a quotation mark without its fellow where the text ends.
        if b"\r" in lines or lines.count(b'"') % 2:
            return None
        chosen = [str(i) for i in self._chosen]
        try:
            lines.decode()
            table = arrow_csv.read_csv(
                pa.BufferReader(lines),
                arrow_csv.ReadOptions(
                    use_threads=False,
                    block_size=len(lines) + 1,
                    column_names=[str(i) for i in range(len(self._all))],
                ),
                arrow_csv.ParseOptions(ignore_empty_lines=False),
                arrow_csv.ConvertOptions(
                    include_columns=chosen, column_types=dict.fromkeys(chosen, pa.float64()), null_values=[""]
                ),
            )
        except (UnicodeDecodeError, pa.ArrowInvalid):
            return None
        # Other than a row a line, a quoted value holds a line break.
        if table.num_rows != lines.count(b"\n") + 1 or any(column.null_count for column in table.columns):
            return None
        X = np.column_stack([column.to_numpy() for column in table.columns])
        return X if np.isfinite(X).all() else None

    def _parse_by_line(self, lines, first_row):
        text = self._decode(lines, first_row)
        values = array("d")
        for row, line in enumerate(text.split("\n"), start=first_row):
            fields = self._fields(line, row)
            if len(fields) != len(self._all):
                seen = f"{len(fields)} values" if fields else "nothing"
                raise ValueError(f"{self._at(row)} holds {seen}, and there are {len(self._all)} columns.")
            for i in self._chosen:
                values.append(self._number(fields[i], row, self._all[i]))
        return np.array(values).reshape(-1, len(self._chosen))

    def _number(self, field, row, column):
        where = f"{self._at(row)}, column {column!r},"
        if _NUMBER.fullmatch(field):
            value = float(field)
            if np.isfinite(value):
                return value
            raise ValueError(f"{where} holds {field!r}, more than a number of double precision can be.")
        if field.strip().lower() in _MISSING:
            raise ValueError(f"{where} holds no value ({field!r}). {REMEDY}")
        raise ValueError(
            f"{where} holds {_short(field)}, which is not a finite number. Correct it, or encode the "
            "column as for training."
        )

    def _fields(self, line, row):
        try:
            return next(csv.reader([line.removesuffix("\n").removesuffix("\r")], strict=True), [])
        except csv.Error as error:
            raise ValueError(
                f"{self._at(row)} cannot be read as comma-separated values: {error}. A row must be one line."
            ) from None

    def _decode(self, content, row):
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            where = row if row is None else row + content.count(b"\n", 0, error.start)
            raise ValueError(
                f"{self._at(where)} is not UTF-8 text (byte 0x{content[error.start]:02x}). Save the file as "
                "UTF-8."
            ) from None

    def _at(self, row):
        return f"{self.path}: {'the header' if row is None else f'row {row} (line {row + 2})'}"

    def _read_line(self, stream):
        line = self._call(stream.readline, columns.CHUNK_BYTES + 1)
        if len(line) > columns.CHUNK_BYTES:
            raise self._too_long(None if stream.tell() == len(line) else 0)
        return line

    def _too_long(self, row):
        return ValueError(
            f"{self._at(row)} is longer than {columns.CHUNK_BYTES} bytes. Is it a CSV file with a line for "
            "each row?"
        )

    def _open(self):
        return gzip.open(self.path) if self._compressed else open(self.path, "rb")

    def _call(self, method, argument):
        try:
            return method(argument)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{self.path} is not a whole gzip file: {error}.") from None


def _might_be_a_number(field):
    return _NUMBER.fullmatch(field) is not None or field.strip().lower() in _MISSING


def _are_positions(names):
    """Whether names are 0, 1, 2, ... as pandas gives columns that have none."""
    return names == [str(i) for i in range(len(names))]


def _short(text):
    return repr(text if len(text) <= 40 else text[:40] + "...")
