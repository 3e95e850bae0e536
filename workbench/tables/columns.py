"""What the two kinds of table share: which columns are read, how much at a time, and what is said."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

CHUNK_BYTES = 2**22
"""Most of a file that is held at a time: text of a CSV file, numbers of a Parquet file."""

REMEDY = "Drop such rows, or fill them in as was done for the training data."

_SHOWN = 12  # names listed in a message


class Chunk(NamedTuple):
    """Some consecutive rows of a file.

    Attributes
    ----------
    X : array of shape (q, d), finite
    stop : int
        Where in the file the next chunk begins: to hand to ``chunks`` as `start`.
    """

    X: np.ndarray
    stop: int


def require_pyarrow(what):
    """Raise a ValueError that says how to get pyarrow, where it is absent."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ValueError(
            f"{what} needs pyarrow: `pip install 'rankad-workbench[cluster]'`, or use CSV."
        ) from None


def choose(path, columns, numeric, names, d):
    """Return the positions of the columns to read; see :func:`workbench.tables.open_table`.

    Parameters
    ----------
    path : Path
    columns : list of str
        All there are.
    numeric : list of int
        Positions of those that hold numbers; only asked for where `names` is None.
    names : sequence of str, or None
    d : int
    """
    if names is None:
        if len(numeric) != d:
            raise ValueError(
                f"The model was fitted on {d} features without names, and {path} has {len(numeric)} columns "
                f"of numbers ({listed([columns[i] for i in numeric])}) among {len(columns)}. Give a file "
                "with just these features, in their order."
            )
        names = [columns[i] for i in numeric]
    missing = [name for name in names if name not in columns]
    if missing:
        raise ValueError(
            f"{path} lacks {len(missing)} of the columns that the model was fitted on: {listed(missing)}. "
            f"Its columns are {listed(columns)}."
        )
    twice = [name for name in names if columns.count(name) > 1]
    if twice:
        raise ValueError(f"{path} has more than one column named {listed(twice)}. Rename or drop the others.")
    return [columns.index(name) for name in names]


def listed(names):
    """Return the names as text, the first few if there are many."""
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
