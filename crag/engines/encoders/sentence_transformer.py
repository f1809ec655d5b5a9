"""Encoders that run with torch through the sentence-transformers package."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from crag.core.files import UserError
from crag.core.packages import describe_missing
from crag.engines.encoders.base import BatchedCrossEncoder, BatchedDenseEncoder, Pair, Vectors
from crag.settings import CrossEncoderSettings, DenseEncoderSettings


def _load_model(
    class_name: str,
    folder: Path,
    settings: DenseEncoderSettings | CrossEncoderSettings,
    **arguments: object,
) -> Any:  # noqa: ANN401 - untyped library
    """A `SentenceTransformer` or `CrossEncoder`, without transformers' progress bar "Loading weights".

    `arguments` are passed to the class's constructor. Raises UserError: the package is not installed.
    """
    try:
        import sentence_transformers
    except ModuleNotFoundError as error:
        raise UserError(describe_missing(error.name or "sentence_transformers")) from error
    import torch
    from transformers.utils import logging

    model_class = getattr(sentence_transformers, class_name)
    progress_bar_was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        model = model_class(
            str(folder),
            device=settings.device,
            local_files_only=True,
            model_kwargs={"dtype": getattr(torch, settings.dtype)},
            **arguments,
        )
    finally:
        if progress_bar_was_enabled:
            logging.enable_progress_bar()

    model.token_offsets = partial(_token_offsets, model.tokenizer)
    return model


def _token_offsets(tokenizer: Any, text: str) -> list[tuple[int, int]]:  # noqa: ANN401
    encoding = tokenizer(
        text,
        add_special_tokens=False,
        return_offsets_mapping=True,
        truncation=False,
        verbose=False,  # no warning about texts that are longer than the model reads
    )
    offsets = encoding["offset_mapping"]
    return [(int(start), int(end)) for start, end in offsets]


class SentenceTransformerEncoder(BatchedDenseEncoder):
    """A dense encoder from a local sentence-transformers folder."""

    def _load(self, folder: Path) -> Any:  # noqa: ANN401
        model = _load_model("SentenceTransformer", folder, self.settings)
        max_tokens = self.settings.max_tokens
        model.max_seq_length = min(max_tokens, model.max_seq_length or max_tokens)
        return model

    def _encode_batch(self, texts: Sequence[str]) -> Vectors:
        vectors = self._model.encode(
            list(texts),
            batch_size=len(texts),
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)


class SentenceTransformerCrossEncoder(BatchedCrossEncoder):
    """A cross-encoder from a local folder of a sequence-classification model with one output."""

    def _load(self, folder: Path) -> Any:  # noqa: ANN401
        from torch.nn import Identity

        # The identity keeps the raw logits, which the package would pass through the logistic function.
        return _load_model(
            "CrossEncoder",
            folder,
            self.settings,
            max_length=self.settings.max_tokens,
            activation_fn=Identity(),
        )

    def _score_batch(self, pairs: Sequence[Pair]) -> list[float]:
        output = self._model.predict(
            list(pairs),
            batch_size=len(pairs),
            show_progress_bar=False,
        )
        # Of a model with two outputs the last one is the logit of "relevant".
        logits = np.asarray(output, dtype=np.float64).reshape(len(pairs), -1)[:, -1]
        return [float(logit) for logit in logits]
