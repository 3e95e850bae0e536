"""Gaussian mixtures."""

import numpy as np

from .base import Density
from .checks import checked_factor, checked_points, checked_probability, checked_size


class GaussianMixture(Density):
    """The mixture f(x) = sum_k w_k N(x; mu_k, Sigma_k).

    Parameters
    ----------
    weights : array_like of shape (K,)
        The w_k: non-negative, with sum 1.
    means : array_like of shape (K, d)
        The mu_k.
    covariances : array_like of shape (K, d, d)
        The Sigma_k (covariances, not standard deviations): symmetric and positive definite.

    Raises
    ------
    ValueError
        If the shapes disagree or a parameter is not as stated above.

    Notes
    -----
    For d <= 2 every component is integrated in polar coordinates of its own, x = mu_k + r L_k u with
    L_k L_k' = Sigma_k and |u| = 1, so that components of any scale and shape are resolved alike: p to about
    1e-5 (1e-4 where a component is a needle, a hundred times thinner than another it sits in).

    Examples
    --------
    >>> disc = GaussianMixture([1.0], [[0.0, 0.0]], [[[1.0, 0.0], [0.0, 1.0]]])
    >>> float(disc.p_value([[3.0, 0.0]])[0].round(6)), float(disc.volume(0.05).round(4))
    (0.011109, 18.8227)
    """

    def __init__(self, weights, means, covariances):
        self.weights = np.array(weights, dtype=float)
        self.means = np.array(means, dtype=float)
        self.covariances = np.array(covariances, dtype=float)
        self._check_parameters()
        self.d = self.means.shape[1]
        self._factors = np.stack([checked_factor("covariances", S) for S in self.covariances])
        self._whiteners = np.linalg.inv(self._factors)
        log_determinants = np.log(np.diagonal(self._factors, axis1=1, axis2=2)).sum(axis=1)
        with np.errstate(divide="ignore"):
            self._log_peaks = np.log(self.weights) - log_determinants - self.d / 2 * np.log(2 * np.pi)
        for parameter in (self.weights, self.means, self.covariances):
            parameter.setflags(write=False)  # the cached truth would go stale

    def _check_parameters(self):
        shapes = self.weights.shape, self.means.shape, self.covariances.shape
        K, d = self.means.shape if self.means.ndim == 2 else (0, 0)
        if K * d == 0 or shapes != ((K,), (K, d), (K, d, d)):
            raise ValueError(
                "weights, means and covariances must have shapes (K,), (K, d) and (K, d, d), got "
                f"{shapes[0]}, {shapes[1]} and {shapes[2]}: give one weight, row and matrix a component."
            )
        for name in ("weights", "means", "covariances"):
            values = getattr(self, name)
            if not np.isfinite(values).all():
                raise ValueError(f"{name} must be finite, got {values[~np.isfinite(values)][0]}: replace it.")
        if self.weights.min() < 0 or abs(self.weights.sum() - 1) > 1e-9:
            raise ValueError(
                f"weights must be non-negative with sum 1, got {self.weights.tolist()} with sum "
                f"{self.weights.sum():.6g}: divide them by their sum."
            )

    def sample(self, n, random_state=None):
        """Draw n independent points, each from a component of its own; see `Density.sample`."""
        n = checked_size(n)
        rng = np.random.default_rng(random_state)
        component = rng.choice(len(self.weights), size=n, p=self.weights)
        X = rng.standard_normal((n, self.d))
        for k, (mean, factor) in enumerate(zip(self.means, self._factors, strict=True)):
            X[component == k] = mean + X[component == k] @ factor.T
        return X

    def logpdf(self, X):
        """Return log f at the rows of X, without overflow however far away; see `Density.logpdf`."""
        X = checked_points(X, self.d)
        log_f = np.empty((len(self.weights), len(X)))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for k, (mean, whitener) in enumerate(zip(self.means, self._whiteners, strict=True)):
                z = (X - mean) @ whitener.T
                log_f[k] = self._log_peaks[k] - np.einsum("ij,ij->i", z, z) / 2
            # Beyond 1e150 the squares overflow, and infinities that cancel leave NaN: f is 0 there.
            log_f[np.isnan(log_f)] = -np.inf
            largest = np.maximum(log_f.max(axis=0), -1e300)
            return largest + np.log(np.exp(log_f - largest).sum(axis=0))

    def bounds(self, tail=1e-6):
        """Return a box with at most `tail` mass outside it; see `Density.bounds`.

        Each component is cut at z standard deviations in each coordinate, d exp(-z^2 / 2) = tail, since
        P(|N(0, 1)| > z) <= exp(-z^2 / 2).
        """
        tail = checked_probability("tail", tail)
        deviations = np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))
        reach = np.sqrt(2 * np.log(self.d / tail)) * deviations
        return np.stack([(self.means - reach).min(axis=0), (self.means + reach).max(axis=0)])

    def _cells(self, size, seed):
        if self.d > 2:
            return super()._cells(size, seed)
        from scipy.special import gammaincc, gammainccinv  # slow to import, and not needed before now

        K = len(self.weights)
        n_rays = 2 if self.d == 1 else round(np.sqrt(size / K))
        n_shells = size // (K * n_rays)
        angles = 2 * np.pi * np.arange(n_rays) / n_rays
        directions = np.column_stack([np.cos(angles), np.sin(angles)])[:, : self.d]
        # s = r^2 / 2 has the law Gamma(d / 2); shells are equally wide in r, and read at their mean s.
        s = np.linspace(0, np.sqrt(gammainccinv(self.d / 2, 1e-13)), n_shells + 1) ** 2
        shell_mass = -np.diff(gammaincc(self.d / 2, s))
        mean_s = -np.diff(gammaincc(self.d / 2 + 1, s)) * (self.d / 2) / shell_mass
        r = np.sqrt(2 * np.clip(mean_s, s[:-1], s[1:]))

        rays = directions @ self._factors.transpose(0, 2, 1)
        points = self.means[:, None, None, :] + r[:, None] * rays[:, :, None, :]
        log_f = self.logpdf(points.reshape(-1, self.d)).reshape(points.shape[:-1])
        slope = np.gradient(log_f, r**2 / 2, axis=2)
        bend = np.gradient(slope, r**2 / 2, axis=2) * np.diff(s) ** 2
        spread = np.abs(slope) * np.diff(s) / 2
        if self.d == 2:
            before, after = np.roll(log_f, 1, axis=1), np.roll(log_f, -1, axis=1)
            bend += before - 2 * log_f + after
            spread = np.hypot(spread, (after - before) / 4)
        mass = self.weights[:, None, None] * np.broadcast_to(shell_mass / n_rays, log_f.shape)
        return log_f + bend / 24, spread, mass  # log f at the middle, and its mean over the cell
