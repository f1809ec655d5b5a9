"""No input makes cleaning raise, and what is left breaks nothing: over all of Unicode and all references."""

import html
import html.entities
import json
import re
import sys
import unicodedata
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.core.text import MOST_MARKS, clean, encodable_json
from crag.web.extract.clean import neutralise, plain

ALL = range(sys.maxunicode + 1)
MARKS = [chr(code) for code in ALL if unicodedata.category(chr(code))[0] == "M"]
ANY_TEXT = st.text(st.characters(), max_size=200) | st.text(st.integers(0, sys.maxunicode).map(chr), max_size=200)
"""Hypothesis leaves surrogates out; the second half has them."""
REFERENCES = st.one_of(
    st.integers(0).map(lambda number: f"&#{number};"),
    st.integers(0).map(lambda number: f"&#x{number:x};"),
    st.integers(0, 6_000).map(lambda digits: f"&#{'9' * digits}"),
    st.integers(0, 6_000).map(lambda digits: f"&#{'0' * digits}65;"),
    st.integers(0, 6_000).map(lambda digits: f"&#X{'F' * digits};"),
    st.sampled_from(sorted(html.entities.html5)).map(lambda name: f"&{name}"),
)
MARKUP = st.lists(REFERENCES | ANY_TEXT | st.sampled_from(["&", "&#", "&#x", ";", "<b>"]), max_size=8).map("".join)


def assert_workable(text: str) -> None:
    """What tokenizers, files, terminals and normal forms need."""
    text.encode("utf-8")
    assert not [one for one in text if unicodedata.category(one) in {"Cc", "Cf", "Cs"} and one not in "\t\n"]
    assert not text or unicodedata.category(text[0])[0] != "M"


@given(ANY_TEXT | MARKUP, st.booleans())
def test_any_text_is_cleaned_and_cleaning_it_again_changes_nothing(text: str, references: bool) -> None:
    cleaned = clean(text, references=references)
    assert_workable(cleaned)
    assert len(cleaned) <= len(text)
    assert clean(cleaned) == cleaned


@given(MARKUP)
def test_names_and_snippets_never_raise(markup: str) -> None:
    assert_workable(plain(markup))
    assert neutralise(plain(markup)) == plain(markup)


def test_every_single_character_of_unicode() -> None:
    for code in ALL:
        character = chr(code)
        kind = unicodedata.category(character)
        cleaned = clean(f"a{character}b")
        if kind == "Cs":
            assert cleaned == "a\ufffdb"
        elif kind == "Cf":
            assert cleaned == "ab", hex(code)
        elif kind == "Cc" or character in "\u2028\u2029":
            assert cleaned == f"a{character}b" if character in "\t\n" else cleaned in {"ab", "a\nb"}, hex(code)
        elif kind != "Cn":  # what the Unicode database of this Python calls visible stays
            assert cleaned == f"a{character}b", hex(code)


def test_every_reference_reads_as_the_standard_library_says() -> None:
    """All names, and numbers up to the end of Unicode in steps that meet every plane."""
    wanted = [f"&{name}" for name in html.entities.html5] + [f"&#{code};" for code in range(0, 0x120000, 97)]
    for reference in [*wanted, *(f"&#x{code:X};" for code in range(300))]:
        assert clean(f"a{reference}b", references=True) == clean(html.unescape(f"a{reference}b")), reference
    assert clean("a&amp;b") == "a&amp;b"
    assert clean("&amp;lt;", references=True) == "&lt;", "once"


@given(st.lists(st.sampled_from([*MARKS, "\uff9e", "\uff9f", "a", "か", " "]), max_size=300).map("".join))
def test_normal_forms_of_cleaned_text_have_no_heaps_of_marks(text: str) -> None:
    decomposed = unicodedata.normalize("NFKD", clean(text))
    runs = [
        len(list(run)) for marked, run in groupby(decomposed, lambda one: bool(unicodedata.combining(one))) if marked
    ]
    assert max(runs, default=0) <= 3 * (MOST_MARKS + 1)


def test_what_the_heaps_are_known_by_is_true_of_all_of_unicode() -> None:
    assert not [one for one in MARKS if re.match(r"[\w\s]", one)]
    begins_with_mark = [chr(code) for code in ALL if unicodedata.combining(unicodedata.normalize("NFKD", chr(code))[0])]
    assert set(begins_with_mark) <= {*MARKS, "\uff9e", "\uff9f"}
    assert clean("e" + "\u0301\u0316" * 10_000 + "f") == "e" + "\u0301\u0316" * (MOST_MARKS // 2) + "f"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\r\nb\rc\u2028d\x0be", "a\nb\nc\nd\ne"),
        ("\u0301\u0308abc", "abc"),
        ("\u0301", ""),
        ("nul\0l", "null"),
        ("\ud83d\ude00 \ud83d", "😀 \ufffd"),  # two halves that JSON carried apart
        ("Beyoncé — “quoted” नमस्ते e\u0301 \N{KATAKANA LETTER KA}\uff9e", None),
    ],
)
def test_line_ends_are_one_and_what_nobody_sees_is_dropped(text: str, cleaned: str | None) -> None:
    assert clean(text) == (text if cleaned is None else cleaned)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
)


@given(JSON)
def test_any_json_value_can_be_written_again(value: object) -> None:
    json.dumps(encodable_json(value), ensure_ascii=False, allow_nan=False).encode("utf-8")
