"""What every engine promises, checked on every engine that can run here."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from crag.core.deadline import Deadline
from crag.engines.llm import Generation, GenerationRequest, LanguageModel, Message
from crag.engines.llm.tokenizer import ChatTokenizer, quiet_transformers

LONG = 600.0
TEXT = "The film was first shown in 1994; it took 28 million dollars. Wer weiß? 東京 🙂 ok"


def ask(
    text: str, *, adapter: str | None = None, max_tokens: int = 12, stop: tuple[str, ...] = ()
) -> GenerationRequest:
    return GenerationRequest(messages=(Message("user", text),), adapter=adapter, max_tokens=max_tokens, stop=stop)


def alone(engine: LanguageModel, request: GenerationRequest) -> Generation:
    return engine.generate([request], Deadline(LONG))[0]


def test_counts_and_truncates_before_warm_up_like_its_own_tokenizer(engine: LanguageModel) -> None:
    whole = engine.count_tokens(TEXT)
    assert engine.count_tokens("") == 0
    assert engine.truncate(TEXT, whole) == TEXT
    for limit in (0, 1, 5, whole - 1):
        beginning = engine.truncate(TEXT, limit)
        assert TEXT.startswith(beginning)
        assert engine.count_tokens(beginning) <= limit
    assert engine.truncate(TEXT, 5)


def test_one_generation_per_request_in_order_whatever_the_batch_mates(engine: LanguageModel) -> None:
    """What the models are sure of: in int8 the log-probability of a token depends a little on how prompts are cut."""
    lengths = {"France": 9, "Japan": 4, "Germany": 1, "Egypt": 14, "Greece": 3, "Russia": 6}
    order = " Answer in one short sentence."
    requests = [ask(f"What is the capital of {name}?{order * count}", max_tokens=6) for name, count in lengths.items()]
    together = engine.generate(requests, Deadline(LONG))
    assert len({generation.text for generation in together}) > 1
    assert [generation.text for generation in together] == [alone(engine, request).text for request in requests]
    assert all(generation.finish_reason in {"stop", "length"} for generation in together)


def test_adapters_mix_in_one_batch(engine: LanguageModel) -> None:
    """One token, because later ones of random adapters hang on rounding, which depends on the size of the batch."""
    requests = [
        ask("How many dogs?", adapter=adapter, max_tokens=1) for adapter in ("first", None, "second", "first", None)
    ]
    together = engine.generate(requests, Deadline(LONG))
    assert [generation.text for generation in together[:3]] == [alone(engine, one).text for one in requests[:3]]
    assert together[0].text == together[3].text
    assert together[1].text == together[4].text


def test_an_unknown_adapter_costs_its_own_request_only(engine: LanguageModel) -> None:
    first, second = engine.generate([ask("a", adapter="nobody"), ask("b")], Deadline(LONG))
    assert first.finish_reason == "error"
    assert "nobody" in (first.error or "")
    assert "adapters of this engine: first, second" in (first.error or "")
    assert second.finish_reason in {"stop", "length"}


def test_an_expired_deadline_is_noticed_at_once(engine: LanguageModel) -> None:
    generations = engine.generate([ask("a"), ask("b")], Deadline(0))
    assert generations == [Generation.out_of_time()] * 2


@pytest.mark.parametrize("limit", [1, 3, 7])
def test_max_tokens_is_kept(engine: LanguageModel, limit: int) -> None:
    generation = alone(engine, ask("Tell me all about the lazy dog.", max_tokens=limit))
    assert 1 <= generation.completion_tokens <= limit
    assert generation.finish_reason == ("length" if generation.completion_tokens == limit else "stop")


def test_generation_ends_before_a_stop_string(engine: LanguageModel) -> None:
    free = alone(engine, ask("five dozen jugs")).text
    middle = free[len(free) // 2 : len(free) // 2 + 3]
    assert len(middle) == 3
    stopped = alone(engine, ask("five dozen jugs", stop=("never comes", middle)))
    assert stopped.text == free[: free.index(middle)]
    assert stopped.finish_reason == "stop"


def test_log_probability_is_a_mean_over_tokens(engine: LanguageModel) -> None:
    generation = alone(engine, replace(ask("Is it a fox?"), with_log_probability=True))
    assert generation.mean_log_probability is not None
    assert -30 < generation.mean_log_probability <= 0
    assert math.isfinite(generation.mean_log_probability)


GRAMMARS = [
    'start: "blue"',  # each token is forced, and so is the end
    'start: "blue" | "green"',
    'start: "a" /[a-c]*/',  # the model chooses where to end
]


def own_log_probability(model: Path, request: GenerationRequest, generation: Generation) -> float:
    """The mean over a generation's tokens, by one pass of transformers over prompt and text."""
    tokenizer = ChatTokenizer(model)
    prompt = tokenizer.prompt_tokens(request)
    text = tokenizer.backend.encode(generation.text, add_special_tokens=False).ids
    if generation.completion_tokens > len(text):
        assert tokenizer.end_token is not None
        text.append(tokenizer.end_token)
    assert generation.completion_tokens == len(text)

    whole = torch.tensor([prompt + text])
    with torch.no_grad(), quiet_transformers():
        logits = AutoModelForCausalLM.from_pretrained(str(model))(whole).logits[0, len(prompt) - 1 : -1]
    each = torch.log_softmax(logits, dim=-1)[torch.arange(len(text)), torch.tensor(text)]
    return float(each.mean())


@pytest.mark.parametrize(
    ("engine", "tolerance"),
    [
        ("transformers", 1e-3),
        ("openvino", 0.25),  # int8 weights
        pytest.param("vllm", 1e-3, marks=pytest.mark.vllm),
    ],
    indirect=["engine"],
)
def test_under_a_grammar_a_log_probability_is_still_the_models_own(
    engine: LanguageModel, tolerance: float, tiny_llama: Path
) -> None:
    requests = [
        GenerationRequest(prompt=prompt, grammar=grammar, max_tokens=limit, with_log_probability=True)
        for grammar in GRAMMARS
        for prompt in ("Colour:", "Colour: it is the quick brown fox")
        for limit in (4, 12)
    ]
    generations = engine.generate(requests, Deadline(LONG))
    for request, generation in zip(requests, generations, strict=True):
        own = own_log_probability(tiny_llama, request, generation)
        assert own < -2, "far from 0, which it would be among the grammar's choices"
        assert generation.mean_log_probability == pytest.approx(own, abs=tolerance)
        is_whole = generation.text in {"blue", "green"}
        assert generation.finish_reason == "stop" or not is_whole


@pytest.mark.parametrize("engine", ["openai over transformers"], indirect=True)
def test_a_server_gives_no_log_probability_under_a_grammar(engine: LanguageModel) -> None:
    free = replace(ask("Which colour?"), with_log_probability=True)
    first, second = engine.generate([replace(free, grammar=GRAMMARS[1]), free], Deadline(LONG))
    assert first.text in {"blue", "green"}
    assert first.mean_log_probability is None
    assert second.mean_log_probability is not None


def test_any_text_can_be_asked(engine: LanguageModel) -> None:
    texts = [
        "🙂👨‍👩‍👧",
        "مرحبا",
        "\ud83d half",
        "\x00\x07",
        "<|im_end|><|end|></s>",
        " ",
        "e\u0301\u202e",
        "and a plain one",
    ]
    generations = engine.generate([ask(text, max_tokens=3) for text in texts], Deadline(LONG))
    assert [generation.finish_reason in {"stop", "length"} for generation in generations] == [True] * len(texts)
    for generation in generations:
        assert generation.text.encode("utf-8") is not None
