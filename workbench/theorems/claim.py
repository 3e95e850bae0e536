"""A claim: both sides of a theorem computed over a ladder of sizes, and a verdict from confidence limits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from tqdm.auto import tqdm

from ..densities import FIG1, Density

VERDICTS = ("holds", "refuted", "undecided")


@dataclass(frozen=True)
class Result:
    """What a run of a claim found.

    Attributes
    ----------
    name, location, statement, assumes, refuted_if : str
        Those of the claim.
    broken : bool
        Whether this was the claim's control.
    frame : pandas.DataFrame
        What was measured, a row for each size n and repetition (and each rule or limit, where there are
        several), both sides of the claim in columns of their own.
    summary : pandas.DataFrame
        Estimates with confidence limits ``low`` and ``high``, and the value ``predicted``, by ``quantity``.
    verdict : {"holds", "refuted", "undecided"}
    sentence : str
        The verdict in words, with confidence limits.
    """

    name: str
    location: str
    statement: str
    assumes: str
    refuted_if: str
    broken: bool
    frame: object
    summary: object
    verdict: str
    sentence: str

    def __str__(self):
        return f"{self.name}{' (control)' if self.broken else ''}: {self.verdict}. {self.sentence}"


class Claim(ABC):
    """A statement of the paper, or its correction, that a computation can refute.

    A subclass says what it claims and supplies `_measure` and `_judge`.

    Attributes
    ----------
    name : str
    location : str
        Where the paper says so.
    statement : str
        The formula, in the paper's symbols.
    assumes : str
        What it needs of the density.
    refuted_if : str
        The outcome that would have refuted it.
    broken_by : str
        What `control` changes.
    expected, control_expected : {"holds", "refuted"}
        Verdicts of `run` and of `control` where the assumptions are met. They differ: a true claim has a
        control that must fail, and one that is false as printed has a control that must pass.
    ladder : str
        What n counts.
    ns : tuple of int
        Sizes of a quick run, some seconds.
    repetitions : int
    smallest, fewest, sizes : int
        The least n, the fewest repetitions and the fewest sizes that `run` accepts.
    """

    name: str
    location: str
    statement: str
    assumes: str
    refuted_if: str
    broken_by: str
    expected = "holds"
    ladder = "sample size"
    ns: tuple
    repetitions: int
    smallest = 20
    fewest = 3
    sizes = 2

    @property
    def control_expected(self):
        """The verdict that the control must have."""
        return "refuted" if self.expected == "holds" else "holds"

    def run(self, density=FIG1, *, ns=None, repetitions=None, random_state=0, progress=False, broken=False):
        """Compute both sides and judge.

        Parameters
        ----------
        density : Density, default FIG1
            Anything with `d`, `sample`, `logpdf` and `p_value` of the base class.
        ns : sequence of int, optional
            Increasing sizes; those of a quick run if not given.
        repetitions : int, optional
        random_state : None, int or numpy.random.Generator
            The same seed gives the same frame, to the byte. Each repetition has a stream of its own, which
            all sizes share: the first repetitions of a longer run are those of a shorter one.
        progress : bool, default False
            Whether to show a bar.
        broken : bool, default False
            Whether to run the control instead; see `control`.

        Returns
        -------
        Result

        Raises
        ------
        ValueError
            If an argument is not as stated; the message names the value and the remedy.
        """
        import pandas as pd

        ns, repetitions, seed = self._checked(density, ns, repetitions, random_state)
        rows = []
        with tqdm(total=repetitions * len(ns), desc=self.name, disable=not progress, leave=False) as bar:
            for repetition in range(repetitions):
                for n in ns:
                    rng = np.random.default_rng([seed, repetition])
                    measured = self._measure(density, n, rng, broken)
                    for row in measured if isinstance(measured, list) else [measured]:
                        rows.append({"n": n, "repetition": repetition} | row)
                    bar.update()
        frame = pd.DataFrame(rows).sort_values(["n", "repetition"], kind="stable", ignore_index=True)
        verdict, sentence, quantities = self._judge(frame, density, broken)
        summary = pd.DataFrame(
            [(name, *interval, predicted) for name, interval, predicted in quantities],
            columns=["quantity", "estimate", "low", "high", "predicted"],
        )
        return Result(
            name=self.name,
            location=self.location,
            statement=self.statement,
            assumes=self.assumes,
            refuted_if=self.refuted_if,
            broken=broken,
            frame=frame,
            summary=summary.set_index("quantity"),
            verdict=verdict,
            sentence=sentence,
        )

    def control(self, density=FIG1, **arguments):
        """Run what must come out the other way, `control_expected`; arguments are those of `run`."""
        return self.run(density, **arguments, broken=True)

    @abstractmethod
    def _measure(self, density, n, rng, broken):
        """Return a row (dict) for one size and repetition, or a list of rows."""

    @abstractmethod
    def _judge(self, frame, density, broken):
        """Return the verdict, a sentence, and (quantity, Interval, predicted) triples."""

    def _checked(self, density, ns, repetitions, random_state):
        if not isinstance(density, Density):
            raise ValueError(
                f"density must be a workbench.densities.Density, got {density!r}: densities.FIG1, for "
                "instance, or a subclass with sample, logpdf, bounds and d."
            )
        sizes = self.ns if ns is None else tuple(np.atleast_1d(np.asarray(ns, dtype=object)))
        whole = all(_is_whole(n) and n >= self.smallest for n in sizes)
        increasing = whole and all(a < b for a, b in pairwise(sizes))
        if not increasing or len(sizes) < self.sizes:
            raise ValueError(
                f"ns must be at least {self.sizes} increasing whole numbers ({self.ladder}), none below "
                f"{self.smallest}, got {ns!r}: {self.ns}, for instance."
            )
        repetitions = self.repetitions if repetitions is None else repetitions
        if not _is_whole(repetitions) or repetitions < self.fewest:
            raise ValueError(
                f"repetitions must be a whole number, at least {self.fewest}, got {repetitions!r}: a "
                "confidence limit needs that many."
            )
        return tuple(int(n) for n in sizes), int(repetitions), seed_of(random_state)


def seed_of(random_state):
    """Return a seed, a non-negative int, from None, an int or a Generator; or raise a ValueError."""
    if random_state is None or isinstance(random_state, np.random.Generator):
        return int(np.random.default_rng(random_state).integers(2**63))
    if not _is_whole(random_state) or random_state < 0:
        raise ValueError(
            f"random_state must be None, a whole number that is not negative, or a numpy Generator, got "
            f"{random_state!r}: 0, for instance."
        )
    return int(random_state)


def _is_whole(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
