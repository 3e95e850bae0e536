"""Progress of a long fit, for a terminal or a notebook."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tqdm.auto import tqdm


@dataclass(frozen=True)
class Progress:
    """What a solver reports after each step.

    Attributes
    ----------
    n_iter : int
        Newton steps so far.
    gap : float
        Relative gap of the best primal and dual point so far.
    rank : int
        Dimension of the span the step was taken in.
    """

    n_iter: int
    gap: float
    rank: int


class GapBar:
    """A callback for :func:`workbench.ranksvm.solve`: a bar that fills as the gap falls from 1 to `tol`.

    The bar counts decimal digits, in which the gap falls about evenly. Use it as a context manager.

    Parameters
    ----------
    tol : float
        The tolerance given to the solver.
    **options
        Passed on to tqdm.

    Examples
    --------
    >>> import sys
    >>> with GapBar(1e-3, file=sys.stdout, disable=True) as bar:
    ...     bar(Progress(n_iter=1, gap=0.1, rank=10))
    """

    def __init__(self, tol, **options):
        digits = round(-np.log10(tol), 1)
        layout = "{l_bar}{bar}| {n:.1f}/{total:.1f} digits [{elapsed}{postfix}]"
        self._bar = tqdm(total=digits, desc="RankSVM", **{"bar_format": layout} | options)

    def __call__(self, progress):
        """Show one report."""
        digits = -np.log10(max(progress.gap, 1e-300))
        self._bar.n = float(np.clip(digits, self._bar.n, self._bar.total))
        postfix = {"step": progress.n_iter, "gap": f"{progress.gap:.1e}", "rank": progress.rank}
        self._bar.set_postfix(postfix)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._bar.close()
