from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.settings import ParentChildChunks, TokenChunks, WordChunks
from crag.web.splitting import Span, pack, split_sentences, split_text
from tests.web.fakes import HashedWords

TEXTS = st.text(st.sampled_from("abcDEF .!?\n\t\u00a0é\u3000中|"), max_size=600)


def visible(text: str, spans: list[Span]) -> list[int]:
    return [place for start, end in spans for place in range(start, end) if not text[place].isspace()]


@given(TEXTS, st.integers(1, 80))
def test_pack_covers_every_visible_character_exactly_once_within_the_limit(text: str, limit: int) -> None:
    spans = pack(text, Span(0, len(text)), limit)
    assert visible(text, spans) == [place for place, character in enumerate(text) if not character.isspace()]
    assert all(0 < end - start <= limit for start, end in spans)
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)


@given(TEXTS, st.integers(50, 200), st.integers(20, 50))
def test_children_lie_inside_their_parent_and_cover_it(text: str, parent_size: int, child_size: int) -> None:
    settings = ParentChildChunks(method="parent_child", parent_characters=parent_size, child_characters=child_size)
    for parent in split_text(text, settings):
        assert all(parent.span.start <= start and end <= parent.span.end for start, end in parent.children)
        assert visible(text, list(parent.children)) == visible(text, [parent.span])


@given(TEXTS, st.integers(5, 30), st.integers(0, 4))
def test_word_windows_hold_the_asked_number_of_words_and_share_the_overlap(text: str, size: int, overlap: int) -> None:
    chunks = [
        text[p.span.start : p.span.end].split()
        for p in split_text(text, WordChunks(method="words", words=size, overlap=overlap))
    ]
    assert all(len(chunk) == size for chunk in chunks[:-1])
    rebuilt = chunks[0] if chunks else []
    for before, chunk in pairwise(chunks):
        assert before[size - overlap :] == chunk[:overlap]
        rebuilt = rebuilt + chunk[overlap:]
    assert rebuilt == text.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained. We left!", ["It rained.", "We left!"]),
        ("It rained. Éva met É. Åberg. «Łódź» won.", ["It rained.", "Éva met É. Åberg.", "«Łódź» won."]),
        (
            "Dr. Smith met J. Doe of Acme Inc. in May. They spoke.",
            ["Dr. Smith met J. Doe of Acme Inc. in May.", "They spoke."],
        ),
        (
            "It cost $3.5 million in the U.S. Army. Then?  Yes",
            ["It cost $3.5 million in the U.S. Army.", "Then?", "Yes"],
        ),
        (
            "On Jan. 5, 1999 Gen. Lee saw Mt. Moe (est. 1931, p. 12) at No. 7. It rained.",
            ["On Jan. 5, 1999 Gen. Lee saw Mt. Moe (est. 1931, p. 12) at No. 7.", "It rained."],
        ),
        ("It began in Oct. The cat sat. 4 left.", ["It began in Oct.", "The cat sat.", "4 left."]),
        ("It rained. Dr. Moe left. No. 5 stayed.", ["It rained.", "Dr. Moe left.", "No. 5 stayed."]),
        ('It rained. "yes" was said. (In May.) So be it.', ["It rained.", '"yes" was said.', "(In May.)", "So be it."]),
        ('He said "stop." Then 4 left.', ['He said "stop."', "Then 4 left."]),
        ("version 2.0 is out. see below", ["version 2.0 is out. see below"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[s:e].strip() for s, e in split_sentences(text, Span(0, len(text)))] == expected


def test_a_text_without_words_has_no_chunks_and_token_chunks_need_a_tokenizer() -> None:
    settings = ParentChildChunks(method="parent_child"), WordChunks(method="words"), TokenChunks(method="tokens")
    token_offsets = HashedWords().token_offsets
    assert [split_text(text, each, token_offsets) for each in settings for text in ("", " \n\t ")] == [[]] * 6
    with pytest.raises(ValueError, match="tokenizer"):
        split_text("text", settings[-1])


def test_a_megabyte_without_a_blank_is_cut_in_linear_time() -> None:
    text = "x" * 1_000_000
    assert len(pack(text, Span(0, len(text)), 700)) == 1429
