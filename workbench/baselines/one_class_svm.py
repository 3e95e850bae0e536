"""One-class SVM, the baseline of the paper's tables."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist
from sklearn import svm

from .base import Detector, check_positive

MOST_PAIRED = 2000


class OneClassSVM(Detector):
    """One-class SVM with the kernel ``exp(-|x - x'|^2 / sigma^2)`` (Schoelkopf et al. 2001), by LIBSVM.

    The score is ``sum_i alpha_i k(x_i, x)``, positive, and 0 far from the data.

    The paper takes nu and the kernel width "in the same configuration as" Ting et al. (2010) and prints
    neither. Chosen here: ``sigma^2`` the median of |x - x'|^2 over pairs of training points, the middle of
    the range that Caputo et al. (2002) recommend, and LIBSVM's default nu = 1/2.

    Cost: training between O(n^2) and O(n^3), O(d s) a point, s >= nu n support vectors.

    Parameters
    ----------
    nu : float, default 0.5
        In (0, 1]: at most this share of the training points falls outside the set that the SVM learns.
    sigma : float or "auto", default "auto"
        In the units of the data; "auto" as above, from at most 2000 random points.
    alpha, calibration, random_state
        As for every system, see :class:`workbench.baselines.Detector`.

    Attributes
    ----------
    sigma_ : float
    svm_ : sklearn.svm.OneClassSVM

    References
    ----------
    B. Schoelkopf, J. Platt, J. Shawe-Taylor, A. Smola, R. Williamson. Estimating the support of a
    high-dimensional distribution. Neural Computation 13, 2001.
    B. Caputo, K. Sim, F. Furesjo, A. Smola. Appearance-based object recognition using SVMs: which kernel
    should I use? NIPS workshop, 2002.
    """

    def __init__(self, *, nu=0.5, sigma="auto", alpha=0.05, calibration="in-sample", random_state=None):
        self.nu = nu
        self.sigma = sigma
        self.alpha = alpha
        self.calibration = calibration
        self.random_state = random_state

    def _train(self, X, rng):
        nu = check_positive("nu", self.nu)
        if nu > 1:
            raise ValueError(f"nu must be a share of the training points, in (0, 1], got {self.nu!r}.")
        self.sigma_ = self._resolve_sigma(X, rng)
        # Scaled data with gamma = 1: sigma^2 itself may overflow or vanish.
        self.svm_ = svm.OneClassSVM(nu=nu, gamma=1.0, tol=1e-6).fit(X / self.sigma_)

    def _scores(self, X):
        return self.svm_.score_samples(X / self.sigma_)

    def _resolve_sigma(self, X, rng):
        if not (isinstance(self.sigma, str) and self.sigma == "auto"):
            return check_positive("sigma", self.sigma, '"auto"')
        if len(X) > MOST_PAIRED:
            X = X[rng.permutation(len(X))[:MOST_PAIRED]]
        if len(X) < 2:
            raise ValueError("There are too few points for sigma='auto' (1 to train on). Add points.")
        largest = np.abs(X).max() or 1.0  # squares of tiny data would vanish
        sigma = float(np.median(pdist(X / largest)) * largest)
        if sigma == 0:
            raise ValueError(
                "sigma='auto' is the median distance between training points, which is 0: most of them are "
                "exact copies. Give sigma as a number, or remove the duplicates."
            )
        return sigma
