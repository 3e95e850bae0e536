"""BP-kNNG: a bipartite k-NN graph between two parts of the sample."""

from __future__ import annotations

from ..neighbors import nearest
from .base import Detector, check_count, check_positive, resolve_k


class BPKNNG(Detector):
    """BP-kNNG: edges from one part of the sample, and from the test point, to neighbours in the other part.

    The sample is split at random into X_N and X_M. With D_(l) the distance to the l-th nearest point *of
    X_M*, the statistic is the sum of s powers of edge lengths,

        d(eta) = sum_{l = k-s+1}^{k} D_(l)(eta)^gamma,      p(eta) = #{x in X_N: d(x) >= d(eta)} / N,

    and the score is -d. X_N is held out by construction, so that the nominal statistics are exchangeable with
    those of a new nominal point: ``calibration="split"`` here changes only the count, to (1 + #) / (N + 1).
    With ``s=k, gamma=1`` that is aK-LPE with split calibration.

    The paper sets "the same k ... and other parameters according to" Sricharan & Hero but prints neither N,
    M, s nor gamma. Chosen here: halves, and s = k, gamma = 1, the statistic nearest to aK-LPE's, so that
    the comparison in the paper's table is one of graphs.

    Cost: one tree search a point among M points, O(d M) at worst.

    Parameters
    ----------
    k : int or "auto", default "auto"
        "auto" is 20, or the largest that fewer points of X_M allow.
    s : int, optional
        Number of edges summed, the longest of the k; all k if not given, and 1 for the k-th alone.
    gamma : float, default 1.0
        Power of the edge lengths.
    alpha, calibration, random_state
        As for every system, see :class:`workbench.baselines.Detector`.

    Attributes
    ----------
    k_, s_ : int
    train_index_ : int array of shape (M,)
        Rows of X in X_M; the others are X_N.

    References
    ----------
    K. Sricharan, A. O. Hero. Efficient anomaly detection using bipartite k-NN graphs. NIPS 2011.
    """

    def __init__(
        self, *, k="auto", s=None, gamma=1.0, alpha=0.05, calibration="in-sample", random_state=None
    ):
        self.k = k
        self.s = s
        self.gamma = gamma
        self.alpha = alpha
        self.calibration = calibration
        self.random_state = random_state

    def _holds_out(self):
        return True

    def _train(self, X, rng):
        self.k_ = resolve_k(self.k, len(X), len(X))
        self.s_ = self.k_ if self.s is None else check_count("s", self.s)
        if self.s_ > self.k_:
            raise ValueError(
                f"s={self.s_} edges are more than the k={self.k_} neighbours. Lower s or raise k."
            )
        self._gamma = check_positive("gamma", self.gamma)
        self._X = X

    def _scores(self, X):
        edges = nearest(self._X, X, self.k_)[0][:, -self.s_ :]
        return -(edges**self._gamma).sum(axis=1)
