"""RankADCV: sigma and C by cross-validation on nominal data alone (Sec. 6.1, item 3, and another rule)."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state
from tqdm.auto import tqdm

from . import ranksvm
from .criteria import separation, synthetic_anomalies
from .detector import RankAD
from .kernels import kernel_sum
from .preferences import disagreement, n_pairs
from .ranksvm.problem import is_real

CS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""The paper's prices."""

SIGMA_FACTORS = tuple(2.0**i for i in range(-10, 11))
"""The paper's bandwidths, in units of D_K."""

CRITERIA = ("synthetic", "disagreement")
SEARCHES = ("coarse-to-fine", "grid")
STRIDE = 3  # of the first, coarse grid, in steps of the full one


class RankADCV(RankAD):
    """RankAD whose sigma and C are chosen by cross-validation. It sees no anomaly.

    Each fold's detector is trained on the other folds and judged by the pairs that it orders wrongly, ties
    counted half: with ``criterion="synthetic"`` the pairs of a held-out point and a synthetic anomaly; with
    ``criterion="disagreement"``, the paper's rule, the preference pairs among the held-out points, and their
    pairs with the point at infinity where the anchor takes part. Ranks and levels are those of the whole
    training sample. Among settings that do equally well the smoothest is taken: the largest sigma, then the
    smallest C.

    Parameters
    ----------
    k, m, edges, loss, anchor, resamples, solver, tol, alpha, calibration, random_state
        As for :class:`RankAD`. With ``calibration="split"`` the selection sees the training half alone.
    criterion : {"synthetic", "disagreement"}
        What settings are compared by. Synthetic anomalies are of the four kinds of
        :func:`workbench.criteria.synthetic_anomalies`, in equal numbers, made from the folds trained on.
        In mean AUC they lose .010 (95% interval .004 to .017) to the best setting of a grid on the paper's
        eight data sets, where the paper's rule loses .022 and RankAD's fixed default .008; and .008 on 61
        other tasks, against .027 and .013 (`notebooks/results/selection.md`).
    sigma_factors : sequence of float
        Bandwidths to try, in multiples of D_K; by default the paper's 2^-10 .. 2^10.
    Cs : sequence of float
        Prices to try; by default the paper's 0.001 .. 1000.
    cv : int, default 4
        Number of folds.
    search : {"coarse-to-fine", "grid"}
        Whether to look at every third sigma and C first, leaving a sigma once a larger C does no better,
        and then only around the best; or at all.
    cv_tol : float, default 1e-3
        Relative duality gap of the fits that are only compared.
    n_jobs : int, optional
        Bandwidths to work on at a time, as joblib counts.
    verbose : bool, default False
        Whether to show a progress bar.

    Attributes
    ----------
    best_params_ : dict
        ``sigma`` and ``C``.
    best_score_ : float
        Their mean share of pairs ordered wrongly.
    cv_results_ : dict of arrays
        ``param_sigma``, ``param_C``, ``mean_test_score`` (share of pairs ordered wrongly),
        ``std_test_score``, ``split0_test_score`` ..., ``rank_test_score``: a row for each pair tried.
    n_fits_ : int
        RankSVM problems solved on the way.

    And those of RankAD.

    Raises
    ------
    ValueError
        From `fit`: as RankAD, and where the held-out points imply no preference to judge by.

    Examples
    --------
    >>> from workbench import RankADCV, densities
    >>> X = densities.FIG1.sample(120, random_state=0)
    >>> detector = RankADCV(sigma_factors=(1, 4, 16), Cs=(0.001, 0.1), random_state=0).fit(X)
    >>> detector.n_fits_
    24
    """

    def __init__(
        self,
        *,
        k="auto",
        m=3,
        edges=None,
        criterion="synthetic",
        sigma_factors=SIGMA_FACTORS,
        Cs=CS,
        cv=4,
        search="coarse-to-fine",
        cv_tol=1e-3,
        n_jobs=None,
        verbose=False,
        loss="hinge",
        anchor=True,
        resamples=20,
        solver="auto",
        tol=1e-6,
        alpha=0.05,
        calibration="in-sample",
        random_state=None,
    ):
        super().__init__(
            k=k,
            m=m,
            edges=edges,
            loss=loss,
            anchor=anchor,
            resamples=resamples,
            solver=solver,
            tol=tol,
            alpha=alpha,
            calibration=calibration,
            random_state=random_state,
        )
        del self.sigma, self.C  # chosen here, not given
        self.criterion = criterion
        self.sigma_factors = sigma_factors
        self.Cs = Cs
        self.cv = cv
        self.search = search
        self.cv_tol = cv_tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _resolve_sigma_and_C(self, X, anchor):
        factors, Cs = (self._grid(name) for name in ("sigma_factors", "Cs"))
        if not (is_real(self.cv_tol) and 0 < self.cv_tol < 1):
            raise ValueError(
                f"cv_tol must be a relative gap between 0 and 1, got {self.cv_tol!r}. 1e-3 is the default."
            )
        if not isinstance(self.search, str) or self.search not in SEARCHES:
            raise ValueError(f"search must be one of {', '.join(SEARCHES)}, got {self.search!r}.")
        if not isinstance(self.criterion, str) or self.criterion not in CRITERIA:
            raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}, got {self.criterion!r}.")
        folds = self._folds(X)
        with np.errstate(over="ignore", under="ignore"):  # solving refuses what comes of it
            sigmas = self._D_K(X) * factors
        tried = {}

        def evaluate(rows, columns):
            # Bandwidths that want the same prices are worked on together.
            wanted = {}
            for i in rows:
                missing = tuple(j for j in columns if (i, j) not in tried)
                wanted.setdefault(missing, []).append(i)
            for missing, together in wanted.items():
                if missing:
                    scores = self._cross_validate(X, anchor, folds, sigmas[together], Cs[list(missing)])
                    tried.update(zip(((i, j) for i in together for j in missing), scores.T, strict=True))
            # Ties go to the largest sigma, then the smallest C.
            return min(tried, key=lambda cell: (tried[cell].mean(), -cell[0], cell[1]))

        self.n_fits_ = 0
        if self.search == "grid":
            best = evaluate(range(len(sigmas)), range(len(Cs)))
        else:
            # Raise the price, bandwidth by bandwidth, for as long as that helps: large ones take longest.
            rows, columns = _every_third(len(sigmas)), _every_third(len(Cs))
            best = evaluate(rows, columns[:2])
            for last in range(1, len(columns) - 1):
                mean = {(i, j): tried[i, j].mean() for i in rows for j in columns[: last + 1]}
                rows = [i for i in rows if all(mean[i, columns[last]] < mean[i, j] for j in columns[:last])]
                best = evaluate(rows, columns[last + 1 : last + 2])
            before = None
            while best != before:
                before = best
                best = evaluate(_around(best[0], len(sigmas)), _around(best[1], len(Cs)))
        self._write_down(tried, sigmas, Cs, best)
        return self.best_params_["sigma"], self.best_params_["C"]

    def _cross_validate(self, X, anchor, folds, sigmas, Cs):
        """Share of pairs ordered wrongly in every fold, shape (folds, len(sigmas) * len(Cs))."""
        scores = np.empty((len(folds), len(sigmas), len(Cs)))
        with tqdm(total=scores.size, unit="fit", leave=False, disable=not self.verbose) as bar:
            for row, (train, held_out, anomalies) in zip(scores, folds, strict=True):
                queries = X[held_out] if anomalies is None else np.concatenate([X[held_out], anomalies])
                weight = anchor * len(train) / len(X)
                path = ranksvm.path(
                    X[train],
                    self.levels_[train],
                    sigmas=sigmas,
                    Cs=Cs,
                    loss=self.loss,
                    anchor=weight,
                    tol=self.cv_tol,
                    n_jobs=self.n_jobs,
                )
                for position, (sigma, _, solution) in enumerate(path):
                    support = np.flatnonzero(solution.beta)
                    g = kernel_sum(queries, X[train][support], solution.beta[support], sigma)
                    own, other = np.split(g, [len(held_out)])
                    if anomalies is None:
                        weight_held_out = anchor * len(own) / len(X)
                        value = _held_out_disagreement(own, self.levels_[held_out], weight_held_out)
                    else:
                        value = 1 - separation(own, other)
                    row[np.unravel_index(position, row.shape)] = value
                    bar.update()
                    self.n_fits_ += 1
        return scores.reshape(len(folds), -1)

    def _folds(self, X):
        """Rows to train on, rows held out, and synthetic anomalies or None, of each fold."""
        cv, n = self.cv, len(X)
        if isinstance(cv, bool) or not isinstance(cv, (int, np.integer)) or not 2 <= cv <= n // 2:
            raise ValueError(
                f"cv must be a whole number of folds from 2 to half of the {n} training points, got {cv!r}."
            )
        rng = check_random_state(self.random_state)
        seed = rng.randint(2**31 - 1)
        folds = KFold(cv, shuffle=True, random_state=seed).split(np.empty((n, 1)))
        if self.criterion == "disagreement":
            return [(train, held_out, None) for train, held_out in folds]
        return [
            (train, held_out, np.concatenate([*synthetic_anomalies(X[train], random_state=rng).values()]))
            for train, held_out in folds
        ]

    def _grid(self, name):
        given = getattr(self, name)
        try:
            values = np.unique(np.asarray(given, dtype=float))
        except (ValueError, TypeError, OverflowError):
            values = np.empty(0)
        if values.size == 0 or not (np.isfinite(values) & (values > 0)).all():
            raise ValueError(f"{name} must be positive finite numbers, one or more, got {given!r}.")
        return values

    def _write_down(self, tried, sigmas, Cs, best):
        cells = sorted(tried)
        scores = np.array([tried[cell] for cell in cells])
        mean = scores.mean(axis=1)
        i, j = np.transpose(cells)
        rank = np.empty(len(cells), dtype=int)
        rank[np.lexsort([j, -i, mean])] = np.arange(1, len(cells) + 1)
        self.cv_results_ = {
            "param_sigma": sigmas[i],
            "param_C": Cs[j],
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=1),
            "rank_test_score": rank,
        } | {f"split{fold}_test_score": scores[:, fold] for fold in range(scores.shape[1])}
        self.best_params_ = {"sigma": float(sigmas[best[0]]), "C": float(Cs[best[1]])}
        self.best_score_ = float(tried[best].mean())


def _held_out_disagreement(g, levels, anchor):
    """Share of pairs ordered wrongly, those with the point at infinity, g = 0, included."""
    count = n_pairs(levels)
    total = count + anchor * len(g)
    if total == 0:
        raise ValueError(
            f"The {len(g)} held-out points of a fold are all in one level: there is no preference to judge "
            "by. Use fewer folds, more points or more even levels."
        )
    wrong = disagreement(g, levels) * count if count else 0.0
    return (wrong + anchor * np.sum((g < 0) + (g == 0) / 2)) / total


def _every_third(n):
    return sorted({*range(n // 2 % STRIDE, n, STRIDE)})


def _around(index, n):
    return [i for i in range(index - 1, index + 2) if 0 <= i < n]
