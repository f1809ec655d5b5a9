"""Phrases about somebody or something else that is related to a name: "the daughter of X", "30 km from X"."""

import re

from crag.evaluation.judge.reading.patterns import any_of
from crag.text.matching import words

_WORD = re.compile(r"[a-z0-9]+")

# "the daughter of Ann Lee" is not Ann Lee
_KIN = (
    r"(?:(?:grand|step|half-|god|great-)?"
    + any_of("son daughter father mother brother sister child children parents? sibling")
    + "|"
    + any_of(
        "husband wife widow(?:er)? spouse partner fianc(?:e|ee) girlfriend boyfriend lover nephew niece uncle aunt "
        "cousin twin heir descendant ancestor relative kin"
    )
    + r")(?:s\b|-in-law\b|\b)"
)
_ROLES = (
    any_of(
        "friend assistant student pupil teacher tutor mentor successor predecessor rival opponent colleague employee "
        "employer boss secretary manager agent biographer fan follower disciple apprentice namesake neighbou?r lawyer "
        "deputy bodyguard enemy protege collaborator contemporary understudy servant critic co-founder fellow aide "
        "advis[eo]r doctor nurse trainer subsidiary competitor airport mayor portrait statue "
        "(?:band|team|class|school|room|house)mate"
    )
    + r"s?\b"
)
# "the sequel to Rocky" is not "Rocky"
_WORKS = (
    any_of("sequel prequel remake spin-?off adaptation parody cover follow-?up imitation copy trailer soundtrack")
    + r"s?\b"
)
_GROUPS = any_of("company firm team band foundation estate family crew agency club group party studio label") + r"s?\b"
_PLACES = any_of("suburb capital outskirts neighbou?rhood district vicinity") + r"s?\b"

_NEAR = any_of(
    r"near(?:by)?(?:\sto)? close\sto outside(?:\sof)? next\sto adjacent\sto north(?:east|west)?\sof "
    r"south(?:east|west)?\sof east\sof west\sof far\sfrom away\sfrom"
)
_DISTANCE = any_of("km kilomet(?:er|re)s? miles? mi hours? minutes? m met(?:er|re)s?")
_BONDS = any_of(
    r"(?:married|related|engaged|born|similar|compared|loyal)\sto (?:named|modell?ed)\s(?:after|for|on) "
    r"(?:inspired|influenced|taught|trained|succeeded|preceded|replaced)\sby "
    r"(?:worked|works|working)\s(?:for|with|under) "
    r"(?:studied|studies|trained|served|fought)\s(?:with|under)"
)
_RELATED_BEFORE = re.compile(
    rf"""
    \b(?:
        (?P<noun> {_KIN} | {_ROLES} | {_WORKS} | {_PLACES} ) \s (?:of|to|for|from|with)
      | (?<!\bin\sthe\s) (?P<near> {_NEAR} | {_DISTANCE} \s (?:from|off|outside) )
      | (?P<bond> {_BONDS} )
    )
    \s? (?: (?:the|a|an|mr|mrs|dr|sir|late|famous)\s ){{0,2}} $
    """,
    re.VERBOSE,
)
"""What makes the name after it a complement: "the daughter of", "30 km from"; "in the south of" is inside."""
_RELATED_AFTER = re.compile(
    rf"""
    (?:'s?|s') \s
    (?:[a-z-]+\s){{0,2}}?                     # "'s former assistant"
    (?P<noun> {_KIN} | {_ROLES} | {_WORKS} | {_GROUPS} | {_PLACES} )
    """,
    re.VERBOSE,
)
"""What a possessor is followed by."""

_LOOK_BACK = 60
_COMMON_WORDS = frozenset(words("was were is been got to of by from for on with the a s"))
_PLACE = re.compile(_PLACES)
_ASKS_KIN = re.compile(rf"\b(?:{_KIN}|marr(?:y|ied))")
"""Of two relatives either can be said to be the other's: "who is his mother?", "he is the son of Ann Lee"."""
_ASKS_WHO = re.compile(r"who(?:m)?\b")
_STANDS_FOR_PERSON = any_of(
    "name work hands? leadership direction guidance command reign likes role part person figure efforts? creation idea "
    "invention brainchild late presidency rule help influence"
)
_SOMETHING_OF = re.compile(
    rf"""
    \b(?:a|an|the)\s (?:[a-z-]+\s)?
    (?!{_STANDS_FOR_PERSON}\b)               # not "the work of"
    (?P<noun>[a-z-]{{3,20}}) \s of\s (?:the\s)? $
    """,
    re.VERBOSE,
)
"""What belongs to a person: "the company of"."""
_ASKS_WHERE = re.compile(r"\bwhere\b|\b(?:in|at) (?:what|which)\b")
"""A suburb of Oslo is in Oslo."""


def find_only_relation(gold: str, prediction: str, question: str) -> str | None:
    """The relation, if the prediction only names somebody or something related to the gold answer; None if it names it.

    All texts are from `plain_text`. Every mention must be such a complement. What the question asks for is none:
    "whose daughter" is answered by "the daughter of Ann Lee".

    >>> find_only_relation("ann lee", "jon ek, the husband of ann lee", "who founded it?")
    'husband'
    """
    gold = gold.strip(" .!\"'")
    if len(gold) < 2 or gold not in prediction or _ASKS_KIN.search(question):
        return None

    relation = None
    # One mention outside of a complement is enough: it names the gold answer itself
    start = prediction.find(gold)
    while start >= 0:
        end = start + len(gold)
        relation = _find_relation(prediction, start, end, question)
        if relation is None:
            return None
        start = prediction.find(gold, end)
    return relation


def _find_relation(text: str, start: int, end: int, question: str) -> str | None:
    """How somebody or something else is related to the name at this place of a text; None if the name stands alone."""
    before = text[max(0, start - _LOOK_BACK) : start]
    if before[-1:].isalnum() or text[end : end + 1].isalnum():
        return ""  # the gold answer inside another word is no mention at all

    match = _RELATED_BEFORE.search(before) or _RELATED_AFTER.match(text, end)
    if match is None and _ASKS_WHO.match(question):
        match = _SOMETHING_OF.search(before)
    if match is None:
        return None
    relation = match["noun"] or match[0].strip()
    # "who was the successor of X?" asks for that relation
    if set(_WORD.findall(relation)) & set(_WORD.findall(question)) - _COMMON_WORDS:
        return None
    is_in_place = bool(_PLACE.fullmatch(relation)) and bool(_ASKS_WHERE.search(question))
    return None if is_in_place else relation
