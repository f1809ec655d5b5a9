"""The exact strings that the model reads and the evaluator gets."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from crag.answering.normalise import MAX_TOKENS, normalise, trim_to_tokens
from crag.answering.prompts import PROMPTS, PromptInputs, answer_prompt
from crag.core.contracts import I_DONT_KNOW, INVALID_QUESTION, Decision, Query
from crag.settings import AnsweringSettings
from crag.weights.manifest import WeightsMissingError, locate

PHRASES = [
    ("Barry Levinson.", "Barry Levinson."),
    ("Answer: Barry Levinson", "Barry Levinson"),
    ("The answer is: 42", "42"),
    ("\n\n  Barry Levinson\nBecause the page says so.", "Barry Levinson"),
    ("**Barry Levinson**", "Barry Levinson"),
    ('"Rain Man"', "Rain Man"),
    ('"Shallow" and "Swept Away"', '"Shallow" and "Swept Away"'),
    ("The winners are:\n- Alice\n- Bob\n\nThey won.", "The winners are: Alice, Bob"),
    ("1. Alice\n2. Bob\n3) Carol", "Alice, Bob, Carol"),
    ("1. FC Köln", "1. FC Köln"),
    ("Barry Levinson<|eot_id|>", "Barry Levinson"),
    ("assistant\n\nBarry Levinson", "Barry Levinson"),
    ("a\u200bb  c", "ab c"),
    ("I don't like it is a song by the band.", "I don't like it is a song by the band."),
]
ABSTENTIONS = [
    "I don't know", "i don't know.", "I don’t know", "I do not know the answer.", "I'm not sure, maybe Paris",
    "I am unable to answer this.", "The context does not provide this information.", "It cannot be determined.",
    "Not found: the graph knows no film of this name.", "The facts do not give his age.",
    "There is not enough information.", "unknown", "N/A", "", "   \n", "...", "The references do not mention a coach.",
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), PHRASES)
def test_an_answer_is_stripped_to_its_line(raw: str, expected: str) -> None:
    answer = normalise(raw, "web")
    assert answer.text == expected
    assert answer.decision is Decision.ANSWERED


@pytest.mark.parametrize("raw", ABSTENTIONS)
def test_every_way_of_not_knowing_becomes_the_official_phrase(raw: str) -> None:
    answer = normalise(raw, "web")
    assert answer.text == I_DONT_KNOW
    assert answer.text.isascii()
    assert answer.decision is Decision.ABSTAINED
    assert answer.reason


@pytest.mark.parametrize("raw", ["Invalid question.", "invalid question", "This question has a false premise."])
def test_a_false_premise_becomes_the_gold_phrase(raw: str) -> None:
    answer = normalise(raw, "web")
    assert answer.text == INVALID_QUESTION
    assert answer.decision is Decision.INVALID_QUESTION


@given(st.text(max_size=400))
def test_any_text_becomes_one_short_printable_line(raw: str) -> None:
    text = normalise(raw, "web").text
    assert text
    assert "\n" not in text
    assert text.isprintable()
    text.encode("utf-8")


def test_half_a_character_becomes_a_mark_that_can_be_written() -> None:
    assert normalise("caf\ud800 noir", "web").text == "caf\ufffd noir"


def test_a_long_answer_is_cut_at_the_evaluators_limit() -> None:
    text = " ".join(f"film number {number}," for number in range(200))
    cut = trim_to_tokens(text)
    assert text.startswith(cut)
    assert 60 < len(cut) < len(text)


def test_a_short_answer_is_kept_without_the_memory_of_a_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(sys.modules["crag.answering.normalise"], "_tokenizer", lambda: loaded.append("tokenizer"))
    assert trim_to_tokens("東京 " * 10) == "東京 " * 10
    assert loaded == []
    trim_to_tokens("東京 " * 11)
    assert loaded == ["tokenizer"]


@pytest.mark.models
@pytest.mark.parametrize(
    "text",
    [
        " ".join(["AAPL MSFT GOOG AMZN NVDA TSLA"] * 8),
        "word " * 72 + "🦙🦙🦙🦙🦙🦙",
        "Kraków, São Paulo, Düsseldorf, Αθήνα, 東京, " * 6,
        " ".join(str(number) for number in range(1900, 1960)),
    ],
)
@pytest.mark.parametrize("with_tokenizer", [True, False])
def test_no_trimmed_answer_has_more_than_75_real_tokens(
    text: str, with_tokenizer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        folder = locate("llama-2-tokenizer")
    except WeightsMissingError as error:
        pytest.skip(str(error))
    if not with_tokenizer:
        monkeypatch.setattr(sys.modules["crag.answering.normalise"], "_tokenizer", lambda: None)
    trimmed = trim_to_tokens(text)
    assert 20 < len(trimmed) < len(text)
    tokens = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(trimmed, add_special_tokens=False).ids
    assert len(tokens) <= MAX_TOKENS


@pytest.mark.models
def test_trimming_agrees_with_the_evaluators_own_way() -> None:
    try:
        folder = locate("llama-2-tokenizer")
    except WeightsMissingError as error:
        pytest.skip(str(error))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    text = "Among the films of that year are " + ", ".join(f"The Long Title Number {n}" for n in range(60))
    official = tokenizer.decode(tokenizer.encode(text, add_special_tokens=False).ids[:MAX_TOKENS]).strip()
    assert trim_to_tokens(text) == official


def test_places_in_a_page_are_not_filled_in() -> None:
    inputs = PromptInputs(Query("id", "how much?", "now", None, ()), "cost: $query $5")
    _, user = PROMPTS["basic"].render(inputs, word_limit=5)
    assert "cost: $query $5" in user.content


def test_an_own_prompt_may_call_the_limit_by_its_older_name() -> None:
    own = {"system": "$word_limit and $token_limit words", "user": "$context $query"}
    prompt = answer_prompt(AnsweringSettings.model_validate({"own_prompt": own}))
    system, _ = prompt.render(PromptInputs(Query("id", "", "", None, ()), ""), word_limit=20)
    assert system.content == "20 and 20 words"
