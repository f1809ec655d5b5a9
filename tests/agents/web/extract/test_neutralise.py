import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.web.extract.neutralise import neutralise

CONTROL_TOKENS = [
    "<|eot_id|>", "<|begin_of_text|>", "<|start_header_id|>", "<|im_start|>", "<|im_end|>", "<|endoftext|>",
    "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "<doc>", "</doc>", '<doc source="x">', "<DOC >", "<unk>",
    "<pad>", "<bos>", "<start_of_turn>", "[CLS]", "[SEP]", "[MASK]", "<|", "|>", "<doc unclosed",
]  # fmt: skip


@pytest.mark.parametrize("token", CONTROL_TOKENS)
def test_no_control_token_survives_and_the_text_round_it_does(token: str) -> None:
    text = neutralise(f"before {token} after")
    assert token.lower() not in text.lower()
    assert text.startswith("before ")
    assert text.endswith(" after")


@pytest.mark.parametrize("token", CONTROL_TOKENS)
@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\u2060", "\x00"])
def test_invisible_characters_do_not_shield_a_token(token: str, hidden: str) -> None:
    assert token not in neutralise(hidden.join(token))


@given(st.lists(st.sampled_from([*CONTROL_TOKENS, "<", "|", ">", "[", "s", "/", "doc", "INST]", " "]), max_size=12))
def test_tokens_cannot_be_built_from_parts_and_a_second_pass_changes_nothing(parts: list[str]) -> None:
    text = neutralise("".join(parts))
    assert neutralise(text) == text
    assert not [token for token in ("<|", "|>", "[INST]", "<s>", "</s>", "<doc>", "</doc>", "<<SYS>>") if token in text]


@pytest.mark.parametrize("text", ["<|[INST]|>", "<doc x=[/INST]>", "<|[CLS]|>"])
def test_a_mark_inside_a_mark_does_not_survive(text: str) -> None:
    assert "[" not in neutralise(text)
    assert neutralise(neutralise(text)) == neutralise(text)


@pytest.mark.parametrize(
    "text", ["a < b > c", "f(x) = [1, 2]", "x|y", "<docket>", "<sub>", "[institute]", "é 中 ß 😀", "a\tb\nc"]
)
def test_other_text_is_left_alone(text: str) -> None:
    assert neutralise(text) == text
