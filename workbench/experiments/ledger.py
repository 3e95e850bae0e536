"""The ledger: every measured cell in one SQLite file, written as soon as it is done."""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import sqlite3
import uuid
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path

import filelock
import pandas as pd

FORMAT = 1
LIBRARIES = ("numpy", "scipy", "scikit-learn", "joblib", "pandas")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS environments (
    id INTEGER PRIMARY KEY,
    code TEXT NOT NULL,
    libraries TEXT NOT NULL,
    UNIQUE (code, libraries)
);
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY,
    experiment TEXT NOT NULL,
    version INTEGER NOT NULL,
    cell TEXT NOT NULL,
    result TEXT NOT NULL,
    seconds REAL NOT NULL,
    finished TEXT NOT NULL,
    environment INTEGER NOT NULL REFERENCES environments (id)
);
CREATE TABLE IF NOT EXISTS claims (
    key TEXT PRIMARY KEY,
    runner TEXT NOT NULL
);
"""


@dataclass(frozen=True)
class Task:
    """One cell of an experiment.

    Attributes
    ----------
    experiment : str
    version : int
        Of the experiment: results of another version are not reused.
    cell : dict
        Configuration and seed, JSON scalars.
    """

    experiment: str
    version: int
    cell: dict

    @property
    def key(self):
        """A digest that is the same for the same experiment, version and configuration."""
        return hashlib.sha256(_json([self.experiment, self.version, self.cell]).encode()).hexdigest()


class Ledger:
    """Results in an SQLite file, safe against a kill at any time and against several runners.

    A result enters whole, in one transaction, or not at all. A runner claims a cell before it works on it,
    so that no other does; it holds a lock on a file of its own for as long as it lives, which the operating
    system gives up for it however it ends, and claims of runners without a lock are void.

    Parameters
    ----------
    path : str or Path
        Made if it does not exist, with its folder. Keep it on a local disk: SQLite's locks, and those of
        the runners, are not reliable on network file systems.

    Raises
    ------
    ValueError
        If the file is something else, or of a later format.
    """

    def __init__(self, path):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self._transaction("DEFERRED") as database:
                (found,) = database.execute("PRAGMA user_version").fetchone()
                (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not tables:
                with self._transaction() as database:
                    for statement in _SCHEMA.split(";"):
                        database.execute(statement)
                    database.execute(f"PRAGMA user_version = {FORMAT}")
        except sqlite3.Error as error:
            raise ValueError(
                f"{self.path} cannot be used as a ledger ({error}). Name another file."
            ) from error
        if tables and found != FORMAT:
            raise ValueError(
                f"{self.path} is not a ledger that this version reads (format {found} instead of {FORMAT}). "
                "Name another file."
            )

    @contextmanager
    def runner(self):
        """Register a runner for as long as the block lasts, and give its name, to claim cells with."""
        name = uuid.uuid4().hex
        with self._transaction():  # one at a time: a lock is never taken for a dead one before it is held
            self._runners().mkdir(exist_ok=True)
            for path in self._runners().iterdir():
                if not self._is_alive(path.name):
                    path.unlink()
            lock = filelock.FileLock(self._runners() / name)
            lock.acquire()
        try:
            yield name
        finally:
            with self._transaction() as database:
                database.execute("DELETE FROM claims WHERE runner = ?", [name])
                lock.release()
                (self._runners() / name).unlink(missing_ok=True)
                with contextlib.suppress(OSError):  # others are at work
                    self._runners().rmdir()

    def claim(self, task, runner):
        """Whether `runner` may work on `task`: it is neither done nor in the hands of a living runner."""
        with self._transaction() as database:
            if database.execute("SELECT 1 FROM results WHERE key = ?", [task.key]).fetchone():
                return False
            held = database.execute("SELECT runner FROM claims WHERE key = ?", [task.key]).fetchone()
            if held and held[0] != runner and self._is_alive(held[0]):
                return False
            database.execute("INSERT OR REPLACE INTO claims VALUES (?, ?)", [task.key, runner])
            return True

    def record(self, task, result, seconds):
        """Write down the result of `task`, a dict of JSON scalars, and give up the claim on it.

        The first result of a cell stays.
        """
        code, libraries = _environment()
        with self._transaction() as database:
            database.execute(
                "INSERT OR IGNORE INTO environments (code, libraries) VALUES (?, ?)", [code, libraries]
            )
            (environment,) = database.execute(
                "SELECT id FROM environments WHERE code = ? AND libraries = ?", [code, libraries]
            ).fetchone()
            database.execute(
                "INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    task.key,
                    task.experiment,
                    task.version,
                    _json(task.cell),
                    _json(result),
                    seconds,
                    datetime.now(UTC).isoformat(timespec="seconds"),
                    environment,
                ],
            )
            database.execute("DELETE FROM claims WHERE key = ?", [task.key])

    def done(self):
        """Keys of the cells that have a result."""
        with self._transaction("DEFERRED") as database:
            return {key for (key,) in database.execute("SELECT key FROM results")}

    def records(self, experiment=None, version=None):
        """Results as a data frame: a row each, with the cell's configuration and its numbers as columns.

        Parameters
        ----------
        experiment : str, optional
            Of this one alone; then configuration and numbers have columns of their own. Otherwise they
            stay together in the columns ``cell`` and ``result``, as JSON.
        version : int, optional
            Of this version of it alone.

        Returns
        -------
        data frame
            With columns experiment, version, seconds, finished (UTC), code and libraries beside them, in
            the order in which the results came in.
        """
        query = (
            "SELECT experiment, version, cell, result, seconds, finished, code, libraries FROM results"
            " JOIN environments ON environment = id"
            " WHERE experiment = coalesce(?, experiment) AND version = coalesce(?, version)"
            " ORDER BY results.rowid"
        )
        with self._transaction("DEFERRED") as database:
            cursor = database.execute(query, [experiment, version])
            frame = pd.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description])
        if experiment is None:
            return frame
        numbers = [json.loads(c) | json.loads(r) for c, r in zip(frame["cell"], frame["result"], strict=True)]
        return pd.concat([pd.DataFrame(numbers), frame.drop(columns=["cell", "result"])], axis=1)

    @contextmanager
    def _transaction(self, kind="IMMEDIATE"):
        with closing(sqlite3.connect(self.path, timeout=60, isolation_level=None)) as database:
            database.execute(f"BEGIN {kind}")
            try:
                yield database
            except BaseException:
                database.rollback()
                raise
            database.commit()

    def _runners(self):
        return self.path.with_name(self.path.name + ".runners")

    def _is_alive(self, runner):
        path = self._runners() / runner
        if not path.exists():
            return False
        try:
            with filelock.FileLock(path, timeout=0):
                return False
        except filelock.Timeout:
            return True


def _json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


@cache
def _environment():
    """Version of the code, with a digest of its source, and versions of the libraries it stands on."""
    source = hashlib.sha256()
    package = Path(__file__).resolve().parents[1]
    for path in sorted(package.rglob("*.py")):
        source.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    libraries = {name: version(name) for name in LIBRARIES} | {"python": platform.python_version()}
    return f"{version('rankad-workbench')}+{source.hexdigest()[:12]}", _json(libraries)
