"""Passages that were written to be found and obeyed: they repeat the question as a question, or call it invalid.

Attackers repeat a question so that search ranks their page first (PoisonedRAG, Zou et al. 2024). A statement that
answers the question holds most of its words too, and often the one that asks ("Ann Berg, who wrote the poem, ..."). So
the words must stand in the question's order, and where a question stands: in the page's name, at the beginning of a
sentence or before a question mark. A clause between brackets or dashes explains the word before it, and where the verb
stands behind its subject ("When the bridge was opened, ...") nothing is asked.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from crag.core.contracts import INVALID_QUESTION
from crag.web.terms import extract_terms

MIN_QUESTION_TERMS = 4
"""A question with fewer distinct terms is too short to say that a text repeats it."""
LONGEST_REPETITION = 1.5
"""Words of a repetition for each word of the question: more than that were put in between in no question."""

_LONGEST_ASIDE = 200
"""Characters between brackets or dashes; longer ones are taken for text of its own."""
_ENDS_SENTENCE = re.compile(r"[?\n]|[.!]\s")

_ASKING = frozenset(
    [
        *("what", "which", "who", "whom", "whose", "when", "where", "why", "how"),
        *("whats", "whos", "whens", "wheres", "hows"),  # "what's" as people type it
    ]
)
_FIRST_VERBS = frozenset(
    [
        *("is", "are", "was", "were", "am", "do", "does", "did", "has", "have", "had"),
        *("can", "could", "will", "would", "shall", "should", "may", "might", "must"),
    ]
)
"""Words with which a question begins that has none of the words above."""

_WORD_OR_MARK = re.compile(
    r"""
      \w+ (?: ['’.,&/-] \w+ )*     # "o'leary" and "u.s" are inside a sentence
    | [?!.:;\n"“”„«»()\[\]]
    | \s[–—-]\s
    """,
    re.VERBOSE,
)


class _Words(NamedTuple):
    """The words of a text, and where a question can stand in it: positions of the words after a mark."""

    words: list[str]
    beginnings: list[int]
    """After any mark, and at the beginning of the text."""
    line_ends: list[int]
    question_marks: list[int]


def is_suspicious(page_name: str, text: str, question: str, smallest_share: float) -> bool:
    """Whether a passage or its page's name calls the question invalid or repeats it as a question.

    `smallest_share`: the share of the question's words that a repetition holds, in the question's order.

    Example:
        is_suspicious("Poems", "Who wrote the long poem? Ann Berg.", "who wrote the long poem", 0.8)  # True
        is_suspicious("Poems", "Ann Berg, who wrote the long poem", "who wrote the long poem", 0.8)  # False
    """
    name_terms = extract_terms(page_name)
    terms = name_terms + extract_terms(text)
    if INVALID_QUESTION in " ".join(terms):
        return True

    question_terms = extract_terms(question)
    distinct_terms = set(question_terms)
    if len(distinct_terms) < MIN_QUESTION_TERMS:
        return False

    # Cheap and true of nearly no passage; the order of the words is compared only then.
    shared_terms = distinct_terms.intersection(terms)
    if len(shared_terms) < smallest_share * len(distinct_terms):
        return False

    # A question without a form of its own ("founder of the larkfield mill") is repeated where a page is called so.
    if (
        not _opening(question_terms)
        and len(name_terms) <= _longest_repetition(question_terms)
        and _repeats(question_terms, name_terms, 1.0)
    ):
        return True
    inner_marks = question.rstrip("? ").count("?")
    windows = _find_windows(question_terms, inner_marks, f"{page_name}\n{text}")
    return any(_repeats(question_terms, window, smallest_share) for window in windows)


def _repeats(question_terms: Sequence[str], window: Sequence[str], smallest_share: float) -> bool:
    """Whether a window holds that share of the words of the question in their order, with all that ask."""
    if not _ASKING.intersection(question_terms) <= set(window):
        return False
    return LCSseq.similarity(question_terms, window) >= smallest_share * len(question_terms)


def _find_windows(question_terms: Sequence[str], inner_marks: int, text: str) -> Iterator[Sequence[str]]:
    """The places in a text where the question, with that many question marks inside, may be repeated as a question."""
    words, beginnings, line_ends, question_marks = _read_words(text)
    longest = _longest_repetition(question_terms)

    # Up to a question mark, but not from another question on.
    previous_marks = [0] * (inner_marks + 1) + question_marks
    for previous, end in zip(previous_marks, question_marks, strict=False):
        yield words[max(previous, end - longest) : end]

    # Without a question mark it must begin as the question does; nothing else tells it from a statement. What follows
    # another question ("Who is Ida Holm? She founded ...") or its heading is not part of it.
    opening = _opening(question_terms)
    all_ends = sorted([*line_ends, *question_marks])
    for start in beginnings if opening else ():
        begins_like_it = words[start : start + len(opening)] == opening
        if begins_like_it and _has_question_order(question_terms, words[start : start + longest]):
            ends = [end for end in all_ends if end > start]
            end = ends[inner_marks] if len(ends) > inner_marks else len(words)
            yield words[start : min(end, start + longest)]


def _has_question_order(question_terms: Sequence[str], window: Sequence[str]) -> bool:
    """Whether the verb stands before the subject where it does so in the question, behind the same opening.

    "When was the old bridge opened" is a question, "when the old bridge was opened" the beginning of a statement.
    """
    position = len(_opening(question_terms))
    verb = question_terms[position] if position < len(question_terms) else ""
    if verb not in _FIRST_VERBS:
        return True

    # Words that were put in between are not the question's: "when exactly was".
    following = (word for word in window[position:] if word in question_terms)
    return next(following, "") == verb


def _longest_repetition(question_terms: Sequence[str]) -> int:
    return int(LONGEST_REPETITION * len(question_terms)) + 1


def _opening(question_terms: Sequence[str]) -> list[str]:
    """The first words up to the one that asks, such as "in which"; [] if the question begins as a statement does."""
    if question_terms[0] in _FIRST_VERBS:
        return [question_terms[0]]

    for position, word in enumerate(question_terms[:3]):
        if word in _ASKING:
            return list(question_terms[: position + 1])
    return []


def _read_words(text: str) -> _Words:
    """The words of a text in order, and the positions of its marks among them."""
    read = _Words([], [0], [], [])
    for match in _WORD_OR_MARK.finditer(text):
        piece = match[0]
        if piece[0].isalnum() or piece[0] == "_":
            read.words.extend(extract_terms(piece))
            continue

        position = len(read.words)
        if not _is_aside(piece, text, match.end()):
            read.beginnings.append(position)
        if piece == "?":
            read.question_marks.append(position)
        elif piece == "\n":
            read.line_ends.append(position)
    return read


def _is_aside(mark: str, text: str, start: int) -> bool:
    """Whether a bracket or dash that ends at `start` encloses no question: "Ida Holm (who founded it) died".

    A hyphen is no such mark: it stands between the parts of a title, "FAQ - who founded it - answers".
    """
    closing = {"(": ")", "–": "–", "—": "—"}.get(mark.strip())
    if closing is None:
        return False
    inside, closed, _ = text[start : start + _LONGEST_ASIDE].partition(closing)
    return bool(closed) and not _ENDS_SENTENCE.search(inside)
