"""The two options of a question such as "which is longer, A or B?", and where a text names them."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from crag.evaluation.judge.reading import plain_text, read_answer
from crag.text.matching import position_of

COMPARES = re.compile(
    r"\b(?:more|less|fewer|most|least|than|first|1th|last|before|after|earlier|later|better|best|higher|highest|lower|larger|"
    r"largest|bigger|biggest|longer|longest|older|oldest|younger|taller|tallest|smaller|shorter|greater|win(?:s|ner)?)\b"
)
"""Words of a text that compares two things."""

_QUESTION_WORDS = frozenset({"which", "who", "what", "how", "where", "when"})
_OPTION_EDGE = re.compile(r"[,;:?]|\bbetween\b|\bof these\b|\bis\b|\bdoes\b|\bdid\b|\bhas\b|\bwas\b|\bare\b|\bwere\b")
_BETWEEN = re.compile(r"\b(?:between|of|out of) (?P<first>[^,?]{1,200}) and (?P<second>[^,?]{1,200}?)(?=,|$)")
"""Two options that a question compares."""
_ASKS_WHICH = re.compile(r"\b(?:which|who|whose|what)\b")
LONGEST_OPTION = 8
"""Tokens; what is longer is a clause and no option."""


class Options(NamedTuple):
    """The tokens of the two options of a question."""

    first: list[str]
    second: list[str]


def read_options(query: str) -> Options | None:
    """The options of a question, without the words that both have; None if it offers none."""
    before, after = _split_between_options(plain_text(query).strip(" ?."))

    # The first option begins after the last edge, the second ends at the next one
    after_edge = _OPTION_EDGE.split(before)[-1]
    before_tokens = read_answer(after_edge if after_edge.strip() else before).tokens
    after_tokens = read_answer(_OPTION_EDGE.split(after)[0]).tokens

    # Of "the Orle river or the Tann river" only Orle and Tann tell
    shared = set(before_tokens) & set(after_tokens)
    first = [token for token in before_tokens if token not in shared]
    second = [token for token in after_tokens if token not in shared]

    # Before "or" there is more of the question than the option: as many words as the other option has.
    if len(first) > len(second) + 3:
        first = first[-len(second) :]
    if not first or not second or len(second) > LONGEST_OPTION or _QUESTION_WORDS.intersection(first):
        return None
    return Options(first, second)


def _split_between_options(question: str) -> tuple[str, str]:
    """The question before and after its last "or", or what stands around the "and" after "between"."""
    # The last "or": an earlier one can be a part of the question
    before, _, after = question.rpartition(" or ")
    between = _BETWEEN.search(question)
    if between is not None and not before and _ASKS_WHICH.search(question) and COMPARES.search(question):
        return between["first"], between["second"]
    return before, after


def named_options(options: Options, tokens: tuple[str, ...]) -> list[int]:
    """The options that the tokens of a text name, 0 and 1, in their order there."""
    positions: list[tuple[int, int]] = []
    for option_index, option in enumerate(options):
        position = position_of_option(option, tokens)
        if position >= 0:
            positions.append((position, option_index))
    return [option_index for _, option_index in sorted(positions)]


def position_of_option(option: Sequence[str], tokens: tuple[str, ...]) -> int:
    """Where the tokens of a text have the option, or most of its longer words; -1 if they do not."""
    position = position_of(option, tokens)
    if position >= 0:
        return position

    # Short words such as "of" occur anywhere
    important = [token for token in option if len(token) > 2] or option
    hits = [tokens.index(token) for token in important if token in tokens]
    return min(hits) if len(hits) >= max(1, round(0.6 * len(important))) else -1
