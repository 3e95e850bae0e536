"""The studies of the default and of selection: cells, measurements and reports."""

import json

import numpy as np
import pandas as pd
import pytest

from workbench.experiments import defaults, selection, tables, tasks

TINY = [
    {"task": "iris 0", "scaling": "raw", "seed": 0, "n_train": 40},
    {"task": "two moons, clustered", "scaling": "standardised", "seed": 0, "n_train": 40},
]


def test_judges_are_not_tuned_on():
    assert not set(tasks.JUDGES) & set(tasks.TUNING)
    assert len(set(tasks.TUNING)) == len(tasks.TUNING)


@pytest.mark.parametrize("task", [names[-1] for names in tasks.GROUPS.values() if "smtp" not in names])
@pytest.mark.parametrize("scaling", tasks.SCALINGS)
def test_tasks_are_reproducible_and_complete(task, scaling):
    one, two = (tasks.draw(task, scaling=scaling, seed=3, n_train=60) for _ in range(2))
    other = tasks.draw(task, scaling=scaling, seed=4, n_train=60)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one, two, strict=True))
    assert one.X_train.tobytes() != other.X_train.tobytes()
    assert len(one.X_train) <= 60
    assert set(one.y_test) == {0, 1}
    assert len(one.y_test) == len(one.X_test) <= 2 * tasks.MOST_TESTED
    if scaling == "standardised":
        np.testing.assert_allclose(one.X_train.mean(axis=0), 0, atol=1e-9)


def test_no_task_shares_a_nominal_point_with_its_training_set():
    split = tasks.draw("blobs in 5, uniform", scaling="raw", seed=0, n_train=100)
    assert not {row.tobytes() for row in split.X_train} & {row.tobytes() for row in split.X_test}


def test_unknown_tasks_are_refused():
    with pytest.raises(ValueError, match="There is no task 'digits 11'"):
        tasks.draw("digits 11", scaling="raw", seed=0, n_train=10)
    with pytest.raises(ValueError, match="scaling must be one of raw, standardised, got 'log'"):
        tasks.draw("iris 0", scaling="log", seed=0, n_train=10)


@pytest.mark.parametrize("study", [defaults, selection])
def test_a_study_keeps_its_contract(study):
    assert isinstance(study.VERSION, int)
    for quick in (True, False):
        cells = study.cells(quick)
        assert len({json.dumps(cell, sort_keys=True) for cell in cells}) == len(cells)
        assert all({"seed", "task", "scaling", "n_train"} == set(cell) for cell in cells)
    results = [study.run(**cell) for cell in TINY]
    again = study.run(**TINY[1])
    np.testing.assert_equal(again, results[1])
    assert all(isinstance(value, (int, float)) for value in again.values())
    text = study.report(pd.DataFrame([cell | result for cell, result in zip(TINY, results, strict=True)]))
    assert "| --- |" in text
    assert "tasks to tune on" in text
    assert "default" in text


def test_regret_is_measured_from_the_best_cell():
    result = selection.run(**TINY[0])
    for name in selection.CRITERIA:
        assert result[f"AUC {name}"] <= result["AUC oracle"]


def test_intervals_cover_a_known_difference_and_exclude_none():
    rng = np.random.default_rng(0)
    index = pd.MultiIndex.from_product([["a", "b"], range(40)])
    base = rng.uniform(0.5, 0.9, 80)
    frame = pd.DataFrame({"base": base, "better": base + 0.02 + 0.01 * rng.standard_normal(80)}, index=index)
    table = tables.difference_table(frame, "base")
    assert table.index.tolist() == ["better", "base"]
    mean, low, high = (
        float(x)
        for x in table.loc["better", "less base"].replace("[", "").replace("]", "").replace(",", "").split()
    )
    assert 0.015 < low < mean < high < 0.025
    assert table.loc["base", "less base"] == "+0.0000 [+0.0000, +0.0000]"
    assert tables.pipes(table).count("\n") == 3
