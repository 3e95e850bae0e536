"""Two moons: arcs that reach into each other, blurred, with a density that is known."""

import numpy as np

from .base import Density
from .checks import checked_positive
from .mixture import GaussianMixture


class TwoMoons(GaussianMixture):
    """Two half circles, each convolved with an isotropic Gaussian.

    The upper arc has its centre at (-R/2, -R/4), the lower one at (R/2, R/4), and each holds half the mass.

    Parameters
    ----------
    radius : float
        R, positive, of both half circles.
    width : float
        s, positive and at least R / 20: the standard deviation of the Gaussian.

    Raises
    ------
    ValueError
        If a parameter is not as stated above.

    Notes
    -----
    f(x) = 1 / (2 pi) sum_arcs int_0^pi N(x; m(theta), s^2 I) dtheta, with the integral replaced by a
    Gauss-Legendre rule. The rule is itself a mixture of Gaussians, and that mixture is the density here: what
    `sample` draws from and `logpdf` evaluates, exactly. It is within 1e-6 f(x) of the integral wherever f is
    more than 1e-6 of its maximum.
    """

    def __init__(self, radius, width):
        self.radius, self.width = checked_positive("radius", radius), checked_positive("width", width)
        if 20 * self.width < self.radius:
            raise ValueError(
                f"width must be at least radius / 20 = {self.radius / 20:.6g}, got {width}: choose a wider "
                "one, since thinner arcs take more Gaussians than are quick to sum."
            )
        nodes, weights = np.polynomial.legendre.leggauss(round(12 + 4.5 * self.radius / self.width))
        theta = np.pi / 2 * (nodes + 1)
        upper = self.radius * (np.column_stack([np.cos(theta), np.sin(theta)]) - [0.5, 0.25])
        super().__init__(
            np.tile(weights / 4, 2),
            np.concatenate([upper, -upper]),
            np.tile(self.width**2 * np.eye(2), (2 * len(nodes), 1, 1)),
        )

    def _cells(self, size, seed):
        # All components are equally wide: one box serves them better than a polar grid for each.
        return Density._cells(self, size // 2, seed)

    def _logpdf_on_grid(self, axes):
        """Return log f on the grid of these axes: each component is a product of two factors, one an axis."""
        x, y = (
            np.exp(-(((axis[:, None] - centres) / self.width) ** 2) / 2)
            for axis, centres in zip(axes, self.means.T, strict=True)
        )
        return np.log(self.weights * x @ y.T / (2 * np.pi * self.width**2))
