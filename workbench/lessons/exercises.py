"""Exercises: an answer goes in, what is right or wrong about it comes out in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

RIGHT, WRONG, OPEN = "right", "not yet", "not answered"

LOOKS = {RIGHT: ("#00664A", "✓", "Right."), WRONG: ("#B34700", "✗", "Not yet."), OPEN: ("#0072B2", "…", "")}
"""Colour, sign and first words of a feedback, so that none of them is needed to understand it."""


@dataclass(frozen=True)
class Feedback:
    """What is said about an answer.

    Attributes
    ----------
    state : {"right", "not yet", "not answered"}
    words : str
    hint : str
        Shown when it is asked for.
    """

    state: str
    words: str
    hint: str = ""

    def __repr__(self):
        _, sign, first = LOOKS[self.state]
        return " ".join(filter(None, [sign, first, self.words]))

    def _repr_html_(self):
        colour, sign, first = LOOKS[self.state]
        fold = f"<details><summary>A hint</summary><p>{escape(self.hint)}</p></details>" if self.hint else ""
        return (
            f'<div role="status" style="border-left: 5px solid {colour}; padding: 0.4em 0.9em; '
            f'max-width: 46em; line-height: 1.4"><b style="color: {colour}">{sign} {first}</b> '
            f"{escape(self.words)}{fold}</div>"
        )


@dataclass(frozen=True)
class Solution:
    """A way to an answer: words, and code that leaves it in `answer`."""

    words: str
    code: str

    def __repr__(self):
        return f"{self.words}\n\n{self.code}"

    def _repr_markdown_(self):
        return f"{self.words}\n\n```python\n{self.code}\n```"


@dataclass(frozen=True)
class Exercise:
    """A question of a lesson, and a judge of answers to it.

    Parameters
    ----------
    judge : callable
        Takes an answer and returns None if it is right, else a sentence about what is wrong with it: see
        :mod:`workbench.lessons.judges`.
    because : str
        Why the right answer is right.
    hint : str
    words, code : str
        The solution. The code runs in the notebook below the lesson's own cells and leaves the right answer
        in a variable `answer`.
    """

    judge: Callable[[object], str | None]
    because: str
    hint: str
    words: str
    code: str

    def check(self, answer=...):
        """Judge an answer.

        Parameters
        ----------
        answer : object
            Whatever the question asks for. ``...`` stands for none.

        Returns
        -------
        Feedback
            Never an error, whatever the answer is.
        """
        if answer is ... or answer is None:
            return Feedback(OPEN, "Put your answer in place of the three dots, and run this cell.", self.hint)
        try:
            wrong = self.judge(answer)
        except Exception as error:  # an answer of a kind that nobody thought of
            wrong = f"This answer cannot be judged: {error or type(error).__name__}."
        return Feedback(RIGHT, self.because) if wrong is None else Feedback(WRONG, wrong, self.hint)

    def solution(self):
        """Return a way to the answer. Try first."""
        return Solution(self.words, self.code)
