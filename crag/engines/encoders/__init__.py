"""Dense encoders and cross-encoders, chosen by settings; `crag.engines.encoders.base` has one interface for each."""

import os

from crag.engines.encoders.base import BatchedCrossEncoder as BatchedCrossEncoder
from crag.engines.encoders.base import BatchedDenseEncoder as BatchedDenseEncoder
from crag.engines.encoders.base import CrossEncoder as CrossEncoder
from crag.engines.encoders.base import DenseEncoder as DenseEncoder
from crag.engines.encoders.base import Vectors as Vectors
from crag.settings import CrossEncoderSettings, DenseEncoderSettings

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # before onnxruntime is imported, which would report to Microsoft


def load_dense_encoder(settings: DenseEncoderSettings) -> BatchedDenseEncoder:
    """The encoder that the settings name; loads nothing before `warm_up`."""
    if settings.engine == "onnx":
        from crag.engines.encoders.onnx import OnnxDenseEncoder

        return OnnxDenseEncoder(settings)
    from crag.engines.encoders.sentence_transformer import SentenceTransformerEncoder

    return SentenceTransformerEncoder(settings)


def load_cross_encoder(settings: CrossEncoderSettings) -> BatchedCrossEncoder:
    """The cross-encoder that the settings name; loads nothing before `warm_up`."""
    if settings.engine == "onnx":
        from crag.engines.encoders.onnx import OnnxCrossEncoder

        return OnnxCrossEncoder(settings)
    from crag.engines.encoders.sentence_transformer import SentenceTransformerCrossEncoder

    return SentenceTransformerCrossEncoder(settings)
