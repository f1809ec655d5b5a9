"""ONNX encoders with real small weights, against numpy, onnxruntime and tokenizers alone; what both engines do."""

import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from crag.engines.encoders import load_dense_encoder, onnx
from crag.engines.encoders.onnx import OnnxCrossEncoder, OnnxDenseEncoder, OnnxTextModel, read_pooling
from crag.settings import CrossEncoderSettings, DenseEncoderSettings, SettingsError
from crag.weights.manifest import WeightsMissingError, locate

BGE, CROSS = "bge-small-en-v1.5", "ms-marco-minilm-l-12-v2"
MAX_TOKENS = 64
TEXTS = [
    "The bridge was opened in 1937.",
    "It took four years to build the bridge, which opened to traffic in the spring of nineteen thirty-seven.",
    "Zürich — 8.849 metres; naïve café",
    "a",
]


def present(model: str) -> Path:
    try:
        return locate(model)
    except WeightsMissingError as error:
        pytest.skip(str(error))


@cache
def bge(pooling: str = "cls", batch_size: int = 1) -> OnnxDenseEncoder:
    present(BGE)
    settings = {"engine": "onnx", "model": BGE, "pooling": pooling, "max_tokens": MAX_TOKENS, "batch_size": batch_size}
    return OnnxDenseEncoder(DenseEncoderSettings.model_validate(settings))


@cache
def cross(batch_size: int = 1) -> OnnxCrossEncoder:
    present(CROSS)
    settings = {"engine": "onnx", "model": CROSS, "max_tokens": MAX_TOKENS, "batch_size": batch_size}
    return OnnxCrossEncoder(CrossEncoderSettings.model_validate(settings))


@cache
def plain_session(model: str) -> tuple[Any, Any]:
    import onnxruntime
    from tokenizers import Tokenizer

    folder = present(model)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer, onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])


def plain_output(model: str, *texts: str) -> NDArray[Any]:
    """The graph's first output for one text or pair, without padding and without truncation."""
    tokenizer, session = plain_session(model)
    encoding = tokenizer.encode(*texts)
    ids = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask, "token_type_ids": encoding.type_ids}
    feed = {node.name: np.array([ids[node.name]], dtype=np.int64) for node in session.get_inputs()}
    return np.asarray(session.run(None, feed)[0])


def unit(vector: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(vector / np.sqrt((vector.astype(np.float64) ** 2).sum()))


@pytest.mark.models
def test_cls_pooling_is_the_first_tokens_state() -> None:
    vectors, _ = bge().encode_passages(TEXTS)
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(vector, unit(plain_output(BGE, text)[0, 0]), atol=1e-4)


@pytest.mark.models
def test_mean_pooling_is_the_mean_of_all_states_and_not_of_the_padding() -> None:
    alone = np.array([unit(plain_output(BGE, text)[0].mean(axis=0)) for text in TEXTS])
    vectors, _ = bge("mean").encode_passages(TEXTS)
    np.testing.assert_allclose(vectors, alone, atol=1e-4)
    padded, _ = bge("mean", batch_size=4).encode_passages(TEXTS)
    # An int8 model's numbers depend a little on its batch mates; padding in the mean would move them far more.
    assert (padded * alone).sum(axis=1).min() > 0.98


@pytest.mark.models
def test_cross_encoder_logits_are_the_graphs_own() -> None:
    pairs = [("when was the bridge opened?", text) for text in TEXTS] + [("a", "when was the bridge opened?")]
    expected = [float(plain_output(CROSS, query, passage).ravel()[-1]) for query, passage in pairs]
    np.testing.assert_allclose(np.array(cross().score(pairs), dtype=float), expected, atol=1e-3)


@pytest.mark.models
def test_a_long_passage_loses_its_end_and_the_question_stays() -> None:
    query = "when was the bridge opened?"
    padding = " The weather was fine." * 40
    kept, lost = cross().score([(query, TEXTS[0] + padding), (query, padding + TEXTS[0])])
    assert kept is not None
    assert lost is not None
    assert kept > lost + 3
    same = cross().score([(query, TEXTS[0] + padding + " in 1937"), (query, TEXTS[0] + padding + " bananas")])
    assert same[0] == same[1] == kept


def test_the_folder_says_how_tokens_are_pooled_and_nothing_is_guessed(tmp_path: Path) -> None:
    (tmp_path / "1_Pooling").mkdir()
    for facts, expected in ({"cls_token": True, "mean_tokens": False}, "cls"), ({"mean_tokens": True}, "mean"):
        config = {f"pooling_mode_{name}": value for name, value in facts.items()}
        (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(config))
        assert read_pooling(tmp_path, "m") == expected
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_max_tokens": True}))
    with pytest.raises(SettingsError, match="some-model does not say"):
        read_pooling(tmp_path, "some-model")


def test_a_folder_without_a_graph_names_what_it_looked_for(tmp_path: Path) -> None:
    with pytest.raises(WeightsMissingError, match=r"model\.onnx, onnx/model\.onnx"):
        OnnxTextModel(tmp_path, 64, "cpu")


@pytest.mark.parametrize("cut", [0, 100, 1_000_000, -1])
def test_a_graph_that_is_cut_off_is_one_line(tmp_path: Path, cut: int) -> None:
    (tmp_path / "tokenizer.json").symlink_to(present(BGE) / "tokenizer.json")
    (tmp_path / "model.onnx").write_bytes((present(BGE) / "model.onnx").read_bytes()[:cut])
    with pytest.raises(WeightsMissingError, match=r"^\S+/model\.onnx: damaged, get it again .*$"):
        OnnxTextModel(tmp_path, 64, "cpu")


def dense(engine: str) -> DenseEncoderSettings:
    if engine == "onnx":
        return DenseEncoderSettings(engine="onnx", model=str(present(BGE)), pooling="cls", batch_size=1)
    return DenseEncoderSettings(model=str(present("all-minilm-l6-v2")))


@pytest.mark.models
@pytest.mark.parametrize("engine", ["onnx", "sentence-transformers"])
def test_token_offsets_point_into_the_text(engine: str) -> None:
    encoder = load_dense_encoder(dense(engine))
    text = "Zürich, unbelievably  big " + "word " * 600
    offsets = encoder.token_offsets(text)
    assert [text[start:end] for start, end in offsets][:2] == ["Zürich", ","]
    assert len(offsets) > 600  # not cut at the model's maximum
    assert all(before[1] <= after[0] for before, after in pairwise(offsets))


@pytest.mark.parametrize(
    ("usable", "variable", "threads"), [(8, "", 0), (3, "", 3), (1, "", 1), (3, "2", 2), (8, "2", 2)]
)
def test_a_session_has_no_more_threads_than_a_container_has_cores(
    monkeypatch: pytest.MonkeyPatch, usable: int, variable: str, threads: int
) -> None:
    """0: the library takes the machine's physical cores."""
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    monkeypatch.setattr(onnx, "usable_cores", lambda: usable)
    monkeypatch.setenv(onnx.THREADS_VARIABLE, variable)
    options: list[Any] = []

    def open_session(_: str, session_options: Any, providers: list[str]) -> None:
        options.append(session_options)

    monkeypatch.setattr("onnxruntime.InferenceSession", open_session)
    onnx._open_session(Path("model.onnx"), "cpu")
    assert options[0].intra_op_num_threads == threads
