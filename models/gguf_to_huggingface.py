"""Turn a quantised GGUF file (llama or qwen2 architecture) into a Hugging Face model folder.

So transformers, PEFT and vLLM load the same weights. Matrices are dequantised and stored as float16, whose rounding is
far below one step of a 4- to 8-bit quantisation, vectors (norms, biases) as float32. On a CPU, run it in float32.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from gguf import ReaderTensor
    from tokenizers import Tokenizer

Array = npt.NDArray[Any]

QWEN2_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How Qwen2's tokenizer cuts text before byte-pair merging (its published tokenizer.json)."""

_END_OF_TEXT = "<|endoftext|>"
_CONTROL, _USER_DEFINED, _UNUSED = 3, 4, 5  # GGUF token types
_LAYER_TENSORS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_FIXED_TENSORS = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_ARCHITECTURES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM"}


class UnsupportedGgufError(ValueError):
    """The GGUF file describes an architecture, tokenizer or tensor that this converter does not know."""


@dataclass(frozen=True)
class GgufFile:
    """A GGUF file's metadata and its tensors, still quantised (`gguf.ReaderTensor` by name)."""

    metadata: dict[str, Any]
    tensors: dict[str, "ReaderTensor"]

    @property
    def architecture(self) -> str:
        """`llama` or `qwen2`; anything else raises `UnsupportedGgufError`."""
        name = str(self.metadata.get("general.architecture"))
        if name not in _ARCHITECTURES:
            raise UnsupportedGgufError(f"architecture {name!r}; known: {', '.join(_ARCHITECTURES)}")
        return name

    def setting(self, key: str, default: float | None = None) -> float:
        """An architecture's own value, such as `block_count`; KeyError when it is absent and has no default."""
        full_key = f"{self.architecture}.{key}"
        value: float = self.metadata[full_key] if default is None else self.metadata.get(full_key, default)
        return value


def read_gguf(path: Path) -> GgufFile:
    """Open `path`; tensor data stay memory-mapped until they are dequantised."""
    from gguf import GGUFReader

    reader = GGUFReader(path)
    return GgufFile(
        metadata={key: field.contents() for key, field in reader.fields.items()},
        tensors={tensor.name: tensor for tensor in reader.tensors},
    )


def dequantised(tensor: "ReaderTensor", rows: int | None = None) -> Array:
    """The float32 values of a tensor, or of its first rows: rows x columns, as the gguf package computes them."""
    from gguf.quants import dequantize

    data = tensor.data if rows is None else tensor.data[:rows]
    return np.asarray(dequantize(data, tensor.tensor_type), dtype=np.float32)


def undo_rotary_permutation(matrix: Array, heads: int) -> Array:
    """Rows of a q or k projection, (heads x head size, columns), in Hugging Face's order.

    llama.cpp stores each head's rows with the two rotary halves interleaved (0, d/2, 1, d/2 + 1, ...); transformers
    wants the first half, then the second.
    """
    rows = matrix.shape[0]
    return matrix.reshape(heads, rows // heads // 2, 2, -1).swapaxes(1, 2).reshape(matrix.shape)


def huggingface_name(name: str) -> str:
    """`blk.3.attn_q.weight` -> `model.layers.3.self_attn.q_proj.weight`; unknown names raise `UnsupportedGgufError`."""
    if name in _FIXED_TENSORS:
        return _FIXED_TENSORS[name]
    parts = name.split(".")
    if len(parts) != 4 or parts[0] != "blk" or parts[2] not in _LAYER_TENSORS:
        raise UnsupportedGgufError(f"tensor {name!r}")
    return f"model.layers.{parts[1]}.{_LAYER_TENSORS[parts[2]]}.{parts[3]}"


def embeddings_are_tied(gguf: GgufFile) -> bool:
    """Whether input and output embeddings are one matrix.

    llama.cpp leaves `output` out when they are, but some quantisers write the same matrix twice at different precision:
    then the first rows agree up to the quantisation error.
    """
    if "output.weight" not in gguf.tensors:
        return True
    first, second = (dequantised(gguf.tensors[name], 512) for name in ("output.weight", "token_embd.weight"))
    norms = float(np.linalg.norm(first)) * float(np.linalg.norm(second))
    return bool((first.astype(np.float64) * second).sum() / max(norms, 1e-30) > 0.98)


def converted_tensors(gguf: GgufFile) -> dict[str, Array]:
    """Every tensor under its Hugging Face name: matrices float16, vectors float32.

    Tied embeddings appear once, from the stored copy with more bytes, that is the finer quantisation.
    """
    heads = {
        "attn_q": int(gguf.setting("attention.head_count")),
        "attn_k": int(gguf.setting("attention.head_count_kv")),
    }
    tensors = {name: tensor for name, tensor in gguf.tensors.items() if name != "rope_freqs.weight"}
    if embeddings_are_tied(gguf) and (output := tensors.pop("output.weight", None)) is not None:
        embedding = tensors["token_embd.weight"]
        tensors["token_embd.weight"] = max(embedding, output, key=lambda tensor: int(tensor.n_bytes))
    converted: dict[str, Array] = {}
    for name, tensor in tensors.items():
        values = dequantised(tensor)
        kind = name.split(".")[-2]
        if gguf.architecture == "llama" and kind in heads:
            values = undo_rotary_permutation(values, heads[kind])
        dtype = np.float16 if values.ndim > 1 else np.float32
        converted[huggingface_name(name)] = np.ascontiguousarray(values, dtype=dtype)
    return converted


def _short_float(value: float) -> float:
    return float(str(np.float32(value)))  # 9.999999747e-06 in the file is 1e-05 in the original configuration


def model_config(gguf: GgufFile) -> dict[str, Any]:
    """The content of config.json."""
    heads = int(gguf.setting("attention.head_count"))
    config: dict[str, Any] = {
        "architectures": [_ARCHITECTURES[gguf.architecture]],
        "model_type": gguf.architecture,
        "hidden_act": "silu",
        "hidden_size": int(gguf.setting("embedding_length")),
        "intermediate_size": int(gguf.setting("feed_forward_length")),
        "num_hidden_layers": int(gguf.setting("block_count")),
        "num_attention_heads": heads,
        "num_key_value_heads": int(gguf.setting("attention.head_count_kv", heads)),
        "max_position_embeddings": int(gguf.setting("context_length")),
        "rms_norm_eps": _short_float(gguf.setting("attention.layer_norm_rms_epsilon")),
        "rope_theta": _short_float(gguf.setting("rope.freq_base", 10000.0)),
        "vocab_size": len(gguf.metadata["tokenizer.ggml.tokens"]),
        "tie_word_embeddings": embeddings_are_tied(gguf),
        "bos_token_id": gguf.metadata.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": int(gguf.metadata["tokenizer.ggml.eos_token_id"]),
        "pad_token_id": gguf.metadata.get("tokenizer.ggml.padding_token_id"),
        "torch_dtype": "float16",
    }
    if gguf.architecture == "llama":
        config |= {"attention_bias": False, "mlp_bias": False}
    return config


def generation_config(gguf: GgufFile) -> dict[str, Any]:
    """The content of generation_config.json: greedy, ended by the declared token and, where known, `<|endoftext|>`."""
    tokens: list[str] = gguf.metadata["tokenizer.ggml.tokens"]
    ends = [int(gguf.metadata["tokenizer.ggml.eos_token_id"])]
    if _END_OF_TEXT in tokens and tokens.index(_END_OF_TEXT) not in ends:
        ends.append(tokens.index(_END_OF_TEXT))
    return {
        "do_sample": False,
        "bos_token_id": gguf.metadata.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": ends,
        "pad_token_id": gguf.metadata.get("tokenizer.ggml.padding_token_id"),
    }


def build_tokenizer(gguf: GgufFile) -> "Tokenizer":
    """The byte-level BPE tokenizer (`tokenizers.Tokenizer`) that the metadata describe."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    kind = (gguf.metadata.get("tokenizer.ggml.model"), gguf.metadata.get("tokenizer.ggml.pre"))
    tokens: list[str] = gguf.metadata["tokenizer.ggml.tokens"]
    types: list[int] = gguf.metadata["tokenizer.ggml.token_type"]
    vocabulary = {token: number for number, token in enumerate(tokens) if types[number] != _UNUSED}
    merges = [tuple(merge.split(" ")) for merge in gguf.metadata["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    if kind == ("gpt2", "qwen2"):
        tokenizer.normalizer = normalizers.NFC()
        split: Any = pre_tokenizers.Split(Regex(QWEN2_SPLIT), behavior="isolated")
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    elif kind == ("gpt2", "smollm"):
        split = pre_tokenizers.Digits(individual_digits=True)
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    else:
        raise UnsupportedGgufError(f"tokenizer {kind}; known: gpt2 with qwen2 or smollm")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    added = [
        AddedToken(token, special=types[number] == _CONTROL, normalized=False)
        for number, token in enumerate(tokens)
        if types[number] in {_CONTROL, _USER_DEFINED}
    ]
    # One call for both kinds: `special=True` marks the control tokens that `skip_special_tokens` drops.
    tokenizer.add_special_tokens([token for token in added if token.special])
    tokenizer.add_tokens([token for token in added if not token.special])
    return tokenizer


def tokenizer_config(gguf: GgufFile) -> dict[str, Any]:
    """The content of tokenizer_config.json, with the chat template from the file's metadata."""
    tokens: list[str] = gguf.metadata["tokenizer.ggml.tokens"]
    config: dict[str, Any] = {
        # The generic class takes tokenizer.json as it is; the named classes of transformers 5 would rebuild it.
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_max_length": int(gguf.setting("context_length")),
        "chat_template": gguf.metadata.get("tokenizer.chat_template"),
    }
    for role, key in (("bos_token", "bos"), ("eos_token", "eos"), ("pad_token", "padding"), ("unk_token", "unknown")):
        number = gguf.metadata.get(f"tokenizer.ggml.{key}_token_id")
        if number is not None:
            config[role] = tokens[int(number)]
    return config


def convert(gguf_path: Path, folder: Path) -> None:
    """Write config, weights and tokenizer of `gguf_path` into `folder`; raises `UnsupportedGgufError`."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    gguf = read_gguf(gguf_path)
    for name, content in (
        ("config.json", model_config(gguf)),
        ("generation_config.json", generation_config(gguf)),
        ("tokenizer_config.json", tokenizer_config(gguf)),
    ):
        (folder / name).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    build_tokenizer(gguf).save(str(folder / "tokenizer.json"))
    weights = folder / "model.safetensors"
    try:
        save_file(converted_tensors(gguf), weights, metadata={"format": "pt"})
    except SafetensorError as error:  # the package's error for a full disk
        raise OSError(f"{weights}: {error}") from error
    weights.chmod(0o644)  # safetensors writes 0600, which another user (the container's) could not read
