"""Judges of answers: each returns None for a right answer and a sentence about a wrong one."""

from __future__ import annotations

import numbers

import numpy as np


def number(truth, tolerance, mistakes=()):
    """Judge a number.

    Parameters
    ----------
    truth : callable
        Returns the right number; called when there is an answer to judge.
    tolerance : float
        Largest difference that still counts as right.
    mistakes : sequence of (value, str)
        Wrong numbers that are likely, and what to say of each; a value may be a callable that returns it.

    Returns
    -------
    callable
    """

    def judge(answer):
        value = _as_number(answer)
        if isinstance(value, str):
            return value
        if not np.isfinite(value):
            return f"The answer is a finite number, and this is {value}."
        if abs(value - truth()) <= tolerance:
            return None
        for mistake, words in mistakes:
            if abs(value - (mistake() if callable(mistake) else mistake)) <= tolerance:
                return words
        side = "large" if value > truth() else "small"
        return f"{value:.4g} is too {side}."

    return judge


def choice(right, wrong):
    """Judge a letter.

    Parameters
    ----------
    right : str
        The letter of the right choice.
    wrong : dict from str to str
        The other letters, and what is wrong with each.

    Returns
    -------
    callable
    """

    def judge(answer):
        letter = answer.strip().strip("()").lower() if isinstance(answer, str) else None
        if letter == right:
            return None
        if letter in wrong:
            return wrong[letter]
        letters = ", ".join(f'"{each}"' for each in sorted([right, *wrong]))
        return f"Choose one of the letters {letters}; this is {_short(answer)}."

    return judge


def array(truth, tolerance, mistakes=()):
    """Judge an array of numbers, whatever holds it: a list, an array, a series.

    Parameters
    ----------
    truth : callable
        Returns the right array.
    tolerance : float
        Largest difference in any entry that still counts as right.
    mistakes : sequence of (callable, str)
        Functions that return likely wrong arrays, and what to say of each.

    Returns
    -------
    callable
    """

    def judge(answer):
        wanted = np.asarray(truth())
        try:
            given = np.asarray(answer, dtype=float)
        except (TypeError, ValueError, OverflowError):
            return f"The answer is an array of numbers of shape {wanted.shape}, and this is {_short(answer)}."
        if given.ndim == 0:
            return f"The answer is {wanted.size} numbers, of shape {wanted.shape}, and this is a single one."
        if given.shape != wanted.shape:
            return f"The answer has shape {wanted.shape}, and this has shape {given.shape}."
        if not np.isfinite(given).all():
            return f"{np.count_nonzero(~np.isfinite(given))} of the entries are not finite numbers."
        if _agree(given, wanted, tolerance):
            return None
        for mistake, words in mistakes:
            other = np.asarray(mistake())
            if other.shape == given.shape and _agree(given, other, tolerance):
                return words
        off = np.abs(given - wanted) > tolerance
        first = tuple(int(i) for i in np.argwhere(off)[0])
        where = first[0] if len(first) == 1 else first
        return (
            f"{np.count_nonzero(off)} of {off.size} entries differ. The first is entry {where}: "
            f"{given[first]:.4g} should be {wanted[first]:.4g}."
        )

    return judge


def members(truth, what, missing, extra, mistakes=()):
    """Judge a set of whole numbers or of texts, in any order.

    Parameters
    ----------
    truth : callable
        Returns the right members.
    what : str
        What a member is, in the plural, as "indices".
    missing, extra : str
        What to say where some are missing, and where some do not belong.
    mistakes : sequence of (callable, str)
        Functions that return likely wrong members, and what to say of each.

    Returns
    -------
    callable
    """

    def judge(answer):
        if isinstance(answer, (str, bytes)) or not hasattr(answer, "__iter__"):
            return f"The answer is a list of {what}, and this is {_short(answer)}."
        try:
            given = {_plain(each) for each in answer}
        except TypeError:
            return f"The answer is a flat list of {what}."
        wanted = {_plain(each) for each in truth()}
        if given == wanted:
            return None
        for mistake, words in mistakes:
            if given == {_plain(each) for each in mistake()}:
                return words
        if given - wanted:
            some = ", ".join(sorted(map(str, given - wanted))[:5])
            return f"{extra} Look again at {some}."
        return f"{len(wanted - given)} of {len(wanted)} {what} are missing. {missing}"

    return judge


def _plain(member):
    value = member.item() if isinstance(member, np.generic) else member
    hash(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _as_number(answer):
    """Return a float, or a sentence about why the answer is none."""
    if isinstance(answer, np.ndarray) and answer.size == 1:
        answer = answer.reshape(-1)[0]
    if isinstance(answer, (bool, np.bool_)) or not isinstance(answer, numbers.Real):
        return f"The answer is a number, and this is {_short(answer)}."
    try:
        return float(answer)
    except OverflowError:
        return "That number is far too large."


def _short(answer):
    if isinstance(answer, np.ndarray):
        return f"an array of shape {answer.shape}"
    text = repr(answer)
    return f"{type(answer).__name__} {text if len(text) <= 40 else text[:37] + '...'}"


def _agree(a, b, tolerance):
    return bool((np.abs(a - b) <= tolerance).all())
