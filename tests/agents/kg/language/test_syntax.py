"""Texts in quotes as they are written, and the places of what is read."""

import pytest

from agents.kg.language.syntax import Comparison, Group, Sliced, Star, Surplus, Text, Written, read


def slot_of(written: str) -> object:
    (item,) = read(f"f({written})")
    assert isinstance(item, Written)
    assert item.body is not None
    return item.body.items[0]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r'"say \"x\" now"', 'say "x" now'),
        (r"'it\'s'", "it's"),
        (r"“say \”x\””", "say ”x”"),
        (r"‘it\’s’", "it’s"),
        (r'"a\\b"', r"a\b"),
        (r'"a\b"', r"a\b"),
        ('-"x"', "-x"),
        ('"  two   words "', "two words"),
        ("two   words", "two words"),
        ('""', ""),
    ],
)
def test_texts(written: str, text: str) -> None:
    assert slot_of(written) == Text(text, quoted=written != "two   words", position=2)


def test_places() -> None:
    assert slot_of(" *") == Star(3)
    assert slot_of(" [*]") == Group((Star(4),), 3)
    assert slot_of(" a >= b") == Comparison(Text("a", False, 3), ">=", Text("b", False, 8), 3)
    written, surplus, average = read("f()[a:*] ) average")
    assert isinstance(written, Written)
    assert written.body is not None
    assert written.body.trailers == (Sliced(Text("a", False, 4), Star(6), 3),)
    assert surplus == Surplus(9)
    assert average == Written("", None, 11)


def test_the_word_for_all_is_read_in_any_case() -> None:
    assert [item.take for item in read("ALL f() all f() All f() 3 f()") if isinstance(item, Written)] == [
        "all", "all", "all", "3",
    ]  # fmt: skip
