"""The encoder with its update against transformers and peft, which do the same by other code."""

from pathlib import Path

import numpy as np
import peft
import pytest
import torch
from transformers import AutoModel

from crag.router.network import BertEncoder, QuestionTokenizer
from crag.settings import SettingsError

TEXTS = ["who directed the film ?", "what is the share price of acme today ?", "goal"]


def test_states_are_those_of_transformers_with_the_update_that_peft_merges(bert: Path) -> None:
    targets = ["query", "key", "value", "dense"]
    config = peft.LoraConfig(r=4, lora_alpha=8, target_modules=targets, init_lora_weights=False)
    tuned = peft.get_peft_model(AutoModel.from_pretrained(bert, add_pooling_layer=False), config).eval()

    update = {}
    for name, module in tuned.base_model.model.named_modules():
        if hasattr(module, "lora_A"):
            update[f"{name}.lora_a"] = module.lora_A["default"].weight.detach().numpy()
            update[f"{name}.lora_b"] = (module.lora_B["default"].weight.detach() * module.scaling["default"]).numpy()

    tokenizer = QuestionTokenizer(bert, 32)
    batch = tokenizer.batch(tokenizer.tokens(TEXTS))
    with torch.inference_mode():
        ids, mask = (torch.from_numpy(array) for array in batch)
        expected = tuned(input_ids=ids, attention_mask=mask).last_hidden_state.numpy()

    encoder = BertEncoder(bert, update)
    real = batch.mask == 1
    np.testing.assert_allclose(encoder.states(batch)[real], expected[real], atol=1e-5)

    lengths = batch.mask.sum(axis=1)
    means = [states[:length].mean(axis=0) for states, length in zip(expected, lengths, strict=True)]
    np.testing.assert_allclose(encoder.vectors(batch, "mean"), means, atol=1e-5)

    assert not np.allclose(BertEncoder(bert, {}).states(batch)[real], expected[real], atol=1e-2)


def test_the_pooler_is_that_of_transformers(bert: Path) -> None:
    tokenizer = QuestionTokenizer(bert, 32)
    batch = tokenizer.batch(tokenizer.tokens(TEXTS))
    with torch.inference_mode():
        ids, mask = (torch.from_numpy(array) for array in batch)
        expected = AutoModel.from_pretrained(bert)(input_ids=ids, attention_mask=mask).pooler_output.numpy()
    np.testing.assert_allclose(BertEncoder(bert, {}).vectors(batch, "pooler"), expected, atol=1e-5)


def test_long_and_broken_texts_have_tokens(bert: Path) -> None:
    tokens = QuestionTokenizer(bert, 16).tokens(["film " * 500, "", "\ud800 film"])
    assert [len(row) for row in tokens] == [16, 2, 4]


def test_a_tokenizer_of_another_family_is_refused(bert: Path, tmp_path: Path) -> None:
    text = (bert / "tokenizer.json").read_text(encoding="utf-8")
    (tmp_path / "tokenizer.json").write_text(text.replace("[MASK]", "<mask>"), encoding="utf-8")
    with pytest.raises(SettingsError, match=r"no \[MASK\]"):
        QuestionTokenizer(tmp_path, 16)
