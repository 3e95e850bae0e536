"""Average k-NN distance, rank, and resampled rank (Eq. 2 and 3; Sec. 6.1, item 1)."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_array, check_random_state, gen_batches

from .searching import NeighborSearch
from .threads import spread

SPARE = 3.5
"""Standard deviations by which lists are longer than needed on average: one in two thousand runs out."""

ROWS = 1000
"""Lists worked on at a time, for the caches' sake."""

PORTION = 2**14
"""Lists kept at a time, for the memory's sake."""


def knn_statistic(X, queries=None, k=20):
    """Average distance to the k nearest training points (Eq. 2).

    ``G(eta) = (1/k) sum_{j<=k} D_(j)(eta)``, D_(j) the Euclidean distance to the j-th nearest
    training point.

    Parameters
    ----------
    X : array of shape (n, d)
        Training points.
    queries : array of shape (q, d), optional
        Points to evaluate. Without it the training points themselves are evaluated, each left out
        of its own neighbours.
    k : int, default 20
        At most n - 1, or n where `queries` is given.

    Returns
    -------
    array of shape (n,) or (q,), in the units of the data

    Raises
    ------
    ValueError
        If k is not a whole number or too large; the message names the largest allowed.
    """
    return nearest(X, queries, k)[0].mean(axis=1)


def mean_distance(X, k=20):
    """``D_K``, the unit of bandwidths: the mean of the average k-NN distance over distinct training points.

    Exact copies are counted once. The paper does not say what to do with them; among copies the distance
    would be 0 however far apart the points are that differ.

    Parameters
    ----------
    X : array of shape (n, d)
    k : int, default 20
        Where there are fewer other distinct points, all of them are averaged.

    Returns
    -------
    float
        In the units of the data; 0 only if all points are equal.
    """
    X = check_array(X, dtype=float, input_name="X")
    first = np.unique(X, axis=0, return_index=True)[1]
    if len(first) == 1:
        return 0.0
    distinct = X[np.sort(first)]
    return float(knn_statistic(distinct, k=min(k, len(distinct) - 1)).mean())


def nearest(X, queries=None, k=20):
    """Distances to the k nearest training points, ascending, and which they are.

    Parameters
    ----------
    X, queries, k
        As for :func:`knn_statistic`.

    Returns
    -------
    distances : array of shape (n, k) or (q, k), in the units of the data
    index : int array of the same shape
        Rows of X. For a query so far away that the training points are one point to it, any k of them.

    Raises
    ------
    ValueError
        As :func:`knn_statistic`.
    """
    X = check_array(X, dtype=float, ensure_min_samples=2 if queries is None else 1, input_name="X")
    largest = len(X) - 1 if queries is None else len(X)
    k = check_k(k, largest, f"{len(X)} training points")
    scale = power_of_two_above(X)
    if queries is None:
        distances, index = _others(X / scale, k)
        return scale * distances, index
    queries = check_array(queries, dtype=float, input_name="queries")
    if queries.shape[1] != X.shape[1]:
        raise ValueError(
            f"queries have {queries.shape[1]} columns but the training points have {X.shape[1]}. "
            "Pass the same features in the same order."
        )
    distances = np.empty((len(queries), k))
    index = np.tile(np.arange(k), (len(queries), 1))
    # Squared distances of these would overflow, but no digit of them depends on the training point.
    with np.errstate(over="ignore"):
        far = np.abs(queries).max(axis=1) > scale * 2.0**500
    for row in np.flatnonzero(far):
        own = power_of_two_above(queries[row])
        distances[row] = own * np.linalg.norm(queries[row] / own)
    if not far.all():
        distances[~far], index[~far] = _search(NeighborSearch(X / scale), queries[~far] / scale, k)
        distances[~far] *= scale
    return distances, index


def ranks(X, k=20, resamples=20, random_state=None):
    """Rank of each training point by its average k-NN distance: 0 in sparse regions, near 1 in dense.

    The inequality is strict, so points that tie for the densest place share its lower end: a sample of
    which most points are exact copies ranks low throughout.

    With ``resamples=0`` this is Eq. 3 on the sample itself, ``R_n(x) = #{i: G(x) < G(x_i)} / n``.
    Otherwise (Sec. 6.1) the sample is split at random into two halves S and T, a point of T is
    ranked within T by its distance to S and the other way round, and the ranks of `resamples`
    splits are averaged.

    Each point's neighbours are searched once: its k nearest in the other half are the first k
    entries of its sorted list that fall there, so a split costs O(n k). Lists that run out are searched
    again, twice as long.

    Parameters
    ----------
    X : array of shape (n, d)
    k : int, default 20
        Less than n, or less than n // 2 with resampling.
    resamples : int, default 20
        Number of random splits; 0 for the plain in-sample rank.
    random_state : int, RandomState or None

    Returns
    -------
    array of shape (n,), in [0, 1)

    Raises
    ------
    ValueError
        If k is too large (the message names the largest allowed) or resamples is negative.
    """
    X = check_array(X, dtype=float, ensure_min_samples=2, input_name="X")
    n = len(X)
    k = check_k(k, largest_k(n, resamples), f"{n} points, resamples={resamples}")
    if resamples == 0:
        G = knn_statistic(X, k=k)
        return rank(G, G)

    rng = check_random_state(random_state)
    X = X / power_of_two_above(X)
    in_S = np.zeros((resamples, n), dtype=bool)
    for side in in_S:
        side[rng.permutation(n)[: n // 2]] = True
    G = np.empty((resamples, n))
    search = NeighborSearch(X)
    rows = search.order
    sides = np.packbits(in_S, axis=0)
    length = 1 + 2 * k + int(SPARE * np.sqrt(2 * k))
    while len(rows):
        length = min(n, length)
        short = np.zeros(len(rows), dtype=bool)

        def work(block, distances, neighbours, rows=rows, short=short):
            part = rows[block]
            G[:, part], short[block] = _across(distances, neighbours, sides[:, part], sides, k, resamples)

        _for_blocks(work, search, X[rows], length)
        rows, length = rows[short], 2 * length

    def rank_halves(split):
        for half in (in_S[split], ~in_S[split]):
            G[split, half] = _rank_within(G[split, half])

    _spread(rank_halves, range(resamples))
    return G.sum(axis=0) / resamples


def rank(G, reference):
    """``R(eta) = #{i: G(eta) < G(x_i)} / n`` for statistics G against those of a reference sample.

    Parameters
    ----------
    G : array of shape (q,)
        Average k-NN distances to rank.
    reference : array of shape (n,)
        Those of the reference sample.

    Returns
    -------
    array of shape (q,), in [0, 1]
    """
    at_most = np.searchsorted(np.sort(reference), G, side="right")
    return (len(reference) - at_most) / len(reference)


def largest_k(n, resamples):
    """Return the largest k that n points allow: less than n, or than half of them with resampling."""
    if isinstance(resamples, bool) or not isinstance(resamples, (int, np.integer)) or resamples < 0:
        raise ValueError(
            f"resamples must be a whole number of random splits, got {resamples!r}. "
            "The paper uses 20; 0 gives the plain in-sample rank."
        )
    return n - 1 if resamples == 0 else n // 2 - 1


def check_k(k, largest, given):
    """Return `k` as an int in 1..largest, or raise a ValueError that says what is wrong."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ValueError(f"k must be a whole number of neighbours, at least 1, got {k!r}.")
    if largest < 1:
        raise ValueError(
            f"There are too few points for any neighbour search ({given}). Add points, or use resamples=0 "
            "to rank within the whole sample."
        )
    if k > largest:
        raise ValueError(
            f"k={k} neighbours are too many for {given}: the largest allowed is {largest}. "
            "Lower k or add points."
        )
    return int(k)


def _for_blocks(work, search, queries, k):
    """Call ``work(block, distances, index)`` with the k nearest of every block of queries, in any order.

    The tree and the work are spread over threads; brute force has its own.
    """

    def by_tree(block):
        work(block, *search.by_tree(queries[block], k))

    blocks = list(gen_batches(len(queries), ROWS))
    if search.prefers_tree(queries, k):
        _spread(by_tree, blocks)
        return
    for portion in gen_batches(len(queries), PORTION):
        distances, index = search.by_force(queries[portion], k)

        def passed_on(block, start=portion.start, distances=distances, index=index):
            work(slice(start + block.start, start + block.stop), distances[block], index[block])

        _spread(passed_on, list(gen_batches(len(distances), ROWS)))


def _spread(work, blocks):
    if len(blocks) > 1:
        spread(work, blocks)
    else:
        work(blocks[0])


def _search(search, queries, k):
    """Distances to the k nearest, ascending, and which they are.

    Either search measures a distance by coordinate differences, the same bits in whatever subset or order:
    ties and duplicates stay ties.
    """
    distances, index = np.empty((len(queries), k)), np.empty((len(queries), k), dtype=int)

    def work(block, *found):
        distances[block], index[block] = found

    _for_blocks(work, search, queries, k)
    return distances, index


def _others(X, k):
    """Find the k nearest of every point, which is left out itself."""
    search = NeighborSearch(X)
    order = search.order
    distances, index = (np.empty((len(X), k), dtype=kind) for kind in (float, int))

    def work(block, found, neighbours):
        rows = order[block]
        others = neighbours != rows[:, None]
        # Where more copies than were asked for are at distance 0, any one is left out instead.
        others[others.all(axis=1), 0] = False
        distances[rows] = found[others].reshape(-1, k)
        index[rows] = neighbours[others].reshape(-1, k)

    _for_blocks(work, search, X[order], k + 1)
    return distances, index


def power_of_two_above(X):
    """Scale at which squared distances neither overflow nor vanish; dividing by it loses no digit."""
    return np.ldexp(1.0, np.clip(np.frexp(np.abs(X).max())[1], -1000, 1023))


def _across(distances, neighbours, own, sides, k, resamples):
    """Average distance to the k nearest in the other half, for every split.

    Parameters
    ----------
    distances, neighbours : arrays of shape (q, length)
        Sorted lists of q points.
    own : uint8 array of shape (ceil(resamples / 8), q)
        On which side of each split the q points are, a bit a split.
    sides : uint8 array of shape (ceil(resamples / 8), n)
        The same of all points.
    k, resamples : int

    Returns
    -------
    G : array of shape (resamples, q)
    short : bool array of shape (q,)
        Whether a list ran out in some split, where G is then meaningless.
    """
    q, length = distances.shape
    G, short = np.empty((resamples, q)), np.zeros(q, dtype=bool)
    row_starts = np.arange(q + 1) * length
    for byte, (own_side, side) in enumerate(zip(own, sides, strict=True)):
        differs = side.take(neighbours)  # a point is not across from itself: no need to leave it out
        differs ^= own_side[:, None]
        for split in range(8 * byte, min(8 * byte + 8, resamples)):
            across = np.flatnonzero((differs & (128 >> split % 8)) != 0)
            starts = np.searchsorted(across, row_starts)
            short |= np.diff(starts) < k
            first_k = starts[:-1, None] + np.arange(k)
            G[split] = distances.take(across.take(first_k, mode="clip")).mean(axis=1)
    return G, short


def _rank_within(G):
    """``rank(G, G)``, quicker."""
    order = np.argsort(G)
    in_order = G[order]
    out = np.empty(len(G))
    out[order] = (len(G) - np.searchsorted(in_order, in_order, side="right")) / len(G)
    return out
