"""Encoders that run with torch through the sentence-transformers package."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from agents.encoders.base import Vectors
from agents.encoders.cross_base import BatchedCrossEncoder, Pair
from agents.encoders.dense_base import BatchedDenseEncoder


@contextmanager
def _without_progress_bar() -> Iterator[None]:
    """Keep transformers from drawing "Loading weights" on standard error, and leave its setting as it was."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


class SentenceTransformerEncoder(BatchedDenseEncoder):
    """A dense encoder from a local sentence-transformers folder."""

    def warm_up(self) -> None:
        """Load weights; raises `models.manifest.WeightsMissingError`."""
        if self._model is None:
            folder = self.check_weights()
            import torch
            from sentence_transformers import SentenceTransformer

            with _without_progress_bar():
                model: Any = SentenceTransformer(
                    str(folder),
                    device=self.settings.device,
                    local_files_only=True,
                    model_kwargs={"dtype": getattr(torch, self.settings.dtype)},
                )
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
            list(texts),
            batch_size=len(texts),
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)


class SentenceTransformerCrossEncoder(BatchedCrossEncoder):
    """A cross-encoder from a local folder of a sequence-classification model with one output."""

    def warm_up(self) -> None:
        """Load weights; raises `models.manifest.WeightsMissingError`."""
        if self._model is None:
            folder = self.check_weights()
            import torch
            from sentence_transformers import CrossEncoder

            with _without_progress_bar():
                self._model = CrossEncoder(
                    str(folder),
                    device=self.settings.device,
                    max_length=self.settings.max_tokens,
                    local_files_only=True,
                    model_kwargs={"dtype": getattr(torch, self.settings.dtype)},
                    activation_fn=torch.nn.Identity(),
                )

    def _score_batch(self, pairs: Sequence[Pair]) -> list[float]:
        logits = self._model.predict(list(pairs), batch_size=len(pairs), show_progress_bar=False)
        return [float(logit) for logit in np.asarray(logits, dtype=np.float64).reshape(len(pairs), -1)[:, -1]]
