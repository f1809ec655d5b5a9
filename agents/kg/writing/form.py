"""The form of a question without its names: "who directed rear window?" and "who directed jaws?" ask the same thing.

There is nothing to recognise names by: questions are all lower case, misspelled, and no list of names covers them. But
the words that *form* questions are few and come again and again in the bank, names do not. So every run of words that
is not among the recurring words of the bank becomes one mark.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from agents.kg.language.program import Call, Program
from agents.kg.writing.bank import Example

MARK = "#"
"""Stands for a name, a number or a date."""
FEWEST_EXAMPLES = 2
"""A word that this many questions of the bank share, names apart, belongs to the form."""

_NUMBER = re.compile(r"\d[\d,.:/-]*")
_WORD = re.compile(r"[\w']+|[^\w\s]")


class QuestionForm:
    """Replaces names by marks, with the vocabulary of a bank."""

    def __init__(self, examples: Iterable[Example]) -> None:
        counts = Counter(
            word for example in examples for word in set(_words(_without_names(example.question, example.program)))
        )
        self._vocabulary = frozenset(word for word, count in counts.items() if count >= FEWEST_EXAMPLES)

    def of_example(self, example: Example) -> str:
        """The form of a question of the bank, whose names are known from its calls."""
        return self.of(_without_names(example.question, example.program))

    def of(self, question: str) -> str:
        """The form of a question: recurring words stay, each run of others is one mark."""
        kept: list[str] = []
        for word in _words(_NUMBER.sub(MARK, question)):
            if word in self._vocabulary or word.removesuffix("'s") in self._vocabulary:
                kept.append(word)
            elif not kept or kept[-1] != MARK:
                kept.append(MARK)
        return " ".join(kept)


def _words(text: str) -> Sequence[str]:
    return _WORD.findall(text.lower().replace("’", "'"))


def _without_names(question: str, program: Program) -> str:
    """The question with the arguments of its calls, where it has them word for word, and numbers replaced by marks."""
    text = question.lower()
    for name in sorted(_names(program), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name.lower())}(?!\w)", MARK, text)
    return _NUMBER.sub(MARK, text)


def _names(program: Program) -> set[str]:
    names: set[str] = set()
    for statement in program.statements:
        for argument in statement.arguments if isinstance(statement, Call) else ():
            if isinstance(argument, str):
                names.add(argument)
            elif isinstance(argument, tuple):
                names.update(argument)
    return names
