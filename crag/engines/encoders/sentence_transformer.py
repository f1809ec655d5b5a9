"""Encoders that run with torch through the sentence-transformers package."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from crag.engines.encoders.base import BatchedCrossEncoder, BatchedDenseEncoder, Pair, Vectors
from crag.settings import CrossEncoderSettings, DenseEncoderSettings


def _load(kind: str, folder: Path, settings: DenseEncoderSettings | CrossEncoderSettings, **more: object) -> Any:  # noqa: ANN401 - untyped library
    """A `SentenceTransformer` or `CrossEncoder`, without transformers' progress bar "Loading weights"."""
    import sentence_transformers
    import torch
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        model = getattr(sentence_transformers, kind)(
            str(folder),
            device=settings.device,
            local_files_only=True,
            model_kwargs={"dtype": getattr(torch, settings.dtype)},
            **more,
        )
    finally:
        if shown:
            logging.enable_progress_bar()
    model.token_offsets = partial(_token_offsets, model.tokenizer)
    return model


def _token_offsets(tokenizer: Any, text: str) -> list[tuple[int, int]]:  # noqa: ANN401
    encoding = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False)
    return [(int(start), int(end)) for start, end in encoding["offset_mapping"]]


class SentenceTransformerEncoder(BatchedDenseEncoder):
    """A dense encoder from a local sentence-transformers folder."""

    def _load(self, folder: Path) -> Any:  # noqa: ANN401
        model = _load("SentenceTransformer", folder, self.settings)
        model.max_seq_length = min(self.settings.max_tokens, model.max_seq_length or self.settings.max_tokens)
        return model

    def _encode_batch(self, texts: Sequence[str]) -> Vectors:
        vectors = self._model.encode(
            list(texts), batch_size=len(texts), normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)


class SentenceTransformerCrossEncoder(BatchedCrossEncoder):
    """A cross-encoder from a local folder of a sequence-classification model with one output."""

    def _load(self, folder: Path) -> Any:  # noqa: ANN401
        from torch.nn import Identity

        more = {"max_length": self.settings.max_tokens, "activation_fn": Identity()}
        return _load("CrossEncoder", folder, self.settings, **more)

    def _score_batch(self, pairs: Sequence[Pair]) -> list[float]:
        logits = self._model.predict(list(pairs), batch_size=len(pairs), show_progress_bar=False)
        return [float(logit) for logit in np.asarray(logits, dtype=np.float64).reshape(len(pairs), -1)[:, -1]]
