"""Model files that only someone who means to can make: well sealed, with something wrong inside."""

import hashlib
import io
import json
import zipfile

import numpy as np


def reseal(content):
    return content[:-64] + hashlib.sha256(content[:-64]).hexdigest().encode()


def craft(path, header=None, arrays=None, members=None, compression=zipfile.ZIP_STORED):
    """Change the contents of a model file, and seal it anew.

    `header` and `members` are functions that change the header and the list of (name, content).
    """
    with zipfile.ZipFile(path) as old:
        contents = [(name, old.read(name)) for name in old.namelist()]
    fields = json.loads(contents[0][1])
    if arrays:
        changed = []
        for name, content in contents[1:]:
            array = np.load(io.BytesIO(content))
            array = arrays(name.removesuffix(".npy"), array)
            buffer = io.BytesIO()
            np.save(buffer, array)
            changed.append((name, buffer.getvalue()))
            fields["arrays"][name.removesuffix(".npy")] = {
                "dtype": array.dtype.str,
                "shape": list(array.shape),
                "sha256": hashlib.sha256(buffer.getvalue()).hexdigest(),
            }
        contents[1:] = changed
    if header:
        header(fields)
    contents[0] = ("header.json", json.dumps(fields).encode())
    if members:
        contents = members(contents)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as new:
        for name, content in contents:
            new.writestr(name, content)
        new.comment = b"0" * 64
    path.write_bytes(reseal(buffer.getvalue()))
