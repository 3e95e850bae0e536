"""The page on other libraries: its code is true, of this package and of them where they are installed."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "notebooks" / "COMING_FROM.md"
BLOCKS = re.findall(r"^## (.*?)$|^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
PEERS = ("pyod", "nonconform")


@pytest.mark.parametrize("peer", [None, *PEERS])
@pytest.mark.filterwarnings("ignore")
def test_the_pages_code_holds(peer):
    if peer and find_spec(peer) is None:
        pytest.skip(f"{peer} is not installed")
    names, run = {}, []
    for _, code in BLOCKS:
        needs = [name for name in PEERS if f"from {name}" in code]
        if code and needs in ([], [peer]):
            exec(code, names)
            run.append(code)
    assert len(run) == (5 if peer else 4)
    assert sum(code.count("assert ") for code in run) > 10


def test_a_false_claim_would_be_noticed():
    code = BLOCKS[1][1]
    assert "< 0" in code
    with pytest.raises(AssertionError):
        exec(code.replace("< 0)", "> 0)"), {})
