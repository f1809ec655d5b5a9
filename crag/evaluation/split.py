"""Which of CRAG's splits a command reads."""

import sys
from collections import Counter
from typing import Any, Self

from crag.core.files import Record, shorten_repr


class Split:
    """Selects the rows of one split of CRAG and counts the others.

    The public files hold both splits: 0 for training, 1 the public test set. The row's field `split` names it; null
    marks an artificial row. `number` None takes all rows without checking the field; `left_out` is by split.
    """

    FIELD = "split"
    ANY = "any"

    def __init__(self, number: int | None = 0) -> None:
        self.number = number
        self.left_out: Counter[int] = Counter()

    def __str__(self) -> str:
        return self.ANY if self.number is None else str(self.number)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``0``, ``1`` or ``any``; raises ValueError."""
        if text != cls.ANY and not text.isdecimal():
            raise ValueError(f"a split is a number such as 0, or {cls.ANY}; found {text!r}")
        return cls(None if text == cls.ANY else int(text))

    def holds(self, record: Record) -> bool:
        """Whether to read the row; other rows are counted; raises DatasetError: the row does not name its split."""
        if self.number is None:
            return True

        # A row without the field must not pass in silence: it could be of the test set
        split = record.data.get(self.FIELD, "")  # "" for no field, as null marks an artificial row
        if split is None:
            return True
        if not isinstance(split, int) or isinstance(split, bool):
            fault = "missing" if split == "" else f"expected a whole number, found {shorten_repr(split)}"
            raise record.fault(self.FIELD, f"{fault}; --split {self.ANY} reads all rows")

        if split != self.number:
            self.left_out[split] += 1
        return split == self.number

    def report(self) -> None:
        """Print how many rows were left out, if any."""
        if self.left_out.total():
            parts = [f"{count:,} of split {split}" for split, count in sorted(self.left_out.items())]
            sys.stdout.write(f"left out, because only split {self} is read: {', '.join(parts)}\n")

    def to_card(self) -> dict[str, Any]:
        """The split and the number of rows left out, for a run card."""
        return {
            "split": str(self),
            "rows_of_other_splits": {str(key): count for key, count in self.left_out.items()},
        }
