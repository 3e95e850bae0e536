"""An experiment to test the runner with: it counts how often each cell is worked out."""

import os
import time
from pathlib import Path

VERSION = 3


def cells(quick, runs=None):
    return [{"seed": seed} for seed in range(runs or (3 if quick else 8))]


def run(seed):
    folder = os.environ.get("COUNTING_FOLDER")
    if folder:
        with (Path(folder) / str(seed)).open("a") as file:
            file.write("x")
    time.sleep(float(os.environ.get("COUNTING_NAP", 0)))
    if str(seed) == os.environ.get("COUNTING_FAILS"):
        raise RuntimeError("this cell cannot be worked out")
    return {"square": float(seed**2)}


def report(records):
    return f"{len(records)} squares, sum {records['square'].sum():g}"
