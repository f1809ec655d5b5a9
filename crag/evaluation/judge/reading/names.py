"""Names in an answer: the signs that are part of them, and phrases about somebody else of that name."""

import re
from collections.abc import Iterator

from crag.evaluation.judge.reading.patterns import any_of
from crag.text.matching import content, tokens, words

# --- signs ------------------------------------------------------------------------------------------------------------

_SIGNED = re.compile(
    r"""
    (?<![\w+#*])
    (?P<name>
        (?!\d{1,30}[+#])                     # not "300+", which is a bound
        [a-z0-9]{1,30}(?=[+#♯♭*∗])           # "c++", "disney+", "a*"
      | [a-z]{1,3}(?=-(?:[\s.,;:!?)"']|$))   # "b-"; not "aa-rated", nor a longer word before a dash
    )
    (?P<sign>
        \+{1,3}
      | [#♯♭]
      | -
      | [*∗](?![*\w])                       # not the mark of bold letters
    )
    (?![\w+#])
    """,
    re.VERBOSE,
)
_SPOKEN = re.compile(
    r"""
    (?<![\w-])
    (?P<name>[a-z]{1,3}) [ -]
    (?P<sign> plus[ -]plus | plus | minus | sharp | flat | star | positive | negative )\b
    (?!\ \d)                                # not "is plus 3"
    """,
    re.VERBOSE,
)
_SPOKEN_SIGNS = {
    "plus plus": "++",
    "plus": "+",
    "minus": "-",
    "sharp": "#",
    "flat": "♭",
    "star": "*",
    # Blood groups
    "positive": "+",
    "negative": "-",
}
# "the plus" and "one star" are ordinary words, not names with a sign
_NOT_NAMES = frozenset(words("the a of and is one two six ten all for in on to or"))
# `plain_text` writes C# and A* with these, so that they are not taken for Markdown
_SAME_SIGNS = {"♯": "#", "∗": "*"}
_WORD = re.compile(r"[a-z0-9]+")
_COMPOUND = re.compile(r"\b[a-z][a-z0-9]{0,30}-[a-z]{1,3}\b")
"""A name that ends in a short part: "objective-c"."""
_LONGEST_BARE = 3
"""Letters of a name without a sign that differs from the same name with one anywhere: C and C#, AA and AA+."""


def signed_names(text: str) -> dict[str, set[str]]:
    """The names with a sign in a lower-case text, with their signs.

    >>> signed_names("c++ or c sharp, not aa-rated") == {"c": {"++", "#"}}
    True
    """
    names: dict[str, set[str]] = {}
    for match in _SIGNED.finditer(text):
        sign = _SAME_SIGNS.get(match["sign"], match["sign"])
        names.setdefault(match["name"], set()).add(sign)
    for match in _SPOKEN.finditer(text):
        # "a plus" is the grade A+, but "a star" and "a flat" are an article and its noun
        is_grade = match["name"] == "a" and match["sign"] not in {"sharp", "flat", "star"}
        if match["name"] in _NOT_NAMES and not is_grade:
            continue
        sign = _SPOKEN_SIGNS[match["sign"].replace("-", " ")]
        names.setdefault(match["name"], set()).add(sign)
    return names


def is_signed_name(text: str) -> bool:
    """Whether the text is one name with a sign and nothing else: "a-", "c sharp"."""
    text = text.strip(" .")
    return any(pattern.fullmatch(text) for pattern in (_SIGNED, _SPOKEN))


def differing_sign(gold: str, prediction: str, question: str) -> str | None:
    """Why a name of the prediction is another one than the gold answer's by its signs; None if it is not.

    >>> differing_sign("c++", "it is written in c", "which language is it?")
    'the gold answer is c++'
    """
    # "objective-c" is not "c", unless the prediction also names "c" alone
    if gold in _WORD.findall(prediction) and len(gold) <= _LONGEST_BARE:
        compounds = [compound for compound in _COMPOUND.findall(prediction) if gold in compound.split("-")]
        if len(compounds) == _WORD.findall(prediction).count(gold):
            return f"the prediction says {compounds[0]}"

    gold_names = signed_names(gold)
    predicted_names = signed_names(prediction)
    if not gold_names and not predicted_names:
        return None

    # A gold C++ is not met by a C or C#.
    for name, signs in gold_names.items():
        predicted_signs = predicted_names.get(name)
        is_named = predicted_signs is not None or name in _WORD.findall(prediction)
        # "disney plus": too long a name for the pattern of spoken signs
        is_spoken = "+" in signs and f"{name} plus" in prediction
        if is_named and not is_spoken and not signs & (predicted_signs or set()):
            return f"the gold answer is {name}{min(signs)}"

    # A gold C is not met by a C++.
    asked_names = signed_names(question)
    gold_words = _WORD.findall(gold)
    for name, signs in predicted_names.items():
        if name in _NOT_NAMES and gold_words != [name]:
            continue

        # A sign that the question has too is not the prediction's own claim
        is_bare_in_gold = name in gold_words and name not in gold_names and name not in asked_names
        is_whole_or_short = len(gold_words) == 1 or len(name) <= _LONGEST_BARE
        if is_bare_in_gold and is_whole_or_short and not _names_bare(prediction, name):
            return f"the prediction says {name}{min(signs)}"
    return None


def _names_bare(text: str, name: str) -> bool:
    """Whether the text also has the name without a sign."""
    # If it occurs more often than with a sign, one occurrence is bare
    signed = len([match for match in _SIGNED.finditer(text) if match["name"] == name])
    spoken = len([match for match in _SPOKEN.finditer(text) if match["name"] == name])
    return _WORD.findall(text).count(name) > signed + spoken


# --- somebody of the name ---------------------------------------------------------------------------------------------

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


# --- series of names --------------------------------------------------------------------------------------------------

_CAPITAL = r"[A-Z][\w.'’-]{0,60}"
_NAME_WORDS = rf"(?:{_CAPITAL}|of|the|de|van|von)(?:\s{{1,9}}(?:{_CAPITAL}|of|the|de|van|von)){{0,4}}"
"""Up to five words that begin with a capital, or join such words: "Vincent van Gogh"."""
_SERIES_OF_NAMES = re.compile(
    rf"(?:^|(?P<lead>\b(?:by|is|are|was|were|in|:)\s))(?P<series>{_NAME_WORDS}(?:,\s{{1,9}}{_NAME_WORDS}){{0,20}}"
    rf",?\s{{1,9}}(?:and|&)\s{{1,9}}{_NAME_WORDS})"
)
"""Names at the beginning, or after a verb, "by" or "in": "A, B and C"."""
_BETWEEN_NAMES = re.compile(r",\s{0,9}(?:(?:and|&)\s{1,9})?|\s{1,9}(?:and|&)\s{1,9}")
_LONGEST_NAME = 6
"""Tokens; the last name of a series may run on into the sentence."""


def name_series(text: str) -> Iterator[list[tuple[str, ...]]]:
    """The series of two names or more in a text, as tokens.

    >>> list(name_series("It was founded by Ann Lee and Bo Chan."))
    [[('ann', 'lee'), ('bo', 'chan')]]
    """
    for match in _SERIES_OF_NAMES.finditer(text):
        # "Acme & Co." names one
        names = [name for name in map(tokens, _BETWEEN_NAMES.split(match["series"])) if content(name)]
        if not names:
            continue
        # "A, B and C of the old mill won": the pattern cannot see where C ends
        names[-1] = names[-1][:_LONGEST_NAME]
        if len(names) > 1:
            yield names
