"""Tokens are those of the engines, and nothing is cut."""

from pathlib import Path

import pytest

from crag.core.files import DatasetError
from crag.engines.llm import Message
from crag.engines.llm.tokenizer import ChatTokenizer
from crag.training.files import TrainingExample
from crag.training.lora.model import tokenize
from tests.training.lora.toy import toy_examples


def test_prompt_as_in_the_engines_and_completion_with_the_end_token(tiny_llama: Path) -> None:
    tokenizer = ChatTokenizer(tiny_llama)
    page = Message("user", "a page that spells <|end|> out")
    examples = [
        TrainingExample("it is 4", messages=(page,), source="chat"),
        TrainingExample(" lazy dog <|end|>", prompt="the quick brown fox", source="raw"),
    ]
    chat, raw = tokenize(tiny_llama, examples, 300).kept
    assert chat.prompt == tokenizer.prompt_tokens(examples[0].request)
    assert raw.prompt == tokenizer.prompt_tokens(examples[1].request)

    end = tokenizer.end_token
    assert chat.completion[-1] == end
    assert tokenizer.decode(chat.completion) == "it is 4"


def test_a_completion_cannot_end_its_own_turn(tiny_llama: Path) -> None:
    (tokens,) = tokenize(tiny_llama, [TrainingExample("one <|end|> two", prompt="fox")], 300).kept
    assert tokens.completion.count(tokens.completion[-1]) == 1


def test_what_is_too_long_is_counted_by_source_and_not_cut(tiny_llama: Path) -> None:
    examples = toy_examples(40)
    whole = tokenize(tiny_llama, examples, 400)
    longest = max(tokens.length for tokens in whole.kept)
    assert not whole.too_long
    assert whole.sources == {"odd": 20, "even": 20}
    some = tokenize(tiny_llama, examples, longest - 1)
    assert some.kept == [tokens for tokens in whole.kept if tokens.length < longest]
    assert some.too_long.total() == 40 - len(some.kept) > 0
    assert some.too_long + some.sources == whole.sources


def test_an_error_says_that_every_example_is_too_long(tiny_llama: Path) -> None:
    with pytest.raises(DatasetError, match="none of 3 examples has at most 8 tokens"):
        tokenize(tiny_llama, toy_examples(3), 8)
