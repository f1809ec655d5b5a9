"""The rule for names in another form: by initials, a nickname, without titles, degrees or the place of a team."""

import re
from collections.abc import Callable

from crag.evaluation.judge.read_claim import ReadClaim, RuleDecision
from crag.evaluation.judge.reading import read_answer
from crag.evaluation.judge.reading.acronyms import names_by_acronym
from crag.evaluation.judge.short_names import has_surname, names_siblings, names_team_in_short
from crag.evaluation.judge.telling_words import PART_WORDS
from crag.text.matching import content, position_of, words

# "President Ann Lee" and "Ann Lee" are the same person
_TITLES = frozenset(
    words(
        "former president vice prime minister house senate speaker senator sen representative rep governor gov mayor "
        "judge justice secretary pope king queen prince princess sir dame lord lady saint general doctor dr professor "
        "mr mrs ms coach"
    )
)
_DEGREES = frozenset(words("phd ph d md msc mba esq dr doctor obe cbe"))
_ASKS_LETTERS = re.compile(r"\b(?:stands? for|acronym|abbreviat\w+|initials|ticker|symbol|call ?sign|code)\b")
"""A question about an acronym itself."""
_ASKS_PERSON = re.compile(
    r"\bwho(?:se|m)?\b"
    r"|\b(?:actor|actress|singer|rapper|musician|player|director|author|writer|artist|president|founder|ceo|coach)\b"
)
_NICKNAME = re.compile(r'(?P<first>[^"(]{1,60}?)\s["(](?P<nickname>[^")]{1,40})[")]\s(?P<last>[^"(]{1,60})')
"""william "bill" lee"""
_ALIAS = re.compile(r"[a-z][^(]{1,60}\s\((?:aka\s|a\.k\.a\.\s|also\sknown\sas\s|born\s)?(?P<alias>[a-z][^()]{1,40})\)")
"""ann lee (lil ann)"""
_PUNCTUATION = frozenset(".,;:!?'\"-/()")


def other_form_of_name(claim: ReadClaim) -> RuleDecision | None:
    """The prediction names the gold answer by its initials, a nickname, a surname, without titles or a team's place.

    A sign without letters, such as the album "÷", must stand alone in the prediction.
    """
    if not claim.gold_tokens:
        return (True, "the prediction holds the sign") if _has_sign(claim) else None
    for has_form, reason in _FORMS:
        if has_form(claim):
            return True, reason
    return None


def _has_initials(claim: ReadClaim) -> bool:
    """Whether one answer gives words of the other by their initials; a person's two alone could be anybody's."""
    if _ASKS_LETTERS.search(claim.asked):
        return False
    is_person = _ASKS_PERSON.search(claim.asked) is not None
    if is_person and len(claim.gold_tokens) == len("AL") and len("".join(claim.prediction_tokens)) == len("AL"):
        return False
    return names_by_acronym(claim.gold, claim.prediction)


def _has_sign(claim: ReadClaim) -> bool:
    """Whether a gold answer of nothing but a sign stands alone in the prediction."""
    sign = claim.gold_reading.plain.strip()
    if len(sign) != 1 or sign in _PUNCTUATION:
        return False
    return sign in claim.prediction_reading.plain.replace('"', " ").split()


def _has_nickname(claim: ReadClaim) -> bool:
    """The prediction has the nickname and the last name of a gold answer such as 'William "Bill" Lee'."""
    name = _NICKNAME.fullmatch(claim.gold_reading.plain.strip(" ."))
    if name is None or not _ASKS_PERSON.search(claim.asked):
        return False
    return position_of(read_answer(f"{name['nickname']} {name['last']}").tokens, claim.prediction_tokens) >= 0


def _has_alias(claim: ReadClaim) -> bool:
    """The prediction is the other name of a person that the gold answer gives in brackets: "Ann Lee (Lil Ann)"."""
    name = _ALIAS.fullmatch(claim.gold_reading.plain.strip(" ."))
    if name is None or not _ASKS_PERSON.search(claim.asked):
        return False
    return claim.prediction_tokens == read_answer(name["alias"]).tokens


def _has_subtitle(claim: ReadClaim) -> bool:
    """The prediction is what a title has behind its colon: "The Heron" of "Orle Saga: The Heron", not "Part One"."""
    title, colon, subtitle = claim.gold_reading.plain.partition(": ")
    tokens = read_answer(subtitle).tokens
    if not colon or not title or "," in claim.gold or not content(tokens) or tokens[0] in PART_WORDS:
        return False
    return claim.prediction_tokens == tokens and not tokens[0].isdigit()


def _differ_by_titles(claim: ReadClaim) -> bool:
    """Whether two names of two words or more are the same without titles and degrees."""
    gold_name = _without_titles(claim.gold_tokens)
    return len(gold_name) > 1 and gold_name == _without_titles(claim.prediction_tokens)


def _without_titles(name: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens of a name without titles before and degrees after it: "Dr. Ann Lee" and "Ann Lee, PhD"."""
    start = 0
    end = len(name)
    while start < end and name[start] in _TITLES:
        start += 1
    while end > start and name[end - 1] in _DEGREES:
        end -= 1
    return name[start:end]


_FORMS: tuple[tuple[Callable[[ReadClaim], bool], str], ...] = (
    (_has_nickname, "the prediction has the name with its nickname"),
    (_has_alias, "the prediction has the name in brackets"),
    (_has_subtitle, "the prediction has what is behind the colon"),
    (_has_initials, "one has words of the other by their initials"),
    (_differ_by_titles, "the names differ by titles only"),
    (names_team_in_short, "the prediction names the team without its place, or with a short one"),
    (names_siblings, "the prediction names both by their surname"),
    (has_surname, "the prediction gives the surname"),
)
"""Each form with the reason that is given."""
