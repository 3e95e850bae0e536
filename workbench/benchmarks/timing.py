"""Timings that are fair on a machine that others use too: contenders in turn, medians, ratios."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np


def in_turn(contenders, repetitions, calls=1):
    """Run each contender once a round, so that whatever slows the machine down slows all of them.

    Parameters
    ----------
    contenders : dict from str to callable without arguments
    repetitions : int
        Rounds.
    calls : int
        Calls in a row that make up one run.

    Returns
    -------
    dict from str to array of shape (repetitions,), in seconds a call
    """
    seconds = {name: np.empty(repetitions) for name in contenders}
    for repetition in range(repetitions):
        for name, contender in contenders.items():
            started = time.perf_counter()
            for _ in range(calls):
                contender()
            seconds[name][repetition] = (time.perf_counter() - started) / calls
    return seconds


def growth(sizes, seconds):
    """Exponent e of ``seconds ~ size^e``, by least squares on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def table(head, rows):
    """Markdown table with right-aligned cells."""
    lines = [head, ["--:"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def peak_megabytes():
    """Most memory that this process has held at a time, in MB; NaN where the system does not say."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:  # not on Linux
        return np.nan
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) / 1024
