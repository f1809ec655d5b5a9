"""Numbers and times as the number format of their cell shows them (ECMA-376, part 1, 18.8.31).

Where a form is ambiguous, a plain one stands for it: dates are ISO, a negative number has a minus, not brackets or red.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal
from enum import StrEnum
from functools import lru_cache

_PART = re.compile(
    r"""
      " (?P<quoted> [^"]{0,255} ) "
    | \\ (?P<escaped> . )
    | (?P<blank> _. )                                   # as wide as that character
    | \* .                                              # fills the cell with that character
    | \[ \$ (?P<currency> [^\]-]{0,255} ) [^\]]{0,255} \]   # "[$€-407]": and a language
    | \[ (?P<condition> (?:[<>]=?|=|<>) -?[\d.]{1,60} ) \]
    | \[ [^\]]{0,255} \]                                # a colour
    | (?P<general> General | @ )
    | (?P<exponent> E[+-] )
    | (?P<digit> [0\#?] )
    | (?P<sign> . )                                     # of the number, or a literal
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_COMPARISON = re.compile(r"([<>=]+)(.+)")
_PLAIN_DIGITS = 10
"""Significant digits of a number without a format: a cell has room for these."""


class _PartKind(StrEnum):
    """What a part of a format is."""

    LITERAL = "literal"
    GENERAL = "general"
    EXPONENT = "exponent"
    DIGIT = "digit"
    POINT = "point"
    COMMA = "comma"
    PERCENT = "percent"
    SLASH = "slash"

    @property
    def is_written(self) -> bool:
        """Whether the cell shows the text of the part."""
        return self in {_PartKind.LITERAL, _PartKind.PERCENT}


_KINDS_OF_SIGNS = {".": _PartKind.POINT, ",": _PartKind.COMMA, "/": _PartKind.SLASH, "%": _PartKind.PERCENT}


@dataclass(slots=True)
class _Section:
    """A format for some values: its parts, each with its text, and the condition that it names ("" for none)."""

    parts: list[tuple[_PartKind, str]] = field(default_factory=list)
    condition: str = ""

    def positions(self, kind: _PartKind) -> list[int]:
        """Where the parts of a kind stand."""
        return [position for position, part in enumerate(self.parts) if part[0] is kind]

    def literals(self) -> str:
        return "".join(text for kind, text in self.parts if kind.is_written)


def show_number(value: float, number_format: str) -> str:
    """A number as its format shows it.

    >>> show_number(12345678, '0.0,,"M"')
    '12.3M'
    >>> show_number(-1500, "#,##0_);(#,##0)")
    '-1,500'
    """
    sections = _read_sections(number_format)
    section = _choose_section(value, sections)
    number = abs(Decimal(f"{value:.15g}"))  # fifteen digits are what a cell holds: 0.1 + 0.2 is 0.3
    text = _write(section, number)

    # A dash stands for zero in formats of accountants.
    if value == 0 and section.positions(_PartKind.DIGIT) and not any(map(str.isdigit, text)):
        text = _write(sections[0], number)
    if value < 0 and any(map(str.isdigit, text)):
        text = _with_minus(text, section, sections[0])
    return " ".join(text.split())


def _with_minus(text: str, section: _Section, positive_section: _Section) -> str:
    """A negative number with its minus, unless words of its own tell: ``0 "profit";0 "loss"``."""
    literals = section.literals()
    if "-" in literals or "−" in literals:
        return text
    if "(" in literals:
        return f"-{text.replace('(', '').replace(')', '').strip()}"
    has_own_words = literals.strip() != positive_section.literals().strip()
    return text if has_own_words else f"-{text.strip()}"


@lru_cache(1000)
def _read_sections(number_format: str) -> tuple[_Section, ...]:
    """The sections of a format, which semicolons separate."""
    sections = [_Section()]
    for match in _PART.finditer(number_format):
        kind = match.lastgroup
        if kind is None:
            continue

        text = match[kind]
        if kind == "sign" and text == ";":
            sections.append(_Section())
        elif kind == "condition":
            sections[-1].condition = text
        else:
            sections[-1].parts.append(_read_part(kind, text))
    return tuple(sections)


def _read_part(kind: str, text: str) -> tuple[_PartKind, str]:
    """A part of a section, by the name of its group in the pattern."""
    if kind in {"general", "exponent", "digit"}:
        return _PartKind(kind), text
    if kind == "blank":
        return _PartKind.LITERAL, " "
    if kind == "sign":
        return _KINDS_OF_SIGNS.get(text, _PartKind.LITERAL), text
    return _PartKind.LITERAL, text


def _choose_section(value: float, sections: Sequence[_Section]) -> _Section:
    """By its condition, or the first for positive numbers, the second for negative ones, the third for zero."""
    if any(section.condition for section in sections):
        fitting = [section for section in sections[:3] if _holds(section.condition, value)]
        return fitting[0] if fitting else sections[0]
    if value < 0 and len(sections) > 1:
        return sections[1]
    return sections[2] if value == 0 and len(sections) > 2 else sections[0]


def _holds(condition: str, value: float) -> bool:
    """Whether a condition such as ``>=1000`` holds; none always does."""
    comparison = _COMPARISON.fullmatch(condition)
    if comparison is None:
        return True
    operator = comparison[1]
    limit = float(comparison[2])
    is_allowed = {"<": value < limit, ">": value > limit, "=": value == limit}
    return any(is_allowed[sign] for sign in operator)


def _write(section: _Section, number: Decimal) -> str:
    """A number that is not negative in a section of its format."""
    digits = section.positions(_PartKind.DIGIT)
    # Fractions are written as decimals: 2.5, not 2 1/2.
    if section.positions(_PartKind.GENERAL) or (digits and section.positions(_PartKind.SLASH)):
        return _between_literals(section, _plain(number))
    if not digits:
        return section.literals()
    if section.positions(_PartKind.EXPONENT):
        return _between_literals(section, f"{number:.{_count_decimals(section)}E}")

    number *= Decimal(100) ** len(section.positions(_PartKind.PERCENT))
    # Commas behind the last digit divide by a thousand.
    behind = [position for position in section.positions(_PartKind.COMMA) if position > digits[-1]]
    return _fill(section, number / Decimal(1000) ** len(behind))


def _plain(number: Decimal) -> str:
    """A number without a format; whole numbers keep all digits."""
    return f"{number:f}" if number == number.to_integral_value() < 10**15 else f"{float(number):.{_PLAIN_DIGITS}g}"


def _between_literals(section: _Section, text: str) -> str:
    """A number between the literals before its first digit and those behind its last."""
    positions = section.positions(_PartKind.DIGIT) or section.positions(_PartKind.GENERAL)
    before = [text for kind, text in section.parts[: positions[0]] if kind.is_written]
    behind = [text for kind, text in section.parts[positions[-1] + 1 :] if kind.is_written]
    return f"{''.join(before)}{text}{''.join(behind)}"


def _count_decimals(section: _Section) -> int:
    """The digits behind the point, without those of an exponent."""
    points = section.positions(_PartKind.POINT)
    ends = section.positions(_PartKind.EXPONENT) or [len(section.parts)]
    return sum(points[0] < position < ends[0] for position in section.positions(_PartKind.DIGIT)) if points else 0


def _fill(section: _Section, number: Decimal) -> str:
    """The parts of a section with the digits of a number in their places."""
    decimals = _count_decimals(section)
    # The largest number of a cell has 309 digits.
    rounded = number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, Context(prec=400))
    whole, _, fraction = f"{rounded:f}".partition(".")

    point = (section.positions(_PartKind.POINT) or [len(section.parts)])[0]
    digits = section.positions(_PartKind.DIGIT)
    whole_positions = [position for position in digits if position < point]
    texts = _whole_digits(section, whole, whole_positions)
    texts |= _decimal_digits(section, fraction, [position for position in digits if position > point])
    if any(texts[position] for position in digits if position > point):
        texts[point] = "." if whole_positions else "0."

    for position, (kind, text) in enumerate(section.parts):
        if kind.is_written:
            texts[position] = text
    return "".join(texts.get(position, "") for position in range(len(section.parts)))


def _whole_digits(section: _Section, whole: str, positions: Sequence[int]) -> dict[int, str]:
    """The digits before the point by position: the last position has the last digit, the first all that are left."""
    zeros = [index for index, position in enumerate(positions) if section.parts[position][1] == "0"]
    least = len(positions) - zeros[0] if zeros else 0
    digits = whole.lstrip("0").rjust(least, "0")
    if not positions:
        return {}
    # A share below one is 0.5 also where no zero is asked for.
    if not digits and section.positions(_PartKind.POINT):
        digits = "0"

    is_grouped = any(positions[0] < comma < positions[-1] for comma in section.positions(_PartKind.COMMA))
    if is_grouped and digits and not (digits[0] == "0" and len(digits) > 1):
        return {positions[0]: f"{int(digits):,}"}

    texts = {}
    for position in reversed(positions[1:]):
        texts[position] = digits[-1:]
        digits = digits[:-1]
    return texts | {positions[0]: digits}


def _decimal_digits(section: _Section, fraction: str, positions: Sequence[int]) -> dict[int, str]:
    """The digits behind the point by position; zeros at the end only where they are asked for."""
    texts: dict[int, str] = {}
    is_needed = False
    for position, digit in reversed(list(zip(positions, fraction, strict=False))):
        is_needed = is_needed or digit != "0" or section.parts[position][1] == "0"
        texts[position] = digit if is_needed else ""
    return texts
