import numpy as np
import pytest

from workbench import bounds

DELTA = 0.1


class Unstable:
    """A learner made for cross-conformal p-values to fail by almost a factor two.

    A share of the points is strange and scores below all others. Among strange points g compares by a hash
    of the training sum, so that two of them win against each other about half the time, as if anew for each
    training set.
    """

    def __init__(self, n, folds, share, repetitions, seed=0):
        rng = np.random.default_rng(seed)
        self.fold = np.arange(n) % folds
        self.u = rng.random((repetitions, n))
        self.strange = rng.random((repetitions, n)) < share
        self.share = share
        per_fold = np.stack([self.u[:, self.fold == k].sum(axis=1) for k in range(folds)], axis=1)
        self.key = (self.u.sum(axis=1, keepdims=True) - per_fold)[:, self.fold]  # training sum for each i
        self.scores = self.hash(self.u, self.strange, self.key)

    def hash(self, u, strange, key):
        return np.where(strange, np.mod(1e4 * u * (1 + key), 1), 1 + u)

    def count(self, rng):
        """Number of points at or below one new point, in each repetition."""
        u, strange = rng.random((len(self.u), 1)), rng.random((len(self.u), 1)) < self.share
        return (self.scores <= self.hash(u, strange, self.key)).sum(axis=1)


@pytest.mark.parametrize(("folds", "share"), [(200, 0.165), (10, 0.165)])
def test_average_false_alarms_of_cv_plus(folds, share):
    n, m = 200, 20
    learner = Unstable(n, folds, share, repetitions=4000)
    alarms = learner.count(np.random.default_rng(1)) <= m - 1
    error = 3.5 * np.sqrt(0.2 * 0.8 / len(alarms))
    assert alarms.mean() <= bounds.cv_plus(m, n, folds) + error
    if folds == n:
        assert bounds.jackknife_plus(m, n) == bounds.cv_plus(m, n, n) == 2 * m / (n + 1)
        assert alarms.mean() > m / (n + 1) + 2 * error / 3.5  # control: no bound without the factor 2


def test_false_alarms_of_cv_plus_given_the_sample():
    n, m, folds, repetitions = 200, 20, 5, 200
    learner = Unstable(n, folds, 0.165, repetitions)
    rng = np.random.default_rng(2)
    rates = np.mean([learner.count(rng) <= m - 1 for _ in range(300)], axis=0)
    limit = bounds.cv_plus_conditional(m, n, folds, DELTA)
    assert limit < 1
    assert np.mean(rates > limit) < DELTA + 3.5 * np.sqrt(DELTA * (1 - DELTA) / repetitions)
    assert np.mean(rates > m / (n + 1)) > 0.1  # control: the level itself is no limit


def uncovered(train, t):
    """Length of what in [0, 1] is further than t from all training points: P{g < -t}."""
    ends = np.sort(train)
    inner = np.maximum(np.diff(ends) - 2 * t, 0).sum()
    return inner + max(ends[0] - t, 0) + max(1 - ends[-1] - t, 0)


@pytest.mark.parametrize("method", ["clopper_pearson", "simes", "ell", "dkw"])
def test_coverage_of_the_half_split(method):
    """g(x) = minus the distance to the nearest training point, X uniform on [0, 1]."""
    n, alpha, repetitions = 80, 0.1, 1500
    rng = np.random.default_rng(3)
    limit = bounds.half_split(alpha, n, DELTA, method)
    m = bounds.order(alpha, n // 2)
    rates = []
    for _ in range(repetitions):
        train, calibration = rng.random((2, n // 2))
        g = -np.abs(calibration[:, None] - train).min(axis=1)
        rates.append(uncovered(train, -np.sort(g)[m - 1]))
    broken = np.mean(np.array(rates) > limit)
    error = 3.5 * np.sqrt(DELTA * (1 - DELTA) / repetitions)
    assert broken < DELTA + error
    if method == "clopper_pearson":
        assert broken > DELTA - error  # exact
    assert uncovered(rng.random(n), 0) == pytest.approx(1)  # control: in-sample every new point is an alarm


def test_half_split_is_the_limit_of_half_the_points():
    assert bounds.half_split(0.05, 201, 0.05, "ell") == bounds.ell(100, 0.05)[5]
    assert bounds.half_split(0.05, 200, 0.05, split=True) == bounds.clopper_pearson(5, 100, 0.05)
    assert bounds.half_split(0.05, 20, 0.05, split=True) == 0  # no alarm is possible
    assert bounds.half_split(0.05, 20, 0.05) == bounds.clopper_pearson(1, 10, 0.05)


def test_noted_values():
    noted = {
        "clopper_pearson": (0.0892, 0.0720, 0.0668, 0.0618),
        "simes": (0.1101, 0.0831, 0.0777, 0.0735),
        "ell": (0.1294, 0.0939, 0.0835, 0.0732),
    }
    sizes = (200, 600, 1000, 2000)
    for method, values in noted.items():
        limits = [bounds.half_split(0.05, n, 0.05, method, split=True) for n in sizes]
        np.testing.assert_allclose(limits, values, atol=6e-5)
    orders = [bounds.order(0.05, n, split=True) for n in sizes]
    average = [bounds.cv_plus(m, n, 5) for m, n in zip(orders, sizes, strict=True)]
    np.testing.assert_allclose(average, [0.139, 0.113, 0.108, 0.104], atol=6e-4)
    given = [bounds.cv_plus_conditional(m, n, 5, 0.05) for m, n in zip(orders, sizes, strict=True)]
    np.testing.assert_allclose(given, [0.58, 0.38, 0.31, 0.25], atol=0.006)
    assert [round(bounds.jackknife_plus(m, n), 3) for m, n in zip(orders, sizes, strict=True)] == [0.1] * 4


def test_cv_plus_in_formulas():
    n, m, a = 60, 7, 7 / 61
    assert bounds.cv_plus(m, n, 30) == pytest.approx(2 * a + (1 - 30 / 60) / 31)
    assert bounds.cv_plus(m, n, 2) == pytest.approx(2 * a + 2 * 0.5 / 31)
    assert bounds.cv_plus(m, n, 31) == pytest.approx(2 * a + 2 * (1 - 1 / 31) / (n / 31 + 1))  # unequal folds
    np.testing.assert_allclose(np.diff(bounds.cv_plus(np.arange(1, 61), n, 5)), 2 / 61)


@pytest.mark.parametrize("folds", [1, 0, 2.0, None, True])
def test_bad_folds(folds):
    for bound in (
        lambda: bounds.cv_plus(1, 10, folds),
        lambda: bounds.cv_plus_conditional(1, 10, folds, 0.1),
    ):
        with pytest.raises(ValueError, match="folds must be an integer of at least 2, got"):
            bound()


def test_other_refusals():
    with pytest.raises(ValueError, match="folds=11 are more than the n=10 points"):
        bounds.cv_plus(1, 10, 11)
    with pytest.raises(ValueError, match="n must be an integer of at least 2, got 1"):
        bounds.jackknife_plus(1, 1)
    with pytest.raises(ValueError, match="n must be an integer of at least 2, got 1"):
        bounds.half_split(0.1, 1, 0.1)
