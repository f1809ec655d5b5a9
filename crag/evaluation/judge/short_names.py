"""Names that are given in part: the surname of a person, and a team without its place or with a short one."""

import re
from collections.abc import Iterator, Sequence

from crag.evaluation.judge.phrases import ASKS_WHOLE_NAME
from crag.evaluation.judge.read_claim import ReadClaim
from crag.evaluation.judge.retractions import ASKS_WINNER, BEATEN
from crag.text.matching import position_of, words

_OF_PERSONS = (
    r"(?:actor|actress|director|author|writer|novelist|poet|player|president|senator|minister|governor|scientist"
    r"|physicist|coach|politician|golfer|quarterback|striker|goalkeeper|composer|painter|founder|inventor|ceo|mayor"
    r"|king|queen|emperor|pope)"
)
ASKS_ONE_PERSON = re.compile(
    rf"""
    \bwho\s(?:else\s)?(?:has\s|had\s)?
        (?:wrote|written|directed|founded|co-founded|invented|discovered|painted|composed|designed|voiced|succeeded)\b
    | \bwho\s(?:portray(?:s|ed)|play(?:s|ed)\s(?:him|her|the\s(?:role|part|character)))\b
    | \bwho(?:\s(?:is|was)|'s)\s(?:the\s)?(?:[\w'.-]+\s){{0,5}}?{_OF_PERSONS}\b
    | \b(?:which|what)\s(?:[\w'-]+\s){{0,3}}?{_OF_PERSONS}\b
    """,
    re.VERBOSE,
)
"""A question for a person, and not for a band or a team."""
_MR = r"(?:mr|mrs|ms|dr|prof|sir|president|senator|governor|king|queen|coach|director)\.?"
_TWO_PEOPLE = re.compile(
    r"(?P<first>[a-z]{2,20})(?:\s(?P<other>[a-z'-]{2,20}))?(?:,|,?\s(?:and|&))\s[a-z]{2,20}\s(?P<surname>[a-z'-]{2,20})"
)
_SIBLINGS = ("brother", "sister", "sibling", "twin")
_PARTICLES = frozenset(words("van von der den de del della di da dos le la al el bin ibn ben ter ten"))
"""Small words that begin a surname."""
_FEWEST_LETTERS = 3
"""Of a surname."""

_ASKS_TEAM = re.compile(r"\b(?:team|club|franchise|squad)s?\b|\bwho (?:won|beat|did|do|does|will)\b")
_ASKS_AMERICAN_TEAM = re.compile(r"\b(?:w?nba|nfl|nhl|mlb|mls|basketball|hockey|baseball)\b")
"""Of a league whose teams have a nickname of their own behind their place."""
_SHARED_BY_TEAMS = frozenset(
    words("united city town county club team athletic athletics rovers albion real sporting union wanderers fc cf sc")
)
"""Words that end the names of many clubs."""
_FEWEST_OF_SHORT_PLACE = 3
"""Letters of a place that is cut short: "Man" United."""


def has_surname(claim: ReadClaim) -> bool:
    """Whether the prediction names the person by the surname alone: "Krell", "Mrs. Krell", "written by Krell"."""
    name = claim.gold_tokens
    if not 2 <= len(name) <= 4 or not all(part.isalpha() for part in name) or re.search(r"[,&]|\band\b", claim.gold):
        return False
    if not ASKS_ONE_PERSON.search(claim.asked) or ASKS_WHOLE_NAME.search(claim.asked):
        return False
    initial = claim.gold.strip()[0]
    surnames = [name for name in _surnames(claim.gold) if len(name) >= _FEWEST_LETTERS]
    return any(_stands_alone(surname, claim.prediction, initial) for surname in surnames)


def _surnames(name: str) -> Iterator[str]:
    """The last word of a name with the small words before it, "van der Berg"; without capitals also that word alone."""
    parts = name.strip(" .").split()
    start = len(parts) - 1
    if name.islower():
        yield parts[-1]
    while start > 1 and (parts[start - 1] in _PARTICLES or (parts[start - 1].islower() and not name.islower())):
        start -= 1
    yield " ".join(parts[start:])


def _stands_alone(surname: str, text: str, initial: str) -> bool:
    """Whether the text has the surname, perhaps behind the right initial, and nobody else of that family."""
    titled = rf"(?:(?i:{_MR})\s)?(?:(?i:{re.escape(initial)})\.\s?)?"
    whole = rf"\W{{0,3}}{titled}(?i:{re.escape(surname)})[\W]{{0,3}}"
    if re.fullmatch(whole, text):
        return True
    # In a sentence the capitals tell what is a name
    written = re.escape(surname if " " in surname else surname.capitalize())
    before = rf"(?:^|\b(?:by|is|was|be)\s){titled}"
    after = r"\b(?!['’-]|\s(?:[A-Z&]|family\b|and\b|or\b))"
    return re.search(before + written + after, text) is not None


def names_siblings(claim: ReadClaim) -> bool:
    """Whether two people of one surname are named by it: "the Krell brothers" for "Bo Krell, Cy Krell".

    Their first names may share it too: "Bo and Cy Krell".
    """
    match = _TWO_PEOPLE.fullmatch(claim.gold_reading.plain.strip(" ."))
    if match is None or match["other"] not in {match["surname"], None}:
        return False
    return any(position_of([match["surname"], kin], claim.prediction_tokens) >= 0 for kin in _SIBLINGS)


def names_team_in_short(claim: ReadClaim) -> bool:
    """Whether the prediction has a team without its place, "Lakers" of "Los Angeles Lakers", or with a short one."""
    if claim.is_sentence or len(claim.gold_tokens) < 2 or not _ASKS_TEAM.search(claim.asked):
        return False
    if _has_short_place(claim.gold_tokens, claim.prediction_tokens):
        return True
    return any(_has_nickname(claim, nickname) for nickname in _nicknames(claim))


def _nicknames(claim: ReadClaim) -> Iterator[str]:
    """The ends of the gold name that can name a team."""
    parts = [part.strip(".") for part in claim.gold.strip(" .").lower().split()]
    last = parts[-1]
    is_plural = last.endswith("s") and len(last) >= len("Nets")
    if not is_plural and last in _SHARED_BY_TEAMS:
        return
    for start in range(1, len(parts)):
        yield " ".join(parts[start:])


def _has_nickname(claim: ReadClaim, nickname: str) -> bool:
    """Whether the prediction has the nickname, and no other place before it."""
    text = claim.prediction
    is_plural = nickname.endswith("s")
    needs_article = not is_plural and not _ASKS_AMERICAN_TEAM.search(claim.asked)
    # Jazz and Heat are words too, so they need their capital, unless they are the whole answer
    is_whole = text.strip(" .").lower().removeprefix("the ") == nickname
    written = rf"(?i:{re.escape(nickname)})" if is_plural or is_whole else re.escape(nickname.title())
    for match in re.finditer(rf"(?P<before>(?:[\w.'’-]{{1,40}}\s){{0,2}}){written}\b(?!['’])", text):
        before = match["before"].split()
        if needs_article and before[-1:] not in (["the"], ["The"]):
            continue
        is_loser = BEATEN.intersection(before) and ASKS_WINNER.search(claim.asked)
        if _is_article_or_common(before[-1:], text) and not is_loser:
            return True
    return False


def _is_article_or_common(before: list[str], text: str) -> bool:
    """Whether no name stands before the nickname: a capital there is another place, "Cleveland Spiders"."""
    if not before or before[0].lower() == "the":
        return True
    return before[0].islower() and not text.islower()


def _has_short_place(gold: Sequence[str], predicted: Sequence[str]) -> bool:
    """Whether the prediction is the name with some words cut short: "Man United"."""
    if len(gold) != len(predicted) or not set(gold) & set(predicted):
        return False
    for part, short in zip(gold, predicted, strict=True):
        if part != short and not (len(short) >= _FEWEST_OF_SHORT_PLACE and part.startswith(short)):
            return False
    return True
