"""Checks whether the context holds the right answer: by rules, or by asking a language model (db3's p_context, C.2).

The rules: a passage (for a number three sentences, for a set the whole context) holds an answer if the rules judge
would accept it as an answer, and if it is about the question: except for a set, it must repeat a fifth of the
question's other content words, half of them and more where the answer is a number or one of the question's own options,
which occur in any text by chance. Yes and no are never in the text as such: one passage must repeat nearly all content
words. Rules cannot tell whether that settles the question; a language model can. An answer that must be computed counts
as missing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crag.evaluation.judge import Claim, Judgement, ReadClaim, RulesJudge, Verdict, gold_items
from crag.evaluation.judge.rubrics import Rubric
from crag.text.matching import content, normalise_text, read_numbers, recall, same_number, tokens, words

CONTEXT_RUBRIC = Rubric(
    name="db3-context",
    instructions=(
        "The prediction is not an answer but a context that a search gave for the question: texts to look through. It "
        "is accurate if it mentions at least one of the ground truth answers as the answer to the question, be it in "
        "other words, and not accurate otherwise."
    ),
    field="accuracy",
    grade=bool,
    examples=(
        (Claim("who wrote the glass harbor?", ("ines valdoro",), "The Glass Harbor, a play by Inês Valdoro."), True),
        (Claim("who wrote the glass harbor?", ("ines valdoro",), "The Glass Harbor was first played in 1961."), False),
    ),
)
"""db3's p_context for a `LanguageModelJudge`: context, question, ground truth, and whether it is mentioned, in our own
words and with our own examples."""
_DOC = re.compile(r"<doc(?P<marks>[^<>]*)>(?P<body>.*?)(?:</doc>|(?=<doc\b)|\Z)", re.DOTALL)
_TITLE = re.compile(r'\btitle="(?P<title>[^"]*)"')
_MARKUP = re.compile(r"\*{1,3}|_{2,3}")
"""Markdown that may stand between two words without a blank."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_YES_NO = re.compile(r"\W{0,9}(?:yes|no)\b\W{0,9}(?:$|,)")
_GENERIC = frozenset(
    words("doe tell name please know say many much ever can could would will should list give find me more most")
)
"""Question words, which a text need not repeat."""
NEEDED, NEEDED_FOR_NUMBER, NEEDED_FOR_OPTION, NEEDED_FOR_YES_OR_NO = 0.2, 0.5, 0.6, 0.8


class Reference(NamedTuple):
    """A passage of the context: its title, and all of it."""

    title: str
    whole: str

    @property
    def windows(self) -> list[str]:
        """Each sentence with its neighbours, under the title."""
        sentences = [part for part in _SENTENCE_END.split(self.whole.removeprefix(self.title)) if part.strip()]
        return [f"{self.title}\n{' '.join(sentences[max(0, n - 1) : n + 2])}" for n in range(len(sentences))]


def passages(context: str) -> list[Reference]:
    """The passages between `<doc>` marks; without marks, the whole context as one."""
    found = []
    for match in _DOC.finditer(context):
        title = found_title["title"] if (found_title := _TITLE.search(match["marks"])) else ""
        found.append(Reference(title, f"{title}\n{_MARKUP.sub(' ', match['body'])}"))
    return found or [Reference("", _MARKUP.sub(" ", context))]


class RulesContextCheck:
    """A judge of contexts, which stand in the places of predictions: deterministic, and without a model."""

    name = "rules"
    version = "2"

    def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        """One judgement per claim: for the first right answer in the context, else for the official one."""
        judgements = []
        for claim in claims:
            there = passages(claim.prediction)
            looks = [_look(ReadClaim(claim.query, gold, ""), there) for gold in claim.golds]
            holds, why = next((look for look in looks if look[0]), looks[0])
            judgements.append(Judgement(Verdict.CORRECT if holds else Verdict.INCORRECT, why))
        return judgements


def _look(claim: ReadClaim, there: Sequence[Reference]) -> tuple[bool, str]:
    """Whether the passages hold the right answer, and why."""
    asked = [token for token in dict.fromkeys(content(claim.query_tokens)) if token not in _GENERIC]
    if _YES_NO.match(normalise_text(claim.gold)):
        best = max((recall(asked, tokens(passage.whole)) for passage in there), default=0.0)
        return best >= NEEDED_FOR_YES_OR_NO, f"a passage has {best:.0%} of the question's content words"
    offered = not claim.new_in_gold and not claim.gold_numbers
    wanted = [token for token in asked if token not in claim.gold_tokens]
    needed = NEEDED_FOR_NUMBER if claim.gold_numbers else NEEDED_FOR_OPTION if offered else NEEDED
    if gold_items(claim) is not None:
        needed = 0.0
    shares = [recall(wanted, tokens(text)) if wanted else 1.0 for text in _holding(claim, there, offered)]
    if not shares:
        return False, "no passage holds the answer"
    return max(shares) >= needed, f"the answer occurs beside {max(shares):.0%} of the question's content words"


def _holding(claim: ReadClaim, there: Sequence[Reference], offered: bool) -> Iterator[str]:
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
