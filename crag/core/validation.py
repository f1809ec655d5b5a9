"""What pydantic finds wrong with data, for messages of one line."""

from typing import NamedTuple

from pydantic import ValidationError


class FieldFault(NamedTuple):
    """A wrong field: its name, with dots between the levels, and what is wrong; the name is "" for the data as a whole.

    >>> str(FieldFault("adapter.rank", "Field required"))
    'adapter.rank: Field required'
    """

    field: str
    message: str
    found: object = None
    """The value that is wrong."""

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


def list_faults(error: ValidationError) -> list[FieldFault]:
    """All that is wrong, in pydantic's order."""
    faults: list[FieldFault] = []
    for details in error.errors(include_url=False):
        field = ".".join(map(str, details["loc"]))
        faults.append(FieldFault(field, details["msg"], details["input"]))
    return faults


def first_fault(error: ValidationError) -> FieldFault:
    """The first thing that is wrong: enough for a user who corrects the file and tries again."""
    return list_faults(error)[0]
