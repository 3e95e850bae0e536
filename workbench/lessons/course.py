"""The course: its lessons in order, what each asks, needs and takes."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class Lesson:
    """One lesson.

    Attributes
    ----------
    notebook : str
        File name without its ending; it begins with the number.
    title : str
    question : str
        The one that the lesson answers.
    goal : str
        What one can do afterwards.
    minutes : int
        To read, to play and to do the exercises.
    needs : tuple of int
        Lessons that should come before.
    paper : str
        Where the paper treats it.
    module : str
        Of this package, with the lesson's scene and exercises; empty if it has none.
    """

    notebook: str
    title: str
    question: str
    goal: str
    minutes: int
    needs: tuple[int, ...]
    paper: str
    module: str = ""

    @property
    def number(self):
        """Place in the course."""
        return int(self.notebook[:2])


LESSONS = (
    Lesson(
        "00_start_here",
        "Start here",
        "You have examples of normal behaviour and nothing else. How unusual is a new observation?",
        "say what RankAD does in four steps, and move every slider of the explorer",
        10,
        (),
        "Sec. 1",
    ),
    Lesson(
        "01_what_is_an_anomaly",
        "What is an anomaly?",
        "If all we know is how normal points are spread, which points should raise an alarm?",
        "find a minimum-volume set by hand, and explain why no other rule leaves anomalies less room",
        15,
        (0,),
        "Sec. 2, Eq. 1",
        "level_sets",
    ),
    Lesson(
        "02_distance_and_density",
        "Distances know the density",
        "Nobody gives us the density. Can the distance to a few neighbours stand in for it?",
        "predict an average k-NN distance from a density, and choose k between noise and blur",
        15,
        (1,),
        "Sec. 3, Eq. 2; Lemma 2",
        "distances",
    ),
    Lesson(
        "03_ranks_are_p_values",
        "Ranks are p-values",
        "A distance of 0.7: is that far? How does a distance become a probability?",
        "turn distances into ranks, and say when and how fast ranks approach p-values",
        15,
        (2,),
        "Sec. 3, Eq. 3; Theorem 1",
        "ranks",
    ),
    Lesson(
        "04_from_ranks_to_preferences",
        "From ranks to preferences",
        "Ranks are noisy. What of them is worth learning?",
        "count the preference pairs of any quantisation, and say what m levels keep and what they drop",
        10,
        (3,),
        "Sec. 4, Algorithm 1 (b); Sec. 6.1",
        "quantisation",
    ),
    Lesson(
        "05_ranksvm_by_hand",
        "RankSVM by hand",
        "How does one learn a score that respects preferences, and how does one know that it is the best?",
        "write the RankSVM program for twelve points, solve it, and certify the solution without "
        "trusting the solver",
        20,
        (4,),
        "Sec. 4, Eq. 5",
        "by_hand",
    ),
    Lesson(
        "06_level_curves",
        "Level curves, two levels against three",
        "Which level sets does a detector learn that was told two levels, or three?",
        "read a level curve, measure how far it is from the truth, and judge the claim of the paper's "
        "Figure 1",
        15,
        (5,),
        "Sec. 4, Figure 1",
        "curves",
    ),
    Lesson(
        "07_the_far_field",
        "The far field",
        "What does a learned score say where there were no data at all?",
        "explain why the printed detector misses the most blatant anomalies, and how one point cures it",
        15,
        (6,),
        "Sec. 4, Eq. 5; Figure 2",
        "far_field",
    ),
    Lesson(
        "08_choosing_C_and_sigma",
        "Choosing C and σ without anomalies",
        "Two numbers must be chosen, and there is no anomaly to test them on. How?",
        "compare rules of selection by their regret, and say why a rule that looks natural fails",
        15,
        (7,),
        "Sec. 6.1 (3)",
        "choosing",
    ),
    Lesson(
        "09_false_alarms",
        "How often are alarms false?",
        "You ask for false alarms at rate 5%. What rate do you get, and what can be promised?",
        "state the law of the false-alarm rate, and say which promise is worth what",
        20,
        (3,),
        "Sec. 4, false alarm control; Theorem 3",
        "false_alarms",
    ),
    Lesson(
        "10_theorems",
        "The theorems, put to the test",
        "Can a computer tell whether a theorem about infinitely many points is true?",
        "test a claim of convergence, with a control that must fail, and name the statements of the "
        "paper that are refuted",
        15,
        (3, 9),
        "Sec. 5 and the supplement",
        "consistency",
    ),
    Lesson(
        "11_the_papers_tables",
        "The paper's tables, measured again",
        "The paper says that RankAD is best on eight data sets. What comes out if all of it is done again?",
        "read a comparison of many systems with its uncertainty, and find what a table leaves out",
        20,
        (7, 8),
        "Sec. 6, Figures 1 and 2, Tables 1 to 3",
        "printed_tables",
    ),
    Lesson(
        "12_your_own_data",
        "Your own data, from a file to decisions",
        "You have a table of normal operation and a stream of new rows. What do you do on Monday morning?",
        "train, calibrate and save a detector, and turn p-values into decisions with a stated error rate",
        20,
        (7, 9),
        "Algorithm 1",
        "own_data",
    ),
)


def exercises(lesson):
    """Return the exercises of a lesson by number, as "3.1".

    Parameters
    ----------
    lesson : Lesson
    """
    if not lesson.module:
        return {}
    own = import_module(f".{lesson.module}", __package__).EXERCISES
    return {f"{lesson.number}.{i}": each for i, each in enumerate(own, start=1)}


def exercise(number):
    """Return an exercise.

    Parameters
    ----------
    number : str
        Of lesson and exercise, as "3.1".

    Returns
    -------
    Exercise
        With methods ``check(answer)`` and ``solution()``.

    Raises
    ------
    ValueError
        If there is none of that number.
    """
    first = str(number).partition(".")[0]
    for lesson in LESSONS:
        if first == str(lesson.number) and (own := exercises(lesson)):
            if str(number) in own:
                return own[str(number)]
            raise ValueError(f"Lesson {first} has the exercises {', '.join(own)}; there is no {number!r}.")
    there = ", ".join(str(lesson.number) for lesson in LESSONS if lesson.module)
    raise ValueError(f'No exercise {number!r}: ask for one as exercise("1.2"). Lessons {there} have some.')


def solutions(lessons=LESSONS):
    """Return the solutions of all exercises of some lessons, in Markdown.

    Parameters
    ----------
    lessons : sequence of Lesson
    """
    lines = []
    for lesson in lessons:
        own = exercises(lesson)
        if own:
            lines += [f"### {lesson.number}. {lesson.title}", ""]
        for number, each in own.items():
            lines += [f"**{number}** {each.words}", "", "```python", each.code, "```", "", each.because, ""]
    return "\n".join(lines).rstrip() + "\n"
