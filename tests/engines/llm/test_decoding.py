"""The decoding loop on a model whose next token is known: it counts upwards, one token after the other."""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.core.deadline import Deadline
from crag.engines.llm.base import GenerationRequest
from crag.engines.llm.decoding import FEWEST_PREFILL_TOKENS, BatchDecoder, BatchRow, Integers
from crag.engines.llm.grammar import GrammarError
from crag.engines.llm.guesses import TokenIndex

LETTERS = "abcdefghijklmnopqrstuvwxyz"
END = 26
VOCABULARY = 27
LIKELY = 4.0
"""Logit of the next letter; all others have 0."""


def log_probability(logit: float) -> float:
    return logit - math.log(math.exp(LIKELY) + VOCABULARY - 1)


class Alphabet:
    """After each letter most likely comes the next one, after z the end. Notes what it was given."""

    def __init__(self) -> None:
        self.shapes: list[tuple[int, ...]] = []
        self.positions: list[list[list[int]]] = []
        self.cached: list[list[int]] = []
        self.mask = np.zeros((0, 0), np.int64)
        self.numbers: list[int] = []
        self.known: list[str] = []
        self.now = 0.0

    prefill_tokens = 1000
    keeps_prefixes = True

    def adapters(self, names: Sequence[str | None]) -> AbstractContextManager[None]:
        return nullcontext()

    def step(self, tokens: Integers, mask: Integers, positions: Integers, cache: int | None, kept: int = 1) -> Any:
        past = cache or 0
        assert mask.shape[1] == past + tokens.shape[1], "the mask covers cache and new tokens"
        self.shapes.append(tuple(tokens.shape))
        self.positions.append(positions.tolist())
        before = self.cached if past else [[] for _ in tokens]
        if not past:
            self.numbers = list(range(len(tokens)))
            self.known = []
        self.cached = [[*old, *new] for old, new in zip(before, tokens.tolist(), strict=True)]
        self.mask = mask
        self.now += 1.0
        logits = np.zeros((len(tokens), kept, VOCABULARY), np.float32)
        for row, last in enumerate(tokens[:, -kept:].tolist()):
            for place, token in enumerate(last):
                logits[row, place, min(token + 1, END)] = LIKELY
        return logits, past + tokens.shape[1]

    def copy_state(self) -> Any:
        return [np.array(self.cached, np.float32)]

    def resume(self, state: Any, row_count: int) -> int:
        self.cached = [[int(token) for token in state[0][0]] for _ in range(row_count)]
        self.numbers, self.known = list(range(row_count)), []
        return len(self.cached[0])

    def select_rows(self, cache: int, rows: Sequence[int]) -> int:
        self.known = self.read()
        self.cached = [self.cached[row] for row in rows]
        self.mask = self.mask[list(rows)]
        self.numbers = [self.numbers[row] for row in rows]
        return cache

    def read(self) -> list[str]:
        """What the model knows of each text; of one that has ended, what it knew then."""
        texts = self.known or [""] * len(self.cached)
        for number, tokens, seen in zip(self.numbers, self.cached, self.mask.tolist(), strict=True):
            texts[number] = "".join(LETTERS[token] for token, real in zip(tokens, seen, strict=True) if real)
        return texts

    @property
    def widths(self) -> list[int]:
        return [width for _, width in self.shapes]


class Letters:
    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(LETTERS[token] for token in tokens if token != END)


def row(prompt: str, limit: int = 3, *, matcher: Any = None, **more: Any) -> BatchRow:
    request = GenerationRequest(prompt=prompt, **more)
    tokens = [LETTERS.index(letter) for letter in prompt]
    written = BatchRow(request, tokens, limit, matcher, prefix=tuple(tokens[: len(request.shared_prefix)]))
    if request.similar_text:
        written.expect([*(LETTERS.index(letter) for letter in request.similar_text), END])
    return written


def decoder_of(model: Alphabet) -> BatchDecoder:
    parts: Any = (model, Letters(), frozenset([END]))
    return BatchDecoder(*parts)


def run(model: Alphabet, *rows: BatchRow, seconds: float = 1000, prefill_tokens: int = 1000) -> list[Any]:
    model.prefill_tokens = prefill_tokens
    return decoder_of(model).run(rows, Deadline(seconds, lambda: model.now))


WRITTEN = st.text(LETTERS, min_size=1, max_size=14)


@given(
    st.lists(st.tuples(WRITTEN, st.integers(1, 12), st.text(LETTERS, max_size=9)), min_size=1, max_size=5),
    st.integers(1, 40),
)
def test_each_row_goes_on_from_its_own_last_letter_whatever_its_batch_mates_and_guesses(
    texts: list[tuple[str, int, str]], prefill_tokens: int
) -> None:
    """The end token ends a text and counts; guesses from the prompt or a similar text change nothing."""
    model = Alphabet()
    rows = [row(prompt, limit, similar_text=similar) for prompt, limit, similar in texts]
    found = run(model, *rows, prefill_tokens=prefill_tokens)
    for (prompt, limit, _), each, known in zip(texts, found, model.read(), strict=True):
        rest = LETTERS[LETTERS.index(prompt[-1]) + 1 :]
        assert each.text == rest[:limit]
        assert each.finish_reason == ("stop" if limit > len(rest) else "length")
        assert (each.prompt_tokens, each.completion_tokens) == (len(prompt), min(limit, len(rest) + 1))
        assert each.mean_log_probability == pytest.approx(log_probability(LIKELY))
        assert (prompt + each.text).startswith(known), "no wrong guess is left in the cache"


@pytest.mark.parametrize(
    ("stop", "text", "tokens"), [(("d",), "bc", 3), (("cd",), "b", 3), (("zz", "b"), "", 1), (("",), "bcdef", 5)]
)
def test_text_ends_before_a_stop_string_that_several_tokens_may_spell(
    stop: tuple[str, ...], text: str, tokens: int
) -> None:
    (found,) = run(Alphabet(), row("a", 5, stop=stop))
    assert (found.text, found.completion_tokens) == (text, tokens)
    assert found.finish_reason == ("stop" if text != "bcdef" else "length")


def test_a_deadline_between_two_steps_leaves_what_was_generated() -> None:
    model = Alphabet()
    ended, cut = run(model, row("z", 9), row("a", 9), seconds=3)
    assert (ended.text, ended.finish_reason) == ("", "stop")
    assert (cut.text, cut.finish_reason, cut.completion_tokens) == ("bcd", "deadline", 3)
    assert model.now == 3


@pytest.mark.parametrize("seconds", [0, 1, 2])
def test_a_deadline_while_prompts_are_read_gives_no_text(seconds: int) -> None:
    model = Alphabet()
    (found,) = run(model, row("abcdef"), seconds=seconds, prefill_tokens=2)
    assert (found.text, found.completion_tokens, found.finish_reason) == ("", 0, "deadline")
    assert found.mean_log_probability is None
    assert model.now == seconds


def test_steps_get_smaller_near_the_deadline_and_none_is_refused() -> None:
    """The first step takes 1 s for 60 tokens; of the 2 s that are left a step may take half."""

    class Slow(Alphabet):
        def step(self, tokens: Integers, *arguments: Any) -> Any:
            self.now += tokens.size / 60 - 1.0
            return super().step(tokens, *arguments)

    model = Slow()
    (found,) = run(model, row("abcdefghij" * 15, 2), seconds=3, prefill_tokens=60)
    assert model.widths[:3] == [60, 60, FEWEST_PREFILL_TOKENS - 2]
    assert found.text == "kl"


class Only:
    """A grammar that allows some letters, each time the same ones, and ends after so many tokens."""

    def __init__(self, letters: str, tokens: int = 100) -> None:
        self._letters = letters
        self._tokens = tokens
        self.seen: list[int] = []

    def allowed(self) -> bytes:
        if not self._letters:
            raise GrammarError("nothing can follow")
        return bytes(LETTERS[token] in self._letters for token in range(26))

    def advance(self, token: int) -> None:
        self.seen.append(token)

    def valid(self, tokens: list[int]) -> list[int]:
        return [token for token in tokens if LETTERS[token] in self._letters]

    def forced(self) -> list[int]:
        return [] if len(self._letters) > 1 else [LETTERS.index(self._letters)] * (self._tokens - len(self.seen))

    @property
    def finished(self) -> bool:
        return len(self.seen) >= self._tokens


def test_a_grammar_forbids_tokens_and_the_models_own_probability_is_reported() -> None:
    matcher = Only("xy", tokens=2)
    bound, free = run(Alphabet(), row("a", 9, matcher=matcher), row("a", 2))
    assert (bound.text, bound.finish_reason) == ("xy", "stop")
    assert matcher.seen == [23, 24]
    # x is not what the model would say after a, y is what it says after x.
    assert bound.mean_log_probability == pytest.approx((log_probability(0.0) + log_probability(LIKELY)) / 2)
    assert free.text == "bc"


def test_what_the_prompt_says_already_is_read_in_fewer_steps() -> None:
    plain, copying = Alphabet(), Alphabet()
    (long,) = run(plain, row("ab", 9))
    (short,) = run(copying, row("bcdefghijkzab", 9))
    assert long.text == short.text == "cdefghijk"
    assert long.mean_log_probability == pytest.approx(short.mean_log_probability)
    assert len(plain.shapes) == 9
    assert copying.widths == [13, 5, 3], "the second step reads c and, after the bc of the prompt, four guesses"


def test_what_likely_texts_say_and_what_a_grammar_forces_is_read_in_fewer_steps() -> None:
    likely, bound = Alphabet(), Alphabet()
    guessing = row("ab", 9)
    guessing.likely = TokenIndex([[LETTERS.index(letter) for letter in "xxabcdefghijk"]])
    (short,) = run(likely, guessing)
    assert (short.text, likely.widths) == ("cdefghijk", [2, 5, 3])

    (forced,) = run(bound, row("ab", 5, matcher=Only("x", tokens=5)))
    assert (forced.text, bound.widths) == ("xxxxx", [2, 4]), (
        "the newest x and three that must follow; the step adds one"
    )


def test_a_similar_text_is_guessed_in_the_padding_of_the_prompts() -> None:
    """The shorter prompt has four columns of padding: with right guesses in them, the step yields five letters."""
    model = Alphabet()
    short, long = run(model, row("tu", 6, similar_text="vwxyz"), row("abcdef", 2))
    assert (short.text, long.text) == ("vwxyz", "gh")
    assert model.shapes == [(2, 6), (2, 1)]

    model = Alphabet()
    run(model, row("tu", 6, similar_text="vwxyz"), row("abcdef", 2), prefill_tokens=4)
    assert model.shapes == [(2, 1), (2, 5), (2, 1)], "the step that reads guesses reads the token before them too"


def test_top_p_keeps_the_fewest_tokens_that_reach_it() -> None:
    """At temperature 1 the next letter has about two thirds of the probability."""
    rows = [row("a", 1, temperature=1.0, top_p=0.6) for _ in range(60)]
    assert {each.text for each in run(Alphabet(), *rows)} == {"b"}
    rows = [row("a", 1, temperature=1.0, top_p=0.69) for _ in range(300)]
    assert 2 <= len({each.text for each in run(Alphabet(), *rows)}) <= 3


def test_samples_follow_the_models_probabilities_and_the_temperature() -> None:
    def share(temperature: float) -> float:
        rows = [row("a", 1, temperature=temperature) for _ in range(600)]
        return len([each for each in run(Alphabet(), *rows) if each.text == "b"]) / 600

    for temperature in (0.5, 1.0, 2.0):
        expected = 1 / (1 + (VOCABULARY - 1) * math.exp(-LIKELY / temperature))
        assert share(temperature) == pytest.approx(expected, abs=0.07)


RULES = "thequickbrownfoxjumps"


def test_the_prefix_of_a_batch_is_read_once_by_itself_and_kept() -> None:
    model = Alphabet()
    decoder = decoder_of(model)
    shapes_read = []
    for prompts, adapter in ((["c", "abe"], None), (["b"], None), (["d"], "tuned")):
        model.shapes.clear()
        rows = [row(RULES + prompt, 2, shared_prefix=RULES, adapter=adapter) for prompt in prompts]
        generations = decoder.run(rows, Deadline(1000, lambda: model.now))
        shapes_read.append(model.shapes[:-1])  # without the last letter of the answer
        for prompt, generation, known in zip(prompts, generations, model.read(), strict=True):
            following = LETTERS.index(prompt[-1]) + 1
            assert generation.text == LETTERS[following : following + 2]
            assert generation.prompt_tokens == len(RULES + prompt)
            assert (RULES + prompt + generation.text).startswith(known)
            assert known.startswith(RULES + prompt)
    assert shapes_read == [[(1, 21), (2, 3)], [(1, 1)], [(1, 21), (1, 1)]]


@pytest.mark.parametrize(("seconds", "steps"), [(0, 0), (1, 1), (2, 2)])
def test_a_deadline_before_or_after_the_prefix_gives_no_text(seconds: int, steps: int) -> None:
    model = Alphabet()
    (found,) = run(model, row(RULES + "abcd", shared_prefix=RULES), seconds=seconds, prefill_tokens=2)
    assert (found.text, found.completion_tokens, found.finish_reason) == ("", 0, "deadline")
    assert model.widths == [21, 2][:steps]
