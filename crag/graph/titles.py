"""Titles of articles in questions."""

import re
from collections.abc import Sequence

from crag.text.matching import contains_words, content, normalise_name, plain_name, without_possessive

_BRACKET = re.compile(r"\s?\([^()]{1,80}\)$")
_BEFORE_SUBJECT = "is|are|was|were|does|do|did|can|has|have|of|about"
"""Words before a common noun that a question is about: "when was the telephone invented"."""
_BEFORE_LAST_WORD = "for|in|on|from|than|as|like|called|the"
"""Words before one at the end of a question that is about it."""
_SHORTEST = 4
"""Letters of the longest word of a title that is looked for in a question."""


def without_bracket(title: str) -> str:
    """The title without words in brackets at its end: "Python (programming language)" is "Python"."""
    return _BRACKET.sub("", title)


def telling_words(question: str) -> list[str]:
    """The question's words as it writes them, without those that any question may have, and without possessive s.

    >>> telling_words("what is the FIFA's motto?")
    ['FIFA', 'motto?']
    """
    return [word for word in without_possessive(question).split() if content(plain_name(word).split())]


def named_titles(question: str, titles: Sequence[str]) -> list[str]:
    """Those of the titles that stand in the question word for word, in order.

    A title that is a part of another one does not count. Words in brackets behind a title choose between equal ones.

    >>> named_titles("when was grey abbey built?", ["Abbey", "Grey Abbey (novel)", "Grey Abbey", "Built in Grey"])
    ['Grey Abbey']
    """
    plain_question = without_possessive(question)
    title_by_subject: dict[str, str] = {}
    for title in titles:
        subject = normalise_name(without_bracket(title))
        if not _is_telling(subject) or not contains_words(plain_question, subject):
            continue
        other = title_by_subject.get(subject)
        if other is None or _bracket_fit(title, question) > _bracket_fit(other, question):
            title_by_subject[subject] = title

    named: list[str] = []
    for subject, title in title_by_subject.items():
        is_part = any(subject != other and contains_words(other, subject) for other in title_by_subject)
        if not is_part:
            named.append(title)
    return named


def is_word_in_passing(title: str, text: str, question: str) -> bool:
    """Whether a title is a common noun that the question only uses: "energy" in "how much energy does foo need?".

    The article's own text tells: it writes a common noun mostly in small letters. The question is about the thing if it
    has "a" before it, sets it against another by "or", asks what it is or does, or ends with it.

    >>> text = "In physics, energy is what does work. Forms of energy are heat and light."
    >>> is_word_in_passing("Energy", text, "who has more energy, ann or bo?")
    True
    >>> is_word_in_passing("Energy", text, "how is energy measured?")
    False
    """
    subject = without_bracket(title)
    small = len(re.findall(rf"\b{re.escape(subject.lower())}\b", text))
    written = len(re.findall(rf"\b{re.escape(subject)}\b", text, re.IGNORECASE))
    if 2 * small <= written:
        return False

    word = re.escape(plain_name(subject))
    is_subject = (
        rf"\ban? {word}\b|\bor {word}\b|\b{word} or\b"
        # Not that of something: "who was the head coach of the owls"
        rf"|\b(?:{_BEFORE_SUBJECT}) (?:{word}\b|the {word}\b(?! (?:of|for|at)\b))"
        rf"|\b(?:{_BEFORE_LAST_WORD}) {word}$"
    )
    return re.search(is_subject, plain_name(without_possessive(question))) is None


def _is_telling(subject: str) -> bool:
    """Whether a title is more than a number or a word that any question may have."""
    words = content(subject.split())
    return any(len(word) >= _SHORTEST and not word.isdecimal() for word in words)


def _bracket_fit(title: str, question: str) -> int:
    """1 for a title whose words in brackets the question has, 0 for one without brackets, -1 for other brackets."""
    bracket = _BRACKET.search(title)
    if bracket is None:
        return 0
    return 1 if contains_words(question, bracket.group()) else -1
