"""A heavy tail: Student's t in any dimension, with the truth in closed form."""

from math import lgamma

import numpy as np

from .base import Density
from .checks import checked_factor, checked_points, checked_positive, checked_probability, checked_size

REACH = 20
"""A grid reaches so many units of scale from the middle, where its cells must be no wider than a unit."""


class StudentT(Density):
    """Student's t with nu degrees of freedom: f(x) = f(mu) (1 + q(x) / nu)^(-(nu + d) / 2).

    Here q(x) = (x - mu)' Sigma^-1 (x - mu). The tail falls like a power, so that moments of order nu and
    beyond do not exist.

    Parameters
    ----------
    df : float
        nu, from 0.1 to 1e6.
    location : array_like of shape (d,)
        mu.
    scatter : array_like of shape (d, d)
        Sigma: symmetric and positive definite; for nu > 2 the covariance is nu / (nu - 2) times it.

    Raises
    ------
    ValueError
        If the shapes disagree or a parameter is not as stated above.

    Notes
    -----
    q(Z) / d has the F law with d and nu degrees of freedom, so that u(Z) = nu / (nu + q(Z)) has the law
    Beta(nu / 2, d / 2), and with I its distribution function

        p(x) = I(u(x)),    c(alpha) = f(mu) u^((nu + d) / 2),    v(alpha) = V_d sqrt(det Sigma) q^(d / 2)

    at u = I^-1(alpha) and q = nu (1 - u) / u, where V_d is the volume of the unit ball.

    Examples
    --------
    >>> heavy = StudentT(2.0, [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])
    >>> heavy.p_value([[0.0, 0.0], [7.0, 7.0]]).round(6), float(heavy.volume(0.02).round(4))
    (array([1.  , 0.02]), 307.8761)
    """

    def __init__(self, df, location, scatter):
        self.df = checked_positive("df", df)
        if not 0.1 <= self.df <= 1e6:
            raise ValueError(
                f"df must lie between 0.1 and 1e6, got {df}: below, bounds exceed the largest number; above, "
                "a GaussianMixture is the same to about six digits."
            )
        self.location = np.array(location, dtype=float)
        self.scatter = np.array(scatter, dtype=float)
        self.d = d = self.location.size
        if d == 0 or self.location.shape != (d,) or self.scatter.shape != (d, d):
            raise ValueError(
                f"location and scatter must have shapes (d,) and (d, d), got {self.location.shape} and "
                f"{self.scatter.shape}: give one number, and one row and column, a coordinate."
            )
        for name in ("location", "scatter"):
            values = getattr(self, name)
            if not np.isfinite(values).all():
                raise ValueError(f"{name} must be finite, got {values[~np.isfinite(values)][0]}: replace it.")
            values.setflags(write=False)  # the closed form would go stale
        self._factor = checked_factor("scatter", self.scatter)
        self._whitener = np.linalg.inv(self._factor)
        self._law = _StudentLaw(self.df, d, np.log(np.diagonal(self._factor)).sum())

    @property
    def negligible(self):
        """Mass that a grid may leave out: what lies beyond 20 units of scale, but at least 1e-6."""
        from scipy.special import stdtr  # slow to import, and not needed before now

        return max(super().negligible, min(0.5, 2 * self.d * float(stdtr(self.df, -REACH))))

    def sample(self, n, random_state=None):
        """Draw n independent points, Gaussian ones over the root of a chi-squared; see `Density.sample`."""
        rng = np.random.default_rng(random_state)
        z = rng.standard_normal((checked_size(n), self.d))
        return self.location + z @ self._factor.T / np.sqrt(rng.chisquare(self.df, (n, 1)) / self.df)

    def logpdf(self, X):
        """Return log f at the rows of X, without overflow however far away; see `Density.logpdf`."""
        X = checked_points(X, self.d)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            # Halves first, and the largest coordinate apart: neither a difference nor a square may overflow.
            z = (X / 2 - self.location / 2) @ self._whitener.T
            largest = np.abs(z).max(axis=1, initial=0)
            log_q = 2 * np.log(largest) + np.log(4 * np.square(z / largest[:, None]).sum(axis=1))
            log_q[largest == 0] = -np.inf
        return self._law.log_peak - (self.df + self.d) / 2 * np.logaddexp(0, log_q - np.log(self.df))

    def bounds(self, tail=1e-6):
        """Return a box with at most `tail` mass outside it, `tail / d` in each coordinate."""
        from scipy.special import stdtrit

        tail = checked_probability("tail", tail)
        reach = -stdtrit(self.df, tail / (2 * self.d)) * np.sqrt(np.diagonal(self.scatter))
        return np.stack([self.location - reach, self.location + reach])


class _StudentLaw:
    """The law of f(Z) = f(mu) u^((nu + d) / 2), u ~ Beta(nu / 2, d / 2)."""

    def __init__(self, df, d, log_root_determinant):
        self.df, self.d = df, d
        self.log_peak = lgamma((df + d) / 2) - lgamma(df / 2) - d / 2 * np.log(df * np.pi)
        self.log_peak -= log_root_determinant
        self.log_unit = d / 2 * np.log(np.pi) - lgamma(d / 2 + 1) + log_root_determinant

    def mass_below(self, log_f):
        from scipy.special import betainc

        u = np.exp(np.minimum(2 / (self.df + self.d) * (log_f - self.log_peak), 0))
        return betainc(self.df / 2, self.d / 2, u)

    def level(self, alpha):
        from scipy.special import betaincinv

        return np.exp(self.log_peak) * betaincinv(self.df / 2, self.d / 2, alpha) ** ((self.df + self.d) / 2)

    def volume_above(self, alpha):
        from scipy.special import betainccinv, betaincinv

        # 1 - u by its own quantile function, for where u is close to 1.
        a, b = self.df / 2, self.d / 2
        q = self.df * betainccinv(b, a, alpha) / betaincinv(a, b, alpha)
        return np.exp(self.log_unit) * q ** (self.d / 2)
