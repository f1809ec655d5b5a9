"""Classes of a company's shares, as questions name them and as the exchange's list and its tickers do.

A company may list several: Class A and Class C of one, BRK/A and BRK/B of another. They have prices of their own, so
a class that is named is never answered with another one.
"""

import re
from typing import NamedTuple

from crag.text.matching import without_possessive_at_end

_SHARE_WORDS = r"(?:(?:common|ordinary|capital|non-?voting|voting)\ ){0,2}(?:shares?|stocks?|units?)"
_CLASS = re.compile(
    rf"""
    [\s,(/-]{{0,3}}
    \b(?: (?:class|cl|series) [\s.-]{{0,2}} (?P<after>[a-z])    # "class c", "cl. b", "inc-cl c"; not "class action"
        | (?P<before>[a-z])-class )                             # "b-class shares"
    \b (?!['&.]\w)                                              # not "series a&b", "class a.i."
    [\s)]{{0,2}}
    (?: {_SHARE_WORDS} (?:\ of\b)? )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LETTER_AT_END = re.compile(
    rf"""
    [\s.,/-]{{1,2}} (?P<letter>[a-c])        # "brk.b", "fox corp b"; later letters end other names
    (?: \s{{1,3}} {_SHARE_WORDS} )?
    $
    """,
    re.VERBOSE | re.IGNORECASE,
)
_OTHER_SECURITY = re.compile(
    r"\b(?:preferred|preference|prefd?|depositary|notes?|warrants?|debentures?)\b", re.IGNORECASE
)
"""Words of securities whose series are no classes of shares."""

_CLASS_IN_TICKER = re.compile(r"(?P<base>[A-Z]{1,5})[./-](?P<letter>[A-Z])")
_CLASS_IN_LISTING = re.compile(r"\b(?:class|series) ([a-z])\b", re.IGNORECASE)
_END_OF_NAME = " ,.'\u2019-(/"


class ShareClass(NamedTuple):
    """A company and the class of its shares, both as a question names them.

    `certain`: words such as "class" name it. A mere letter at the end may also be a part of the company's name.
    """

    company: str
    letter: str
    certain: bool


def parse_share_class(name: str) -> ShareClass | None:
    """The company and the class that a name holds, or None for a name without a class.

    >>> parse_share_class("Alphabet Inc. Class C")
    ShareClass(company='Alphabet Inc', letter='C', certain=True)
    """
    if _OTHER_SECURITY.search(name):
        return None

    match = _CLASS.search(name)
    if match is not None:
        company = _company_around(name[: match.start()], name[match.end() :])
        letter = match["after"] or match["before"]
        return ShareClass(company, letter.upper(), certain=True) if company else None

    trimmed = name.strip()
    match = _LETTER_AT_END.search(trimmed)
    if match is None:
        return None
    company = _company_around(trimmed[: match.start()], "")
    return ShareClass(company, match["letter"].upper(), certain=False) if len(company) > 1 else None


def _company_around(before: str, after: str) -> str:
    """What is left of a name without its class: the words before it, else those behind it."""
    company = before.strip(_END_OF_NAME) or after.strip(_END_OF_NAME)
    return without_possessive_at_end(company).removeprefix("$").strip()


def class_of_listing(listing: str) -> str | None:
    """The letter of the class that the exchange's list names, as in "Fox Corporation Class B Common Stock"."""
    match = _CLASS_IN_LISTING.search(listing)
    return match[1].upper() if match else None


def class_of_ticker(ticker: str) -> str | None:
    """The letter of a class behind a ticker: "B" for "BRK/B" and "BRK-B"."""
    match = _CLASS_IN_TICKER.fullmatch(ticker)
    return match["letter"] if match else None


def class_tickers(ticker: str, letter: str) -> tuple[str, ...]:
    """How the server may write the ticker of a class: the list of the exchange has BRK/B, the data BRK-B.

    >>> class_tickers("BRK/A", "B")
    ('BRK-B', 'BRK/B', 'BRK.B')
    """
    match = _CLASS_IN_TICKER.fullmatch(ticker)
    base = match["base"] if match else ticker
    return tuple(f"{base}{mark}{letter}" for mark in "-/.")


def ticker_spellings(ticker: str) -> tuple[str, ...]:
    """The spellings of a ticker that the server may have; most have only one."""
    letter = class_of_ticker(ticker)
    if letter is None:
        return (ticker,)
    return tuple(dict.fromkeys((ticker, *class_tickers(ticker, letter))))
