"""What holds for the text of a group, until a control word changes it or the group ends."""

import enum
from dataclasses import dataclass, replace
from typing import Any, Self

from crag.asking.rtf.flow import Flow

_DEEPEST_TABLE = 8
"""Levels of tables in tables; deeper ones are read as this one."""
_NO_FONT = -1
"""A font that no table has: the code page of the file holds."""


class Script(enum.Enum):
    """Whether text stands on its line, above it or below it."""

    BASE = enum.auto()
    SUPER = enum.auto()
    SUB = enum.auto()


@dataclass(frozen=True, slots=True)
class State:
    r"""The state of a group.

    Attributes:
        flow: Where its text goes; None: it is not shown, but groups in it may be.
        is_skipped: Nothing in the group is read.
        is_font_table: It is the table of fonts.
        is_info: It tells title, author and the like.
        is_instruction: It tells a field how to find its text.
        is_symbol_field: It is a field whose sign was read from its instruction.
        is_list_mark: It has the number or the sign of a list.
        before_upr: The state outside of `\upr`, which holds the same text twice.
        font: The number of the font; None is the default font.
        substitutes: How many bytes follow a character in Unicode for programs that do not know it.
        table_level: 1 in a table, 2 in a table in a cell.
    """

    flow: Flow | None
    is_skipped: bool = False
    is_font_table: bool = False
    is_info: bool = False
    is_instruction: bool = False
    is_symbol_field: bool = False
    is_list_mark: bool = False
    before_upr: Self | None = None

    font: int | None = None
    substitutes: int = 1
    is_hidden: bool = False
    is_deleted: bool = False
    is_moved_away: bool = False
    is_struck: bool = False
    is_struck_twice: bool = False
    script: Script = Script.BASE
    is_lifted: bool = False
    table_level: int = 0

    @property
    def has_breaks(self) -> bool:
        """Whether the ends of its paragraphs are seen: those of deleted and hidden text are not."""
        return self.flow is not None and not (self.is_hidden or self.is_deleted or self.is_moved_away)

    @property
    def is_shown(self) -> bool:
        """Whether its text is seen."""
        return self.has_breaks and not (self.is_struck or self.is_struck_twice)

    @property
    def is_raised(self) -> bool:
        """Whether its text is a superscript."""
        return self.script is Script.SUPER or (self.is_lifted and self.script is Script.BASE)

    def in_flow(self, flow: Flow | None) -> Self:
        """The state of a title, a note or a box: its text goes elsewhere, and it is no superscript."""
        return replace(self, flow=flow, table_level=0, script=Script.BASE, is_lifted=False)

    def in_info(self) -> Self:
        """The state of what is told of the document. Its text is in the code page of the file."""
        return replace(self, flow=None, is_info=True, font=_NO_FONT)


_SWITCHES = {
    "v": "is_hidden",
    "deleted": "is_deleted",
    "mvf": "is_moved_away",
    "strike": "is_struck",
    "striked": "is_struck_twice",
    "up": "is_lifted",
}
"""Control word -> attribute. A number of 0 switches off."""
_ENDS: dict[str, dict[str, Any]] = {
    "pard": {"table_level": 0},
    "nosupersub": {"script": Script.BASE},
    "dn": {"is_lifted": False},
    "plain": {"font": None, "script": Script.BASE, **dict.fromkeys(_SWITCHES.values(), False)},
}
"""Control word -> what holds behind it."""


def after_word(state: State, word: str, number: int | None) -> State:
    """The state behind a control word."""
    is_on = number != 0
    changes: dict[str, Any] = {}
    match word:
        case "f":
            changes["font"] = number
        case "uc":
            changes["substitutes"] = 1 if number is None else max(0, number)
        case "super":
            changes["script"] = Script.SUPER if is_on else Script.BASE
        case "sub":
            changes["script"] = Script.SUB if is_on else Script.BASE
        case "intbl":
            changes["table_level"] = max(1, state.table_level)
        case "itap":
            level = 1 if number is None else max(0, number)
            changes["table_level"] = min(level, _DEEPEST_TABLE)
        case _ if word in _SWITCHES:
            changes[_SWITCHES[word]] = is_on
        case _:
            changes = _ENDS.get(word, {})
    return replace(state, **changes) if changes else state
