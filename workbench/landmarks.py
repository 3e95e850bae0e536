"""Landmarks for a kernel expansion: randomly pivoted Cholesky.

Pivoted Cholesky takes the point that is farthest, in the RKHS, from the span of those before. For all the
pivots that K needs this is hard to beat. For few of them and a narrow kernel it is not: the farthest points
are the outliers, which serve nobody else. Drawing each pivot at random, with probability proportional to
that squared distance, serves the bulk as well (Chen, Epperly, Tropp & Webber 2025).
"""

from __future__ import annotations

import numpy as np

from .kernels import pivoted_factor

SEED = 0
"""The same sample gives the same landmarks."""


def random_factor(kernel, at_most, tol):
    """Cholesky factor of a kernel matrix with randomly drawn pivots.

    Parameters
    ----------
    kernel : KernelMatrix
    at_most : int
        Number of pivots wanted.
    tol : float
        Points whose residual is no larger are not drawn; fewer pivots are returned where none is left.

    Returns
    -------
    Factor

    References
    ----------
    Y. Chen, E. N. Epperly, J. A. Tropp, R. J. Webber. Randomly pivoted Cholesky: Practical approximation of a
    kernel matrix with few entry evaluations. Communications on Pure and Applied Mathematics 78, 2025.
    """
    rng = np.random.RandomState(SEED)

    def draw(residual):
        up_to = np.cumsum(np.where(residual > tol, residual, 0.0))
        if up_to[-1] == 0:
            return np.argmax(residual)  # which ends it
        return np.searchsorted(up_to, rng.random_sample() * up_to[-1], side="right")

    return pivoted_factor(kernel, tol, at_most, draw)
