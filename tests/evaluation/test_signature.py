"""A signature changes with what a number depends on, and with nothing else."""

from pathlib import Path

import pytest

from agents.settings import available_presets, load_settings
from evaluation import signature
from evaluation.signature import dataset_hash, settings_hash, signature_line, versions


def test_settings_hash() -> None:
    settings = load_settings("cpu")
    assert settings_hash(settings) == settings_hash(load_settings("cpu"))
    assert settings_hash(settings.model_copy(update={"description": "other words"})) == settings_hash(settings)
    assert settings_hash(settings.model_copy(update={"batch_size": 3})) != settings_hash(settings)


def test_dataset_hash_is_of_the_content(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"content")
    (tmp_path / "b.jsonl").write_bytes(b"content")
    (tmp_path / "c.jsonl.part1").write_bytes(b"cont")
    (tmp_path / "c.jsonl.part2").write_bytes(b"ent")
    (tmp_path / "d.jsonl").write_bytes(b"Content")
    whole = dataset_hash(tmp_path / "a.jsonl")
    assert whole == "ed7002b439e9ac84", "sha256sum of the same bytes"
    assert dataset_hash(tmp_path / "b.jsonl") == whole
    assert dataset_hash(tmp_path / "c.jsonl") == whole
    assert dataset_hash(tmp_path / "d.jsonl") != whole


def test_a_huge_file_is_known_by_its_head_and_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signature, "WHOLE_FILE_LIMIT", 10)
    monkeypatch.setattr(signature, "_HEAD", 4)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"content is long")
    first = dataset_hash(path)
    assert first.startswith("head-")
    assert first.endswith("-15")
    path.write_bytes(b"content is even longer")
    assert dataset_hash(path).rpartition("-")[0] == first.rpartition("-")[0]
    assert dataset_hash(path) != first


def test_line_and_versions() -> None:
    assert signature_line({"preset": "cpu@1", "batch_size": None, "judge": "rules@1"}) == "preset:cpu@1|judge:rules@1"
    assert set(versions()) == {"python", "torch", "transformers"}


def test_no_two_presets_have_the_same_hash() -> None:
    hashes = {name: settings_hash(load_settings(name)) for name in available_presets()}
    assert len(set(hashes.values())) == len(hashes)
    assert all(len(value) == 12 and set(value) <= set("0123456789abcdef") for value in hashes.values())


@pytest.mark.parametrize("at", [0, 500_000, -1])
def test_any_changed_byte_changes_the_dataset_hash(tmp_path: Path, at: int) -> None:
    path, content = tmp_path / "a.jsonl", bytearray(1_500_000)
    path.write_bytes(content)
    before = dataset_hash(path)
    content[at] ^= 1
    path.write_bytes(content)
    assert dataset_hash(path) != before
    content[at] ^= 1
    path.write_bytes(content)
    assert dataset_hash(path) == before


def test_the_version_is_that_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert signature.package_version()[0].isdigit()
    monkeypatch.setattr(signature, "_ROOT", tmp_path)
    assert signature.package_version() == "unknown"
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert signature.package_version() == "unknown"
    (tmp_path / "pyproject.toml").write_text("not toml", encoding="utf-8")
    assert signature.package_version() == "unknown"


def test_false_and_zero_are_values() -> None:
    assert signature_line({"a": 0, "b": False, "c": "", "d": None}) == "a:0|b:False|c:"
