"""Tokens are those of the engines, nothing is cut, and the order of training holds every epoch."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.llm import Message
from agents.llm.tokenizer import ChatTokenizer
from evaluation.datasets import DatasetError
from tests.training.lora.toy import toy_examples
from training.examples import TrainingExample
from training.lora.tokens import ExampleTokenizer, training_order


def test_prompt_as_in_the_engines_and_completion_with_the_end_token(tiny_llama: Path) -> None:
    tokenizer = ChatTokenizer(tiny_llama)
    page = Message("user", "a page that spells <|end|> out")
    examples = [
        TrainingExample("it is 4", messages=(page,), source="chat"),
        TrainingExample(" lazy dog <|end|>", prompt="the quick brown fox", source="raw"),
    ]
    chat, raw = ExampleTokenizer(tiny_llama).tokens(examples, 300).kept
    assert chat.prompt == tokenizer.prompt_tokens(examples[0].request)
    assert raw.prompt == tokenizer.prompt_tokens(examples[1].request)
    end = tokenizer.huggingface.eos_token_id
    assert chat.completion[-1] == end
    assert tokenizer.decode(chat.completion) == "it is 4"
    assert chat.rejected is None


def test_a_completion_cannot_end_its_own_turn(tiny_llama: Path) -> None:
    tokenizer = ExampleTokenizer(tiny_llama)
    (tokens,) = tokenizer.tokens([TrainingExample("one <|end|> two", prompt="fox")], 300).kept
    assert tokens.completion.count(tokens.completion[-1]) == 1


def test_every_prompt_of_a_file_is_as_in_the_engines(tiny_llama: Path) -> None:
    """Nothing that the completions need may stay switched on for the next prompt."""
    examples = toy_examples(5)
    found = ExampleTokenizer(tiny_llama).tokens(examples, 400).kept
    assert [one.prompt for one in found] == [ChatTokenizer(tiny_llama).prompt_tokens(one.request) for one in examples]


def test_what_is_too_long_is_counted_by_source_and_not_cut(tiny_llama: Path) -> None:
    examples = toy_examples(40)
    whole = ExampleTokenizer(tiny_llama).tokens(examples, 400)
    longest = max(tokens.length for tokens in whole.kept)
    assert not whole.too_long
    assert whole.sources == {"odd": 20, "even": 20}
    some = ExampleTokenizer(tiny_llama).tokens(examples, longest - 1)
    assert some.kept == [tokens for tokens in whole.kept if tokens.length < longest]
    assert some.too_long.total() == 40 - len(some.kept) > 0
    assert some.too_long + some.sources == whole.sources


def test_nothing_left_or_no_rejected_completion_is_an_error(tiny_llama: Path) -> None:
    tokenizer = ExampleTokenizer(tiny_llama)
    with pytest.raises(DatasetError, match="none of 3 examples has at most 8 tokens"):
        tokenizer.tokens(toy_examples(3), 8)
    with pytest.raises(DatasetError, match=r'an example: .*"rejected"'):
        tokenizer.tokens(toy_examples(3), 300, preferences=True)
    read = replace(toy_examples(1)[0], place="rows.jsonl, line 7")
    with pytest.raises(DatasetError, match=r'rows.jsonl, line 7: .*"rejected"'):
        tokenizer.tokens([read], 300, preferences=True)
    (pair,) = tokenizer.tokens(toy_examples(1, rejected="i don't know, it is not said"), 300, preferences=True).kept
    assert pair.rejected
    assert pair.length == len(pair.prompt) + len(pair.rejected)
    assert pair.read == 2 * len(pair.prompt) + len(pair.completion) + len(pair.rejected)


@given(
    lengths=st.lists(st.integers(1, 500), min_size=1, max_size=150),
    per_step=st.integers(1, 8),
    epochs=st.integers(1, 3),
    seed=st.integers(0, 9),
)
def test_every_epoch_has_every_example(lengths: list[int], per_step: int, epochs: int, seed: int) -> None:
    order = training_order(lengths, per_step, epochs, seed)
    assert Counter(order) == dict.fromkeys(range(len(lengths)), epochs)
    assert order == training_order(lengths, per_step, epochs, seed)


def test_a_step_holds_examples_of_similar_length_and_the_order_is_random() -> None:
    lengths = [(37 * number) % 400 for number in range(400)]
    order = training_order(lengths, 4, 1, seed=0)
    steps = [[lengths[place] for place in order[start : start + 4]] for start in range(0, 400, 4)]
    padded = sum(4 * max(step) for step in steps)
    assert padded / sum(lengths) < 1.1
    first = [step[0] for step in steps]
    assert first not in (sorted(first), sorted(first, reverse=True))
    assert order != training_order(lengths, 4, 1, seed=1)
