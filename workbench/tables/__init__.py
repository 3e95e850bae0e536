"""Columns of numbers from CSV and Parquet files of any size, a chunk at a time, or a sentence on why not.

A CSV file is UTF-8, comma-separated, and begins with a line of column names; a row is a line, so quoted
values may hold commas but no line breaks. Rows count from 0, the header apart, as in an array or a data
frame. Chunks are cut at fixed places, so that reading can go on at any of them.
"""

from __future__ import annotations

from pathlib import Path

from .columns import Chunk, require_pyarrow
from .parquet import ParquetTable
from .text import CsvTable

__all__ = ["Chunk", "CsvTable", "ParquetTable", "open_table", "require_pyarrow"]


def open_table(path, names, d):
    """Look at the head of a CSV or Parquet file and choose the columns to read.

    Parameters
    ----------
    path : str or path
        Ends in .csv, .csv.gz or .parquet.
    names : sequence of d str, or None
        Columns to read, wherever they are; None for all columns of numbers, in order.
    d : int
        How many there must be.

    Returns
    -------
    CsvTable or ParquetTable

    Raises
    ------
    ValueError
        If the file is not such a file, is empty, or has not these columns.
    OSError
        If it cannot be read.
    """
    path = Path(path)
    if path.name.endswith((".csv", ".csv.gz")):
        return CsvTable(path, names, d)
    if path.name.endswith(".parquet"):
        return ParquetTable(path, names, d)
    raise ValueError(f"{path} is of no kind that is read here: give a file .csv, .csv.gz or .parquet.")
