"""Figures in docstrings and in the README, against the ledger that ships."""

import re
from pathlib import Path

import pytest

from workbench import RankAD, RankADCV
from workbench.experiments import defaults, frontier, selection
from workbench.experiments.ledger import Ledger
from workbench.experiments.tasks import group_of

ROOT = Path(__file__).resolve().parents[2]
BOOK = Ledger(ROOT / "notebooks" / "results" / "ledger.sqlite")


def said(text, first, last):
    """Numbers in a text between two phrases, line breaks aside."""
    text = re.sub(r"\s+", " ", text)
    part = text[text.index(first) : text.index(last)]
    return [float(number) for number in re.findall(r"(?<![\w.])\.\d+", part)]


def rounded(*values):
    return [round(float(value), 3) for value in values]


def default_and_D_K(group, scaling):
    records = BOOK.records("defaults", defaults.VERSION)
    paper = records["task"].map(group_of) == "paper"
    part = records[(paper == (group == "paper")) & (records["scaling"] == scaling)]
    auc = part.groupby("task")[["default", "default, sigma / D_k = 1"]].mean()
    return len(auc), *auc.mean()


def test_of_the_default_bandwidth():
    n, raw, raw_D_K = default_and_D_K("others", "raw")
    _, scaled, scaled_D_K = default_and_D_K("others", "standardised")
    assert n == 61
    values = said(RankAD.__doc__, "On 61 tasks", "and what lies between")
    assert values[:4] == rounded(raw, scaled, raw_D_K, scaled_D_K)
    assert values[4] == pytest.approx(raw - raw_D_K, abs=6e-4)
    assert values[7] == pytest.approx(scaled - scaled_D_K, abs=6e-4)
    n, raw, raw_D_K = default_and_D_K("paper", "raw")
    _, scaled, scaled_D_K = default_and_D_K("paper", "standardised")
    assert n == 8
    values = said(RankAD.__doc__, "On the paper's eight sets, not looked at", "(`notebooks/results/defaults")
    assert values[:2] == rounded(raw, raw_D_K)
    assert values[-2:] == rounded(scaled, scaled_D_K)


def test_of_the_rules_of_selection():
    auc = selection.mean_auc(BOOK.records("selection", selection.VERSION))
    paper, others = auc["the paper's data sets"], auc["the tasks to tune on"]
    assert (len(paper), len(others)) == (8, 61)
    regret = {name: each.rsub(each["oracle"], axis=0).mean() for name, each in (("p", paper), ("o", others))}
    names = ["mean of kinds", "pairs", "default"]
    text = said(RankADCV.__doc__, "In mean AUC they lose", "(`notebooks/results/selection.md`)")
    paper_rule, low, high, printed, fixed, other_rule, other_printed, other_fixed = text
    assert [paper_rule, printed, fixed] == rounded(*regret["p"][names])
    assert [other_rule, other_printed, other_fixed] == rounded(*regret["o"][names])
    assert f"[+{low:.3f}" in re.sub(
        r"(\.\d{3})\d", r"\1", selection.compared(paper).loc["mean of kinds", "regret"]
    )
    assert low < paper_rule < high


def test_of_the_frontier():
    report = frontier.report(BOOK.records("frontier", frontier.VERSION))
    dialled = r"RankAD[^|]*\| [^|]*|aK-LPE, k=5 \| |one-class SVM \| |isolation forest \| 300 trees"
    rows = dict(re.findall(rf"^\| ({dialled}) \| ([\d.]+)", report, re.M))
    text = (ROOT / "README.md").read_text()
    values = said(text, "of the mean over the sets RankAD is ahead", "Set by set it is not always ahead")
    named = ["RankAD, trained on landmarks | 25 landmarks", "RankAD, compressed afterwards | 2000 landmarks"]
    named += ["aK-LPE, k=5 | ", "isolation forest | 300 trees", "one-class SVM | "]
    assert values == rounded(*(rows[name] for name in named))
    assert "On the frontier of the means" in report
    assert not re.search(r"On the frontier of the means.*(aK-LPE|forest|one-class)", report)
