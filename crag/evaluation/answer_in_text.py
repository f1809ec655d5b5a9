"""Checks by rules whether a text holds the right answer: the label of a context, and the measures of retrieval.

A text holds an answer if the rules judge would accept it as one, and if it is about the question. The text is a
passage; for a number three sentences, for a set the whole context.

A text is about the question if it repeats a fifth of the question's other content words. Numbers and the question's own
options occur in any text by chance: for them it must repeat half of these words or more. A set needs none.

Yes and no are in no text as such: one passage must repeat nearly all content words. Rules cannot tell whether it then
settles the question. An answer that must be computed counts as missing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crag.evaluation.judge import Claim, Judgement, ReadClaim, RulesJudge, Verdict, gold_items
from crag.evaluation.judge.read_claim import sentences
from crag.evaluation.judge.reading import AnswerQuantity, read_answer, same_quantity
from crag.text.matching import content, normalise_text, recall, tokens, words

_DOC = re.compile(r"<doc(?P<marks>[^<>]*)>(?P<body>.*?)(?:</doc>|(?=<doc\b)|\Z)", re.DOTALL)
_TITLE = re.compile(r'\btitle="(?P<title>[^"]*)"')
_MARKUP = re.compile(r"\*{1,3}|_{2,3}")
"""Markdown that may stand between two words without a blank."""
_YES_NO = re.compile(r"\W{0,9}(?:yes|no)\b\W{0,9}(?:$|,)")
_GENERIC = frozenset(
    words("doe tell name please know say many much ever can could would will should list give find me more most")
)
"""Question words, which a text need not repeat."""
NEEDED = 0.2
"""Share of the question's other content words that a text with the answer must repeat."""
NEEDED_FOR_NUMBER = 0.5
"""The same if the answer is a number."""
NEEDED_FOR_OPTION = 0.6
"""The same if the answer is one of the question's own options."""
NEEDED_FOR_YES_OR_NO = 0.8
"""Share of all content words that a passage must repeat if the answer is yes or no."""


class ContextPassage(NamedTuple):
    """A passage of the context: its title, and all of it, title included."""

    title: str
    whole: str

    @property
    def windows(self) -> list[str]:
        """Each sentence with its neighbours, under the title."""
        body = self.whole.removeprefix(self.title)
        parts = sentences(body)

        windows: list[str] = []
        for number in range(len(parts)):
            # The sentence before and the one after; a slice ends by itself at the end
            neighbours = parts[max(0, number - 1) : number + 2]
            windows.append(f"{self.title}\n{' '.join(neighbours)}")
        return windows


def read_passages(context: str) -> list[ContextPassage]:
    """The passages between `<doc>` marks; without marks, the whole context as one."""
    passages: list[ContextPassage] = []
    for match in _DOC.finditer(context):
        title_match = _TITLE.search(match["marks"])
        title = title_match["title"] if title_match else ""
        # "**1975**" must match as the number alone
        body = _MARKUP.sub(" ", match["body"])
        passages.append(ContextPassage(title, f"{title}\n{body}"))

    # A context without marks, such as one of another project
    return passages or [ContextPassage("", _MARKUP.sub(" ", context))]


class RulesContextCheck:
    """A judge of claims whose predictions are contexts: deterministic, and without a model."""

    name = "rules"
    version = "4"

    def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        """One judgement per claim: for the first right answer in the context, else for the official one."""
        return [self._judge_claim(claim) for claim in claims]

    def _judge_claim(self, claim: Claim) -> Judgement:
        passages = read_passages(claim.prediction)
        official_reason = ""
        for number, gold in enumerate(claim.golds):
            outcome = look_for_answer(ReadClaim(claim.query, gold, ""), passages)
            if outcome.is_held:
                return Judgement(Verdict.CORRECT, outcome.reason)
            # If no answer is found, the reason is about the official one
            if number == 0:
                official_reason = outcome.reason
        return Judgement(Verdict.INCORRECT, official_reason)


class AnswerFound(NamedTuple):
    """Whether the passages hold the right answer, and why they do or do not."""

    is_held: bool
    reason: str


def look_for_answer(claim: ReadClaim, passages: Sequence[ContextPassage]) -> AnswerFound:
    """Whether the passages hold the right answer, and why. The claim's prediction is not read.

    Example:
        >>> claim = ReadClaim("when was the glass harbor first played?", "1961-05-04", "")
        >>> passages = [ContextPassage("", "The Glass Harbor was first played on 4 May 1961.")]
        >>> look_for_answer(claim, passages).reason
        "the answer occurs beside 100% of the question's content words"
    """
    distinct_words = dict.fromkeys(content(claim.query_tokens))
    question_words = [word for word in distinct_words if word not in _GENERIC]

    # No page says "yes" as an answer, so the passage must be about the whole question
    if is_yes_or_no(claim.gold):
        recalls = [recall(question_words, tokens(passage.whole)) for passage in passages]
        best = max(recalls, default=0.0)
        return AnswerFound(best >= NEEDED_FOR_YES_OR_NO, f"a passage has {best:.0%} of the question's content words")

    # "is it jaws or alien?": the gold answer has no word that the question lacks
    is_option = not claim.new_in_gold and not claim.gold_numbers
    rest_of_question = [word for word in question_words if word not in claim.gold_tokens]
    # How much of it each text with the answer repeats
    recalls = []
    for text in _texts_with_answer(claim, passages, is_option=is_option):
        # 1.0: nothing is left of the question that the text could repeat
        recalls.append(recall(rest_of_question, tokens(text)) if rest_of_question else 1.0)
    if not recalls:
        return AnswerFound(is_held=False, reason="no passage holds the answer")

    best = max(recalls)
    needed = _needed_recall(claim, is_option=is_option)
    return AnswerFound(best >= needed, f"the answer occurs beside {best:.0%} of the question's content words")


def is_yes_or_no(answer: str) -> bool:
    """Whether an answer is yes or no, which no text holds as such."""
    return bool(_YES_NO.match(normalise_text(answer)))


def _needed_recall(claim: ReadClaim, *, is_option: bool) -> float:
    """The share of the question that a text with the answer must repeat: more for an answer that occurs by chance."""
    if gold_items(claim) is not None:  # a set
        return 0.0
    if claim.gold_numbers:
        return NEEDED_FOR_NUMBER
    # Most texts about the question have each option, so its mere presence says little
    return NEEDED_FOR_OPTION if is_option else NEEDED


def _texts_with_answer(
    claim: ReadClaim,
    passages: Sequence[ContextPassage],
    *,
    is_option: bool,
) -> Iterator[str]:
    """The texts that hold the answer by the judge's rules.

    For a number these are windows of sentences, in passages with the years of the question. An option of the question
    is looked for in the whole context only.
    """
    is_number = bool(claim.gold_numbers)
    years = [number for number in claim.query_numbers if number.year_like] if is_number else []

    for passage in passages:
        if not _has_years(passage, years):
            continue
        if is_number:
            for window in passage.windows:
                if is_accepted(claim, window):
                    yield window
        elif not is_option and _passage_is_accepted(claim, passage):
            yield passage.whole

    # For a set, whose items may be spread over passages, and for an option
    context = "\n".join(passage.whole for passage in passages)
    if (is_option or not is_number) and is_accepted(claim, context):
        yield context


def _passage_is_accepted(claim: ReadClaim, passage: ContextPassage) -> bool:
    """Whether the passage or a part of it would be accepted: a list or a doubt elsewhere does not speak against it."""
    if is_accepted(claim, passage.whole):
        return True
    # Most passages lack a word of the answer, and their parts need not be read
    answer_words = content(claim.gold_tokens)
    if not answer_words or recall(answer_words, tokens(passage.whole)) < 1.0:
        return False
    return any(is_accepted(claim, window) for window in passage.windows)


def _has_years(passage: ContextPassage, years: Sequence[AnswerQuantity]) -> bool:
    # The question names no year, so any passage will do
    if not years:
        return True
    numbers = read_answer(passage.whole).quantities
    # Every year of the question: "from 2010 to 2012" needs both
    return all(any(same_quantity(year, number) for number in numbers) for year in years)


def is_accepted(claim: ReadClaim, text: str) -> bool:
    """Whether the rules judge would accept the text as an answer, be it about the question or not."""
    (judgement,) = RulesJudge().judge([Claim(claim.query, (claim.gold,), text)])
    return judgement.verdict is Verdict.CORRECT
