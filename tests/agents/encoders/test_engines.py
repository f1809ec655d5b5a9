"""Both engines with real small weights, and against each other's libraries."""

from itertools import pairwise
from pathlib import Path

import pytest

from agents.encoders import load_cross_encoder, load_dense_encoder
from agents.settings import CrossEncoderSettings, DenseEncoderSettings
from models.manifest import WeightsMissingError, locate


def present(model: str) -> str:
    try:
        locate(model)
    except WeightsMissingError as error:
        pytest.skip(str(error))
    return model


def dense(engine: str) -> DenseEncoderSettings:
    if engine == "onnx":
        return DenseEncoderSettings(engine="onnx", model=present("bge-small-en-v1.5"), pooling="cls", batch_size=1)
    return DenseEncoderSettings(model=present("all-minilm-l6-v2"))


@pytest.mark.models
@pytest.mark.parametrize("engine", ["onnx", "sentence-transformers"])
def test_token_offsets_point_into_the_text(engine: str) -> None:
    encoder = load_dense_encoder(dense(engine))
    text = "Zürich, unbelievably  big " + "word " * 600
    offsets = encoder.token_offsets(text)
    assert [text[start:end] for start, end in offsets][:2] == ["Zürich", ","]
    assert len(offsets) > 600  # not cut at the model's maximum
    assert all(before[1] <= after[0] for before, after in pairwise(offsets))


@pytest.mark.parametrize("engine", ["onnx", "sentence-transformers"])
def test_missing_weights_are_named_with_the_command_that_gets_them(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path))
    monkeypatch.setattr("models.manifest.WEIGHTS_FOLDER", tmp_path)
    settings = {"engine": engine, "model": "all-minilm-l6-v2"}
    for part in (
        load_dense_encoder(DenseEncoderSettings.model_validate(settings)),
        load_cross_encoder(CrossEncoderSettings.model_validate(settings)),
    ):
        with pytest.raises(WeightsMissingError, match=r"python -m models\.fetch all-minilm-l6-v2"):
            part.check_weights()
        with pytest.raises(WeightsMissingError):
            part.warm_up()
