import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.lessons import exercise, judges
from workbench.lessons.exercises import OPEN, RIGHT, WRONG, Exercise

ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(),
    st.binary(),
    st.lists(st.one_of(st.floats(), st.text(), st.lists(st.integers()))),
    st.dictionaries(st.text(), st.integers()),
    st.sampled_from([object(), print, np.array([]), np.zeros((2, 2)), np.nan, 10**400, pd.Series([1.0])]),
)

HALF = judges.number(lambda: 0.5, 0.01, [(2.0, "The other way round."), (lambda: 0.25, "Not squared.")])
LETTER = judges.choice("b", {"a": "Because of a.", "c": "Because of c."})
THREE = judges.array(lambda: [1.0, 2.0, 3.0], 0.01, [(lambda: [3.0, 2.0, 1.0], "Turned round.")])
SET = judges.members(
    lambda: [1, 4], "indices", "Some more.", "Too many.", [(lambda: [2, 8], "Half of each.")]
)


def an_exercise(judge):
    return Exercise(judge=judge, because="So it is.", hint="Think <b>.", words="Thus.", code="answer = 0.5")


def test_no_answer_is_met_with_an_invitation_and_a_hint():
    for nothing in (..., None):
        feedback = an_exercise(HALF).check(nothing)
        assert feedback.state == OPEN
        assert "three dots" in repr(feedback)
        assert "<summary>" in feedback._repr_html_()
    assert an_exercise(HALF).check().state == OPEN


def test_a_right_answer_is_told_why_and_needs_no_hint():
    feedback = an_exercise(HALF).check(0.501)
    assert feedback.state == RIGHT
    assert "So it is." in feedback._repr_html_()
    assert "<details>" not in feedback._repr_html_()


def test_states_are_told_apart_without_colours_and_hints_are_escaped():
    right, wrong = an_exercise(HALF).check(0.5), an_exercise(HALF).check(3)
    assert "Right." in repr(right)
    assert "Not yet." in repr(wrong)
    assert "&lt;b&gt;" in wrong._repr_html_()


def test_the_solution_is_code_and_words():
    solution = an_exercise(HALF).solution()
    assert "```python\nanswer = 0.5\n```" in solution._repr_markdown_()
    assert "Thus." in repr(solution)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (0.5, None),
        (np.float32(0.5), None),
        (np.array([0.5]), None),
        (2, "The other way round."),
        (0.25, "Not squared."),
        (0.3, "small"),
        (0.9, "large"),
        ("0.5", "is a number, and this is str '0.5'"),
        (True, "is a number"),
        (float("nan"), "finite"),
        (10**400, "too large"),
        ([0.5, 0.5], "is a number"),
    ],
)
def test_numbers(answer, words):
    said = HALF(answer)
    assert said is None if words is None else words in said


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("b", None),
        (" B ", None),
        ("(b)", None),
        ("a", "Because of a."),
        ("x", '"a", "b", "c"'),
        (2, "int 2"),
        (np.zeros(3), "an array of shape (3,)"),
    ],
)
def test_letters(answer, words):
    said = LETTER(answer)
    assert said is None if words is None else words in said


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([1, 2, 3], None),
        (pd.Series([1.0, 2.0, 3.001]), None),
        ([3, 2, 1], "Turned round."),
        ([1, 2], "shape (3,), and this has shape (2,)"),
        ([1, 2, np.inf], "not finite"),
        ([1, 2, 4], "1 of 3 entries differ. The first is entry 2: 4 should be 3."),
        ("abc", "array of numbers"),
        (2.0, "3 numbers, of shape (3,), and this is a single one"),
        ([10**400, 1, 1], "array of numbers"),
        ([[1], [2, 3]], "array of numbers"),
    ],
)
def test_arrays(answer, words):
    said = THREE(answer)
    assert said is None if words is None else words in said


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([4, 1], None),
        ({1.0, 4.0}, None),
        (np.array([1, 4]), None),
        ([1], "1 of 2 indices are missing. Some more."),
        ([1, 2, 4], "Too many. Look again at 2."),
        (3, "a list of indices"),
        ("14", "a list of indices"),
        ([[1], [4]], "flat list"),
        ([2, 8], "Half of each."),
    ],
)
def test_members(answer, words):
    said = SET(answer)
    assert said is None if words is None else words in said


@given(ANYTHING)
def test_whatever_the_answer_is_there_is_a_reply(answer):
    for judge in (HALF, LETTER, THREE, SET):
        feedback = an_exercise(judge).check(answer)
        assert feedback.state in (RIGHT, WRONG, OPEN)
        assert feedback.words


def test_a_judge_that_fails_says_so_in_words():
    def fails(_):
        raise RuntimeError("broken")

    assert "cannot be judged: broken" in an_exercise(fails).check(1).words


@pytest.mark.parametrize(
    ("number", "words"), [("1.9", "has the exercises 1.1"), ("77", "No exercise"), (1.5, "1.1")]
)
def test_unknown_exercises_are_refused_in_words(number, words):
    with pytest.raises(ValueError, match=words):
        exercise(number)
