"""The experiment against slow literal code, closed forms, and interruptions."""

import numpy as np
import pytest
from scipy.stats import kstest

from workbench import RankAD, bounds, densities, labs, levelsets
from workbench.labs import design, false_alarms, promises
from workbench.neighbors import knn_statistic

FIG2 = "Fig. 2: two ellipses"
SMALL = {"k": 5, "alphas": (0.1, 0.2), "calibration": "split", "progress": False}


@pytest.fixture
def counted(monkeypatch):
    """Numbers of the repetitions that were really worked out; one can be made to interrupt."""

    class Calls(list):
        interrupt_at = None

    calls, real = Calls(), false_alarms.repeat

    def repeat(what, repetition, random_state=0, callback=None):
        if repetition == calls.interrupt_at:
            raise KeyboardInterrupt
        calls.append(repetition)
        return real(what, repetition, random_state, callback)

    monkeypatch.setattr(false_alarms, "repeat", repeat)
    return calls


@pytest.mark.parametrize("calibration", ["in-sample", "split"])
def test_one_repetition_against_the_method_step_by_step(calibration):
    chosen = labs.Design(FIG2, 61, 6, 2.0, 3.0, calibration)
    done = design.repeat(chosen, 3, random_state=7)

    n_train = 31 if calibration == "split" else 61
    reference = densities.FIG2.sample(n_train, np.random.default_rng([n_train, 0, design.REFERENCE]))
    rng = np.random.default_rng([7, 3])
    X = densities.FIG2.sample(61, rng)
    detector = RankAD(
        k=6,
        m=3,
        sigma=2 * knn_statistic(reference, k=6).mean(),
        C=3 / n_train,
        calibration=calibration,
        random_state=int(rng.integers(2**31)),
    ).fit(X)
    grid = levelsets.Grid.covering(densities.FIG2, design.GRID)
    mass = densities.FIG2.pdf(grid.points)
    p = detector.p_value(grid.points)
    assert len(done.rates) == chosen.n_scores == (30 if calibration == "split" else 61)
    for alpha, m in zip(labs.ALPHAS, false_alarms.orders(chosen, labs.ALPHAS), strict=True):
        rate = mass[p <= alpha].sum() / mass.sum()
        assert false_alarms.rates_at(done.rates, [m])[0] == pytest.approx(rate, abs=2e-4)
    np.testing.assert_array_equal(done.scores, detector.solution_.scores)


@pytest.mark.parametrize("name", densities.DENSITIES)
def test_rates_are_those_of_a_large_fresh_sample(name):
    chosen = labs.Design(name, 100, 10, calibration="split")
    rng = np.random.default_rng([0, 0])
    X = densities.DENSITIES[name].sample(100, rng)
    detector = chosen.detector(int(rng.integers(2**31)))
    detector.fit(X)
    fresh = detector.score_samples(densities.DENSITIES[name].sample(40_000, 1))
    share = np.searchsorted(np.sort(fresh), detector.calibration_scores_) / len(fresh)
    error = np.sqrt(share * (1 - share) / len(fresh))
    rates = design.repeat(chosen, 0).rates
    assert (np.diff(rates) >= 0).all()
    accuracy = 4e-3 if name == "heavy tail" else 2e-3
    assert (np.abs(rates - share) < 4.5 * error + accuracy)[share < 0.6].all()


def test_the_same_seed_gives_the_same_rows_however_many_there_are(tmp_path):
    few = labs.experiment("ring", 40, repetitions=2, folder=tmp_path / "a", **SMALL)
    more = labs.experiment("ring", 40, repetitions=3, folder=tmp_path / "b", **SMALL)
    other = labs.experiment("ring", 40, repetitions=2, folder=tmp_path, random_state=1, **SMALL)
    assert more[more["repetition"] < 2].equals(few)
    assert list(few["repetition"]) == [0, 0, 1, 1]
    assert few["false_alarm_rate"].nunique() == 4
    assert not few["false_alarm_rate"].equals(other["false_alarm_rate"])


def test_finished_repetitions_survive_an_interruption(tmp_path, counted):
    run = {"repetitions": 6, "folder": tmp_path, **SMALL}
    counted.interrupt_at = 3
    with pytest.raises(KeyboardInterrupt):
        labs.experiment("ring", 40, **run)
    assert counted == [0, 1, 2]
    counted.interrupt_at = None
    frame = labs.experiment("ring", 40, **run)
    assert counted == [0, 1, 2, 3, 4, 5]
    assert frame.equals(labs.experiment("ring", 40, **run))
    assert len(counted) == 6
    assert frame.equals(labs.experiment("ring", 40, **run | {"folder": tmp_path / "fresh"}))


@pytest.mark.parametrize(
    "change",
    [
        {"k": 6},
        {"sigma_over_DK": 2},
        {"C_times_n": 2},
        {"calibration": "in-sample"},
        {"alphas": (0.05,)},
        {"delta": 0.1},
        {"random_state": 1},
    ],
)
def test_every_parameter_is_part_of_the_key(tmp_path, counted, change):
    run = {"repetitions": 1, "folder": tmp_path, **SMALL}
    labs.experiment("ring", 40, **run)
    labs.experiment("ring", 40, **run)
    labs.experiment("ring", 40, **run | {"sigma_over_DK": 1})  # which is 1.0
    assert len(counted) == 1
    labs.experiment("ring", 40, **run | change)
    assert len(counted) == 2


def test_so_is_the_version(tmp_path, counted, monkeypatch):
    run = {"repetitions": 1, "folder": tmp_path, **SMALL}
    labs.experiment("ring", 40, **run)
    monkeypatch.setattr(false_alarms, "version", lambda _: "another")
    labs.experiment("ring", 40, **run)
    assert len(counted) == 2


@pytest.mark.parametrize("damage", [b"", b"nonsense"])
def test_a_damaged_entry_is_worked_out_again(tmp_path, counted, damage):
    run = {"repetitions": 2, "folder": tmp_path, **SMALL}
    frame = labs.experiment("ring", 40, **run)
    entries = list(tmp_path.rglob("output.pkl"))
    assert len(entries) == 2
    entries[0].write_bytes(damage)
    assert frame.equals(labs.experiment("ring", 40, **run))
    assert len(counted) == 3


def test_nothing_is_kept_where_nothing_can_be_written(tmp_path, counted):
    (tmp_path / "file").write_text("")
    run = {"repetitions": 1, "folder": tmp_path / "file", **SMALL}
    assert labs.experiment("ring", 40, **run).equals(labs.experiment("ring", 40, **run))
    assert len(counted) == 2


# What the rates must follow, and what they must not


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    run = {"k": 8, "repetitions": 40, "progress": False, "folder": tmp_path_factory.mktemp("kept")}
    return {
        calibration: labs.experiment(FIG2, n, alphas=(0.05, 0.1, 0.3), calibration=calibration, **run)
        for calibration, n in (("split", 120), ("in-sample", 60))
    }


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
def test_held_out_rates_follow_the_beta_law_and_trained_ones_do_not(frames, alpha):
    p = {}
    for calibration, frame in frames.items():
        rows = frame[frame["alpha"] == alpha]
        law = bounds.beta_law(int(rows["m"].iloc[0]), int(rows["points"].iloc[0]))
        p[calibration] = kstest(rows["false_alarm_rate"], law.cdf).pvalue
    assert p["split"] > 1e-3
    assert p["in-sample"] < 1e-6


def test_promises_kept_counts_rows(frames):
    frame = frames["split"]
    table = labs.promises_kept(frame)
    broken = 0
    for _, row in frame[frame["alpha"] == 0.1].iterrows():
        broken += row["false_alarm_rate"] > row["clopper_pearson"]
    row = table.loc[("Clopper-Pearson", 0.1)]
    assert row["broken"] == broken
    assert row["repetitions"] == 40
    # The exact interval is where each tail has probability 1/40.
    assert row["low"] == pytest.approx(0 if broken == 0 else bounds.beta_law(broken, 40).ppf(0.025))
    assert row["high"] == pytest.approx(bounds.beta_law(broken + 1, 40).ppf(0.975))
    assert (table["low"] <= 0.05).all()  # no promise broken too often
    assert ("ELL", "any") in table.index
    assert ("Clopper-Pearson", "any") not in table.index
    worst = frame.assign(fails=frame["false_alarm_rate"] > frame["ell"]).groupby("repetition")["fails"].any()
    assert table.loc[("ELL", "any"), "broken"] == worst.sum()


def test_promises_about_held_out_scores_do_not_hold_for_trained_ones(frames):
    """The negative control: the same limits, broken far more often than delta."""
    rows = frames["in-sample"][frames["in-sample"]["alpha"] == 0.05]
    limit = promises.held_out_limits(60, rows["m"].to_numpy(), 0.05)["ell"]
    assert (rows["false_alarm_rate"] > limit).mean() > 0.5


# Promises


def test_held_out_limits_are_those_of_bounds_and_nothing_where_nothing_alarms():
    limits = promises.held_out_limits(50, np.array([0, 1, 7]), 0.1)
    assert set(limits) == {"clopper_pearson", "simes", "ell", "dkw"}
    assert [limit[0] for limit in limits.values()] == [0, 0, 0, 0]
    assert limits["clopper_pearson"][2] == bounds.clopper_pearson(7, 50, 0.1)
    assert limits["dkw"][1] == bounds.dkw(1, 50, 0.1)


def test_trained_limits_are_those_of_bounds():
    chosen = labs.Design("uniform square", 300, 20, 8.0)
    done, m = design.repeat(chosen, 0), np.array([16, 31])
    limits = promises.trained_limits(chosen, done, m, 0.05)
    np.testing.assert_allclose(limits["pac_bayes"], bounds.pac_bayes(done.scores, m, done.norm, 0.05))
    radius = np.linalg.norm(np.diff(densities.SQUARE.bounds(tail=1e-6), axis=0)) / 2
    covers = [
        bounds.log_covering(rho, d=2, radius=radius, sigma=chosen.sigma, method="information")
        for rho in promises.RADII
    ]
    ball = bounds.theorem3_rule(done.scores, m, done.norm, promises.RADII, covers, 0.05 - 300e-6) + 1e-6
    np.testing.assert_allclose(limits["theorem3"], ball, rtol=1e-9)
    assert (limits["theorem3"] < 0.9).all()
    assert (limits["compression"] == 1).all()


def test_the_promise_about_a_cover_is_silent_where_the_ball_is_too_wide():
    chosen = labs.Design("heavy tail", 60, 5)
    assert promises.covers(chosen.density, chosen.sigma) is None
    assert promises.trained_limits(chosen, design.repeat(chosen, 0), np.array([4]), 0.05)["theorem3"] == 1


def test_no_point_with_a_dual_weight_is_missed():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    for C in (1e-3, 1.0):
        detector = RankAD(k=5, C=C, solver="cvxpy", tol=1e-4, random_state=0).fit(X)
        g, levels, dual = detector.solution_.scores, detector.levels_, detector.solution_.dual_point
        weighted = np.flatnonzero(dual.anchor > 1e-3 * C)
        higher, lower = np.nonzero(levels[:, None] > levels[None, :])
        assert len(dual.alpha) == len(higher)
        tight = set(np.flatnonzero(g <= 1 + 1e-6))
        for i, j in zip(higher, lower, strict=True):
            if g[i] - g[j] <= 1 + 1e-6:
                tight |= {i, j}
        assert design.points_in_tight_pairs(g, levels) == len(tight)
        assert len(weighted) <= len(tight)
    assert design.points_in_tight_pairs(np.array([5.0, 9.0, 20.0]), np.array([1, 2, 3])) == 0
    assert design.points_in_tight_pairs(np.array([5.0, 9.0, 9.5]), np.array([1, 2, 3])) == 2


# Mistakes


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"density": "cube"}, "There is no density 'cube': choose from Fig. 1"),
        ({"n": 10}, "n must be a whole number from 20 to 20000, got 10"),
        ({"n": 40.0}, "n must be a whole number"),
        ({"n": True}, "n must be a whole number"),
        ({"k": 30}, "k=30 neighbours are too many for 20 training points"),
        ({"sigma_over_DK": np.nan}, "sigma_over_DK must lie between"),
        ({"sigma_over_DK": "wide"}, "sigma_over_DK must be a number"),
        ({"C_times_n": 0}, "C_times_n must lie between"),
        ({"calibration": "none"}, "calibration must be one of in-sample, split"),
        ({"alphas": ()}, "alphas must hold at least one level"),
        ({"alphas": (0.05, 1.0)}, "alpha must be a false-alarm level"),
        ({"delta": 0}, "delta must be a number strictly between"),
        ({"repetitions": 0}, "repetitions must be an integer of at least 1"),
        ({"random_state": -1}, "random_state must be an integer of at least 0"),
        ({"random_state": None}, "random_state must be an integer"),
    ],
)
def test_mistakes_are_answered_in_words(change, match, tmp_path):
    arguments = {"density": "ring", "n": 40, "repetitions": 1, "folder": tmp_path} | SMALL | change
    with pytest.raises(ValueError, match=match):
        labs.experiment(arguments.pop("density"), arguments.pop("n"), **arguments)


def test_a_level_too_small_for_an_alarm_is_met_by_none(tmp_path):
    frame = labs.experiment(
        "ring", 40, k=5, alphas=[0.01], calibration="split", repetitions=1, folder=tmp_path, progress=False
    )
    assert frame.loc[0, ["m", "false_alarm_rate", "ell"]].tolist() == [0, 0, 0]
