"""A fault points at its place, in a short line and in a long one."""

import pytest

from agents.kg.language.errors import ErrorKind, Fault, KgQueryError
from agents.kg.language.faults import error


@pytest.mark.parametrize("position", [0, 5, 59, 60, 61, 150, 300])
def test_the_caret_stands_under_the_place_of_a_long_line(position: int) -> None:
    text = "first line\n" + "a" * position + "!" + "b" * 200
    shown, caret = error(ErrorKind.SYNTAX, "no", text, len("first line\n") + position).fault.caret.split("\n")
    assert shown[caret.index("^")] == "!"
    assert caret.strip() == "^"
    assert shown.count("b") >= 30
    assert len(shown) <= 100


@pytest.mark.parametrize("text", ["", "\n", "a\n"])
def test_a_fault_at_the_end_of_the_text_is_shown_too(text: str) -> None:
    fault = Fault(ErrorKind.SYNTAX, "no", text, len(text), line=text.count("\n") + 1, column=1)
    assert fault.caret.endswith("\n^")


def test_the_message_of_the_exception_says_all() -> None:
    fault = Fault(ErrorKind.SYNTAX, "cannot be read", "ab\ncd", 4, line=2, column=2)
    assert str(KgQueryError(fault)) == "syntax: cannot be read (line 2, column 2)\ncd\n ^"
