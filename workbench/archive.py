"""Named arrays under a JSON header in one sealed file, which nothing can be executed from.

The format, versions 1 and 2. The file is a ZIP archive whose members are stored without compression, so
that none is larger than the file: first ``header.json`` (UTF-8), then ``NAME.npy`` for each array in the
order that the header lists them. Arrays are NumPy's format 1.0, little-endian 8-byte floats or integers, C
order. The header's ``format`` and ``format_version`` say what it is, and its ``arrays`` gives the ``dtype``,
``shape`` and ``sha256`` (of the bytes of the .npy member) of each. The comment of the archive, its last 64
bytes, is the seal: the SHA-256 in hexadecimal of all bytes before it, so that no byte can change unnoticed
(``head -c -64 FILE | sha256sum``). It is a checksum, not a signature: it tells accidents, not who wrote it.

The versions differ in what the header may say (:mod:`workbench.persistence`), and not in the file around it.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile

import numpy as np

from .files import replacing

FORMAT = "rankad-workbench-model"
VERSION = 2
"""The latest that is read."""

_HEADER = "header.json"
_BEGINNING = b"PK\x03\x04"
_SEAL_LENGTH = 64
_DTYPES = ("<f8", "<i8")


def write(path, header, arrays, version):
    """Write `header` and `arrays` to `path`: whole or not at all, the same bytes for the same contents.

    Parameters
    ----------
    path : str or path
    header : dict
        Of what JSON has; ``format``, ``format_version`` and ``arrays`` are added.
    arrays : dict from str to array of floats or integers
    version : int
        Of the format: the earliest that the contents fit, so that earlier releases read what they can.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    members, listing = [], {}
    for name, array in arrays.items():
        dtype = "<f8" if array.dtype.kind == "f" else "<i8"
        buffer = io.BytesIO()
        ordered = np.ascontiguousarray(array, dtype=dtype)
        np.lib.format.write_array(buffer, ordered, version=(1, 0), allow_pickle=False)
        listing[name] = {"dtype": dtype, "shape": list(array.shape), "sha256": _digest(buffer.getvalue())}
        members.append((f"{name}.npy", buffer.getvalue()))
    header = {"format": FORMAT, "format_version": version} | header | {"arrays": listing}
    text = json.dumps(header, indent=1, allow_nan=False) + "\n"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in [(_HEADER, text.encode()), *members]:
            archive.writestr(zipfile.ZipInfo(name), content)  # dated 1980: the same bytes every time
        archive.comment = b"0" * _SEAL_LENGTH
    content = buffer.getbuffer()[:-_SEAL_LENGTH]
    with replacing(path) as file:
        file.write(content)
        file.write(_digest(content).encode())


def read(path):
    """Return the header and the arrays of a file that `write` wrote.

    Returns
    -------
    header : dict
    arrays : dict from str to array

    Raises
    ------
    ValueError
        If the file is foreign, altered, truncated, of a future version, or not what its header says.
    OSError
        If there is no such file, or it cannot be read.
    """
    with open(path, "rb") as file:
        if not _is_ours(file.read(len(_BEGINNING) + 26 + len(_HEADER))):
            raise ValueError(
                f"{path} is not a model file of RankAD Workbench. It reads what workbench.save writes; "
                "pickle and joblib files are never opened, as that can run what is in them."
            )
        file.seek(0)
        content = file.read()
    seal, expected = content[-_SEAL_LENGTH:], _digest(memoryview(content)[:-_SEAL_LENGTH])
    if seal != expected.encode():
        raise ValueError(
            f"The model file {path} is altered or truncated: its contents have the sha256 {expected}, which "
            "is not what it ends in. Take another copy, or save the model anew."
        )
    try:
        members = _members(content)
        header = json.loads(members.pop(_HEADER), parse_constant=_refuse_constant, parse_float=_finite)
        _check_version(header)
        listing = header.pop("arrays")
        if [f"{name}.npy" for name in listing] != list(members):
            raise _MalformedError(f"its header lists other arrays than its members {list(members)}")
        arrays = {name: _array(name, members[f"{name}.npy"], listing[name]) for name in listing}
    except _FutureError as error:
        raise ValueError(f"The model file {path} {error}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"The model file {path} is sealed but not well formed: {error}.") from error
    return header, arrays


class _MalformedError(ValueError):
    """What is wrong inside a sealed file."""


class _FutureError(ValueError):
    """Written by a later release."""


def _is_ours(beginning):
    return beginning.startswith(_BEGINNING) and beginning.endswith(_HEADER.encode())


def _digest(content):
    return hashlib.sha256(content).hexdigest()


def _refuse_constant(name):
    raise _MalformedError(f"its header holds {name}, which is not JSON")


def _finite(text):
    number = float(text)
    if math.isinf(number):
        raise _MalformedError(f"its header holds {text}, which is beyond all floats")
    return number


def _members(content):
    """Contents of the archive by name; nothing is unpacked, and no name is ever used as a path."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = archive.infolist()
            for info in infos:
                if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
                    raise _MalformedError(f"its member {info.filename!r} is compressed")
            names = [info.filename for info in infos]
            if len(set(names)) < len(names) or names[:1] != [_HEADER]:
                raise _MalformedError(f"its members {names} are not a header and arrays, once each")
            # Members that share bytes would let a small file fill the memory.
            if sum(info.file_size for info in infos) > len(content):
                raise _MalformedError("its members are larger than the file")
            return {info.filename: archive.read(info) for info in infos}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        raise _MalformedError(f"the archive cannot be read ({error})") from error


def _check_version(header):
    version = header["format_version"]
    if header["format"] != FORMAT or isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise _MalformedError(f"its format is {header['format']!r}, version {version!r}")
    if version > VERSION:
        raise _FutureError(
            f"has format {version}, and this release reads formats up to {VERSION}. "
            "Upgrade RankAD Workbench to open it."
        )


def _array(name, content, listed):
    if _digest(content) != listed["sha256"]:
        raise _MalformedError(f"the array {name!r} does not have the sha256 that the header lists")
    buffer = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(buffer)
        shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(buffer)
    except (SyntaxError, MemoryError, OverflowError) as error:
        raise _MalformedError(f"the array {name!r} has an unreadable header ({error})") from error
    data = content[buffer.tell() :]
    if version != (1, 0) or fortran_order or dtype.str not in _DTYPES:
        raise _MalformedError(f"the array {name!r} is of a kind that is not read here ({dtype.str})")
    if [dtype.str, list(shape)] != [listed["dtype"], listed["shape"]] or min(shape, default=0) < 0:
        raise _MalformedError(f"the array {name!r} has not the dtype and shape that the header lists")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise _MalformedError(f"the array {name!r} has {len(data)} bytes for a shape of {list(shape)}")
    return np.frombuffer(data, dtype).reshape(shape).astype(dtype.newbyteorder("="))
