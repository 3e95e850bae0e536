"""Plain, slow, independent versions of what the package computes: loops over the definitions."""

import numpy as np

from workbench.densities import Density


def knn_statistic(X, queries, k, exclude_self=False):
    """Eq. 2 by sorting every distance."""
    out = []
    for i, query in enumerate(queries):
        distances = [
            np.sqrt(np.sum((x - query) ** 2)) for j, x in enumerate(X) if not (exclude_self and i == j)
        ]
        out.append(np.mean(np.sort(distances)[:k]))
    return np.array(out)


def rank(G, reference):
    """Eq. 3."""
    return np.array([sum(g < r for r in reference) / len(reference) for g in G])


def resampled_ranks(X, k, resamples, seed):
    """Sec. 6.1 (1): every split searched anew."""
    n = len(X)
    rng = np.random.RandomState(seed)
    total = np.zeros(n)
    for _ in range(resamples):
        S = rng.permutation(n)[: n // 2]
        T = np.setdiff1d(np.arange(n), S)
        for ranked, neighbours in ((T, S), (S, T)):
            G = knn_statistic(X[neighbours], X[ranked], k)
            total[ranked] += rank(G, G)
    return total / resamples


def gram(X, sigma):
    return np.array([[np.exp(-np.sum((x - y) ** 2) / sigma**2) for y in X] for x in X])


def preference_pairs(levels):
    n = len(levels)
    return [(i, j) for i in range(n) for j in range(n) if levels[i] > levels[j]]


def primal(K, levels, C, loss, anchor, beta):
    """Eq. 5 with the anchor, summed pair by pair."""
    g = K @ beta
    margins = [g[i] - g[j] for i, j in preference_pairs(levels)]
    power = 1 if loss == "hinge" else 2
    total = sum(max(0.0, 1 - z) ** power for z in margins)
    total += anchor * sum(max(0.0, 1 - z) ** power for z in g)
    return beta @ K @ beta / 2 + C * total


def dual(K, levels, C, loss, anchor, alpha, alpha_anchor):
    """Dual of Eq. 5 at written-out weights, after checking that they are feasible."""
    assert min(alpha.min(initial=0), alpha_anchor.min(initial=0)) >= 0
    if loss == "hinge":
        assert max(alpha.max(initial=0), alpha_anchor.max(initial=0)) <= C * (1 + 1e-9)
    beta = anchor * alpha_anchor
    for weight, (i, j) in zip(alpha, preference_pairs(levels), strict=True):
        beta[i] += weight
        beta[j] -= weight
    value = alpha.sum() + anchor * alpha_anchor.sum() - beta @ K @ beta / 2
    if loss == "squared_hinge":
        value -= (np.sum(alpha**2) + anchor * np.sum(alpha_anchor**2)) / (4 * C)
    return value


class ThroughItsBox(Density):
    """A known density with nothing but the general machinery: a box, or for d >= 3 random points."""

    def __init__(self, density, box=None):
        self.density, self.d, self.box = density, density.d, box

    def sample(self, n, random_state=None):
        return self.density.sample(n, random_state)

    def logpdf(self, X):
        return self.density.logpdf(X)

    def bounds(self, tail=1e-6):
        return self.density.bounds(tail) if self.box is None else np.array(self.box)


class Square(Density):
    """Uniform on [-1, 1]^2, with no closed form and no margin: log f jumps to minus infinity."""

    d = 2

    def sample(self, n, random_state=None):
        return np.random.default_rng(random_state).uniform(-1, 1, (n, 2))

    def logpdf(self, X):
        return np.where((np.abs(X) <= 1).all(axis=1), -np.log(4), -np.inf)

    def bounds(self, tail=1e-6):
        return np.array([[-1.0, -1.0], [1.0, 1.0]])
