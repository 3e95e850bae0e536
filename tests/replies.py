"""What the lessons' exercises reply to an answer."""

from workbench.lessons import exercise


def expect(number, answer, state, words):
    """Check the state of the reply, and that these words are in it."""
    feedback = exercise(number).check(answer)
    assert feedback.state == state
    assert words in feedback.words
