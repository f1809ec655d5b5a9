"""Pairs to learn preferences from, after the ternary reward of TruthRL: right 1, abstaining 0, wrong -1.

Where the prompt tells the answer, a right answer is preferred to abstaining and to what the model itself got wrong.
Where it does not, abstaining is preferred to what the model made up.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from agents.contracts import I_DONT_KNOW
from training.examples import TrainingExample


@dataclass(frozen=True, slots=True)
class JudgedPrompt:
    """A prompt with what may and what may not follow it.

    `example` has the prompt, groups and source; its completion is not used. `right` are the right answers, best first;
    empty where the prompt does not tell. `wrong` are the wrong answers that the model itself gave.
    """

    example: TrainingExample
    right: tuple[str, ...]
    wrong: tuple[str, ...]


def ternary_pairs(prompts: Iterable[JudgedPrompt], abstention: str = I_DONT_KNOW) -> Iterator[TrainingExample]:
    """One example with a rejected completion for every two answers of different reward that a prompt has.

    With a right answer: right over abstaining, right over each wrong answer. Without one: abstaining over each wrong
    answer. A "wrong" answer that is in truth a right one or an abstention makes no pair.
    """
    for prompt in prompts:
        allowed = {_plain(text) for text in (*prompt.right, abstention)}
        wrong = {_plain(text): text for text in reversed(prompt.wrong) if _plain(text) and _plain(text) not in allowed}
        best = prompt.right[0] if prompt.right else abstention
        worse = [abstention] * bool(prompt.right) + list(reversed(wrong.values()))
        for text in worse:
            yield replace(prompt.example, completion=best, rejected=text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
