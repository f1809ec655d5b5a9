import json
import os
import re
import time
from pathlib import Path

import pytest
from pydantic import ValidationError

from crag.settings import available_presets, load_settings
from crag.weights.fetch import write_record
from crag.weights.manifest import (
    RECORD_NAME,
    ManifestError,
    WeightsMissingError,
    load_manifest,
    locate,
    parse_manifest,
    read_manifest,
    recorded_files,
)

SHA = "a" * 64


def one_model(body: str) -> str:
    return f'[groups]\n[models."m"]\nrole = "r"\nlicence = "l"\n{body}\n'


TINY = one_model(
    f'files = [{{ path = "config.json", size = 2, sha256 = "{SHA}", mirror = ["pypi:p==1:p/config.json"] }},'
    f' {{ path = "sub/model.bin", size = 2000, sha256 = "{SHA}", mirror = ["pypi:p==1:p/model.bin"] }}]'
)


def write_tiny_model(folder: Path) -> None:
    (folder / "sub").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "sub" / "model.bin").write_bytes(b"x" * 2000)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """(checked-in weights folder, cache folder), both empty."""
    weights, cache = tmp_path / "weights", tmp_path / "cache"
    weights.mkdir()
    monkeypatch.setattr("crag.weights.manifest.WEIGHTS_FOLDER", weights)
    monkeypatch.setenv("CRAG_MODELS_DIR", str(cache))
    return weights, cache


def test_only_snapshots_go_without_a_hash_and_none_follows_a_branch() -> None:
    for entry in load_manifest().models.values():
        assert entry.files or entry.snapshot
        if entry.hub is not None:
            assert re.fullmatch(r"[0-9a-f]{40}", entry.hub.revision), f"{entry.name} must pin a commit"


def test_a_preset_of_plain_prompts_fetches_a_base_model_and_one_of_chats_a_tuned_one() -> None:
    """NEC's paper links Llama-2-70B-AWQ: its prompts are completions. The chat model is another one."""
    for preset in available_presets():
        settings = load_settings(preset)
        name = getattr(settings.language_model, "model", None)
        entry = load_manifest().models.get(name or "")
        if entry is not None and entry.hub is not None:
            tuned = re.search(r"chat|instruct", entry.hub.repository, re.IGNORECASE) is not None
            assert tuned is (settings.answering.form == "chat"), f"{preset}: {entry.hub.repository}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (one_model(""), "either files or snapshot"),
        (one_model('snapshot = ["*.json"]'), "needs a hub repository"),
        (one_model(f'files = [{{ path = "a", size = 1, sha256 = "{SHA}" }}]'), "no source for a"),
        (one_model(f'files = [{{ path = "../a", size = 1, sha256 = "{SHA}", mirror = ["pypi:p==1:a"] }}]'), "inside"),
        (one_model(f'files = [{{ path = "/a", size = 1, sha256 = "{SHA}", mirror = ["pypi:p==1:a"] }}]'), "inside"),
        (one_model('files = [{ path = "a", size = 1, sha256 = "abc", mirror = ["pypi:p==1:a"] }]'), "sha256"),
        (one_model(f'files = [{{ path = "a", size = 1, sha256 = "{SHA}", mirror = ["pypi:p:a"] }}]'), "mirror must"),
        (one_model('snapshot = ["*"]\nhub = { repository = "no-owner", revision = "main" }'), "repository"),
    ],
)
def test_a_wrong_manifest_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        parse_manifest(text)


def check(text: str, folder: Path | None, problem: str = "") -> None:
    """The model of the manifest is in the folder, or has the problem."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crag.weights.manifest.load_manifest", lambda: parse_manifest(text))
        if folder:
            assert locate("m") == folder
        else:
            with pytest.raises(WeightsMissingError, match=problem):
                locate("m")


def test_checked_in_weights_come_before_the_cache_even_broken_ones(places: tuple[Path, Path]) -> None:
    weights, cache = (place / "m" for place in places)
    check(TINY, None, r"crag models fetch m$")
    write_tiny_model(cache)
    check(TINY, cache)
    weights.mkdir()
    check(TINY, None, r"weights/m/config.json is missing")
    weights.rmdir()
    write_tiny_model(weights)
    check(TINY, weights)
    file = weights / "sub" / "model.bin"
    file.write_bytes(b"x" * 1999)
    check(TINY, None, "1999 bytes instead of 2000")
    file.write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{SHA}\nsize 2000\n")
    check(TINY, None, "git lfs pull")


def test_fetched_weights_are_compared_with_their_checksums_once_a_day_and_after_a_change(
    places: tuple[Path, Path],
) -> None:
    folder = places[1] / "m"
    write_tiny_model(folder)
    write_record(folder, {})
    file, now = folder / "sub" / "model.bin", time.time()
    check(TINY, folder)
    file.write_bytes(b"y" * 2000)
    damaged = r"sub/model\.bin is damaged: it does not have the sha256 of its arrival\. Get them with"
    for changed, checked, problem in ((now, now - 60, damaged), (now - 90, now - 60, ""), (0, now - 90_000, damaged)):
        os.utime(file, (changed, changed))
        os.utime(folder / "config.json", (0, 0))
        os.utime(folder / RECORD_NAME, (checked, checked))
        check(TINY, None if problem else folder, problem)
    file.write_bytes(b"x" * 2000)
    check(TINY, folder)
    assert (folder / RECORD_NAME).stat().st_mtime > now - 60


def test_a_snapshot_is_complete_when_all_recorded_files_of_its_repository_are_there(places: tuple[Path, Path]) -> None:
    """A model's name outlives the choice of its repository; the folder of the earlier choice must not be served."""
    text = one_model('snapshot = ["*"]\nhub = { repository = "o/base", revision = "c1" }')
    folder = places[1] / "m"
    folder.mkdir(parents=True)
    check(text, None, r"config\.json is missing")
    (folder / "config.json").write_text("{}")
    check(text, folder)  # weights somebody placed by hand carry no record
    odd = json.dumps('we"ird.bin')
    record = f'[files.{odd}]\nsize = 3\nsha256 = "{SHA}"\nsource = '
    (folder / RECORD_NAME).write_text(f'{record}"made here"')
    check(text, None, "is missing")
    (folder / 'we"ird.bin').write_bytes(b"123")
    for source, is_here in (("o/chat@main", False), ("o/base@c0", False), ("o/base@c1", True), ("made here", True)):
        (folder / RECORD_NAME).write_text(f'{record}"{source}"')
        check(text, folder if is_here else None, re.escape(f"holds {source}, an earlier choice"))


@pytest.mark.parametrize("record", ["[files", "\udcff", "files = 5", "[files]\na = 5", '[files.a]\nsha256 = "0"'])
def test_a_damaged_record_is_none(tmp_path: Path, record: str) -> None:
    (tmp_path / RECORD_NAME).write_text(record, errors="surrogateescape")
    assert recorded_files(tmp_path) == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[models", "not a manifest: Expected ']'"),
        ("models = 5", "not a manifest: "),
        ("[models]\nm = 5", "not a manifest: "),
        (TINY.replace("size = 2,", "size = -2,"), 'key "models.m.files.0.size": Input should be greater than'),
    ],
    ids=["cut", "number", "entry", "size"],
)
def test_a_damaged_manifest_names_file_and_field(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "manifest.toml"
    with pytest.raises(ManifestError, match=r"manifest\.toml: cannot be read: No such file"):
        read_manifest(path)
    path.write_text(text)
    with pytest.raises(ManifestError) as error:
        read_manifest(path)
    assert str(error.value).startswith(f"{path}: {reason}")
    assert "\n" not in str(error.value)


PUBLISHED = {  # millions of parameters, as the model cards give them
    "bge-base-en-v1.5": 109,
    "bge-large-en-v1.5": 335,
    "bge-reranker-v2-m3": 568,
    "bge-reranker-large": 560,
    "bert-base-uncased": 110,
    "llama-3-8b-instruct": 8030,
    "llama-3-70b-instruct-awq": 70_600,
}


def test_every_model_that_only_the_hub_has_gives_its_shape_and_parameters_and_bytes_are_the_published_ones() -> None:
    shapes = {name: model.shape for name, model in load_manifest().models.items() if model.snapshot}
    size = {name: shape for name, shape in shapes.items() if shape}
    assert size.keys() == shapes.keys()
    for name, millions in PUBLISHED.items():
        assert (size[name].linear_parameters + size[name].other_parameters) / 1e6 == pytest.approx(millions, rel=0.01)
    assert size["llama-3-8b-instruct"].weight_bytes() == pytest.approx(16.06e9, rel=0.01)
    # The 70B GPTQ model that ran on four T4 in 2024 has files of 39.8 GB; AWQ stores as much.
    assert size["llama-3-70b-instruct-awq"].weight_bytes() == pytest.approx(39.8e9, rel=0.01)
    assert size["llama-3-8b-instruct"].key_value_bytes() == 131_072
