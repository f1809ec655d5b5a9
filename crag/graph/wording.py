"""Values and keys in words, the parts of the sentences of `crag.graph.verbalise`."""

import re
from collections.abc import Sequence
from decimal import Decimal

from crag.graph.conditions import cell_number
from crag.graph.entities import shipped_list
from crag.graph.results import Cell, Row, Value
from crag.graph.schema import Column, Table, Type

MAX_LISTED = 25
"""Maximum number of list items written out; the rest are counted."""

_CODE_LISTS = {"birth_place": "countries", "release_country": "countries", "original_language": "languages"}
"""Keys whose values are codes, with the list of `codes.toml` that has the words."""
GAME_RESULTS = {"W": "win", "D": "draw", "L": "loss"}
"""The graph's letters for the result of a game, in words."""

_CAPITAL = re.compile(r"\b[A-Z](?=[a-z])")
"""The first letter of a capitalised word, not of an abbreviation such as "EPS"."""
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""The border between two words of a name such as "fullTimeEmployees"."""
_END_OF_HEAD_NOUN = re.compile(r" of | to |,")
"""What ends the head noun of a label: "dividends" in "dividends of the company"."""


# --- values -----------------------------------------------------------------------------------------------------------


def readable(value: Cell, column: Column | None = None) -> str:
    """A value in readable form: thousands separators, dollar signs, joined lists, codes and flags in words.

    1234567 of a money column is "$1,234,567"; "XE" of a country column is "Europe (XE)".

    >>> readable(("Drama", "History", "War")), readable(1234567), readable(None)
    ('Drama, History and War', '1,234,567', 'unknown')
    """
    if not isinstance(value, tuple):
        return _readable_value(value, column)

    # Rows of another table cannot be said in a few words.
    entries = [_readable_value(entry, column) for entry in value[:MAX_LISTED] if not isinstance(entry, Row)]
    if column is not None and column.name == "lifespan":
        return " to ".join(entries)
    if len(value) > MAX_LISTED:
        entries.append(f"{len(value) - MAX_LISTED:,} more")
    return _joined_with_and(entries)


def _joined_with_and(entries: Sequence[str]) -> str:
    """Two entries with "and", more with commas: "a", "a and b", "a, b and c"."""
    if len(entries) <= 1:
        return "".join(entries)
    *first_entries, final_entry = entries
    return f"{', '.join(first_entries)} and {final_entry}"


def _readable_value(value: Value, column: Column | None) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"

    value_type = column.type if column is not None else Type.TEXT
    if value_type in {Type.YEAR, Type.YEARS}:
        return str(value)

    # A number in a column of text stays text: "1917" is a title.
    is_numeric = isinstance(value, int | float) or value_type.is_number
    number = cell_number(value) if is_numeric else None
    if number is None:
        return _code_in_words(str(value), column.name if column is not None else "")
    if value_type is Type.MONEY:
        return format_money(number)

    text = format_number(number)
    unit = column.unit if column is not None else ""
    return f"{text} {unit}" if unit else text


def _code_in_words(text: str, key: str) -> str:
    """A code with its meaning. The code itself stays, since a question may ask for it."""
    if key == "result":
        return GAME_RESULTS.get(text, text)
    if key not in _CODE_LISTS:
        return text
    meaning = shipped_list("codes")[_CODE_LISTS[key]].get(text)
    return f"{meaning} ({text})" if meaning else text


def format_number(number: float) -> str:
    """12,345 or 3.12 or 0.0341: thousands separators, no trailing decimals, four digits of a small number.

    >>> format_number(0.00001234)
    '0.00001234'
    """
    # A larger float does not hold all of its digits
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    if abs(number) >= 1:
        return f"{number:,.3f}".rstrip("0").rstrip(".")
    # "1.234e-05" is no number to a reader
    return f"{Decimal(f'{number:.4g}'):f}"


def format_money(number: float) -> str:
    """$1,234.50 or $0.0341 or -$5."""
    sign = "-" if number < 0 else ""
    # Below a dollar two decimals are too few: $0.0341
    has_no_cents = number == int(number) or abs(number) < 1
    amount = format_number(abs(number)) if has_no_cents else f"{abs(number):,.2f}"
    return f"{sign}${amount}"


def is_worth_saying(value: Cell) -> bool:
    """Whether a cell holds anything that a sentence can say: not a missing value, not rows of another table."""
    if value in (None, "", ()):
        return False
    return not (isinstance(value, tuple) and isinstance(value[0], Row))


# --- keys -------------------------------------------------------------------------------------------------------------


def key_in_words(table: Table, key: str) -> str:
    """A key in words: "closing price", "full-time employees"."""
    column = table.columns.get(key)
    if column is not None:
        return _label_or_meaning(column)

    # A key that only the server knows: "fullTimeEmployees", "net_income".
    words = _CAMEL_CASE.sub(" ", key).replace("_", " ")
    words = " ".join(words.split())
    return _CAPITAL.sub(lambda letter: letter.group().lower(), words)


def to_be(value: Cell, column: Column | None) -> str:
    """The form of "to be" for the value and its label: "the genres are", "the closing price is"."""
    if column is None or column.name == "lifespan":
        return "is"

    head_noun = _END_OF_HEAD_NOUN.split(_label_or_meaning(column), maxsplit=1)[0]
    is_plural = head_noun.endswith("s")
    if isinstance(value, tuple):
        return "are" if is_plural or len(value) > 1 else "is"
    return "are" if is_plural and column.type is Type.NUMBER else "is"


def _label_or_meaning(column: Column) -> str:
    """The label; for a label in camel case, the column's meaning."""
    has_no_label = column.label == column.name
    return column.meaning if has_no_label and _CAMEL_CASE.search(column.name) else column.label
