"""Several numbers in an order that means something: scores, records, ratios, odds, ranges, seasons."""

import re
from dataclasses import dataclass

_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_BC = r"b\.?c\.?e?\b"
_AFTER_NUMBER = rf"(?:%|{_BC}|a\.?d\b|c\.?e\b)"
_SERIES = re.compile(
    rf"""
    (?<![\w.,/:])(?<!\d-)
    (?P<first>['$€£¥₹]?(?:{_NUMBER}))(?:\s?{_AFTER_NUMBER})?
    (?P<rest>
        (?:
            (?:
                \s?[-:/x×]\s?
              | \s(?:to|out\sof|until|by)\s
              | \sin\s(?=\d{{1,2}}\b|100\b)       # "3 in 5"; not "3 in 1990"
            )
            ['$€£¥₹]?(?:{_NUMBER})(?:\s?{_AFTER_NUMBER})?
        ){{1,4}}
    )
    (?! [\w/] | [-:]\d )                         # the whole series: not "10-6" of "10-6-1"
    """,
    re.VERBOSE,
)
_BETWEEN = re.compile(rf"\bbetween\s[$€£¥₹]?(?P<first>{_NUMBER})(?:\s?%)?\sand\s[$€£¥₹]?(?P<second>{_NUMBER})(?![\w/])")
_IN_EXCHANGE = re.compile(r"(?<![\w.,/:-])(?P<first>\d{1,3})[\s-]for[\s-](?P<second>\d{1,3})(?![\w/-]|[.,]\d)")
"""A split of shares, "4-for-1", or shots, "7 for 12"."""
_ERA = re.compile(rf"(?<=[\s\d]){_BC}")
_DIGITS = re.compile(_NUMBER)
# One group for signs, one for words; see how `read_series` tells them apart
_SEPARATOR = re.compile(r"\s?([-:/x×])\s?|\s(to|out of|in|by|until)\s")


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers that belong together, in order. `separator` is "-", ":" or "/"; words such as "to" count as "-"."""

    numbers: tuple[float, ...]
    separator: str
    is_bc: bool = False
    start: int = 0
    end: int = 0

    @property
    def is_season(self) -> bool:
        """Whether it is two years in a row or more: 2021-22, 1929-1941."""
        return len(self.numbers) == 2 and all(1000 <= year <= 2100 for year in self.numbers)

    @property
    def is_short_season(self) -> bool:
        """Whether it can be a season of two short years: 98/99."""
        # "99/00" wraps at the century
        return len(self.numbers) == 2 and self.numbers[1] == (self.numbers[0] + 1) % 100

    @property
    def share(self) -> float | None:
        """The value of a fraction: 0.75 of 3/4, 3.75 of 15/4."""
        if len(self.numbers) != 2 or self.separator != "/" or 0 in self.numbers:
            return None
        return self.numbers[0] / self.numbers[1]

    @property
    def seconds(self) -> frozenset[float]:
        """What a duration with colons can mean: 2:05 is two hours or two minutes and five."""
        # "1:2:3:4" is not a duration
        if self.separator != ":" or len(self.numbers) > 3:
            return frozenset()
        in_smallest = 0.0
        for number in self.numbers:
            # Hours, minutes and seconds as digits of base 60
            in_smallest = 60 * in_smallest + number
        return frozenset({in_smallest} if len(self.numbers) == 3 else {in_smallest, 60 * in_smallest})


def read_series(text: str) -> list[Series]:
    """The series in a text from `plain_text`. Its whole dates must be gone.

    >>> [series.numbers for series in read_series("3-1, between 10 and 12, 2021/22")]
    [(3.0, 1.0), (10.0, 12.0), (2021.0, 2022.0)]
    """
    series: list[Series] = []
    for match in _SERIES.finditer(text):
        numbers = _read_numbers(_DIGITS.findall(match[0]))
        separator = _read_separator(match["rest"])
        is_bc = bool(_ERA.search(match[0]))
        series.append(Series(numbers, separator, is_bc=is_bc, start=match.start(), end=match.end()))

    # "And" and "for" alone join no series: "2-1 for 3 days"
    for pattern in (_BETWEEN, _IN_EXCHANGE):
        for match in pattern.finditer(text):
            numbers = _read_numbers([match["first"], match["second"]])
            series.append(Series(numbers, "-", start=match.start(), end=match.end()))

    # The patterns found them separately; callers expect the order of the text
    return sorted(series, key=lambda item: item.start)


def _read_separator(rest: str) -> str:
    """What separates the numbers of a series. Mixed separators, "3-1/2", make no fraction and no duration: "-"."""
    # "3 in 5" and "3 out of 5" are fractions
    if " out of " in rest or " in " in rest:
        return "/"
    separators = {sign or "-" for sign, _ in _SEPARATOR.findall(rest)}
    return separators.pop() if len(separators) == 1 else "-"


def _read_numbers(digits: list[str]) -> tuple[float, ...]:
    """The numbers; the second of two years may be short: 1999-00 is 1999-2000."""
    numbers = [float(number.replace(",", "")) for number in digits]
    is_year_pair = len(digits) == 2 and len(digits[0]) == 4 and len(digits[1]) == 2 and 1000 <= numbers[0] <= 2100
    if is_year_pair:
        # 2021-22 stays in its century, 1999-00 ends in the next
        century = numbers[0] // 100 * 100
        numbers[1] += century if numbers[1] > numbers[0] % 100 else century + 100
    return tuple(numbers)


def same_series(gold: Series, answer: Series) -> bool:
    """Whether all numbers are equal in order, however they are separated; 98/99 is the season 1998-99."""
    if gold.is_bc is not answer.is_bc:
        return False

    # "98/99" was read as 98 and 99
    if gold.is_season and answer.is_short_season:
        return answer.numbers == tuple(number % 100 for number in gold.numbers)
    return gold.numbers == answer.numbers


def numbers_in_order(gold: Series, text: str) -> bool:
    """Whether a text has the numbers in their order, with words between them: "Oslo 3, Bergen 1" for 3-1."""
    # Other numbers may stand between them, so this is a subsequence test
    remaining = list(gold.numbers)
    for digits in _DIGITS.findall(text):
        if remaining and float(digits.replace(",", "")) == remaining[0]:
            remaining.pop(0)
    return not remaining
