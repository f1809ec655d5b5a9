"""The right answer as a label: the text that occurs in the context, in its short form."""

import re
from collections.abc import Iterator

from agents.matching import (
    NUMBER_WORDS,
    Number,
    content,
    found_in,
    normalise,
    position_of,
    read_numbers,
    recall,
    same_number,
    tokens,
)
from evaluation.judge import Claim, ReadClaim, RulesJudge, Verdict

_COPULA = re.compile(r"\s(?:is|are|was|were)\s", re.IGNORECASE)
_VERB = re.compile(r"\s(?:is|are|was|were|has|have|had|won|wins|holds?)\s", re.IGNORECASE)
_REMARK = re.compile(
    r",?\s(?:with|while|which|who|where|directed|starring|released|compared|making|at the age of)\b.*|,\s(?:in|as)\b.*",
    re.DOTALL,
)
_BY = re.compile(r"^\w+(?:ed|en|ne)\s(?:and \w+ )?by\s")
_ASKS_COUNT = re.compile(
    r"\bhow (?:many|much)\b|\bwhat (?:is|was|are|were) the (?:total |adjusted )?\w* ?(?:number|price)\b"
)
_ASKS_WHICH = re.compile(r"^(?:in [^,]+, )?(?:who|which|what)\b|\bwhich\b")
_COUNT = re.compile(
    rf"[$€£]?\d[\d,]*(?:\.\d+)?(?:\s?%|\s(?:thousand|million|billion|trillion)\b)?|\b(?:{'|'.join(NUMBER_WORDS)})\b"
)
_ASKS_MEANING = re.compile(r"what (?:is|are) (?:an? )?[\w-]+(?: [\w-]+)?\W*$|what does [\w-]+ mean")
"""The answer is the whole sentence."""
_DENIES = re.compile(r"\b(?:never|not|no|none)\b|n't\b")
_ASKS_TWO_THINGS = re.compile(r"\band (?:what|when|who|which|where|how)\b")
_RESTATED = 0.5
"""Share of the question's words that the other side of a gold sentence's verb must repeat."""
_JUDGE = RulesJudge()


def best_gold(query: str, golds: tuple[str, ...], context: str) -> str:
    """The label in its short form: the first text that occurs word by word in the context, else the official one."""
    given = tokens(context)
    literal = [gold for gold in golds if tokens(gold) and position_of(tokens(gold), given) >= 0]
    return short_form(query, (literal or list(golds))[0])


def short_form(query: str, gold: str) -> str:
    """The answer in a gold sentence: its number, or the side of its verb that is not in the question.

    The part must be correct by the rules judge; otherwise the gold text stays as it is: a long label is not wrong.
    """
    gold = gold.strip()
    claim = ReadClaim(query, gold, "")
    if not claim.is_sentence or _ASKS_TWO_THINGS.search(query.lower()):
        return gold
    for part in _parts(claim):
        if part and _JUDGE.judge([Claim(query, (gold,), part)])[0].verdict is Verdict.CORRECT:
            return part
    return gold


def _parts(claim: ReadClaim) -> Iterator[str]:
    gold = claim.gold.rstrip(" .")
    if _ASKS_COUNT.search(claim.asked):
        yield from _count(claim)
        return
    if not _ASKS_WHICH.search(claim.asked) or _ASKS_MEANING.match(claim.asked):
        return
    for verb in _VERB.finditer(gold):
        subject, rest = gold[: verb.start()], gold[verb.end() :]
        if "," not in subject and _is_new(claim, subject) and _restates(claim, rest):
            yield subject
        break
    for verb in reversed(list(_COPULA.finditer(gold))):
        subject, rest = gold[: verb.start()], _BY.sub("", _REMARK.sub("", gold[verb.end() :]))
        if _restates(claim, subject) and _is_new(claim, rest):
            yield rest


def _count(claim: ReadClaim) -> Iterator[str]:
    """The one number that is not in the question, as it is written."""
    asked = read_numbers(claim.query)
    new = [number for number in claim.gold_numbers if not _is_said(number, asked)]
    written = [text for text in _COUNT.findall(claim.gold) if not _is_said((*read_numbers(text), None)[0], asked)]
    if len(new) == len(written) == 1 and not _DENIES.search(claim.gold.lower()) and not new[0].year_like:
        yield written[0].strip(" ,")


def _is_said(number: Number | None, asked: list[Number]) -> bool:
    return number is None or any(same_number(number, one) for one in asked)


def _is_new(claim: ReadClaim, part: str) -> bool:
    """Whether it says only what the question does not, or is one of the options in the question."""
    own = content(tokens(part))
    said = [token for token in own if found_in(token, claim.query_tokens)]
    offered = " or " in claim.asked and position_of(tokens(part), claim.query_tokens) >= 0
    return bool(own) and (not said or offered)


def _restates(claim: ReadClaim, part: str) -> bool:
    asked = [token for token in content(claim.query_tokens) if token not in {"name", "tell"}]
    return recall(asked, tokens(normalise(part))) >= _RESTATED
