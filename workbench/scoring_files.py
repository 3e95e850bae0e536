"""Scores, p-values and alarms for every row of a file of any size: ``workbench score``.

Rows are read, scored and let go a chunk at a time. The scores of each finished chunk are kept in a working
folder beside the result, OUT.partial, with a manifest that ties them to the model and the data. A run that
was killed goes on from there, and ends in the same bytes as one that was not. The result appears whole, at
the end, and the working folder goes.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tqdm.auto import tqdm

from . import persistence, tables
from .chunks import in_block, judge
from .files import replacing
from .pipelines import estimators
from .pvalues import check_alpha

FORMAT = "rankad-workbench-scores-1"

_MANIFEST = "manifest.json"
_LONGEST_NAME = 255 - len("..00000000.part")  # in bytes: most systems' limit, less what `replacing` adds
_ENDS = 2**20  # bytes at either end of the data that the fingerprint looks at


class Summary(NamedTuple):
    """What was found in a file.

    Attributes
    ----------
    rows : int
    alarms : int
        At level `alpha`.
    discoveries : int or None
        By Benjamini-Hochberg, if asked for.
    columns : list of str
        Columns read.
    unused : list of str
        Columns left alone.
    split : bool
        Whether the p-values are split ones, for which alpha and the false discovery rate hold.
    """

    rows: int
    alarms: int
    discoveries: int | None
    columns: list
    unused: list
    split: bool


def score_file(model, data, out, *, alpha=None, fdr=None, overwrite=False, verbose=False):
    """Score every row of a CSV or Parquet file that need not fit in memory.

    The result has the columns ``row`` (from 0), ``score``, ``p_value``, ``alarm`` and, with `fdr`,
    ``discovery``.

    Parameters
    ----------
    model : str or path
        Written by :func:`workbench.save`. A pipeline is given the columns as they are.
    data : str or path
        Ends in .csv, .csv.gz or .parquet. Columns are matched by the model's feature names if it has them,
        and columns beyond these are left alone; otherwise all columns of numbers are taken, in order.
    out : str or path
        Ends in .csv or .parquet.
    alpha : float, optional
        False-alarm level of the alarms; that of the fit if not given.
    fdr : float, optional
        Also mark as discoveries what Benjamini and Hochberg's procedure rejects at this false discovery
        rate, over all rows. The rate is kept for p-values of a model with ``calibration="split"`` and rows
        that are independent of each other and of its data; of other p-values nothing is promised.
    overwrite : bool, default False
        Whether `out` may be there already.
    verbose : bool, default False
        Whether to show a progress bar where there is a terminal.

    Returns
    -------
    Summary

    Raises
    ------
    ValueError
        If the model, the data or a parameter is unusable. Nothing is left behind.
    OSError
        If a file cannot be read or written, FileExistsError if `out` is there. Finished chunks are kept.
    """
    model, data, out = Path(model), Path(data), Path(out)
    if alpha is not None:
        check_alpha(alpha)
    if fdr is not None and not (isinstance(fdr, float) and 0 < fdr < 1):
        raise ValueError(f"fdr must be a false discovery rate strictly between 0 and 1, got {fdr!r}.")
    _check_out(out, overwrite, (model, data))
    if ".parquet" in (data.suffix, out.suffix):
        tables.require_pyarrow("Parquet")

    detector = persistence.load(model)
    first, last = estimators(detector)[0], estimators(detector)[-1]
    names = getattr(first, "feature_names_in_", None)
    table = tables.open_table(data, names, first.n_features_in_)
    fingerprint = _fingerprint(data)
    manifest = {
        "format": FORMAT,
        "model": hashlib.sha256(model.read_bytes()).hexdigest(),
        "data": fingerprint,
        "chunk_bytes": tables.columns.CHUNK_BYTES,
    }
    folder = _working_folder(out, manifest)
    try:
        _score_chunks(detector, names, table, folder, verbose)
        if _fingerprint(data) != fingerprint:
            raise ValueError(f"{data} was changed while it was read. Run again when it is at rest.")
    except ValueError:
        shutil.rmtree(folder)
        raise
    largest = None if fdr is None else largest_rejected(_tally(detector, folder), fdr)
    rows, alarms, discoveries = _assemble(detector, folder, out, alpha, largest)
    shutil.rmtree(folder)
    discoveries = None if fdr is None else discoveries
    return Summary(rows, alarms, discoveries, table.columns, table.unused, last._split)


def largest_rejected(tally, q):
    """Return the largest p-value that Benjamini and Hochberg's procedure rejects.

    Conformal p-values take few different values, so that counting them does for any number of rows what
    ``scipy.stats.false_discovery_control`` does with all p-values in memory.

    Parameters
    ----------
    tally : dict from float to int
        How many p-values have each value.
    q : float
        False discovery rate.

    Returns
    -------
    float
        ``max{p: p N / #{p_i <= p} <= q}``; -inf if none is rejected.
    """
    values = np.array(sorted(tally))
    at_or_below = np.cumsum([tally[value] for value in values.tolist()])
    rejected = values[values * (at_or_below[-1] / at_or_below) <= q]
    return float(rejected[-1]) if len(rejected) else -np.inf


def _check_out(out, overwrite, inputs):
    if len(os.fsencode(out.name)) > _LONGEST_NAME:
        raise ValueError(f"The name {out.name[:40]}... of the result is too long. Choose a shorter one.")
    if out.suffix not in (".csv", ".parquet"):
        raise ValueError(f"The result can be a file .csv or .parquet, and not {out}.")
    if out.is_dir() or not out.parent.is_dir():
        raise ValueError(f"{out} cannot be written: it is a folder, or its folder is missing.")
    if out.exists():
        if any(out.samefile(path) for path in inputs if path.exists()):
            raise ValueError(f"{out} is what is read: give the result another name.")
        if not overwrite:
            raise FileExistsError(f"{out} exists. Use --overwrite to replace it, or choose another name.")


def _fingerprint(path):
    """Size, time of the last change and a digest of both ends: what a file of any size tells at once."""
    status = os.stat(path)
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        digest.update(file.read(_ENDS))
        file.seek(max(0, status.st_size - _ENDS))
        digest.update(file.read(_ENDS))
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "ends": digest.hexdigest()}


def working_folder(out):
    """Path of the folder that holds finished chunks until `out` is written."""
    out = Path(out)
    return out.parent / (out.name + ".partial")


def _working_folder(out, manifest):
    """Make the working folder, or keep the one that is there if it belongs to this model and these data."""
    folder = working_folder(out)
    if folder.exists():
        kept = None
        with suppress(OSError, ValueError):
            kept = json.loads((folder / _MANIFEST).read_text())
        if kept == manifest:
            return folder
        ours = isinstance(kept, dict) and kept.get("format") == FORMAT
        if not ours and (not folder.is_dir() or any(folder.iterdir())):
            raise ValueError(
                f"{folder} is in the way: it would hold unfinished work, but is something else. Move it."
            )
        shutil.rmtree(folder)
    try:
        folder.mkdir()
    except OSError as error:
        raise OSError(
            f"The folder {folder}, which holds unfinished work, cannot be made: {error.strerror}. Choose "
            "another place for the result."
        ) from error
    with replacing(folder / _MANIFEST) as file:
        file.write(json.dumps(manifest, indent=1).encode())
    return folder


def _parts(folder):
    """Files of finished chunks in order, and where in the data each ends: they are named INDEX-STOP.npy."""
    found = sorted(folder.glob("[0-9]*-*.npy"))
    named = [tuple(map(int, path.stem.split("-"))) for path in found]
    return [
        (path, stop) for i, (path, (index, stop)) in enumerate(zip(found, named, strict=True)) if i == index
    ]


def _score_chunks(detector, names, table, folder, verbose):
    """Bring the working folder to where it holds the scores of all rows."""
    parts = _parts(folder)
    row = sum(len(np.load(path, mmap_mode="r")) for path, _ in parts)
    start = parts[-1][1] if parts else 0
    index = len(parts)
    bar = tqdm(
        total=table.size,
        initial=start,
        unit=table.unit,
        unit_scale=True,
        leave=False,
        disable=None if verbose else True,
    )
    with bar:
        for X, stop in table.chunks(start, row):
            where = f"the chunk that begins with row {row}"
            scores = in_block(detector.score_samples, _named(X, names), where)
            with replacing(folder / f"{index:08d}-{stop}.npy") as file:
                np.save(file, scores, allow_pickle=False)
            index += 1
            row += len(X)
            bar.update(stop - start)
            start = stop


def _named(X, names):
    """Give columns the names that a model with names asks for; they were matched when the file was opened."""
    if names is None:
        return X
    import pandas as pd

    return pd.DataFrame(X, columns=names)


def _judged(detector, folder, alpha=None):
    for path, _ in _parts(folder):
        yield judge(detector, np.load(path, allow_pickle=False), alpha)


def _tally(detector, folder):
    tally = Counter()
    for judged in _judged(detector, folder):
        values, counts = np.unique(judged.p_value, return_counts=True)
        tally.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
    return tally


def _assemble(detector, folder, out, alpha, largest):
    """Write `out` from the scores in the working folder; count rows, alarms and discoveries."""
    rows = alarms = discoveries = 0
    with replacing(out) as file, _writer(file, out.suffix) as write:
        for score, p_value, alarm in _judged(detector, folder, alpha):
            columns = {"row": np.arange(rows, rows + len(score)), "score": score, "p_value": p_value}
            columns["alarm"] = alarm
            if largest is not None:
                columns["discovery"] = p_value <= largest
                discoveries += int(columns["discovery"].sum())
            write(columns)
            rows += len(score)
            alarms += int(alarm.sum())
    return rows, alarms, discoveries


@contextmanager
def _writer(file, suffix):
    """Yield a function that appends a dict of columns to the file."""
    if suffix == ".csv":
        import pandas as pd

        def write(columns):
            text = pd.DataFrame(columns).to_csv(index=False, header=file.tell() == 0, lineterminator="\n")
            file.write(text.encode())

        yield write
        return

    import pyarrow as pa
    from pyarrow import parquet

    with ExitStack() as stack:
        writer = None

        def write(columns):
            nonlocal writer
            part = pa.table(columns)
            writer = writer or stack.enter_context(parquet.ParquetWriter(file, part.schema))
            writer.write_table(part)

        yield write
