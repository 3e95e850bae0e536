import numpy as np
import pytest

from workbench import bounds
from workbench.labs import ALPHAS, PROMISES, pictures
from workbench.labs.promises import held_out_limits

N = 100
M = np.array([bounds.order(alpha, N, split=True) for alpha in ALPHAS])


def outcome(repetitions=40, wanted=40, scale=1.0, **more):
    uniforms = np.sort(np.random.default_rng(0).random((repetitions, N)), axis=1)
    rates = np.minimum(scale * uniforms[:, M - 1], 1)
    limits = held_out_limits(N, M, 0.05)
    broken = dict.fromkeys(limits, (2, repetitions))
    given = {"alphas": np.array(ALPHAS), "m": M, "points": N, "rates": rates, "wanted": wanted}
    return pictures.Outcome(**given | {"delta": 0.05, "limits": limits, "broken": broken} | more)


def trace(shown, name, alpha=0.05, column=1):
    return next(t for c, t in pictures.traces(shown, alpha) if t["name"] == name and c == column)


def test_histogram_and_law_are_shares_of_the_same_bins():
    shown = outcome()
    share = trace(shown, "realised")["y"][:-1]
    law = trace(shown, "Beta law of held-out scores")["y"][:-1]
    assert share.sum() == pytest.approx(1)
    assert law.sum() == pytest.approx(1)
    rates = shown.rates[:, ALPHAS.index(0.05)]
    j = 30
    inside = (rates >= pictures.EDGES[j]) & (rates < pictures.EDGES[j + 1])
    assert share[j] == pytest.approx(inside.mean())
    uniforms = np.sort(np.random.default_rng(1).random((20_000, N)), axis=1)[:, 4]
    drawn = np.mean((uniforms >= pictures.EDGES[j]) & (uniforms < pictures.EDGES[j + 1]))
    assert law[j] == pytest.approx(drawn, abs=0.008)


def test_the_histogram_grows_to_its_full_height():
    assert trace(outcome(10, 40), "realised")["y"][:-1].sum() == pytest.approx(0.25)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("scale", [0.001, 1.0, 3.0])
def test_nothing_leaves_the_picture_and_no_label_lies_on_another(alpha, scale):
    shown = outcome(scale=scale)
    top = pictures.layout(shown, alpha)["yaxis"]["range"][1]
    assert trace(shown, "realised", alpha)["y"].max() <= 0.6 * top
    lines = [t for _, t in pictures.traces(shown, alpha) if t["name"].endswith("upright")]
    there = [line for line in lines if np.isfinite(line["x"][0])]
    assert len(there) == 5
    heights = [line["y"][1] for line in sorted(there, key=lambda line: line["x"][0])]
    bound = [h for h, line in zip(heights, there, strict=True)]
    assert (-np.diff(bound) > 0.08 * top).all() or there[0]["x"][0] > there[1]["x"][0]
    assert max(heights) < top
    figure = pictures.figure(shown, alpha)
    assert all(line["x"][0] <= 10 ** figure.layout.xaxis.range[1] for line in there)


def test_as_many_traces_whatever_there_is():
    shown = outcome()
    nothing = outcome(repetitions=0, limits={}, broken={})
    names = [[t["name"] for _, t in pictures.traces(each, 0.05)] for each in (shown, nothing)]
    assert names[0] == names[1]
    assert len(pictures.figure(nothing, 0.05).data) == len(names[0])
    assert np.isnan(trace(nothing, "realised", column=2)["y"]).all()


def test_mean_band_and_law_against_alpha():
    shown = outcome(400, 400)
    j = ALPHAS.index(0.1)
    assert trace(shown, "realised", column=2)["y"][j] == pytest.approx(shown.rates[:, j].mean())
    for name, q, edge in (("5%", 0.05, "Beta law of held-out scores"), ("95%", 0.95, "Beta law, 95%")):
        drawn = trace(shown, name, column=2)["y"][j]
        assert drawn == pytest.approx(np.quantile(shown.rates[:, j], q))
        assert drawn == pytest.approx(trace(shown, edge, column=2)["y"][j], rel=0.1)


def test_the_words_count_broken_promises():
    text = pictures.words(outcome(), 0.05)
    assert "Beta(5, 96)" in text
    assert text.count("2 of 40") == 4
    assert "0.006 to 0.169" in text  # Clopper and Pearson for 2 of 40
    assert "too often" not in text
    often = pictures.words(outcome(broken={"ell": (20, 40)}), 0.05)
    assert "too often" in often
    assert pictures.words(outcome(repetitions=0), 0.05) == ""


def test_the_words_for_trained_scores_show_what_is_no_promise():
    limits = {name: np.ones(len(ALPHAS)) for name in ("pac_bayes", "compression", "theorem3")}
    text = pictures.words(outcome(scale=3.0, limits=limits, broken={}), 0.05)
    assert "not a promise: Clopper-Pearson" in text
    assert "too often" in text
    assert text.count("(vacuous)") == 3
    assert all(PROMISES[name].label in text for name in limits)


def test_no_alarm_is_possible():
    m = M.copy()
    m[0] = 0
    text = pictures.words(outcome(m=m), ALPHAS[0])
    assert "No alarm is possible at α = 0.01" in text
    assert pictures.layout(outcome(m=m), ALPHAS[0])["yaxis"]["range"][1] > 0
