"""Encoders that run with torch through the sentence-transformers package."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from agents.encoders.base import BatchedCrossEncoder, BatchedDenseEncoder, Pair, Vectors
from agents.settings import CrossEncoderSettings, DenseEncoderSettings


@contextmanager
def _without_progress_bar() -> Iterator[None]:
    """Hide transformers' progress bar "Loading weights"; restore the setting afterwards."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _load(kind: str, folder: str, settings: DenseEncoderSettings | CrossEncoderSettings, **more: object) -> Any:  # noqa: ANN401 - untyped library
    """A `SentenceTransformer` or `CrossEncoder` from a local folder."""
    import sentence_transformers
    import torch

    with _without_progress_bar():
        return getattr(sentence_transformers, kind)(
            folder,
            device=settings.device,
            local_files_only=True,
            model_kwargs={"dtype": getattr(torch, settings.dtype)},
            **more,
        )


class SentenceTransformerEncoder(BatchedDenseEncoder):
    """A dense encoder from a local sentence-transformers folder."""

    def warm_up(self) -> None:
        """Load weights; raises `models.manifest.WeightsMissingError`."""
        if self._model is None:
            model = _load("SentenceTransformer", str(self.check_weights()), self.settings)
            model.max_seq_length = min(self.settings.max_tokens, model.max_seq_length or self.settings.max_tokens)
            self._model = model

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self._model.get_embedding_dimension())

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span of each token of the text."""
        self.warm_up()
        encoding = self._model.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
        )
        return [(int(start), int(end)) for start, end in encoding["offset_mapping"]]

    def _encode_batch(self, texts: Sequence[str]) -> Vectors:
        vectors = self._model.encode(
            list(texts), batch_size=len(texts), normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)


class SentenceTransformerCrossEncoder(BatchedCrossEncoder):
    """A cross-encoder from a local folder of a sequence-classification model with one output."""

    def warm_up(self) -> None:
        """Load weights; raises `models.manifest.WeightsMissingError`."""
        if self._model is None:
            from torch.nn import Identity

            folder = str(self.check_weights())
            more = {"max_length": self.settings.max_tokens, "activation_fn": Identity()}
            self._model = _load("CrossEncoder", folder, self.settings, **more)

    def _score_batch(self, pairs: Sequence[Pair]) -> list[float]:
        logits = self._model.predict(list(pairs), batch_size=len(pairs), show_progress_bar=False)
        return [float(logit) for logit in np.asarray(logits, dtype=np.float64).reshape(len(pairs), -1)[:, -1]]
