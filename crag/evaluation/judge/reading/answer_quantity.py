"""A quantity in an answer: a number with its sign, unit or currency, era and bound."""

import enum
from dataclasses import dataclass, replace

from crag.evaluation.judge.reading.units import is_money
from crag.text.matching import PERCENT, Unit

_EARLIEST_PLAUSIBLE_YEAR = 1000
_LATEST_PLAUSIBLE_YEAR = 2100


# The sign of a value is the side on which the true number lies
class Bound(enum.Enum):
    """What a number limits; `NONE` for a number that is the value itself."""

    NONE = 0
    OVER = 1
    AT_LEAST = 2
    UNDER = -1
    AT_MOST = -2
    NEARLY = -3

    @property
    def is_lower(self) -> bool:
        """Whether the value is that number or more."""
        return self.value > 0


@dataclass(frozen=True, slots=True)
class AnswerQuantity:
    """A number in an answer, with what says what it means.

    `step` is the value of its last written digit: 10 million for "1.23 billion". `units` are the possible units,
    empty if none is named. `signed`: written with a sign. `direction` is -1 after "a loss of", 1 after "rose by",
    else 0. `ordinal`: written as 3rd; `grouped`: with thousands separators; `decade`: ten years, the 1930s. `start`
    and `end` are its position in the text.
    """

    value: float
    step: float
    units: tuple[Unit, ...] = ()
    bound: Bound = Bound.NONE
    signed: bool = False
    direction: int = 0
    era: str = ""
    ordinal: bool = False
    grouped: bool = False
    decade: bool = False
    start: int = 0
    end: int = 0

    @property
    def percent(self) -> bool:
        """Whether it is a percentage."""
        return bool(self.units) and self.units[0].dimension == PERCENT.dimension

    @property
    def currency(self) -> bool:
        """Whether it is an amount of money."""
        return bool(self.units) and is_money(self.units[0])

    @property
    def year_like(self) -> bool:
        """Whether it could be a calendar year."""
        is_plain = not (self.units or self.ordinal or self.grouped or self.signed) and self.step == 1
        return is_plain and (_EARLIEST_PLAUSIBLE_YEAR <= self.value <= _LATEST_PLAUSIBLE_YEAR or bool(self.era))

    def towards(self, asked_direction: int) -> "AnswerQuantity":
        """The same with the sign of its direction: its own, or that of the question "how much did it fall?"."""
        # A written sign already says what happened: "-5" to "how much did it fall?" stays -5
        direction = self.direction or (0 if self.signed else asked_direction)
        return replace(self, value=direction * abs(self.value)) if direction else self
