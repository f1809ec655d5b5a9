"""Tokenizers of stand-ins: the model's own where a registry has it, else one of the same kind with fewer tokens."""

import json
import shutil
from pathlib import Path
from typing import Any

from models.shapes import Shape

_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
_LLAMA_2 = {
    "tokenizer_class": "LlamaTokenizerFast",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "add_bos_token": True,
    "add_eos_token": False,
    "legacy": False,
    "clean_up_tokenization_spaces": False,
    "model_max_length": 4096,
}
"""Of the base model, which has no chat template."""
_XLM_SPECIAL = {
    "bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>",
    "sep_token": "</s>", "cls_token": "<s>",
}  # fmt: skip
_LONGEST_PIECE = 16


def copy_tokenizer(source: Path, shape: Shape, folder: Path) -> None:
    """Put the tokenizer of a fetched model into the stand-in's folder."""
    for name in _TOKENIZER_FILES:
        if (source / name).is_file():
            shutil.copyfile(source / name, folder / name)
    if shape.is_language_model and not (folder / "tokenizer_config.json").is_file():
        (folder / "tokenizer_config.json").write_text(json.dumps(_LLAMA_2, indent=1), encoding="utf-8")


def write_small_xlm_tokenizer(words: Path, folder: Path) -> None:
    """Write a Unigram tokenizer in XLM-RoBERTa's form, its pieces taken from a list of words and parts of words.

    Args:
        words: `vocab.txt` of BERT: one piece a line, parts of words behind ``##``; the commoner, the earlier.
        folder: Gets `tokenizer.json` and `tokenizer_config.json`.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    special = list(dict.fromkeys(_XLM_SPECIAL.values()))
    pieces: dict[str, None] = dict.fromkeys(special)
    for line in words.read_text(encoding="utf-8").splitlines():
        if line.startswith("[") or len(line) > _LONGEST_PIECE:
            continue
        pieces[line.removeprefix("##") if line.startswith("##") else f"▁{line}"] = None
    pieces |= dict.fromkeys(("▁", *map(chr, range(33, 127)), *(f"▁{chr(code)}" for code in range(65, 91))))
    vocabulary = [(piece, 0.0 if piece in special else -5.0 - place / 5000) for place, piece in enumerate(pieces)]
    tokenizer: Any = Tokenizer(models.Unigram(vocabulary, unk_id=special.index("<unk>"), byte_fallback=False))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(special)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[(mark, special.index(mark)) for mark in ("<s>", "</s>")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, **_XLM_SPECIAL}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")


def special_tokens(folder: Path) -> tuple[int, dict[str, int]]:
    """How many tokens the folder's tokenizer has, and the numbers of its special ones."""
    from tokenizers import Tokenizer

    tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    numbers = {role: tokenizer.token_to_id(config.get(f"{role}_token") or "") for role in ("bos", "eos", "pad")}
    known = {role: number for role, number in numbers.items() if number is not None}
    return tokenizer.get_vocab_size(with_added_tokens=True), known
