"""One form of date expressions: its pattern, and the function that reads what the pattern matches."""

import re
from collections.abc import Callable
from functools import cached_property

from crag.text.dates.calendars import DateRange
from crag.text.dates.readers import Match, Viewpoint

Reader = Callable[[Match, Viewpoint], DateRange | None]


class Rule:
    """A form of expression. `newest`: it means the newest record; its range is None if it names no day.

    The pattern must match whole words and not part of a number, price or percentage.
    """

    def __init__(self, pattern: str, read: Reader, newest: bool = False) -> None:
        self._written_pattern = pattern
        self.read = read
        self.newest = newest

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when it is first asked for: all rules together take a fifth of a second."""
        return re.compile(
            r"(?<![\w$€£])"  # not inside a word, not a price: "$2024"
            r"(?<![0-9][.,/:-])"  # not the end of a number: "3.2024"
            rf"(?:{self._written_pattern})"
            r"(?![\w%])"  # not a percentage: "2024%"
            r"(?![.,/:-][0-9])"  # not the beginning of a number: "2024.5"
        )
