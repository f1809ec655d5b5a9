"""The converter against transformers: a random model is written as GGUF the way llama.cpp does, and must come back."""

import json
import os
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from tokenizers.pre_tokenizers import ByteLevel
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from crag.weights.conversion.gguf_to_huggingface import convert
from crag.weights.manifest import WeightsMissingError, locate

SIZES: dict[str, Any] = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2}
SIZES |= {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128}
SIZES |= {"rms_norm_eps": 1e-5, "attn_implementation": "eager"}
TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *sorted(ByteLevel.alphabet())]
TOKENS += ["he", "ll", "hell", "Ġhe", "<tool>", "[PAD]"]
TYPES = [3, 3, 3, *[1] * (len(TOKENS) - 5), 4, 5]
MERGES = ["h e", "l l", "he ll", "Ġ he"]


def permute(weights: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    """What llama.cpp's converter does to q and k, written from its documentation: row 2i <- i, row 2i+1 <- i + d/2."""
    size = weights.shape[0] // heads
    order = [head * size + half * (size // 2) + i for head in range(heads) for i in range(size // 2) for half in (0, 1)]
    return weights[order]


def write_gguf(
    path: Path, model: Any, architecture: str, quantisation: str = "F32", extra: dict[str, Any] | None = None
) -> None:
    """Write a transformers model as GGUF; matrices in `quantisation`, vectors in float32."""
    config = model.config
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm" if architecture == "llama" else "qwen2")
    writer.add_token_list(TOKENS)
    writer.add_token_types(TYPES)
    writer.add_token_merges(MERGES)
    writer.add_eos_token_id(2)
    writer.add_bos_token_id(1)
    writer.add_pad_token_id(2)
    writer.add_chat_template("{% for m in messages %}<|im_start|>{{ m['content'] }}<|im_end|>{% endfor %}")
    tensors = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    if config.tie_word_embeddings:
        tensors.pop("lm_head.weight", None)
    kind_of_model = gguf.MODEL_ARCH.LLAMA if architecture == "llama" else gguf.MODEL_ARCH.QWEN2
    names = gguf.get_tensor_name_map(kind_of_model, config.num_hidden_layers)
    for name, value in (tensors | (extra or {})).items():
        values = value
        if architecture == "llama" and ("q_proj" in name or "k_proj" in name):
            values = permute(values, config.num_attention_heads if "q_proj" in name else config.num_key_value_heads)
        kind = gguf.GGMLQuantizationType[quantisation if values.ndim > 1 else "F32"]
        own = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert own
        writer.add_tensor(own, gguf.quants.quantize(np.ascontiguousarray(values), kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def random_model(architecture: str, *, tied: bool = True) -> Any:
    torch.manual_seed(7)
    sizes = SIZES | {"vocab_size": len(TOKENS), "tie_word_embeddings": tied}
    model: Any = AutoModelForCausalLM.from_config(AutoConfig.for_model(architecture, **sizes))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model.eval()


def logits(model: Any) -> np.ndarray[Any, Any]:
    with torch.no_grad():
        values: np.ndarray[Any, Any] = model(torch.arange(3, 40)[None]).logits.numpy()
    return values


@pytest.mark.parametrize("architecture", ["llama", "qwen2"])
@pytest.mark.parametrize("tied", [True, False])
def test_a_model_comes_back_from_gguf_with_the_same_logits(tmp_path: Path, architecture: str, tied: bool) -> None:
    original = random_model(architecture, tied=tied)
    write_gguf(tmp_path / "model.gguf", original, architecture)
    convert(tmp_path / "model.gguf", tmp_path / "folder")
    back = AutoModelForCausalLM.from_pretrained(tmp_path / "folder", dtype=torch.float32, attn_implementation="eager")
    assert back.config.tie_word_embeddings is tied
    expected = logits(original)
    assert np.abs(logits(back) - expected).max() < 0.01 * expected.std(), "only float16 rounding may differ"


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_1"])
def test_quantised_matrices_become_what_the_gguf_package_says_they_are(tmp_path: Path, kind: str) -> None:
    quantisation = gguf.GGMLQuantizationType[kind]
    original = random_model("qwen2")
    write_gguf(tmp_path / "model.gguf", original, "qwen2", kind)
    convert(tmp_path / "model.gguf", tmp_path / "folder")
    weights = load_file(tmp_path / "folder" / "model.safetensors")
    source = original.state_dict()["model.layers.1.mlp.up_proj.weight"].numpy()
    expected = gguf.quants.dequantize(gguf.quants.quantize(source, quantisation), quantisation)
    np.testing.assert_allclose(weights["model.layers.1.mlp.up_proj.weight"], expected, rtol=2**-11, atol=1e-7)
    assert weights["model.norm.weight"].dtype == np.float32
    assert "lm_head.weight" not in weights


def test_embeddings_written_twice_stay_tied_and_the_finer_copy_is_kept(tmp_path: Path) -> None:
    original = random_model("qwen2")
    embedding = original.state_dict()["model.embed_tokens.weight"].numpy()
    write_gguf(tmp_path / "a.gguf", original, "qwen2", "F16", {"lm_head.weight": embedding + 0.002})
    convert(tmp_path / "a.gguf", tmp_path / "folder")
    assert json.loads((tmp_path / "folder" / "config.json").read_text())["tie_word_embeddings"] is True
    assert "lm_head.weight" not in load_file(tmp_path / "folder" / "model.safetensors")


@pytest.mark.parametrize("architecture", ["llama", "qwen2"])
def test_the_tokenizer_gives_text_back_and_generation_ends_at_its_end_tokens(tmp_path: Path, architecture: str) -> None:
    write_gguf(tmp_path / "t.gguf", random_model(architecture), architecture)
    convert(tmp_path / "t.gguf", tmp_path / "folder")
    tokenizer: Any = AutoTokenizer.from_pretrained(tmp_path / "folder")
    for text in ("hello  world\n\n 42 €", "né <|im_end|><tool> x", ""):
        assert tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=False) == text
    assert tokenizer.convert_tokens_to_ids("<|im_end|>") == 2
    expected = ("hell", "Ġ", "hell", "Ġhe")  # "he ll" comes before "Ġ he" in the list of merges
    assert tokenizer("hell hell he")["input_ids"] == [TOKENS.index(token) for token in expected]
    assert tokenizer.decode(tokenizer("a<|im_end|><tool>")["input_ids"], skip_special_tokens=True) == "a<tool>"
    composed = "é" if architecture == "qwen2" else "e\u0301"
    assert tokenizer.decode(tokenizer("e\u0301")["input_ids"]) == composed
    chat = tokenizer.apply_chat_template([{"role": "user", "content": "hi"}], tokenize=False)
    assert chat == "<|im_start|>hi<|im_end|>"
    assert tokenizer.eos_token == "<|im_end|>"
    generation = json.loads((tmp_path / "folder" / "generation_config.json").read_text())
    assert (generation["eos_token_id"], generation["do_sample"]) == ([2, 0], False)
    assert (tmp_path / "folder" / "model.safetensors").stat().st_mode & 0o044 == 0o044, "another user can read it"


@pytest.mark.models
def test_the_fetched_language_model_speaks() -> None:
    try:
        folder = locate("smollm2-135m-instruct")
    except WeightsMissingError as error:
        pytest.skip(str(error))
    assert os.access(folder / "model.safetensors", os.R_OK)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    prompt = tokenizer("The capital of France is", return_tensors="pt")
    answer = model.generate(**prompt, max_new_tokens=3, do_sample=False)
    assert " Paris" in tokenizer.decode(answer[0])
    text = "It's 3.14 — naïve “quotes”,\n\ttabs  and 東京 <|im_end|>"
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text
