r"""Kernel expansions ``g = sum_j c_j k(y_j, .)``: evaluated fast, and with a bound on the rounding error.

With points centred and scaled, ``x' = (x - centre) / sigma``, the exponent of the kernel is one product,

.. math:: -|x' - y'|^2 = (x', |x'|^2, 1) \cdot (2 y', -1, -|y'|^2),

so that a block of scores costs a matrix product, an exponential in place and a matrix-vector product. The
subtraction hidden in that product loses digits far from the centre. With u the unit roundoff and
:math:`m = |x'| + |y'|` an exponent is off by at most :math:`\delta = (2 d + 10)\, u\, m^2`: 3u in each
coordinate by centring, scaling and conversion, hence :math:`6 u m^2`, and the sums of d and of d + 2 terms.
The exponential adds 4 units in the last place, and s terms are summed in any order:

.. math:: |\tilde g(x) - g(x)| \le \kappa \sum_j |c_j| k(x, y_j), \qquad \kappa = e^{\delta + (s + 12) u} - 1.

For all x together, R the largest :math:`|y'|`: the kernel falls faster than :math:`m^2` grows, and so the
bound is nowhere above what :math:`m = 2 R + 2`, :math:`1.1\,\delta` (if :math:`\delta \le 0.1`) and the
sum of all :math:`|c_j|` make it.
Where that is too much the kernel comes from coordinate differences, which lose nothing and take longer.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import gen_batches

from .kernels import kernel_sum
from .threads import one_blas_thread, spread

BLOCK_BYTES = 2**21
"""Memory for one block of kernel values. In smaller ones threads wait for each other's turn with the
interpreter, larger ones leave the caches: at 2^19 scoring takes up to twice as long, at 2^23 a tenth more."""

FEWEST_ROWS = 16
"""Points in a block, however many the centres."""

ONE_THREAD_FROM = 2**12
"""Kernel values from which BLAS is told to use one thread; for fewer it does by itself."""

SPREAD_FROM = 2**22
"""Kernel values from which it pays to start threads of our own."""

PORTION = 2**20
"""Kernel values that a thread works out at a time."""

ACCURACY = {np.float32: 1e-3, np.float64: 1e-6}
"""The matrix product serves while it rounds by no more than this, in units of the largest ``|g(y_j)|``."""

UNIT_ROUNDOFF = {dtype: float(np.finfo(dtype).eps) / 2 for dtype in ACCURACY}

TILE = 512
"""Points whose kernel values among each other are worked out at a time."""

SHARES = 16
"""Parts of the work on a whole kernel matrix, each with sums of its own."""

SAMPLE = 200
"""Number of centres among which that largest value is sought."""

REACH = 28.0
"""The kernel is below ``exp(-28^2)``, 0 in any precision, this many sigma away."""

LEAST_EXPONENT = -600.0
"""For float64. Where results or products are denormal, exp and sums take up to fifty times as long."""


class KernelExpansion:
    """``g(x) = sum_j c_j k(x, y_j)``, a function of many points at once. It checks nothing.

    Float32 points are scored in float32 where the rounding error allows it, all others in float64. Memory
    stays that of a few blocks however many the points. The last digits of a score depend on what is scored
    with it, within its rounding error.

    Parameters
    ----------
    centres : array of shape (s, d)
        The y_j.
    coefficients : array of shape (s,)
        The c_j.
    sigma : float
        Bandwidth of ``k(x, y) = exp(-|x - y|^2 / sigma^2)``, in the units of the data.

    Attributes
    ----------
    origin : array of shape (d,)
        Mean of the centres.
    radius : float
        Largest distance of a centre from it, in units of sigma.
    rounding : float
        Upper bound of the rounding error of the score of any float64 point.

    Examples
    --------
    >>> import numpy as np
    >>> g = KernelExpansion(np.array([[0.0], [1.0]]), np.array([1.0, 2.0]), sigma=1.0)
    >>> g(np.array([[0.0], [1.0]])).round(6)
    array([1.735759, 2.367879])
    """

    def __init__(self, centres, coefficients, sigma):
        self.centres = centres
        self.coefficients = coefficients
        self.sigma = sigma
        s = len(centres)
        self._limit = np.inf
        self.origin = (centres / max(s, 1)).sum(axis=0)  # the plain sum of huge numbers would overflow
        Y = np.ascontiguousarray(self.centred(centres))
        with np.errstate(over="ignore"):
            squares = np.einsum("ij,ij->i", Y, Y)
        self.radius = float(np.sqrt(squares.max(initial=0.0)))
        self._limit = self.radius + REACH
        self._l1 = float(np.abs(coefficients).sum())
        self._unit = float(np.abs(coefficients).max(initial=0.0)) or 1.0
        weights = coefficients / self._unit  # float32 knows nothing below 1e-45
        exponents = np.column_stack([2 * Y, np.full(s, -1.0), -squares]).T
        largest, at_stake = self._sizes(Y)
        self._products = {}
        for dtype, weight in ((np.float64, self._l1), (np.float32, at_stake)):
            if self._relative_rounding(dtype) * weight <= ACCURACY[dtype] * largest:
                self._products[dtype] = np.ascontiguousarray(exponents, dtype), weights.astype(dtype)
        if self.by_products:
            self.rounding = self._l1 * self._relative_rounding(np.float64)
        else:
            self._differences = Y, weights
            self.rounding = self._l1 * (self.difference_rounding + (s + 3) * UNIT_ROUNDOFF[np.float64])

    def __call__(self, X):
        """Score the rows of X, shape (q, d), in float64 of shape (q,)."""
        return self._in_blocks(X, self._score, 1)[0]

    def with_rounding(self, X):
        """Score the rows of X and bound the rounding error of each score.

        Returns
        -------
        g : array of shape (q,)
        rounding : array of shape (q,)
            At least ``|g - sum_j c_j k(x, y_j)|`` for the very numbers in X.
        """
        g, rounding = self._in_blocks(X, self._score_with_rounding, 2)
        return g, rounding

    def at_centres(self):
        """Return `with_rounding` of the centres, every kernel value worked out once: O(s) memory.

        Returns
        -------
        g : array of shape (s,)
        rounding : array of shape (s,)
        """
        X, n = self.centres, len(self.centres)
        tiles = [slice(start, min(start + TILE, n)) for start in range(0, n, TILE)]
        weights = self._weights(np.float64)
        weights = np.column_stack([weights, np.abs(weights)])
        squares = np.empty(n)
        # Shares are the same, and added up in the same order, whichever thread was first.
        sums = np.zeros((SHARES, n, 2))

        def work(share):
            memory = np.empty(TILE * TILE)
            for i in range(share, len(tiles), SHARES):
                rows = tiles[i]
                for columns in tiles[i:]:
                    shape = rows.stop - rows.start, columns.stop - columns.start
                    K = memory[: shape[0] * shape[1]].reshape(shape)
                    squares[rows] = self._fill(K, X[rows], columns)
                    sums[share, rows] += K @ weights[columns]
                    if rows != columns:
                        sums[share, columns] += K.T @ weights[rows]

        spread(work, range(SHARES))
        g, sizes = self._unit * sums.sum(axis=0).T
        return g, self._rounding(np.float64, squares, sizes)

    @property
    def by_products(self):
        """Whether exponents come from products; they come from differences where these lose too much."""
        return np.float64 in self._products

    @property
    def difference_rounding(self):
        """Upper bound of the rounding error of a kernel value from differences of centred points.

        The exponent D^2 is off by ``D u (4 m + (d + 4) D)``, m at most 2 R + D, and ``D exp(-D^2) < 1/2``.
        """
        return (4 * self.radius + self.centres.shape[1] + 15) * UNIT_ROUNDOFF[np.float64]

    def centred(self, X):
        """``(X - origin) / sigma``, what is out of every centre's reach pulled in; shape (q, d)."""
        Z = np.empty((X.shape[1], len(X)))
        self._centred(X, Z)
        return Z.T

    def _in_blocks(self, X, score, width):
        X = np.asarray(X)
        out = np.empty((width, len(X)))
        s, d = self.centres.shape
        dtype = np.float32 if X.dtype == np.float32 and np.float32 in self._products else np.float64
        rows = max(FEWEST_ROWS, BLOCK_BYTES // (np.dtype(dtype).itemsize * (s + d + 2)))

        def work(portion):
            # Fresh memory for every block would cost as much as the exponential.
            K = np.empty((min(rows, portion.stop - portion.start), s), dtype)
            for start in range(portion.start, portion.stop, rows):
                block = slice(start, min(start + rows, portion.stop))
                out[:, block] = score(X[block], K[: block.stop - start])

        if len(X) * s < ONE_THREAD_FROM:
            work(slice(0, len(X)))
        elif len(X) * s < SPREAD_FROM:
            with one_blas_thread():
                work(slice(0, len(X)))
        else:
            spread(work, list(gen_batches(len(X), rows * max(1, PORTION // (rows * s)))))
        return out

    def _score(self, X, K):
        self._fill(K, X)
        return self._sum(K, self._weights(K.dtype.type))

    def _score_with_rounding(self, X, K):
        squares = self._fill(K, X)
        weights = self._weights(K.dtype.type)
        sizes = self._sum(K, np.abs(weights))
        return self._sum(K, weights), self._rounding(K.dtype.type, squares, sizes)

    def _sum(self, K, weights):
        return self._unit * (K @ weights).astype(float)

    def _weights(self, dtype):
        return self._products[dtype][1] if self.by_products else self._differences[1]

    def _rounding(self, dtype, squares, sizes):
        """Bound the rounding errors at points of these squared norms and sums of ``|c_j| k(x, y_j)``."""
        if not self.by_products:
            return np.full(len(squares), self.rounding)
        s, d = self.centres.shape
        u = UNIT_ROUNDOFF[dtype]
        norms = np.sqrt(squares)
        m = norms + np.minimum(self.radius, norms + REACH)
        # Out of reach nothing is left to round, and a point pulled in to the limit is out of reach.
        delta = np.where(norms < self._limit, (2 * d + 10) * u * m**2, 0.0)
        kappa = np.expm1(delta + (s + 12) * u)
        lost = self._l1 * (np.finfo(dtype).tiny + 2 * np.exp(LEAST_EXPONENT))
        return kappa / (1 - kappa) * sizes + lost

    def _fill(self, K, X, centres=slice(None)):
        """Fill K with kernel values of X and some of the centres; return the squared norms of the points."""
        left = np.empty((X.shape[1] + 2, len(X)))  # with long rows, for short ones are slow
        Z = left[:-2]
        squares = self._centred(X, Z)
        if not self.by_products:
            cdist(Z.T, self._differences[0][centres], "sqeuclidean", out=K)
            np.negative(K, out=K)
        else:
            left[-2], left[-1] = squares, 1.0
            right = self._products[K.dtype.type][0][:, centres]
            np.matmul(left.astype(K.dtype, copy=False).T, right, out=K)
        farthest = np.sqrt(squares.max(initial=0.0)) + self.radius
        if K.dtype == np.float64 and -(farthest**2) < LEAST_EXPONENT:
            np.maximum(K, LEAST_EXPONENT, out=K)
            np.exp(K, out=K)
            K[squares >= self._limit**2] = 0.0
        else:
            np.exp(K, out=K)
        return squares

    def _centred(self, X, Z):
        """Set Z to ``(X - origin)' / sigma``, far points pulled in, and return squared norms."""
        with np.errstate(over="ignore"):
            np.subtract(X.T, self.origin[:, None], out=Z)
            Z /= self.sigma
            squares = np.einsum("ij,ij->j", Z, Z)
        if not squares.max(initial=0.0) < self._limit**2:
            # Beyond the limit every kernel value is 0, and squares may overflow.
            np.clip(Z, -self._limit, self._limit, out=Z)
            squares = np.einsum("ij,ij->j", Z, Z)
        return squares

    def _relative_rounding(self, dtype):
        """Return kappa for all points together."""
        s, d = self.centres.shape
        u = UNIT_ROUNDOFF[dtype]
        delta = 1.1 * (2 * d + 10) * u * (2 * self.radius + 2) ** 2
        return np.expm1(min(delta, 700.0) + (s + 12) * u)

    def _sizes(self, Y):
        """Largest ``|g(y_j)|`` and largest ``sum_l |c_l| k(y_j, y_l)`` among some centres."""
        some = Y[:: max(1, len(Y) // SAMPLE)]
        c = self.coefficients
        return [np.abs(kernel_sum(some, Y, weights, 1.0)).max(initial=0.0) for weights in (c, np.abs(c))]
