"""Checks by rules whether the context holds the right answer; `model_check` asks a language model (db3's p_context).

The rules for each kind of answer:

* A name, title or phrase must occur in a passage word by word, or with all its words within three sentences; a person
  also without middle names.
* A number must occur as the same number, a date as the same day, a duration as the same seconds, in any notation.
  Numbers below 100 occur in any text by chance: they count only within three sentences that hold half of the
  question's content words; other answers need a fifth of those in their passage.
* Every item of a set must occur somewhere in the context. The numbers and most content words of a sentence must occur
  in one passage.
* Yes and no, and options that the question itself names, are never in the text as such. The text must be about the
  question: for yes and no, one passage with nearly all content words, including most of those that its title lacks; for
  a choice, each option in a passage with half of the rest of the question and a number or a comparing word. Rules
  cannot tell whether that settles the question; a language model can.
* An answer that must be computed from the context counts as missing.
"""

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from agents.matching import (
    Number,
    content,
    found_in,
    normalise,
    position_of,
    read_dates,
    read_measures,
    read_numbers,
    recall,
    same_measure,
    same_number,
    tokens,
    words,
)
from evaluation.judge import ReadClaim, gold_items
from training.labels.basic_answers import BasicAnswer
from training.labels.gold import short_form


class ContextResult(NamedTuple):
    """Whether the context holds the right answer, and a short reason."""

    found: bool
    why: str


class ContextCheck(Protocol):
    """Looks for right answers in contexts. `name` goes into the run card; a `free` check looks at every row."""

    name: str
    free: bool

    def look(self, basics: Sequence[BasicAnswer]) -> list[ContextResult]:
        """One result per row, in order."""


_DOC = re.compile(r"<doc(?P<marks>[^>]*)>(?P<body>.*?)(?:</doc>|(?=<doc\b)|\Z)", re.DOTALL)
_TITLE = re.compile(r'\btitle="(?P<title>[^"]*)"')
_MARKUP = re.compile(r"\*{1,3}|_{2,3}")
"""Markdown that may stand between two words without a blank."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_YES_NO = re.compile(r"\W*(?:yes|no)\b\W*(?:$|,)")
_COMPARES = re.compile(
    r"\b(?:more|most|less|least|fewer|than|first|last|earlier|later|better|best|highest|lowest|largest|smallest|biggest"
    r"|longest|oldest|youngest|higher|lower|larger|smaller|bigger|longer|older|younger)\b"
)
_DIGIT = re.compile(r"\d")
_TIME_WORDS = frozenset(words("hour hr h minute min m second sec"))
_OPTIONS = re.compile(r"[,:;?]|\bor\b|\band\b|\bbetween\b")
_GENERIC = frozenset(
    words("doe tell name please know say many much ever can could would will should list give find me")
)
"""Question words, which a text need not repeat."""
NEEDED_BESIDE_COMMON = 0.5
NEEDED_BESIDE_RARE = 0.2
NEEDED_FOR_YES_OR_NO = 0.8
NEEDED_FOR_CHOICE = 0.5
NEEDED_OF_SENTENCE = 0.7


@dataclass(frozen=True)
class TitledText:
    """A passage of the context: its title and its text."""

    title: str
    body: str

    @property
    def whole(self) -> str:
        """Title and text."""
        return f"{self.title}\n{self.body}"

    @functools.cached_property
    def windows(self) -> list[str]:
        """Each sentence with its neighbours, under the title."""
        sentences = [part for part in _SENTENCE_END.split(self.body) if part.strip()]
        return [f"{self.title}\n{' '.join(sentences[max(0, n - 1) : n + 2])}" for n in range(len(sentences))]


def passages(context: str) -> list[TitledText]:
    """The passages between `<doc>` marks; without marks, the whole context as one."""
    found = []
    for match in _DOC.finditer(context):
        title = _TITLE.search(match["marks"])
        found.append(TitledText(title["title"] if title else "", _MARKUP.sub(" ", match["body"])))
    return found or [TitledText("", _MARKUP.sub(" ", context))]


class RulesContextCheck:
    """The rules of this module: instant and deterministic."""

    name = "rules@1"
    free = True

    def look(self, basics: Sequence[BasicAnswer]) -> list[ContextResult]:
        """One result per row, in order."""
        return [gold_in_context(basic.query, basic.golds, basic.context) for basic in basics]


def gold_in_context(query: str, golds: Sequence[str], context: str) -> ContextResult:
    """The result for the first right answer in the context, else the reason for the official one."""
    there = passages(context)
    results = [_look(ReadClaim(query, short_form(query, gold), ""), there) for gold in golds]
    return next((result for result in results if result.found), results[0])


def _look(claim: ReadClaim, there: Sequence[TitledText]) -> ContextResult:
    if not claim.gold_tokens:
        return ContextResult(False, "no right answer")
    if _YES_NO.match(normalise(claim.gold)):
        return _about_yes_or_no(claim, there)
    if not (claim.new_in_gold or claim.gold_numbers or read_dates(claim.gold)):
        return _about_choice(claim, there)
    items = gold_items(claim)
    if items is not None:
        given = [tokens(passage.whole) for passage in there]
        missing = [" ".join(item) for item in items if not any(recall(item, one) == 1.0 for one in given)]
        return ContextResult(not missing, f'"{missing[0]}" is missing' if missing else "all items are there")
    return _beside(claim, there)


def _telling(claim: ReadClaim) -> list[str]:
    """The question's content words."""
    return [token for token in dict.fromkeys(content(claim.query_tokens)) if token not in _GENERIC]


def _about_yes_or_no(claim: ReadClaim, there: Sequence[TitledText]) -> ContextResult:
    wanted = _telling(claim)
    best = 0.0
    for passage in there:
        asked = [token for token in wanted if not found_in(token, tokens(passage.title))]
        if recall(asked, tokens(passage.body)) >= NEEDED_FOR_YES_OR_NO - 0.1:
            best = max(best, recall(wanted, tokens(passage.whole)))
    return ContextResult(best >= NEEDED_FOR_YES_OR_NO, f"a passage has {best:.0%} of the question's content words")


def _about_choice(claim: ReadClaim, there: Sequence[TitledText]) -> ContextResult:
    """Every option must be compared; options are the gold answer and the question's other part around "or"."""
    options = _options(claim)
    named = {token for option in options for token in option}
    asked = [token for token in _telling(claim) if token not in named and not _COMPARES.match(token)]
    missing = [" ".join(option) for option in options if not any(_compares(option, asked, one) for one in there)]
    return ContextResult(not missing, f'no comparison for "{missing[0]}"' if missing else "all options are compared")


def _options(claim: ReadClaim) -> list[list[str]]:
    parts = [content(tokens(part)) for part in _OPTIONS.split(normalise(claim.query))]
    gold = content(claim.gold_tokens)
    around = [number for number, part in enumerate(parts) if part and recall(gold, part) == 1.0]
    if not around:
        return [gold]
    place = around[-1]
    beside = [parts[n] for n in (place - 1, place + 1) if 0 <= n < len(parts) and 0 < len(parts[n]) <= 6]
    return [gold, *beside[-1:]]


def _compares(option: Sequence[str], asked: Sequence[str], passage: TitledText) -> bool:
    given = tokens(passage.whole)
    spoken_of = recall(option, given) == 1.0 and recall(asked, given) >= NEEDED_FOR_CHOICE
    body = normalise(passage.body)
    return spoken_of and bool(_COMPARES.search(body) or _DIGIT.search(body))


def _beside(claim: ReadClaim, there: Sequence[TitledText]) -> ContextResult:
    """Whether the answer is in a passage related to the question."""
    common = _is_common(claim)
    wanted = [token for token in _telling(claim) if claim.is_sentence or token not in claim.gold_tokens]
    shares = [recall(wanted, tokens(text)) for passage in there for text in _holding(claim, passage, common)]
    if not shares:
        return ContextResult(False, "no passage holds the answer")
    needed = NEEDED_BESIDE_COMMON if common else NEEDED_BESIDE_RARE
    return ContextResult(
        max(shares) >= needed, f"the answer occurs beside {max(shares):.0%} of the question's content words"
    )


def _is_common(claim: ReadClaim) -> bool:
    """Whether any text may hold it by chance: a small whole number."""
    small = all(number.step == 1 and abs(number.value) < 100 for number in claim.gold_numbers)
    return _is_number(claim) and small and not claim.is_sentence


def _is_number(claim: ReadClaim) -> bool:
    """Whether it is a number with its unit, not a name with a number in it."""
    named = [token for token in content(claim.gold_tokens) if not token[0].isdigit()]
    return bool(claim.gold_numbers) and (claim.asks_for_number or not named)


def _holding(claim: ReadClaim, passage: TitledText, common: bool) -> Iterator[str]:
    """The texts of a passage that hold the answer; their size depends on the kind of answer."""
    if common and not _is_of_the_year(claim, passage):
        return
    if common or not _is_quantity(claim):
        yield from (window for window in passage.windows if _holds(claim, window, common))
    if not common and _holds_in_order(claim, passage.whole):
        yield passage.whole


def _is_of_the_year(claim: ReadClaim, passage: TitledText) -> bool:
    """Whether the passage names every year of the question: numbers change from season to season."""
    there = _numbers(passage.whole)
    return all(any(same_number(year, one) for one in there) for year in read_numbers(claim.query) if year.year_like)


def _is_quantity(claim: ReadClaim) -> bool:
    return bool(read_dates(claim.gold)) or _is_number(claim)


def _holds(claim: ReadClaim, text: str, common: bool) -> bool:
    return _holds_in_order(claim, text) if common else recall(content(claim.gold_tokens), tokens(text)) == 1.0


def _holds_in_order(claim: ReadClaim, text: str) -> bool:
    if days := read_dates(claim.gold):
        return days <= read_dates(text)
    if _same_time(claim, text):
        return True
    if (claim.is_sentence or _is_number(claim)) and not _holds_numbers(claim, text):
        return False
    given = tokens(text)
    if claim.is_sentence:
        return recall(claim.new_in_gold or content(claim.gold_tokens), given) >= NEEDED_OF_SENTENCE
    if _is_number(claim):
        return True
    return position_of(claim.gold_tokens, given) >= 0 or _is_named(content(claim.gold_tokens), given)


def _is_named(name: Sequence[str], given: Sequence[str]) -> bool:
    """Whether first and last name occur with at most two words between them."""
    if not 3 <= len(name) <= 4:
        return False
    firsts = [place for place, token in enumerate(given) if token == name[0]]
    return any(name[-1] in given[place + 1 : place + 4] for place in firsts)


def _same_time(claim: ReadClaim, text: str) -> bool:
    """Whether the gold answer is a duration in hours, minutes or seconds, and the text has the same one."""
    wanted = read_measures(claim.gold)
    if len(wanted) != 1 or any(not (one[0].isdigit() or one in _TIME_WORDS) for one in content(claim.gold_tokens)):
        return False
    return any(same_measure(wanted[0], found) for found in read_measures(text))


def _holds_numbers(claim: ReadClaim, text: str) -> bool:
    there = _numbers(text)
    return all(any(_same(number, other) for other in there) for number in claim.gold_numbers)


def _numbers(text: str) -> list[Number]:
    """The numbers of a text, and the years of its dates."""
    return [*read_numbers(text), *(Number(float(day.year), 1.0) for day in read_dates(text))]


def _same(gold: Number, found: Number) -> bool:
    """Whether the numbers are the same; a rounded one needs three digits."""
    if gold.ordinal != found.ordinal or not same_number(gold, found):
        return False
    exact = abs(gold.value - found.value) <= 1e-9 * max(1.0, abs(gold.value))
    return exact or abs(found.value) >= 100 * found.step
