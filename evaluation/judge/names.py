"""The rule for names that are written in another way: titles, initials, surnames, abbreviations, parts of a name."""

import re
from collections.abc import Iterator, Sequence

from agents.matching import STOP_WORDS, alike, content, normalise, position_of, recall, tokens, words
from evaluation.judge.case import Case, Finding

_TITLES = frozenset(
    words(
        "king queen emperor empress prince princess duke lord lady sir dame saint st pope president senator governor "
        "mr mrs ms miss dr doctor professor captain general coach jr sr esq"
    )
)
"""What some writers put before or after a person's name."""

_ASKS_PERSON = re.compile(r"\bwho(?:se|m)?\b|\bname of the (?:person|man|woman|actor|actress|author|player|singer)\b")
_ASKS_TEAM = re.compile(r"\b(?:teams?|clubs?|franchises?|squads?|opponents?)\b")
_ASKS_PLACE = re.compile(r"\bwhere\b|\b(?:city|town|place|location|venue|stadium|capital|headquarter\w*|birthplace)\b")
_NAME = re.compile(
    r"(?:(?P<before>[\w'’-]{1,40}\.?)\s+)?(?P<name>[^\W\d_a-z][\w'’-]{1,40})(?=\W|$)(?!\s+[^\W\d_a-z][a-z])"
)
_SHORTEST_SURNAME = 4
_SHORTEST_ABBREVIATION = 3


def same_name(case: Case) -> Finding | None:
    """The prediction holds the gold name as others write it; None where it does not, for further rules to see."""
    if case.is_sentence or not case.gold_tokens:
        return None
    for holds, how in _WAYS:
        if holds(case):
            return Finding(True, f"the prediction holds the gold name, {how}")
    return None


def _without_title(case: Case) -> bool:
    """As "Otto III" for "King Otto III of Varn"; and "Amsel" for "Amsel River" where a river is asked for."""
    name = list(case.gold_tokens)
    person = bool(_ASKS_PERSON.search(case.query.lower()))
    if person and name[0] in _TITLES and "of" in name[2:]:
        name = name[: name.index("of", 2)]
    told = [token for token in name if not (person and token in _TITLES) and not _names_kind(token, case)]
    return 0 < len(told) < len(case.gold_tokens) and position_of(told, case.prediction_tokens) >= 0


def _names_kind(token: str, case: Case) -> bool:
    """The question has the word itself: river for "which river", mount for "which mountain"."""
    return len(token) > 3 and any(asked.startswith(token) for asked in case.query_tokens)


def _initials(case: Case) -> bool:
    """As "J. K. Krell" for "Joanna Kim Krell" and "Tim Krell" for "Timothy Krell", both ways round."""
    *given, surname = case.gold_tokens
    if not 1 <= len(given) <= 3 or len(surname) < 3:
        return False
    said = case.prediction_tokens
    for place in (place for place, token in enumerate(said) if alike(token, surname)):
        for start in range(max(0, place - 3), place):
            if _abbreviates(given, said[start:place]) or _abbreviates(said[start:place], given):
                return True
    return False


def _abbreviates(short: Sequence[str], names: Sequence[str]) -> bool:
    """Short is letters, or the beginnings of names, and stands for the names in their order."""
    letters = "".join(short)
    if len(letters) <= len(names) and len(letters) <= 3:
        return all(name[0] == letter for name, letter in zip(names, letters, strict=False))
    if len(short) != len(names):
        return False
    return all(
        part == name or (len(part) != 2 and name.startswith(part)) for part, name in zip(short, names, strict=True)
    )


def _surname(case: Case) -> bool:
    """As "Krell" for "Joanna Krell", or "Ravens" for "Amsel Ravens", where the question asks for a person or a team and
    no other given name or town stands before it.
    """
    name = [token for token in case.gold_tokens if token not in _TITLES]
    asked = case.query.lower()
    if not 2 <= len(name) <= 4 or STOP_WORDS.intersection(name):
        return False
    if not (_ASKS_PERSON.search(asked) or _ASKS_TEAM.search(asked)):
        return False
    surname = name[-1]
    if len(surname) < _SHORTEST_SURNAME or surname in case.query_tokens:
        return False
    if case.prediction_tokens == (surname,):
        return True
    return any(
        tokens(found["name"]) == (surname,) and _no_given_name(found["before"])
        for found in _NAME.finditer(case.prediction)
    )


def _no_given_name(before: str | None) -> bool:
    if before is None or before[0].islower():
        return True
    word = normalise(before).strip(".")
    return word in STOP_WORDS or word in _TITLES


def _abbreviation(case: Case) -> bool:
    """The first letters of the words of a name: "HSF" for "Harbor School Foundation", and the other way round."""
    gold = case.gold_tokens
    if len(gold) == 1:
        names = (tokens(found[0]) for found in _LONG_NAME.finditer(case.prediction))
        return any(gold[0] in _first_letters(name) for name in names)
    capitals = set(re.findall(r"[A-Z]{3,}", case.prediction.replace(".", "")))
    return any(letters.upper() in capitals for letters in _first_letters(gold))


_LONG_NAME = re.compile(r"[A-Z][\w'’-]+(?:\s+(?:(?:of|the|and|for|in|de)\s+){0,2}[A-Z][\w'’-]+){2,}")


def _first_letters(name: Sequence[str]) -> Iterator[str]:
    """With and without small words."""
    for chosen in (content(name), name):
        if len(chosen) >= _SHORTEST_ABBREVIATION and all(token.isalpha() for token in chosen):
            yield "".join(token[0] for token in chosen)


def _place_in_place(case: Case) -> bool:
    """As "Amsel" for "Amsel, Varn", unless the prediction names another region: "Amsel, Kessa"."""
    head, comma, region = case.gold.partition(",")
    name = tokens(head)
    if not comma or not name or not region.strip() or not _ASKS_PLACE.search(case.query.lower()):
        return False
    place = position_of(name, case.prediction_tokens)
    if place < 0:
        return False
    other = re.search(rf"{re.escape(normalise(head).strip())},\s+(\w+)", normalise(case.prediction))
    capital = re.search(rf"(?i:{re.escape(head.strip())}),\s+[A-Z]", case.prediction)
    return not (other and capital) or recall(tokens(other[1]), tokens(region)) > 0


def _second_half(case: Case) -> bool:
    """As "Return of the Tide" for "The Glass Harbor: Return of the Tide"; the first half may name a whole series."""
    _, colon, subtitle = case.gold.partition(": ")
    return bool(colon) and len(content(tokens(subtitle))) > 1 and _holds(case, subtitle)


def _outside_brackets(case: Case) -> bool:
    """As "Glass Harbor" for "Glass Harbor (1990)"."""
    told = re.sub(r"\s*\([^)]*\)", "", case.gold).strip()
    return 0 < len(told) < len(case.gold.strip()) and _holds(case, told)


def _holds(case: Case, phrase: str) -> bool:
    return position_of(tokens(phrase), case.prediction_tokens) >= 0


_WAYS = (
    (_without_title, "without its title"),
    (_initials, "with initials"),
    (_surname, "by surname"),
    (_abbreviation, "abbreviated or in full"),
    (_place_in_place, "without its region"),
    (_second_half, "by its subtitle"),
    (_outside_brackets, "without its brackets"),
)
