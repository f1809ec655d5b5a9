import json
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from agents.settings import available_presets, load_settings
from models import manifest as manifest_module
from models.manifest import (
    RECORD_NAME,
    UnknownModelError,
    WeightsMissingError,
    load_manifest,
    locate,
    parse_manifest,
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
    monkeypatch.setattr(manifest_module, "WEIGHTS_FOLDER", weights)
    monkeypatch.setenv("CRAG_MODELS_DIR", str(cache))
    return weights, cache


def test_no_preset_shares_its_name_with_a_model_or_a_group() -> None:
    """A name given to `models.fetch` means one thing."""
    shipped = load_manifest()
    assert not {*shipped.models, *shipped.groups} & set(available_presets())


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
        (TINY + '[groups.g]\nmodels = ["absent"]', "unknown models: absent"),
        (TINY + '[groups.m]\nmodels = ["m"]', "share a name: m"),
    ],
)
def test_a_wrong_manifest_says_what_is_wrong(text: str, message: str) -> None:
    text = text if "[groups." not in text else text.replace("[groups]\n", "", 1)
    with pytest.raises(ValidationError, match=message):
        parse_manifest(text)


def test_unknown_names_are_refused_and_the_known_ones_listed() -> None:
    for look_up in (parse_manifest(TINY).resolve, parse_manifest(TINY).model):
        with pytest.raises(UnknownModelError, match=r"known: m$"):
            look_up("n")


def test_checked_in_weights_come_before_the_cache(places: tuple[Path, Path]) -> None:
    weights, cache = places
    tiny = parse_manifest(TINY)
    write_tiny_model(cache / "m")
    assert locate("m", manifest=tiny) == cache / "m"
    write_tiny_model(weights / "m")
    assert locate("m", manifest=tiny) == weights / "m"


def test_broken_checked_in_weights_are_an_error_even_if_the_cache_is_whole(places: tuple[Path, Path]) -> None:
    weights, cache = places
    write_tiny_model(cache / "m")
    (weights / "m").mkdir()
    with pytest.raises(WeightsMissingError, match=r"weights/m/config.json is missing"):
        locate("m", manifest=parse_manifest(TINY))


def test_missing_weights_name_the_command_that_gets_them(places: tuple[Path, Path]) -> None:
    with pytest.raises(WeightsMissingError, match=r"python -m models.fetch m$"):
        locate("m", manifest=parse_manifest(TINY))


def test_a_truncated_file_is_noticed_by_its_size(places: tuple[Path, Path]) -> None:
    write_tiny_model(places[1] / "m")
    (places[1] / "m" / "sub" / "model.bin").write_bytes(b"x" * 1999)
    with pytest.raises(WeightsMissingError, match="1999 bytes instead of 2000"):
        locate("m", manifest=parse_manifest(TINY))


def test_a_git_lfs_pointer_is_called_by_its_name(places: tuple[Path, Path]) -> None:
    write_tiny_model(places[0] / "m")
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{SHA}\nsize 2000\n"
    (places[0] / "m" / "sub" / "model.bin").write_text(pointer)
    with pytest.raises(WeightsMissingError, match="git lfs pull"):
        locate("m", manifest=parse_manifest(TINY))


def test_a_snapshot_is_complete_when_all_recorded_files_are_there(places: tuple[Path, Path]) -> None:
    snapshot = parse_manifest(one_model('snapshot = ["*"]\nhub = { repository = "o/r", revision = "main" }'))
    folder = places[1] / "m"
    folder.mkdir(parents=True)
    with pytest.raises(WeightsMissingError, match=r"config\.json is missing"):
        locate("m", manifest=snapshot)
    (folder / "config.json").write_text("{}")
    assert locate("m", manifest=snapshot) == folder  # weights somebody placed by hand carry no record
    odd = json.dumps('we"ird.bin')
    (folder / RECORD_NAME).write_text(f'[files.{odd}]\nsize = 3\nsha256 = "{SHA}"\nsource = "o/r@main"\n')
    assert recorded_files(folder)['we"ird.bin']["size"] == 3
    with pytest.raises(WeightsMissingError, match="is missing"):
        locate("m", manifest=snapshot)
    (folder / 'we"ird.bin').write_bytes(b"123")
    assert locate("m", manifest=snapshot) == folder


def test_a_snapshot_of_another_repository_is_not_taken_for_the_model_of_its_name(places: tuple[Path, Path]) -> None:
    """A model's name outlives the choice of its repository; the folder of the earlier choice must not be served."""
    snapshot = parse_manifest(one_model('snapshot = ["*"]\nhub = { repository = "o/base", revision = "c1" }'))
    folder = places[1] / "m"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    for source, here in (("o/chat@main", False), ("o/base@c0", False), ("o/base@c1", True), ("made here", True)):
        record = f'[files."config.json"]\nsize = 2\nsha256 = "{SHA}"\nsource = "{source}"\n'
        (folder / RECORD_NAME).write_text(record)
        if here:
            assert locate("m", manifest=snapshot) == folder
        else:
            with pytest.raises(WeightsMissingError, match=re.escape(f"holds {source}, an earlier choice")):
                locate("m", manifest=snapshot)
