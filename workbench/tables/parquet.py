"""Parquet files, a chunk at a time."""

from __future__ import annotations

import numpy as np

from . import columns
from .columns import REMEDY, Chunk, choose


class ParquetTable:
    """A Parquet file, read by pyarrow.

    Attributes
    ----------
    path, columns, unused, size, unit
        As for :class:`CsvTable`; ``stop`` and `size` count rows.
    """

    unit = "row"

    def __init__(self, path, names, d):
        self.path = path
        with self._open() as file:
            schema, self.size = file.schema_arrow, file.metadata.num_rows
            groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        if self.size == 0:
            raise ValueError(f"{path} has no rows.")
        # Row group i holds the rows from _group_starts[i] on, up to _group_starts[i + 1].
        self._group_starts = np.concatenate([[0], np.cumsum(groups)]).tolist()
        numeric = [i for i, field in enumerate(schema) if _is_numeric(field)]
        chosen = choose(path, schema.names, numeric, names, d)
        self.columns = [schema.names[i] for i in chosen]
        self.unused = [name for name in schema.names if name not in self.columns]
        for i in chosen:
            if i not in numeric:
                raise ValueError(
                    f"{path}: column {schema.names[i]!r} holds {schema.types[i]}, not numbers (from row 0 "
                    "on). Encode it as for training."
                )
        self._rows = max(1, columns.CHUNK_BYTES // (8 * d))

    def chunks(self, start=0, first_row=0):
        """Yield a :class:`Chunk` at a time; as :meth:`CsvTable.chunks`."""
        held, count = [], 0
        for X in self._pieces(start):
            while count + len(X) >= self._rows:
                part, X = np.split(X, [self._rows - count])
                start += self._rows
                yield Chunk(np.concatenate([*held, part]), start)
                held, count = [], 0
            held.append(X)
            count += len(X)
        if count:
            yield Chunk(np.concatenate(held), start + count)

    def _pieces(self, start):
        """Rows from `start` on, in pieces as they come."""
        import pyarrow as pa

        group = int(np.searchsorted(self._group_starts, start, side="right")) - 1
        row = self._group_starts[group]
        with self._open() as file:
            batches = file.iter_batches(
                batch_size=self._rows,
                row_groups=range(group, file.num_row_groups),
                columns=self.columns,
                use_threads=False,
            )
            try:
                for batch in batches:
                    skip = min(max(start - row, 0), len(batch))
                    if skip < len(batch):
                        yield self._numbers(batch.slice(skip), row + skip)
                    row += len(batch)
            except (pa.ArrowInvalid, OSError) as error:
                raise ValueError(f"{self.path} is damaged from about row {row} on: {error}") from error

    def _numbers(self, batch, row):
        import pyarrow as pa

        X = np.empty((len(batch), len(self.columns)))
        for j, name in enumerate(self.columns):
            column = batch.column(name)
            X[:, j] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            bad = ~np.isfinite(X[:, j])
            if bad.any():
                i = int(np.argmax(bad))
                seen = column[i].as_py()
                raise ValueError(
                    f"{self.path}: row {row + i}, column {name!r}, holds no value ({seen}). {REMEDY}"
                )
        return X

    def _open(self):
        import pyarrow as pa
        from pyarrow import parquet

        try:
            # A row group may be as large as the file: no reading ahead, and a buffer for each column.
            return parquet.ParquetFile(self.path, buffer_size=2**16, pre_buffer=False)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{self.path} is not a Parquet file: {error}") from None


def _is_numeric(field):
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_decimal)
    # pandas keeps the index of a data frame under such a name.
    return any(test(field.type) for test in tests) and not field.name.startswith("__index_level_")
