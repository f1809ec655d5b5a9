"""The rule for predictions that say that they cannot tell."""

import re

from crag.evaluation.judge.read_claim import ReadClaim, RuleDecision, sentences
from crag.evaluation.judge.reading import plain_text, read_answer
from crag.evaluation.judge.telling_words import NEEDED
from crag.text.matching import recall

_HEDGE = re.compile(
    r"""
    # "I could not find ..."
    \bi\ (?:do\ not|don't|cannot|can't|could\ not|couldn't|am\ not\ able\ to|was\ not\ able\ to)
      \ (?:have|find|determine|provide|confirm|verify|answer|know)
    | \bi\ (?:can't|cannot|could\ not|couldn't)\ (?:say|tell)\b
    # "I'm not sure"
    | \b(?:not|n't)\ (?:\w+\ )?(?:sure|certain)\b | \b(?:unsure|uncertain)\b
    | \bno\ (?:idea|clue)\b
    # "it is unclear", "that cannot be determined", "hard to say"
    | \b(?:unclear|not\ clear)\b
    | \b(?:cannot|can't|could\ not|couldn't)\ be\ (?:determined|answered|verified|confirmed|found|said|known)\b
    | \b(?:hard|difficult|impossible)\ to\ (?:say|tell|know|determine)\b
    | \b(?:not\ enough|insufficient)\ (?:information|context|data|evidence)\b
    # "it is not explicitly stated"
    | \bnot\ (?:explicitly\ |directly\ |clearly\ )?(?:stated|provided|mentioned|specified|available)\b
    | \bunable\ to\b
    | \bno\ (?:specific\ |clear\ |direct\ |explicit\ )?(?:information|mention|record|evidence)\b
    # "the text above does not ...", "the passage lacks ..."
    | \b(?:context|source|text|article|passage|information|document|result|reference)s?\ (?:provided\ |above\ )?
      (?:do|does|did)\ ?(?:not|n't)\b
    | \b(?:context|source|text|article|passage|document|reference)s?\ lacks?\b
    """,
    re.VERBOSE,
)
"""A sentence that says that it cannot tell."""
_HOWEVER = re.compile(r"\W{0,9}(?:however|but|unfortunately)\b")
_BUT_ANSWER = re.compile(
    r"""
    ,?\s(?:but|however),?\s
    # Not "but Ann is mentioned"
    (?=(?:i|it|he|she|they|my|perhaps|maybe|probably|likely|most\slikely|the\sanswer)\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Parts a doubt from the answer that follows: "I am not sure, but I think it was Ann Lee"."""
_FIRST_PERSON = re.compile(r"\bi\b")


def hedged_abstention(claim: ReadClaim) -> RuleDecision | None:
    """A prediction that says it cannot tell is wrong, unless the gold answer says so too.

    Only the words "i don't know" count as missing (CRAG, section 3.1): `judge_claims`. One such sentence counts only if
    no other sentence has the gold answer. In the last sentence it also takes the answer back, unless it is only a note
    such as "I do not have newer data".
    """
    if _HEDGE.search(claim.gold_reading.plain) or not _HEDGE.search(claim.prediction_reading.plain):
        return None

    # "I am not sure, but I think it was Ann Lee" is a hedge and an answer
    clauses: list[str] = []
    for sentence in sentences(claim.prediction):
        clauses += _BUT_ANSWER.split(sentence)
    answers = [clause for clause in clauses if not _HEDGE.search(plain_text(clause))]
    if len(answers) == len(clauses):
        return None

    # Nothing takes back a doubt that comes last
    last = plain_text(clauses[-1])
    is_conclusion = _HOWEVER.match(last) or not _FIRST_PERSON.search(last)
    if _HEDGE.search(last) and is_conclusion:
        return False, "the prediction says that it cannot tell"

    # A real answer beside the doubt is left to the later rules
    expected = claim.new_in_gold or claim.gold_tokens
    if any(recall(expected, read_answer(answer).tokens) >= NEEDED for answer in answers):
        return None
    return False, "the prediction says that it cannot tell"
