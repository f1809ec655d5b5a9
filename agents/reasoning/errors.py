"""What can be wrong with a formula."""

import enum


class Fault(enum.StrEnum):
    """The kinds of errors."""

    EMPTY = "empty"
    TOO_LONG = "too_long"
    TOO_DEEP = "too_deep"
    TOO_LARGE = "too_large"
    UNEXPECTED = "unexpected"
    """Something stands where a value or the end was expected."""
    AMBIGUOUS = "ambiguous"
    """A comma that may separate thousands or the items of a list."""
    UNITS = "units"
    """Values that cannot be added, compared or multiplied: feet and kilograms, two dates."""
    DIVISION_BY_ZERO = "division_by_zero"
    IMPRECISE = "imprecise"
    """Days cannot be counted between months or years."""


class ExpressionError(ValueError):
    """A formula that has no value. `position` is a character offset into it, where one is known."""

    def __init__(self, fault: Fault, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.fault = fault
        self.position = position
