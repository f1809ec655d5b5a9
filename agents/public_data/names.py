"""When two spellings are the same name, and which shorter forms a name goes by."""

import re
import unicodedata
from collections.abc import Iterator

_APOSTROPHES = re.compile(r"['’‘`´]")
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)
_NOT_A_WORD = re.compile(r"[\W_]+")
_ARTICLES = ("the ", "a ", "an ")

_KIND_OF_SHARE = re.compile(
    r"\s+(class [a-z]|series [a-z]|common (stock|shares?)|ordinary shares?|american depositary (shares?|receipts?)"
    r"|depositary shares?|subordinate voting shares?|capital stock|adss?|adrs?|units?|warrants?|rights?|new)$"
)
_LEGAL_FORM = re.compile(
    r"(\s+and)?\s+(inc|incorporated|corp|corporation|co|company|ltd|limited|plc|llc|lp|sa|nv|ag|se)$"
)
_KIND_OF_FIRM = re.compile(r"\s+(holdings?|group|com)$")


def normalise(name: str) -> str:
    """Lower-case words and numbers with single spaces: no accents, apostrophes or punctuation, ``&`` as ``and``."""
    plain = "".join(mark for mark in unicodedata.normalize("NFKD", name) if not unicodedata.combining(mark))
    plain = _APOSTROPHES.sub("", plain).replace("&", " and ").casefold()
    return _NOT_A_WORD.sub(" ", plain).strip()


def without_article(name: str) -> str:
    """A normalised name without ``the``, ``a`` or ``an`` in front; the name itself where nothing else would be left."""
    for article in _ARTICLES:
        if name.startswith(article):
            return name.removeprefix(article)
    return name


def spellings(name: str) -> set[str]:
    """The normalised forms under which a name is found: with and without article, and without a possessive ``'s``.

    "Schindler's List" is found as "schindlers list" and "schindler list", "the film's" as "film".
    """
    forms = {normalise(name), normalise(without_possessive(name))}
    return (forms | {without_article(form) for form in forms}) - {""}


def without_possessive(text: str) -> str:
    """The text without ``'s`` at the ends of words."""
    return _POSSESSIVE.sub("", text)


def company_names(name: str) -> Iterator[str]:
    """A company's normalised name, and the same without kind of share, legal form, and "group" or "holdings".

    What stands in the stock lists ("Example Group Inc. Class A Common Stock") is rarely what people say ("Example").
    """
    current = normalise(name)
    yield current
    for ending in (_KIND_OF_SHARE, _LEGAL_FORM, _KIND_OF_FIRM, _LEGAL_FORM):
        shorter = current
        while (cut := ending.sub("", shorter)) != shorter:
            shorter = cut
        if shorter != current:
            current = shorter
            yield current
