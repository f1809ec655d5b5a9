"""Checks by rules whether the context holds the right answer; `model_check` asks a language model (db3's p_context).

A passage (for a number three sentences, for a set the whole context) holds an answer if the rules judge would accept it
as an answer, and if it is about the question: except for a set, it must repeat a fifth of the question's other content
words, half of them and more where the answer is a number or one of the question's own options, which occur in any text
by chance. Yes and no are never in the text as such: one passage must repeat nearly all content words. Rules cannot tell
whether that settles the question; a language model can. An answer that must be computed counts as missing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from agents.matching import content, normalise, read_numbers, recall, same_number, tokens, words
from evaluation.judge import Claim, ReadClaim, RulesJudge, Verdict, gold_items
from training.labels.basic_answers import BasicAnswer


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
_GENERIC = frozenset(
    words("doe tell name please know say many much ever can could would will should list give find me more most")
)
"""Question words, which a text need not repeat."""
NEEDED, NEEDED_FOR_NUMBER, NEEDED_FOR_OPTION, NEEDED_FOR_YES_OR_NO = 0.2, 0.5, 0.6, 0.8


class Passage(NamedTuple):
    """A passage of the context."""

    title: str
    body: str

    @property
    def whole(self) -> str:
        """Title and text."""
        return f"{self.title}\n{self.body}"

    @property
    def windows(self) -> list[str]:
        """Each sentence with its neighbours, under the title."""
        sentences = [part for part in _SENTENCE_END.split(self.body) if part.strip()]
        return [f"{self.title}\n{' '.join(sentences[max(0, n - 1) : n + 2])}" for n in range(len(sentences))]


def passages(context: str) -> list[Passage]:
    """The passages between `<doc>` marks; without marks, the whole context as one."""
    found = []
    for match in _DOC.finditer(context):
        title = _TITLE.search(match["marks"])
        found.append(Passage(title["title"] if title else "", _MARKUP.sub(" ", match["body"])))
    return found or [Passage("", _MARKUP.sub(" ", context))]


class RulesContextCheck:
    """The rules of this module: deterministic, and without a model."""

    name = "rules@2"
    free = True

    def look(self, basics: Sequence[BasicAnswer]) -> list[ContextResult]:
        """One result per row, in order."""
        return [gold_in_context(basic.query, basic.golds, basic.context) for basic in basics]


def gold_in_context(query: str, golds: Sequence[str], context: str) -> ContextResult:
    """The result for the first right answer in the context, else the reason for the official one."""
    there = passages(context)
    results = [_look(ReadClaim(query, gold, ""), there) for gold in golds]
    return next((result for result in results if result.found), results[0])


def _look(claim: ReadClaim, there: Sequence[Passage]) -> ContextResult:
    asked = [token for token in dict.fromkeys(content(claim.query_tokens)) if token not in _GENERIC]
    if _YES_NO.match(normalise(claim.gold)):
        best = max((recall(asked, tokens(passage.whole)) for passage in there), default=0.0)
        return ContextResult(best >= NEEDED_FOR_YES_OR_NO, f"a passage has {best:.0%} of the question's content words")
    offered = not claim.new_in_gold and not claim.gold_numbers
    wanted = [token for token in asked if token not in claim.gold_tokens]
    needed = NEEDED_FOR_NUMBER if claim.gold_numbers else NEEDED_FOR_OPTION if offered else NEEDED
    if gold_items(claim) is not None:
        needed = 0.0
    shares = [recall(wanted, tokens(text)) if wanted else 1.0 for text in _holding(claim, there, offered)]
    if not shares:
        return ContextResult(False, "no passage holds the answer")
    why = f"the answer occurs beside {max(shares):.0%} of the question's content words"
    return ContextResult(max(shares) >= needed, why)


def _holding(claim: ReadClaim, there: Sequence[Passage], offered: bool) -> Iterator[str]:
    """The texts that hold the answer by the judge's rules; a number also needs the years of the question."""
    years = [number for number in read_numbers(claim.query) if number.year_like] if claim.gold_numbers else []
    for passage in there:
        numbers = read_numbers(passage.whole) if years else []
        if all(any(same_number(year, one) for one in numbers) for year in years):
            texts = passage.windows if claim.gold_numbers else () if offered else (passage.whole,)
            yield from (text for text in texts if _says(claim, text))
    whole = "\n".join(passage.whole for passage in there)
    if (offered or not claim.gold_numbers) and _says(claim, whole):
        yield whole


def _says(claim: ReadClaim, text: str) -> bool:
    (judgement,) = RulesJudge().judge([Claim(claim.query, (claim.gold,), text)])
    return judgement.verdict is Verdict.CORRECT
