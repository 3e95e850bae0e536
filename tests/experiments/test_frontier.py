"""The frontier: what is timed is what is scored, and who is on it by the definition."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from workbench import RankAD, plots
from workbench.datasets import Dataset, nominal_split
from workbench.experiments import frontier
from workbench.experiments.commands import EXPERIMENTS


def test_it_can_be_asked_for_and_its_cells_are_plain():
    assert EXPERIMENTS["frontier"] == ("frontier",)
    cells = frontier.cells(False)
    assert json.loads(json.dumps(cells)) == cells
    assert len(cells) == 8 * 3
    assert frontier.cells(True)[0] == {"dataset": "annthyroid", "seed": 0, **frontier.QUICK}


@pytest.fixture(scope="module")
def measured():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 3)) * [1, 10, 100], rng.normal([4, 40, 400], size=(20, 3))])
    dataset = Dataset(X, np.repeat([0, 1], [200, 20]), "mine", ("a", "b", "c"), "another set")
    patch = pytest.MonkeyPatch()
    patch.setattr(frontier, "load", lambda name: dataset)
    try:
        result = frontier.run("mine", 3, 90, 100)
    finally:
        patch.undo()
    return dataset, result


def test_a_cell_by_hand(measured):
    dataset, result = measured
    split = nominal_split(dataset, 90, 100, random_state=3)
    scaler = StandardScaler().fit(split.X_train)
    detector = RankAD(random_state=3).fit(scaler.transform(split.X_train))
    X_test = scaler.transform(split.X_test)
    for dial, scorer in ((90, detector), (25, detector.compress(landmarks=25))):
        auc = roc_auc_score(split.y_test, -scorer.score_samples(X_test))
        assert result[f"AUC: {frontier.COMPRESSED} | {dial}"] == pytest.approx(auc)
    settings = set(frontier.tidy(pd.DataFrame([result | {"dataset": "mine", "seed": 3}]))["system"])
    assert settings == set(frontier.DIALS)
    assert all(value > 0 for name, value in result.items() if name.startswith("us: "))
    assert json.loads(json.dumps(result)) == result


def test_trained_on_all_points_is_the_detector_itself(rng):
    X = rng.normal(size=(60, 2))
    whole = RankAD(random_state=0, sigma=0.5).fit(X)
    again = frontier.trained_on_landmarks(X, whole, 60)
    np.testing.assert_allclose(again(X), whole.solution_.scores, atol=1e-2)
    few = frontier.trained_on_landmarks(X, whole, 5)
    assert np.abs(few(X) - whole.solution_.scores).max() > 0.1


def test_the_frontier_is_who_nobody_beats():
    rows = [
        ("slow", 0.9, 9.0),
        ("quick", 0.5, 1.0),
        ("beaten", 0.5, 2.0),
        ("equal", 0.9, 9.0),
        ("worse", 0.8, 9.0),
    ]
    table = pd.DataFrame(rows, columns=["name", "auc", "us"]).set_index("name")
    assert frontier.on_frontier(table).to_dict() == {
        "slow": True,
        "quick": True,
        "beaten": False,
        "equal": True,
        "worse": False,
    }


def test_the_report_says_who_is_before_us(measured):
    rows = []
    for dataset in ("a", "b"):
        row = {"dataset": dataset, "seed": 0, "n_train": 2000}
        for name, auc, us in (
            (f"{frontier.COMPRESSED} | 2000", 0.90, 8.0),
            (f"{frontier.COMPRESSED} | 25", 0.70, 1.0),
            ("aK-LPE, k=5 | ", 0.95, 6.0),
        ):
            row |= {f"AUC: {name}": auc, f"us: {name}": us}
        rows.append(row)
    records = pd.DataFrame(rows)
    text = frontier.report(records)
    assert (
        "- RankAD, compressed afterwards, 2000 landmarks is not (0.9000 in 8.00 µs): aK-LPE, k=5 has 0.9500 "
        "in 6.00 µs." in text
    )
    assert (
        "from quick to slow: RankAD, compressed afterwards, 25 landmarks (0.7000 in 1.00 µs); aK-LPE" in text
    )
    (name, figure), *others = frontier.figures(records).items()
    assert name == "frontier"
    assert not others
    assert [trace.name for trace in figure.data] == [frontier.COMPRESSED, "aK-LPE, k=5"]
    assert list(figure.data[0].text) == ["25", "2000"]
    assert figure.layout.xaxis.type == "log"
    assert "AUC" in plots.page(figure)
