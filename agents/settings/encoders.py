"""Which encoders, and how they run."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from agents.settings.base import StrictModel


class DenseEncoderSettings(StrictModel):
    """Which model maps texts to vectors, and how."""

    engine: Literal["sentence-transformers", "onnx"] = "sentence-transformers"
    model: str
    query_instruction: str = ""
    """Put in front of queries only; bge-*-v1.5 wants one for short queries against long passages."""
    pooling: Literal["cls", "mean"] | None = None
    """How token vectors become one (engine ``onnx``): bge ``cls``, MiniLM ``mean``, None as the folder says."""
    max_tokens: Annotated[int, Field(ge=8, le=8192)] = 512
    batch_size: PositiveInt = 32
    device: str = "cpu"
    dtype: Literal["float32", "float16"] = "float32"


class CrossEncoderSettings(StrictModel):
    """Which model scores (query, passage) pairs, and how."""

    engine: Literal["sentence-transformers", "onnx"] = "sentence-transformers"
    model: str
    max_tokens: Annotated[int, Field(ge=8, le=8192)] = 512
    batch_size: PositiveInt = 32
    device: str = "cpu"
    dtype: Literal["float32", "float16"] = "float32"
