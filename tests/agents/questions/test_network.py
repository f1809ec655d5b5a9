"""The encoder with its update against transformers and peft, which do the same by other code."""

from pathlib import Path

import pytest
import torch
from transformers import AutoModel

from agents.questions.network import (
    QuestionNetwork,
    QuestionTokenizer,
    add_update,
    load_encoder,
    tuned_linear_layers,
)
from agents.settings import SettingsError
from tests.agents.questions.tiny_bert import DIMENSIONS

TEXTS = ["who directed the film ?", "what is the share price of acme today ?", "goal"]


def test_pooling_reads_the_states_of_the_plain_encoder(bert: Path) -> None:
    heads = {"domain.weight": torch.eye(5, DIMENSIONS), "domain.bias": torch.zeros(5)}
    tokenizer = QuestionTokenizer(bert, 32)
    batch = tokenizer.batch(tokenizer.tokens(TEXTS[:1]))
    with torch.inference_mode():
        states = AutoModel.from_pretrained(bert).eval()(batch.ids).last_hidden_state[0]
        mean = QuestionNetwork(load_encoder(bert), heads, ("domain",), "mean").logits(batch)["domain"][0]
        first = QuestionNetwork(load_encoder(bert), heads, ("domain",), "cls").logits(batch)["domain"][0]
    torch.testing.assert_close(mean, states.mean(dim=0)[:5])
    torch.testing.assert_close(first, states[0, :5])


def test_an_update_is_what_peft_merges(bert: Path) -> None:
    peft = pytest.importorskip("peft")
    targets = ["query", "key", "value", "dense"]
    config = peft.LoraConfig(r=4, lora_alpha=8, target_modules=targets, init_lora_weights=False)
    tuned = peft.get_peft_model(AutoModel.from_pretrained(bert, add_pooling_layer=False), config).eval()
    update = {}
    for name, module in tuned.base_model.model.named_modules():
        if hasattr(module, "lora_A"):
            update[f"{name}.lora_a"] = module.lora_A["default"].weight.detach()
            update[f"{name}.lora_b"] = module.lora_B["default"].weight.detach() * module.scaling["default"]
    ours = load_encoder(bert)
    assert {name.rpartition(".")[0] for name in update} == set(tuned_linear_layers(ours))
    add_update(ours, update)
    batch = QuestionTokenizer(bert, 32).batch(QuestionTokenizer(bert, 32).tokens(TEXTS))
    with torch.inference_mode():
        expected = tuned(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
        found = ours(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_long_and_broken_texts_have_tokens(bert: Path) -> None:
    tokens = QuestionTokenizer(bert, 16).tokens(["film " * 500, "", "\ud800 film"])
    assert [len(row) for row in tokens] == [16, 2, 4]


def test_a_tokenizer_of_another_family_is_refused(bert: Path, tmp_path: Path) -> None:
    text = (bert / "tokenizer.json").read_text(encoding="utf-8")
    (tmp_path / "tokenizer.json").write_text(text.replace("[MASK]", "<mask>"), encoding="utf-8")
    with pytest.raises(SettingsError, match=r"no \[MASK\]"):
        QuestionTokenizer(tmp_path, 16)
