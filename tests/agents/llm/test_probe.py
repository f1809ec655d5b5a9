"""The probe: what it reads from real engines, when it is silent, and what a wrong file says."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from agents.deadline import Deadline
from agents.llm import Generation, GenerationRequest, load_language_model
from agents.llm.decoding import BatchDecoder, Pace
from agents.llm.probe import Probe
from agents.llm.trainable import prompt_states
from agents.settings import OpenvinoEngine, SettingsError, TransformersEngine
from tests.agents.llm.test_decoding import END, Alphabet, Letters, row

PROMPTS = ("the quick brown fox", "pack my box with five dozen liquor jugs", "the quick brown dog is lazy, is it?")
LAYER = 1
FLOAT: dict[str, Any] = {"engine": "transformers", "dtype": "float32", "device": "cpu"}
ENGINES: dict[str, Any] = {
    "openvino": lambda **settings: OpenvinoEngine(engine="openvino", **settings),
    "transformers": lambda **settings: TransformersEngine(**FLOAT, **settings),
}


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory, tiny_llama: Path) -> Path:
    chance = torch.Generator().manual_seed(0)
    weights = torch.randn(64, generator=chance).tolist()
    path = tmp_path_factory.mktemp("probe") / "probe.json"
    path.write_text(json.dumps({"model": str(tiny_llama), "layer": LAYER, "bias": 0.5, "weights": weights}))
    return path


def expected(folder: Path, probe: Path, engine: Any) -> list[float]:
    """Weights times the state that transformers itself gives for the whole prompt, plus the bias."""
    model = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32)
    data = json.loads(probe.read_text())
    found = []
    for prompt in PROMPTS:
        tokens = torch.tensor([engine._tokenizer.prompt_tokens(GenerationRequest(prompt=prompt))])
        with torch.inference_mode():
            state = model(tokens, output_hidden_states=True).hidden_states[LAYER][0, -1]
        found.append(float(state @ torch.tensor(data["weights"]) + data["bias"]))
    return found


def answered(engine: Any, **more: Any) -> list[Generation]:
    requests = [GenerationRequest(prompt=prompt, max_tokens=4, **more) for prompt in PROMPTS]
    found: list[Generation] = engine.generate(requests, Deadline(60))
    assert not [one.error for one in found if one.error]
    return found


@pytest.mark.parametrize(("name", "rounding"), [("transformers", 1e-4), ("openvino", 0.03)])
def test_it_reads_the_state_at_the_end_of_each_prompt(
    name: str, rounding: float, tiny_llama: Path, probe: Path
) -> None:
    engine = load_language_model(ENGINES[name](model=str(tiny_llama), probe=str(probe)))
    wanted = expected(tiny_llama, probe, engine)
    assert max(wanted) - min(wanted) > 4
    together = [one.probe_log_odds for one in answered(engine)]
    assert together == pytest.approx(wanted, rel=rounding)
    alone = [engine.generate([GenerationRequest(prompt=prompt)], Deadline(60))[0].probe_log_odds for prompt in PROMPTS]
    assert alone == pytest.approx(wanted, rel=rounding)


@pytest.mark.parametrize("name", ENGINES)
def test_it_changes_no_text(name: str, tiny_llama: Path, probe: Path) -> None:
    with_probe, without = (
        answered(load_language_model(ENGINES[name](model=str(tiny_llama), probe=which))) for which in (str(probe), None)
    )
    assert [one.text for one in with_probe] == [one.text for one in without]
    assert {one.probe_log_odds for one in without} == {None}


def test_it_knows_the_base_model_only(
    tiny_llama: Path, tiny_adapters: dict[str, str], probe: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    engine = load_language_model(ENGINES["openvino"](model=str(tiny_llama), adapters=tiny_adapters, probe=str(probe)))
    assert {one.probe_log_odds for one in answered(engine, adapter="first")} == {None}
    assert not caplog.records
    for number, change in enumerate(({"model": "another"}, {"weights": [1.0]}, {"layer": 3})):
        other = tmp_path / f"{number}.json"
        other.write_text(json.dumps(json.loads(probe.read_text()) | change))
        caplog.clear()
        engine = load_language_model(ENGINES["openvino"](model=str(tiny_llama), probe=str(other)))
        assert {one.probe_log_odds for one in answered(engine)} == {None}
        assert str(other) in caplog.text


def test_training_sees_what_the_engine_sees(tiny_llama: Path, probe: Path) -> None:
    settings = ENGINES["openvino"](model=str(tiny_llama), probe=str(probe))
    states = [*prompt_states(settings, LAYER, [GenerationRequest(prompt=prompt) for prompt in PROMPTS])]
    loaded = Probe.load(str(probe))
    said = [one.probe_log_odds for one in answered(load_language_model(settings))]
    assert said == pytest.approx([loaded.log_odds(torch.tensor(state[None]))[0] for state in states], rel=0.01)


def test_a_row_that_goes_on_keeps_the_word_on_its_prompt() -> None:
    model, letter = Alphabet(), Probe("alphabet", 1, np.ones(1, dtype=np.float32), 0.0)
    parts: Any = (model, Letters(), Pace(), frozenset([END]), 1000, 0, letter)
    rows = [row("abc", 3), row("k", 3)]
    BatchDecoder(*parts).run(rows, Deadline(1.5, lambda: model.now))
    assert all(0 < len(one.tokens) < 3 for one in rows)
    found = BatchDecoder(*parts).run(rows, Deadline(1000, lambda: model.now))
    assert [one.text for one in found] == ["def", "lmn"]
    assert [one.probe_log_odds for one in found] == [2.0, 10.0]


@pytest.mark.parametrize(
    ("content", "said"), [(None, "No such file"), ("[]", "no probe"), ('{"model": "x", "layer": 1}', "no probe")]
)
def test_a_wrong_file_is_one_line_that_names_key_and_file(content: str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(SettingsError, match=rf'"language_model.probe": {path}.*{said}'):
        Probe.load(str(path))
