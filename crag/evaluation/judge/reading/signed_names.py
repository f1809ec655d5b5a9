"""Names with a sign that makes another name: C++, B-, "C sharp"."""

import re

from crag.text.matching import words

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
    return (
        _find_compound(gold, prediction)
        or _find_missing_sign(gold, prediction)
        or _find_added_sign(gold, prediction, question)
    )


def _find_compound(gold: str, prediction: str) -> str | None:
    """Why a short gold name is only a part of the prediction's names: "c" of "objective-c"; None if it is not."""
    mentions = _WORD.findall(prediction).count(gold)
    if not mentions or len(gold) > _LONGEST_BARE:
        return None

    compounds = [compound for compound in _COMPOUND.findall(prediction) if gold in compound.split("-")]
    return f"the prediction says {compounds[0]}" if len(compounds) == mentions else None


def _find_missing_sign(gold: str, prediction: str) -> str | None:
    """Why a gold name with a sign is not the prediction's: C++ and C, C++ and C#; None if it is."""
    predicted_names = signed_names(prediction)
    for name, signs in signed_names(gold).items():
        predicted_signs = predicted_names.get(name)
        is_named = predicted_signs is not None or name in _WORD.findall(prediction)
        # "disney plus": too long a name for the pattern of spoken signs
        is_spoken = "+" in signs and f"{name} plus" in prediction
        if is_named and not is_spoken and not signs & (predicted_signs or set()):
            return f"the gold answer is {name}{min(signs)}"
    return None


def _find_added_sign(gold: str, prediction: str, question: str) -> str | None:
    """Why a gold name without a sign is not the prediction's, which has one: C and C++; None if it is."""
    gold_words = _WORD.findall(gold)
    # A sign that the question has too is not the prediction's own claim
    names_with_sign = signed_names(gold).keys() | signed_names(question).keys()
    for name, signs in signed_names(prediction).items():
        if name in _NOT_NAMES and gold_words != [name]:
            continue

        is_bare_in_gold = name in gold_words and name not in names_with_sign
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
