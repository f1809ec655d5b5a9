"""Whether a gold answer can be found in a context: the measure of retrieval that needs no judge and no model."""

import re
from collections.abc import Sequence

from agents.web.ranking import STOPWORDS

SHORT_ANSWER_WORDS = 4
_WORD = re.compile(r"[^\W_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_NOT_IN_TEXTS = frozenset({"", "yes", "no", "true", "false", "nan", "invalid question", "i don't know", "none", "0"})
"""Answers that no page spells out."""


def words(text: str) -> list[str]:
    """Lower-case words and numbers, without thousands separators."""
    return _WORD.findall(_THOUSANDS.sub("", text.lower()))


def is_measurable(question_type: str, question: str, gold: Sequence[str]) -> bool:
    """Whether some gold answer has words that the question does not already hold, and is no premise to be refused."""
    return question_type != "false_premise" and any(_wanted(question, answer) for answer in gold)


def answer_recall(question: str, gold: Sequence[str], context: str) -> float:
    """The best over the gold answers, 0 to 1.

    A short answer counts as found (1) where its words stand together, else as not found (0); of a longer one the part
    of its content words that occur, not counting those of the question.
    """
    found = words(context)
    return max((_recall(question, answer, found) for answer in gold if _wanted(question, answer)), default=0.0)


def _wanted(question: str, answer: str) -> set[str]:
    if answer.strip().lower() in _NOT_IN_TEXTS or len(answer.strip()) < 3:
        return set()
    return set(words(answer)) - set(words(question)) - STOPWORDS


def _recall(question: str, answer: str, found: Sequence[str]) -> float:
    asked = words(answer)
    if len(asked) <= SHORT_ANSWER_WORDS:
        return float(f" {' '.join(asked)} " in f" {' '.join(found)} ")
    wanted = _wanted(question, answer)
    return len(wanted & set(found)) / len(wanted)
