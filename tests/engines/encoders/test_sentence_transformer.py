"""The torch engine: MiniLM against transformers itself, and a random cross-encoder that is built here."""

import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

import huggingface_hub
import numpy as np
import pytest
import torch
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    BertTokenizerFast,
)

from crag.core.deadline import Deadline
from crag.core.files import UserError
from crag.engines.encoders.sentence_transformer import SentenceTransformerCrossEncoder, SentenceTransformerEncoder
from crag.settings import CrossEncoderSettings, DenseEncoderSettings, load_settings, require_weights
from crag.weights.manifest import WeightsMissingError, locate
from tests.torch_threads import one_thread  # noqa: F401 - for all tests here

MINILM = "all-minilm-l6-v2"
WORDS = ["the", "bridge", "was", "opened", "in", "a", "year", "of", "rain", "and", "it", "is", "long"]
WORDS += ["who", "built", "when", "banana", "apple"]
PAIRS = [
    ("who built the bridge", "the bridge was opened in a year of rain and it is long"),
    ("when", "banana"),
    ("who built the bridge", "banana apple"),
    ("the bridge", "who built"),
]


@pytest.fixture(scope="module")
def tiny_cross(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT with one output and random weights, large enough that its logits differ."""
    folder = tmp_path_factory.mktemp("cross")
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    BertTokenizerFast(vocab=str(vocabulary)).save_pretrained(str(folder))
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=5 + len(WORDS),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
        initializer_range=0.5,
        num_labels=1,
    )
    BertForSequenceClassification(config).save_pretrained(str(folder))
    return folder


def cross(folder: Path, monkeypatch: pytest.MonkeyPatch, **more: Any) -> SentenceTransformerCrossEncoder:
    monkeypatch.setattr(SentenceTransformerCrossEncoder, "check_weights", lambda _: folder)
    return SentenceTransformerCrossEncoder(CrossEncoderSettings.model_validate({"model": "tiny", **more}))


def plain_logits(folder: Path, pairs: list[tuple[str, str]], max_tokens: int = 512) -> list[float]:
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    model = AutoModelForSequenceClassification.from_pretrained(str(folder)).eval()
    with torch.no_grad():
        return [
            float(model(**tokenizer(*pair, truncation=True, max_length=max_tokens, return_tensors="pt")).logits[0, 0])
            for pair in pairs
        ]


def scores(encoder: SentenceTransformerCrossEncoder, pairs: list[tuple[str, str]]) -> list[float]:
    return [float(score) for score in encoder.score(pairs) if score is not None]


@pytest.mark.parametrize("batch_size", [1, 3, 32])
def test_cross_encoder_scores_are_raw_logits_whatever_the_batch_size(
    tiny_cross: Path, monkeypatch: pytest.MonkeyPatch, batch_size: int
) -> None:
    expected = plain_logits(tiny_cross, PAIRS)
    assert np.ptp(expected) > 0.1, "the model tells the pairs apart, else the comparison says nothing"
    assert not all(0 <= logit <= 1 for logit in expected), "a sigmoid would not be noticed"
    found = scores(cross(tiny_cross, monkeypatch, batch_size=batch_size), PAIRS)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_cross_encoder_reads_up_to_its_limit_and_keeps_the_question(
    tiny_cross: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = [(query, f"{passage} {'rain ' * 200}") for query, passage in PAIRS]
    encoder = cross(tiny_cross, monkeypatch, max_tokens=24)
    found = scores(encoder, long)
    np.testing.assert_allclose(found, plain_logits(tiny_cross, long, 24), atol=1e-4)
    ends = [(query, f"{passage} {'rain ' * 200} banana") for query, passage in PAIRS]
    np.testing.assert_allclose(scores(encoder, ends), found, atol=1e-5)


def test_where_the_settings_say_so_all_of_a_long_passage_is_scored_and_its_best_part_counts(
    tiny_cross: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query, words = "who built the bridge", [WORDS[(7 * n) % len(WORDS)] for n in range(30)]
    parts = [" ".join(words[start : start + 12]) for start in (0, 12, 24)]  # 24 less the question's 4 and 8 others
    expected = [max(plain_logits(tiny_cross, [(query, part) for part in parts])), *plain_logits(tiny_cross, PAIRS[1:2])]
    encoder = cross(tiny_cross, monkeypatch, max_tokens=24, in_parts=True)
    np.testing.assert_allclose(scores(encoder, [(query, " ".join(words)), PAIRS[1]]), expected, atol=1e-4)
    assert encoder.score([PAIRS[0]], Deadline(0)) == [None]


@cache
def minilm(max_tokens: int = 64) -> SentenceTransformerEncoder:
    try:
        locate(MINILM)
    except WeightsMissingError as error:
        pytest.skip(str(error))
    return SentenceTransformerEncoder(DenseEncoderSettings(model=MINILM, max_tokens=max_tokens, batch_size=8))


TEXTS = [
    "The bridge was opened in 1937.",
    "In the year 1937 traffic crossed the new bridge for the first time, after four years of construction work.",
    "Bananas are rich in potassium.",
    "x",
]


@pytest.mark.models
def test_minilm_vectors_are_the_masked_mean_of_the_last_layer() -> None:
    vectors, encoded = minilm().encode_passages(TEXTS)
    folder = locate(MINILM)
    tokenizer, model = AutoTokenizer.from_pretrained(str(folder)), AutoModel.from_pretrained(str(folder)).eval()
    with torch.no_grad():
        means = [model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0).numpy() for text in TEXTS]
    assert encoded == len(TEXTS)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [mean / np.linalg.norm(mean) for mean in means], atol=1e-4)


@pytest.mark.models
def test_a_limit_above_the_models_own_does_not_raise_it() -> None:
    """MiniLM was trained with 256 tokens and its folder says so; more would be read as noise."""
    wide = minilm(max_tokens=512)
    (one, other), _ = wide.encode_passages(["bridge " * 254, "bridge " * 254 + "banana " * 100])
    np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_cross_encoder_may_be_a_folder_or_a_model_of_the_hubs_cache(
    tiny_cross: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    stored = tmp_path / "models--me--reranker"
    shutil.copytree(tiny_cross, stored / "snapshots" / ("a" * 40))
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text("a" * 40)
    expected = plain_logits(tiny_cross, PAIRS)
    for model in (str(tiny_cross), "me/reranker"):
        change = f"cross_encoder = {{model='{model}', max_tokens=128}}"
        settings = load_settings("scripted", [change, "web.rerank = {top_k=2}"])
        require_weights(settings)
        assert settings.cross_encoder is not None
        encoder = SentenceTransformerCrossEncoder(settings.cross_encoder)
        np.testing.assert_allclose(scores(encoder, PAIRS), expected, atol=1e-4)


def test_without_the_package_it_says_which_file_lists_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the environment of `make install`, where `crag bench starter-kit` asks for this encoder."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    encoder = SentenceTransformerEncoder(DenseEncoderSettings(model=MINILM))
    with pytest.raises(UserError, match=r"^sentence_transformers is not installed: requirements/train.txt lists it"):
        encoder.warm_up()
