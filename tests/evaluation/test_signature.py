"""A signature changes with what a number depends on, and with nothing else."""

import dataclasses
from pathlib import Path
from typing import cast

import pytest

from crag.answering import PROMPTS
from crag.answering.prompts import Prompt
from crag.core.places import REPOSITORY
from crag.evaluation import signature
from crag.evaluation.signature import (
    adapters_signature,
    dataset_hash,
    prompts_signature,
    trained_signature,
)
from crag.settings import load_settings


def test_the_hash_of_a_data_set_depends_on_its_content_alone(tmp_path: Path) -> None:
    contents = {"a.jsonl": b"content", "b.jsonl": b"content", "c.jsonl.part1": b"cont", "c.jsonl.part2": b"ent"}
    for name, content in {**contents, "d.jsonl": b"Content"}.items():
        (tmp_path / name).write_bytes(content)
    hashes = [dataset_hash(tmp_path / f"{name}.jsonl") for name in "abcd"]
    assert hashes[:3] == ["ed7002b439e9ac84"] * 3, "sha256sum of the same bytes"
    assert hashes[3] != hashes[0]


def test_a_huge_file_is_known_by_its_head_and_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signature, "WHOLE_FILE_LIMIT", 10)
    monkeypatch.setattr(signature, "HEAD_BYTES", 4)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"content is long")
    first = dataset_hash(path)
    assert first.startswith("head-")
    assert first.endswith("-15")
    path.write_bytes(b"content is even longer")
    assert dataset_hash(path).rpartition("-")[0] == first.rpartition("-")[0]
    assert dataset_hash(path) != first


def test_the_prompts_of_a_preset_by_name_and_wording(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = load_settings("cpu")
    before = prompts_signature(cpu)
    assert before.rpartition("@")[0] == "reader+facts+calls"
    assert prompts_signature(load_settings("nec")).startswith("nec+nec_refine@")
    assert prompts_signature(load_settings("db3_task1")).startswith("basic+entities")
    assert "route" in prompts_signature(load_settings("weknow"))

    other = dataclasses.replace(PROMPTS["reader"], user=PROMPTS["reader"].user + " ")
    monkeypatch.setitem(cast("dict[str, Prompt]", PROMPTS), "reader", other)
    assert prompts_signature(cpu) != before
    assert prompts_signature(load_settings("nec")).startswith("nec+nec_refine@")


def test_the_files_that_the_prompts_are_built_from_exist() -> None:
    root = REPOSITORY
    for patterns in signature._PROMPT_SOURCES.values():
        for pattern in patterns:
            assert any(path.is_file() for path in root.glob(pattern)), pattern


def adapter(folder: Path, weights: bytes) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text("{}", encoding="utf-8")
    (folder / "adapter_model.safetensors").write_bytes(weights)
    return str(folder)


def test_adapters_by_the_hash_of_their_files(tmp_path: Path) -> None:
    def signed(weights: bytes) -> str | None:
        location = adapter(tmp_path / "writer", weights)
        adapters = f"{{kg_writer='{location}', kg_answerer='no/such/folder'}}"
        changes = [f"language_model={{engine='transformers', model='m', adapters={adapters}}}"]
        return adapters_signature(load_settings("cpu", changes))

    first = signed(b"weights")
    assert first is not None
    assert first.startswith("kg_answerer@?+kg_writer@")
    assert len(first.rpartition("@")[2]) == 12
    assert signed(b"weights") == first
    assert signed(b"other weights") != first


def test_other_trained_files_are_signed_by_their_content(tmp_path: Path) -> None:
    own = tmp_path / "own.json"

    def signed(content: str) -> str | None:
        own.write_text(content, encoding="utf-8")
        return trained_signature(load_settings("cpu", [f"answering.confidence.model={own}"]))

    first = str(signed("{}"))
    assert {part.partition("@")[0] for part in first.split("+")} == {"cpu", "cpu_tables", "own.json"}
    assert "?" not in first
    assert signed("{}") == first
    assert signed("[]") != first
    own.unlink()
    assert "own.json@?" in str(trained_signature(load_settings("cpu", [f"answering.confidence.model={own}"])))
    assert trained_signature(load_settings("scripted", [])) is None
