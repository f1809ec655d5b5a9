"""A BERT with two blocks of 32 dimensions and a vocabulary of a few words, and a classifier on top of it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertModel

from crag.core.contracts import Query
from crag.router import FIELD_CLASSES
from crag.router.classifier import CONFIG_FILE, WEIGHTS_FILE, ClassifierConfig, FieldConfig

WORDS = (
    "who directed scored sang which what the of is was a song film goal share price when did last how many older "
    "younger or and both ? acme goalie singer movie today yesterday ever first"
)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
DIMENSIONS = 32


def queries(*texts: str) -> list[Query]:
    return [Query(str(number), text, "", None, ()) for number, text in enumerate(texts)]


def build_bert(folder: Path, seed: int = 0) -> Path:
    """Write a random BERT with its tokenizer."""
    torch.manual_seed(seed)
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS.split()])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=DIMENSIONS,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def build_classifier(folder: Path, fields: Sequence[str] = tuple(FIELD_CLASSES), buckets: int = 64) -> Path:
    """Write a classifier with random heads, updates and n-gram weights for the BERT of `build_bert`."""
    random = np.random.default_rng(0)

    def numbers(*shape: int) -> NDArray[np.float16]:
        return random.normal(size=shape).astype(np.float16)

    tensors: dict[str, NDArray[np.float16]] = {"ngrams.rarity": np.ones(buckets, dtype=np.float16)} if buckets else {}
    layer = "0.encoder.encoder.layer.0.attention.self.query"
    tensors |= {f"{layer}.lora_a": numbers(4, DIMENSIONS), f"{layer}.lora_b": numbers(DIMENSIONS, 4)}
    for field in fields:
        classes = len(FIELD_CLASSES[field])
        tensors[f"0.head.{field}.weight"] = numbers(classes, DIMENSIONS)
        tensors[f"0.head.{field}.bias"] = numbers(classes)
    for field in fields if buckets else ():
        tensors[f"ngrams.{field}.weight"] = numbers(buckets, len(FIELD_CLASSES[field]))
        tensors[f"ngrams.{field}.bias"] = numbers(len(FIELD_CLASSES[field]))
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / WEIGHTS_FILE)
    config = ClassifierConfig(
        format=1,
        base="all-minilm-l6-v2",
        ngram_buckets=buckets,
        fields={
            field: FieldConfig(labels=FIELD_CLASSES[field], encoder_weight=0.6, ngram_weight=0.5 if buckets else 0.0)
            for field in fields
        },
        trained_on="nothing",
        licence="none",
    )
    (folder / CONFIG_FILE).write_text(config.model_dump_json(), encoding="utf-8")
    return folder
