"""The interface of judges, the part of the official metric that all judges share, and claims."""

import enum
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from crag.core.contracts import I_DONT_KNOW
from crag.evaluation.judge.reading import AnswerQuantity, read_answer, read_direction, same_quantity
from crag.evaluation.judge.reading.citations import without_citations
from crag.evaluation.judge.reading.short_forms import write_millions_of_count
from crag.text.matching import content, found_in

_INVALID = "invalid"


class Verdict(enum.StrEnum):
    """The value of an answer. `UNSCORED` means that no judge could decide; it does not count."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    MISSING = "missing"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class Claim:
    """An answer to judge. `golds` are all right answers, the official one first; empty if unknown."""

    query: str
    golds: tuple[str, ...]
    prediction: str


HEDGED = "hedged abstention"
"""The name of the rule for answers such as "I'm not sure", with which their reason begins."""

NO_VERDICT = "llm: no verdict"
"""With this the reason begins if no reply of the judge's model could be read."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and one sentence with the reason, which starts with the rule's name."""

    verdict: Verdict
    reason: str


def is_hedged(reason: str) -> bool:
    """Whether a judgement's reason is that the answer was a hedged abstention; for stored rows.

    >>> is_hedged("hedged abstention: the prediction says that it cannot tell")
    True
    """
    return reason.startswith(f"{HEDGED}:")


def hedged_line(count: int) -> str:
    r"""What hedged abstentions cost, as a line of a summary; empty if there are none.

    >>> hedged_line(1)
    '1 answer hedges ("I\'m not sure") and counts as incorrect; only "i don\'t know" counts as missing'
    """
    if not count:
        return ""
    subject = "1 answer hedges" if count == 1 else f"{count} answers hedge"
    verb = "counts" if count == 1 else "count"
    return f'{subject} ("I\'m not sure") and {verb} as incorrect; only "{I_DONT_KNOW}" counts as missing'


def no_verdict_line(reasons: Iterable[str]) -> str:
    """For how many claims the judge's model gave no verdict and why, as a line of a summary; empty if there are none.

    >>> no_verdict_line(["llm: no verdict after 3 attempts: the reply cannot be read: 'Oslo'", "official: the same"])
    "1 unscored for lack of a verdict, the first: no verdict after 3 attempts: the reply cannot be read: 'Oslo'"
    """
    undecided = [reason for reason in reasons if reason.startswith(NO_VERDICT)]
    if not undecided:
        return ""
    return f"{len(undecided)} unscored for lack of a verdict, the first: {undecided[0].removeprefix('llm: ')}"


class Judge(Protocol):
    """Decides between correct and incorrect; `judge_claims` first settles missing, exact and unscored claims.

    `name` and `version` are part of every signature; the version changes whenever a verdict may change.
    """

    name: str
    version: str

    def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        """One judgement per claim, in order; `Verdict.UNSCORED` if the judge cannot decide."""


def judge_claims(
    judge: Judge,
    claims: Sequence[Claim],
    trim: Callable[[str], str],
) -> list[Judgement]:
    """Judge answers like the official metric (local_evaluation.py of the 2024 starter kit).

    `trim` cuts the prediction to what the evaluator keeps. It is *missing* if its lower case contains "i don't know"
    with the ASCII apostrophe, and *correct* if its lower case equals a gold answer's. The word "invalid" in both the
    prediction and a gold answer makes it correct, in only one of them *incorrect* (Meta's later version). The judge
    decides the rest. A claim without a gold answer is unscored.

    Example:
        >>> from crag.evaluation.judge import RulesJudge
        >>> judge_claims(RulesJudge(), [Claim("who wrote it?", ("Ann Lee",), "ann lee")], str)
        [Judgement(verdict=<Verdict.CORRECT: 'correct'>, reason='official: the answer equals the gold answer')]
    """
    judgements: dict[int, Judgement] = {}
    open_claims: dict[int, Claim] = {}
    for index, claim in enumerate(claims):
        # As in the evaluator: what is cut off can neither help nor harm
        trimmed = Claim(claim.query, claim.golds, trim(claim.prediction).strip())
        official = official_judgement(trimmed)
        if official is None:
            open_claims[index] = trimmed
        else:
            judgements[index] = official

    # One call for all: a language model judges many claims at once.
    judged = judge.judge(list(open_claims.values()))
    judgements.update(zip(open_claims, judged, strict=True))
    return [judgements[index] for index in range(len(claims))]


def official_judgement(claim: Claim) -> Judgement | None:
    """The verdict of the official metric without a judge, or None. The prediction is already trimmed."""
    prediction = claim.prediction.lower()
    # First of all: an abstention is missing even where no gold answer is known
    if I_DONT_KNOW in prediction:
        return Judgement(Verdict.MISSING, f'official: the answer contains "{I_DONT_KNOW}"')
    if not claim.golds:
        return Judgement(Verdict.UNSCORED, "official: the question has no gold answer")
    if prediction and any(prediction == gold.strip().lower() for gold in claim.golds):
        return Judgement(Verdict.CORRECT, "official: the answer equals the gold answer")

    # Any occurrence of the word counts, as in the official script
    in_gold = any(_INVALID in gold.lower() for gold in claim.golds)
    in_prediction = _INVALID in prediction
    if in_gold and in_prediction:
        return Judgement(Verdict.CORRECT, f'official: both the answer and the gold answer contain "{_INVALID}"')
    if in_gold or in_prediction:
        where = "gold answer" if in_gold else "answer"
        return Judgement(Verdict.INCORRECT, f'official: only the {where} contains "{_INVALID}"')
    return None


# --- what rules read --------------------------------------------------------------------------------------------------

_SENTENCE_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|won|wins|holds?|held|released?|played|grossed|made|earned|starred|directed|"
    r"belongs?|became|founded|sold|scored|occurs?|includes?|refers?|means?)\b"
)
"""A verb that makes a gold answer of six words or more a sentence."""
CLAUSE_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|won|wins|holds?|released|played|became|made|directed|grossed|include[sd]?)\b"
)
"""The verb that divides a gold sentence into subject and rest."""
_ASKS_NUMBER = re.compile(
    r"""
    \bhow\ (?:many|much|old|long|tall|far|big|large|high|often|fast|heavy|wide|deep)\b
    # "what is the average ticket price": up to three words before the quantity
    | \bwhat\ (?:is|was|were|are)?\ ?(?:the\ )?(?:[\w']+\ ){0,3}
      (?:number|total|price|age|percentage|average|score|market\ cap|ratio|population|budget|height|cost|amount|eps)\b
    """,
    re.VERBOSE,
)
_ASKS_COUNT = re.compile(
    r"""
    \bhow\ many\ (?! (?:square\ |cubic\ )? (?:m|mm|(?:kilo|centi|milli)?met(?:er|re)s?|miles?|minutes?|months?)\b )
    | \bwhat\ (?:is|was|were)\ (?:the\ )?(?:[\w']+\ ){0,3}
      (?:population|attendance|audience|viewership|readership|circulation)\b
    """,
    re.VERBOSE,
)
"""A question whose answer "2.5m" is no length, but a count."""
_ASKS_YES_NO = re.compile(
    r"""
    (?:so\ |hey\ |please\ |and\ |in\ [^,]{1,100},\ )?  # "in 2019, did ..."
    (?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|am)\b
    """,
    re.VERBOSE,
)


_AFTER_SENTENCE = re.compile(r"(?<=[.!?])(?<!\b[A-Z]\.)\s+|\n+")
"""Between two sentences; not after the initial of "John F. Clauser"."""

RuleDecision = tuple[bool, str]
"""Whether a rule finds the prediction right, and the reason in a short phrase."""


class ReadClaim:
    """A question, one right answer and a prediction, read into typed parts.

    `asked` is the question in lower case. `new_in_...` are content tokens that are not in the question. `..._numbers`
    are quantities without whole dates, with the sign that the question's direction gives ("how much did it fall?").
    `is_sentence`: the gold answer is a sentence that contains the answer.
    """

    def __init__(self, query: str, gold: str, prediction: str) -> None:
        self.query = query
        self.asked = query.lower()
        if _ASKS_COUNT.search(self.asked):
            gold, prediction = write_millions_of_count(gold), write_millions_of_count(prediction)
        self.gold = gold

        self.query_reading = read_answer(query)
        self.gold_reading = read_answer(gold)
        self.prediction = self._without_citations(prediction)
        self.prediction_reading = read_answer(self.prediction)
        self.query_tokens = self.query_reading.tokens
        self.gold_tokens = self.gold_reading.tokens
        self.prediction_tokens = self.prediction_reading.tokens
        self.new_in_gold = self.not_asked(self.gold_tokens)
        self.new_in_prediction = self.not_asked(self.prediction_tokens)

        # "how much did it fall?" makes "5" and "-5" the same
        direction = read_direction(self.asked)
        self.query_numbers = self.query_reading.quantities
        self.gold_numbers = [number.towards(direction) for number in self.gold_reading.quantities]
        self.prediction_numbers = [number.towards(direction) for number in self.prediction_reading.quantities]

        # Short answers can have a verb too, as a title such as "Has Anybody Seen My Gal?"
        self.is_sentence = len(self.gold_tokens) >= 6 and bool(_SENTENCE_VERB.search(gold.lower()))
        self.asks_for_number = bool(_ASKS_NUMBER.search(self.asked))
        # "is it A or B?" begins like a question of yes or no
        self.asks_yes_or_no = bool(_ASKS_YES_NO.match(self.asked.strip())) and not re.search(r"\bor\b", self.asked)

    def _without_citations(self, prediction: str) -> str:
        """The prediction without marks of sources, unless the answer stands in one: "The answer is [42]."."""
        bare = without_citations(prediction)
        lost_number = self.gold_reading.quantities and not read_answer(bare).quantities
        return prediction if lost_number or not bare else bare

    def not_asked(self, parts: tuple[str, ...]) -> list[str]:
        """The content tokens that are not in the question."""
        return [token for token in content(parts) if not found_in(token, self.query_tokens)]


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text."""
    return [part for part in re.split(r"(?<=[.!?])\s+|\n+", text) if part.strip()]


def first_sentence(text: str) -> str:
    """The sentence that answers; a prediction, or a passage that is judged like one, may go on to other things."""
    return _AFTER_SENTENCE.split(text.strip(), maxsplit=1)[0]


def numbers_not_in(numbers: list[AnswerQuantity], excluded: list[AnswerQuantity]) -> list[AnswerQuantity]:
    """The numbers that equal none of the excluded ones."""
    return [
        number for number in numbers if not any(same_quantity(number, excluded_number) for excluded_number in excluded)
    ]
