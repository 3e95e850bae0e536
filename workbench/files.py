"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path):
    """Open a binary file that takes the place of `path` when the block ends, and only then.

    It is written beside `path` under a hidden name that ends in ".part", brought to the disk (fsync) and
    renamed (os.replace), so that a reader finds the old file or the new one, never half of one. Whatever
    ends the block early, an interrupt or a full disk, the file beside is removed and the old one stays.
    Only a process that is killed outright cannot remove it.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    OSError
        If it cannot be written; the message says where and why.
    """
    path = Path(os.path.realpath(path))  # a link goes on pointing at what is written
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        if path.is_dir():
            raise IsADirectoryError("it is a folder")
        try:
            with open(beside, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        except BaseException:
            with suppress(OSError):
                beside.unlink()
            raise
    except OSError as error:
        raise OSError(
            f"{path} could not be written: {error.strerror or error}. What was there before is unchanged; "
            "make room or choose another place."
        ) from error
    _bring_to_disk(path.parent)


def _bring_to_disk(folder):
    """Make a renaming in `folder` last through a loss of power, where the system allows that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
