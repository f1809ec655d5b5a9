"""Turns a quantised GGUF file (llama or qwen2 architecture) into a Hugging Face model folder.

So transformers, PEFT and vLLM load the same weights. Matrices are dequantised and stored as float16, whose rounding is
far below one step of a 4- to 8-bit quantisation, vectors (norms, biases) as float32. On a CPU, run it in float32.
"""

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from crag.weights.conversion.int8 import write_int8

if TYPE_CHECKING:
    from gguf import ReaderTensor
    from tokenizers import Tokenizer

Array = npt.NDArray[Any]

QWEN2_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How Qwen2's tokenizer cuts text before byte-pair merging (its published tokenizer.json)."""

_END_OF_TEXT = "<|endoftext|>"

# Token types of GGUF.
_CONTROL = 3
_USER_DEFINED = 4
_UNUSED = 5

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
"""Name of a layer's tensor in GGUF -> its name in Hugging Face's model."""
_FIXED_TENSORS = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_SIZES = {
    "hidden_size": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "num_hidden_layers": "block_count",
    "num_attention_heads": "attention.head_count",
    "max_position_embeddings": "context_length",
}
"""Key in Hugging Face's configuration -> key in GGUF's metadata."""
_ARCHITECTURES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM"}

_ROWS_TO_COMPARE = 512
_TIED_COSINE = 0.98
"""Two copies of a matrix at different precision are more alike than this."""


class _GgufFile:
    """A GGUF file's metadata, and its tensors by name, still quantised and memory-mapped."""

    def __init__(self, path: Path) -> None:
        from gguf import GGUFReader

        # The reader maps the file into memory: nothing is read or dequantised before `values` asks for it
        reader = GGUFReader(path)
        self.metadata: dict[str, Any] = {key: field.contents() for key, field in reader.fields.items()}
        self.tensors: dict[str, ReaderTensor] = {tensor.name: tensor for tensor in reader.tensors}
        self.architecture = str(self.metadata.get("general.architecture"))
        if self.architecture not in _ARCHITECTURES:
            raise ValueError(f"architecture {self.architecture!r}; known: {', '.join(_ARCHITECTURES)}")

    def setting(self, key: str, default: float | None = None) -> float:
        """A number of the architecture, such as `block_count`; KeyError if it is absent and has no default."""
        full_key = f"{self.architecture}.{key}"
        if default is None:
            value: float = self.metadata[full_key]
            return value
        return float(self.metadata.get(full_key, default))

    def token_metadata(self, key: str) -> Any:  # noqa: ANN401 - as the file has it
        """A value of the tokenizer; None if it is absent."""
        return self.metadata.get(f"tokenizer.ggml.{key}")

    def values(self, name: str, rows: int | None = None) -> Array:
        """The float32 values of a tensor, or of its first rows: rows x columns, as the gguf package computes them."""
        from gguf.quants import dequantize

        tensor = self.tensors[name]
        data = tensor.data if rows is None else tensor.data[:rows]
        return np.asarray(dequantize(data, tensor.tensor_type), dtype=np.float32)

    @cached_property
    def embeddings_are_tied(self) -> bool:
        """Whether input and output embeddings are one matrix.

        llama.cpp leaves `output` out when they are, but some quantisers write the same matrix twice at different
        precision: then the first rows agree up to the quantisation error.
        """
        if "output.weight" not in self.tensors:
            return True

        # A few hundred rows settle it; the whole matrix would take seconds and a gigabyte to dequantise
        output = self.values("output.weight", _ROWS_TO_COMPARE)
        embeddings = self.values("token_embd.weight", _ROWS_TO_COMPARE)
        norms = float(np.linalg.norm(output)) * float(np.linalg.norm(embeddings))
        # Summed in double precision: nearly a million float32 products would lose digits
        product = (output.astype(np.float64) * embeddings).sum()
        # The floor keeps a matrix of zeros from dividing by zero
        cosine = product / max(norms, 1e-30)
        return bool(cosine > _TIED_COSINE)


def _undo_rotary_permutation(matrix: Array, heads: int) -> Array:
    """Rows of a q or k projection, (heads x head size, columns), in Hugging Face's order.

    llama.cpp stores each head's rows with the two rotary halves interleaved (0, d/2, 1, d/2 + 1, ...); transformers
    wants the first half, then the second.
    """
    rows = matrix.shape[0]
    # (heads, pairs, half, columns); swapping the middle axes brings each half together
    interleaved = matrix.reshape(heads, rows // heads // 2, 2, -1)
    return interleaved.swapaxes(1, 2).reshape(matrix.shape)


def _huggingface_name(name: str) -> str:
    """`blk.3.attn_q.weight` -> `model.layers.3.self_attn.q_proj.weight`."""
    match name.split("."):
        # Tensors outside the layers, such as "token_embd.weight"
        case [kind, "weight"] if kind in _FIXED_TENSORS:
            return f"{_FIXED_TENSORS[kind]}.weight"
        # `part` is "weight" or "bias": Qwen2 has biases on q, k and v
        case ["blk", layer, kind, part] if kind in _LAYER_TENSORS:
            return f"model.layers.{layer}.{_LAYER_TENSORS[kind]}.{part}"
    raise ValueError(f"tensor {name!r}")


def _convert_tensors(gguf: _GgufFile) -> Iterator[tuple[str, Array]]:
    """Every tensor with its Hugging Face name: matrices float16, vectors float32."""
    # Only q and k carry rotary positions; they may differ in the number of heads (grouped queries)
    heads_key = {"attn_q": "attention.head_count", "attn_k": "attention.head_count_kv"}
    for name, source in _tensor_sources(gguf).items():
        values = gguf.values(source)
        kind = name.split(".")[-2]

        # llama.cpp reorders these rows for llama models only, not for qwen2
        if gguf.architecture == "llama" and kind in heads_key:
            values = _undo_rotary_permutation(values, int(gguf.setting(heads_key[kind])))
        dtype = np.float16 if values.ndim > 1 else np.float32
        yield _huggingface_name(name), np.ascontiguousarray(values, dtype=dtype)


def _tensor_sources(gguf: _GgufFile) -> dict[str, str]:
    """GGUF name of each tensor to write -> GGUF name of the tensor with its values.

    Tied embeddings appear once, from the stored copy with more bytes, that is the finer quantisation.
    """
    # `rope_freqs` is derived from the configuration, and has no counterpart in Hugging Face's model
    sources = {name: name for name in gguf.tensors if name != "rope_freqs.weight"}
    if gguf.embeddings_are_tied and "output.weight" in sources:
        del sources["output.weight"]

        # The written tensor keeps the name of the input embeddings, whichever copy supplies its values
        copies = ("token_embd.weight", "output.weight")
        sources["token_embd.weight"] = max(copies, key=lambda name: int(gguf.tensors[name].n_bytes))
    return sources


def _short_float(value: float) -> float:
    """The shortest number that is `value` in float32: 9.999999747e-06 in the file is 1e-05 in the original."""
    return float(str(np.float32(value)))


def _boundary_token_ids(gguf: _GgufFile) -> dict[str, int | None]:
    """Ids of the tokens at the beginning and the end of a text, and of the one that fills a batch."""
    return {
        "bos_token_id": gguf.token_metadata("bos_token_id"),
        "eos_token_id": gguf.token_metadata("eos_token_id"),
        "pad_token_id": gguf.token_metadata("padding_token_id"),
    }


def _model_config(gguf: _GgufFile) -> dict[str, Any]:
    heads = int(gguf.setting("attention.head_count"))
    config: dict[str, Any] = {name: int(gguf.setting(key)) for name, key in _SIZES.items()}
    config |= {
        "architectures": [_ARCHITECTURES[gguf.architecture]],
        "model_type": gguf.architecture,
        "hidden_act": "silu",
        "num_key_value_heads": int(gguf.setting("attention.head_count_kv", heads)),
        "rms_norm_eps": _short_float(gguf.setting("attention.layer_norm_rms_epsilon")),
        "rope_theta": _short_float(gguf.setting("rope.freq_base", 10000.0)),
        "vocab_size": len(gguf.token_metadata("tokens")),
        "tie_word_embeddings": gguf.embeddings_are_tied,
        **_boundary_token_ids(gguf),
        "torch_dtype": "float16",
    }

    # Llama's configuration has these keys, Qwen2's does not: its biases are fixed in the code
    if gguf.architecture == "llama":
        config |= {"attention_bias": False, "mlp_bias": False}
    return config


def _generation_config(gguf: _GgufFile) -> dict[str, Any]:
    """Greedy, ended by the declared token and, if the vocabulary has it, `<|endoftext|>`."""
    boundaries = _boundary_token_ids(gguf)
    end_tokens = [boundaries["eos_token_id"]]

    # A model that was tuned for chats may still end a text with the base model's token
    for token_id, token in enumerate(gguf.token_metadata("tokens")):
        if token == _END_OF_TEXT and token_id not in end_tokens:
            end_tokens.append(token_id)
    return {**boundaries, "do_sample": False, "eos_token_id": end_tokens}


def _tokenizer(gguf: _GgufFile) -> "Tokenizer":
    """The byte-level BPE tokenizer that the metadata describe. Raises ValueError: of another kind."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    tokens: list[str] = gguf.token_metadata("tokens")
    types: list[int] = gguf.token_metadata("token_type")
    vocabulary: dict[str, int] = {}
    for token_id, (token, token_type) in enumerate(zip(tokens, types, strict=True)):
        if token_type != _UNUSED:
            vocabulary[token] = token_id

    # A merge is written "left right"
    merges = [tuple(merge.split(" ")) for merge in gguf.token_metadata("merges")]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))

    split_name = gguf.token_metadata("pre")
    kind = (gguf.token_metadata("model"), split_name)
    if kind == ("gpt2", "qwen2"):
        # Qwen2 cuts by its own expression
        tokenizer.normalizer = normalizers.NFC()
        split: Any = pre_tokenizers.Split(Regex(QWEN2_SPLIT), behavior="isolated")
    elif kind == ("gpt2", "smollm"):
        # SmolLM makes every digit a token; GPT-2's expression below cuts the rest
        split = pre_tokenizers.Digits(individual_digits=True)
    else:
        raise ValueError(f"tokenizer {kind}; known: gpt2 with qwen2 or smollm")

    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=split_name == "smollm")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    tokenizer.decoder = decoders.ByteLevel()

    # These keep the ids of the vocabulary, since their text is in it. `special` marks the control tokens, which
    # `skip_special_tokens` drops
    control = _tokens_of_type(gguf, _CONTROL)
    user_defined = _tokens_of_type(gguf, _USER_DEFINED)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in control])
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in user_defined])
    return tokenizer


def _tokens_of_type(gguf: _GgufFile, wanted: int) -> list[str]:
    """The tokens of one of GGUF's types, in the order of their ids."""
    tokens = gguf.token_metadata("tokens")
    types = gguf.token_metadata("token_type")
    return [token for token, token_type in zip(tokens, types, strict=True) if token_type == wanted]


def _tokenizer_config(gguf: _GgufFile) -> dict[str, Any]:
    config: dict[str, Any] = {
        # The generic class takes tokenizer.json as it is; the named classes of transformers 5 would rebuild it.
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_max_length": int(gguf.setting("context_length")),
        "chat_template": gguf.metadata.get("tokenizer.chat_template"),
    }

    tokens = gguf.token_metadata("tokens")
    token_ids = {**_boundary_token_ids(gguf), "unk_token_id": gguf.token_metadata("unknown_token_id")}
    for key, token_id in token_ids.items():
        if token_id is not None:
            config[key.removesuffix("_id")] = tokens[token_id]
    return config


def convert(gguf_path: Path, folder: Path) -> None:
    """Write config, tokenizer and weights (float16, int8) of a file to `folder`. Raises ValueError: of another kind."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    gguf = _write_description(gguf_path, folder)
    tensors = dict(_convert_tensors(gguf))
    target = folder / "model.safetensors"
    try:
        save_file(tensors, target, {"format": "pt"})
    except SafetensorError as error:  # the package's error for a full disk
        raise OSError(f"{target}: {error}") from error
    target.chmod(0o644)  # safetensors writes 0600, which another user (the container's) could not read

    # From the tensors that are in memory already, not from the file that was just written
    write_int8(folder, tensors.items())


def convert_int8(gguf_path: Path, folder: Path) -> None:
    """The same without the float16 weights, which the engine `openvino` does not read."""
    gguf = _write_description(gguf_path, folder)
    write_int8(folder, _convert_tensors(gguf))


def _write_description(gguf_path: Path, folder: Path) -> _GgufFile:
    """Write the configuration and the tokenizer of a file to `folder`; returns the opened file."""
    folder.mkdir(parents=True, exist_ok=True)
    gguf = _GgufFile(gguf_path)
    configurations = {
        "config.json": _model_config(gguf),
        "generation_config.json": _generation_config(gguf),
        "tokenizer_config.json": _tokenizer_config(gguf),
    }
    for name, content in configurations.items():
        text = json.dumps(content, indent=2, ensure_ascii=False)
        (folder / name).write_text(text + "\n", encoding="utf-8")
    _tokenizer(gguf).save(str(folder / "tokenizer.json"))
    return gguf
