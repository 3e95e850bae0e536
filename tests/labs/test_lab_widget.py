"""The lab without a browser: set a trait or a control, look at the pictures."""

from functools import lru_cache

import numpy as np
import plotly.graph_objects as go
import pytest
import traitlets

from workbench.labs import ALPHAS, Design, FalseAlarmLab, precompute, promises, widget
from workbench.labs.design import repeat as real_repeat
from workbench.labs.false_alarms import orders, rates_at

FAST = {"n": 50, "k": 5, "repetitions": 20}


@lru_cache
def recalled(design, repetition):
    return real_repeat(design, repetition)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Covering numbers take seconds, and are tested where they are made; repetitions are shared by tests."""

    def repeat(design, repetition, random_state, callback):
        callback()
        return recalled(design, repetition)

    monkeypatch.setattr(widget, "repeat", repeat)
    monkeypatch.setattr(promises, "covers", lambda *_: None)
    monkeypatch.setattr(widget, "covers", lambda *_: None)


@pytest.fixture
def lab():
    lab = FalseAlarmLab(**FAST, calibration="split")
    lab.settle()
    return lab


def trace(lab, name, last=False):
    lab.settle()
    return [t for t in lab._figure.data if t.name == name][-1 if last else 0]


def test_shows_the_repetitions_of_its_design(lab):
    design = Design(lab.density, 50, 5, calibration="split")
    m = orders(design, ALPHAS)
    np.testing.assert_array_equal(lab.outcome.rates[7], rates_at(recalled(design, 7).rates, m))
    assert lab.outcome.rates.shape == (20, len(ALPHAS))
    assert lab.message == ""
    assert lab._status.value == "20 repetitions"
    assert trace(lab, "realised").y[:-1].sum() == pytest.approx(1)


def test_level_and_delta_do_not_repeat_anything(lab, monkeypatch):
    def repeat(*_, **__):
        raise RuntimeError("repeated")

    monkeypatch.setattr(widget, "repeat", repeat)
    lab.alpha = 0.2
    assert lab.message == ""
    assert trace(lab, "alpha upright").x[0] == 0.2
    before = lab.outcome.limits["ell"][5]
    lab.delta = 0.2
    assert lab.outcome.limits["ell"][5] < before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("density", "ring"),
        ("calibration", "in-sample"),
        ("n", 100),
        ("k", 6),
        ("sigma_over_DK", 4.0),
        ("repetitions", 50),
    ],
)
def test_every_control_repeats_and_redraws(lab, name, value):
    before = lab.outcome
    control = lab._controls[name]
    control.value = value  # as the browser does
    assert getattr(lab, name) == value
    assert lab.outcome is not before
    assert lab.message == ""
    assert not np.array_equal(lab.outcome.rates, before.rates)


def test_trained_scores_are_made_other_promises(lab):
    lab.calibration = "in-sample"
    assert set(lab.outcome.limits) == {"pac_bayes", "compression", "theorem3"}
    assert lab.outcome.broken["pac_bayes"] == (0, 20)
    assert "not a promise: Clopper-Pearson" in lab._words.value
    assert np.isnan(trace(lab, "ell upright").x[0])
    assert trace(lab, "realised", last=True).y.mean() > 2 * np.mean(ALPHAS) * 0.9


def test_the_newest_setting_wins(lab):
    for k in (6, 7, 8, 9, 10):
        lab.k = k
    design = Design(lab.density, 50, 10, calibration="split")
    np.testing.assert_array_equal(
        lab.outcome.rates[0], rates_at(recalled(design, 0).rates, orders(design, ALPHAS))
    )
    assert "20 repetitions" in lab._status.value


def test_a_level_too_small_is_explained(lab):
    lab.alpha = 0.01
    assert lab.message == ""
    assert "No alarm is possible at α = 0.01" in lab._words.value


def test_mistakes_are_answered_in_words_and_mended(lab):
    shown = lab._outcome
    lab.k = 60
    assert "k=60 neighbours are too many for 25 training points" in lab.message
    assert "k=60" in lab._status.value
    assert lab.outcome is None
    assert lab._outcome is shown  # the last good picture stays
    lab.k = 5
    assert lab.message == ""
    assert lab.outcome is not None


def test_a_defect_does_not_take_the_widget_down(lab, monkeypatch):
    def broken(*_):
        raise RuntimeError("a <b>defect</b>")

    monkeypatch.setattr(widget, "orders", broken)
    lab.k = 7
    assert lab.message == "a <b>defect</b>"
    assert "&lt;b&gt;" in lab._status.value
    monkeypatch.undo()
    lab.k = 8
    assert lab.message == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n", 51),
        ("n", "many"),
        ("alpha", 0.04),
        ("alpha", np.nan),
        ("delta", 0),
        ("k", 0),
        ("k", 5.5),
        ("sigma_over_DK", np.nan),
        ("sigma_over_DK", 1e9),
        ("repetitions", 10**9),
        ("density", "cube"),
        ("calibration", None),
    ],
)
def test_values_out_of_range_are_refused(lab, name, value):
    before = getattr(lab, name)
    with pytest.raises(traitlets.TraitError):
        setattr(lab, name, value)
    assert getattr(lab, name) == before
    assert lab.message == ""


# Large samples


def test_large_samples_are_recalled_and_say_so(lab):
    lab.n, lab.sigma_over_DK, lab.k = 1000, 4.0, 20
    cell = precompute.nearest(lab.density, 1000, 4.0, "split")
    np.testing.assert_array_equal(lab.outcome.rates, cell.rates)
    assert "n = 1000 is precomputed" in lab._status.value
    assert "\u03b4" not in lab._status.value
    assert "not what the sliders say" not in lab._status.value
    lab.sigma_over_DK = 2.8
    lab.settle()
    assert "σ = 4 D_K" in lab._status.value
    assert "not what the sliders say" in lab._status.value
    lab.density = "ring"
    assert "n = 1000 is precomputed for Fig. 1: two discs and Fig. 2: two ellipses only" in lab.message


def test_large_samples_with_trained_scores_know_one_delta(lab):
    lab.n, lab.calibration, lab.delta = 1000, "in-sample", 0.2
    assert lab.outcome.delta == precompute.DELTA
    assert "promises at δ = 0.05" in lab._status.value


def test_the_file_is_complete_small_and_agrees_with_a_run():
    cells = precompute.load()
    designs = {(c.density, c.n, c.sigma_over_DK, c.calibration) for c in cells}
    left_out = {(density, *precompute.SLOWEST) for density in precompute.COVERED}
    assert len(designs) == len(cells) == 2 * 3 * 2 * 2 - len(left_out)
    assert precompute.PATH.stat().st_size < 100_000
    for cell in cells:
        assert cell.rates.shape == (precompute.REPETITIONS[cell.n], len(ALPHAS))
        assert (np.diff(cell.rates, axis=1) >= 0).all()
        assert ((cell.rates >= 0) & (cell.rates <= 1)).all()
    anew = precompute.work_out(precompute.COVERED[1], 1000, 4.0, "split", repetitions=3)
    kept = precompute.nearest(precompute.COVERED[1], 1000, 4.0, "split")
    np.testing.assert_allclose(np.array(anew["rates"]) / 1e5, kept.rates[:3], atol=2e-4)
    trained = precompute.work_out(precompute.COVERED[1], 1000, 4.0, "in-sample", repetitions=1)
    kept = precompute.nearest(precompute.COVERED[1], 1000, 4.0, "in-sample")
    np.testing.assert_allclose(trained["limits"]["pac_bayes"], kept.limits["pac_bayes"], rtol=1e-2)


def test_figures_are_plain_pictures_of_now(lab):
    (figure,) = lab.figures
    assert type(figure) is go.Figure
    assert [trace.name for trace in figure.data] == [trace.name for trace in lab._figure.data]
