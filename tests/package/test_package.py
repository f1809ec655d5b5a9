"""The files that the evaluator's build reads, and the script that rehearses it. One wrong byte loses a submission."""

import fnmatch
import json
import os
import re
import subprocess
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE_FILES = [
    "aicrowd.json",
    "apt.txt",
    "requirements.txt",
    "requirements-cpu.txt",
    "requirements-dev.txt",
    "constraints.txt",
    "Dockerfile",
    ".dockerignore",
    ".gitattributes",
    "docker_run.sh",
    "models/manifest.toml",
    "agents/presets/active.toml",
]
CHALLENGES = {
    "meta-kdd-cup-24-crag-retrieval-summarization",
    "meta-kdd-cup-24-crag-knowledge-graph-and-web-retrieval",
    "meta-kdd-cup-24-crag-end-to-end-retrieval-augmented-generation",
}
PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([0-9][0-9A-Za-z.+]*)")
# Where the GPU machine cannot have the version of the CPU machine: torch and what vllm 0.19.1 or its numba restrict.
MAY_DIFFER = {"torch", "transformers", "tokenizers", "numpy", "llguidance", "huggingface-hub"}


def pins(name: str) -> dict[str, str]:
    """Package -> version of a requirements file; fails on any line that is not an exact pin."""
    found: dict[str, str] = {}
    for number, line in enumerate((ROOT / name).read_text().splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = PIN.fullmatch(line.strip())
        assert match, f"{name}:{number}: not an exact pin: {line}"
        package = match[1].lower().replace("_", "-")
        assert package not in found, f"{name}:{number}: {package} twice"
        found[package] = match[2]
    return found


def is_ignored(path: str) -> bool:
    """Whether .dockerignore keeps `path` out of the image: the last pattern that matches it or a parent decides."""
    ignored = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        negated = pattern.startswith("!")
        pattern = pattern.removeprefix("!").strip("/")
        candidates = [path, *(parent.as_posix() for parent in PurePosixPath(path).parents)]
        variants = [pattern, pattern.removeprefix("**/")]  # Docker's **/ also stands for no folder at all
        deep = [pattern] if "**/" in pattern else []
        flat = [variant for variant in variants if "**" not in variant]
        hit = any(
            any(
                candidate.count("/") == variant.count("/") and fnmatch.fnmatchcase(candidate, variant)
                for variant in flat
            )
            or any(fnmatch.fnmatchcase(candidate, variant) for variant in deep)
            for candidate in candidates
            if candidate != "."
        )
        if hit:
            ignored = not negated
    return ignored


@pytest.mark.parametrize("name", PACKAGE_FILES)
def test_package_files_have_unix_line_ends_and_end_with_one(name: str) -> None:
    content = (ROOT / name).read_bytes()
    assert b"\r" not in content
    assert content.endswith(b"\n")
    assert not content.startswith(b"\xef\xbb\xbf")


def test_aicrowd_json_asks_for_the_challenge_and_for_four_gpus() -> None:
    description = json.loads((ROOT / "aicrowd.json").read_text())
    assert description["challenge_id"] in CHALLENGES
    assert description["gpu"] is True, "the kit's default is a machine without GPU"
    assert description["gpu_count"] == 4
    assert description["authors"]
    assert all(isinstance(author, str) for author in description["authors"])
    assert isinstance(description["description"], str)
    assert "debug" not in description, "a debug submission does not count"


def test_apt_txt_has_one_package_a_line_and_the_compiler_that_triton_calls() -> None:
    lines = (ROOT / "apt.txt").read_text().splitlines()
    assert {"git", "gcc", "g++"} <= set(lines)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9.+-]+", line) for line in lines)


@pytest.mark.parametrize(
    "name", ["requirements.txt", "requirements-cpu.txt", "requirements-dev.txt", "constraints.txt"]
)
def test_every_requirement_is_pinned_exactly(name: str) -> None:
    assert pins(name)


def test_cpu_and_gpu_requirements_agree_unless_the_gpu_forbids_it() -> None:
    cpu, gpu = pins("requirements-cpu.txt"), pins("requirements.txt")
    assert cpu["torch"] == "2.13.0"
    assert (gpu["vllm"], gpu["torch"]) == ("0.19.1", "2.10.0"), "the last pair for CUDA 12"
    different = {package for package in cpu.keys() & gpu.keys() if cpu[package] != gpu[package]}
    assert different <= MAY_DIFFER


def test_constraints_repeat_the_gpu_requirements_and_reach_their_dependencies() -> None:
    gpu, constraints = pins("requirements.txt"), pins("constraints.txt")
    assert gpu.items() <= constraints.items()
    assert {"xgrammar", "triton", "torchvision", "nvidia-cublas-cu12"} <= constraints.keys()
    assert not [package for package in constraints if package.endswith("-cu13")], "CUDA 13 needs a newer driver"


def test_development_requirements_contradict_nothing() -> None:
    cpu, dev = pins("requirements-cpu.txt"), pins("requirements-dev.txt")
    assert not cpu.keys() & dev.keys()


@pytest.mark.parametrize(
    "path", ["models/fetch.py", "models/manifest.toml", "models/user_config.py", "agents/user_config.py"]
)
def test_the_image_has_the_code(path: str) -> None:
    assert (ROOT / path).is_file()
    assert not is_ignored(path)


def test_no_python_file_of_the_package_is_kept_out_of_the_image() -> None:
    tracked = [path for room in ("agents", "models", "evaluation") for path in (ROOT / room).rglob("*.py")]
    assert tracked
    assert [path for path in tracked if is_ignored(path.relative_to(ROOT).as_posix())] == []
    assert not is_ignored("agents/presets/submission.toml")


@pytest.mark.parametrize(
    "path",
    [
        "models/weights/m/model.safetensors",
        "models/adapters/a/adapter_model.safetensors",
        "results/sample/results.json",
        ".git/config",
        ".venv/bin/python",
        ".venv-vllm/bin/python",
        "agents/__pycache__/x.pyc",
        "agents/web/__pycache__/x.pyc",
        ".env",
    ],
)
def test_weights_results_and_secrets_stay_out_of_the_image(path: str) -> None:
    assert is_ignored(path)


def test_everything_that_the_dockerfile_copies_exists_and_reaches_the_build() -> None:
    text = (ROOT / "Dockerfile").read_text()
    copies = re.findall(r"^COPY (?:--\S+ )*(.+)$", text, re.MULTILINE)
    assert copies
    for copy in copies:
        for source in copy.split()[:-1]:
            assert (ROOT / source).exists(), source
            assert source == "." or not is_ignored(source), source


def test_the_image_is_what_the_evaluator_expects() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert "ARG BASE_IMAGE=" in text
    assert "LANG=en_US.UTF-8" in text
    assert re.search(r"USER_ID=1001\b", text)
    assert "--chown=1001:1001" in text
    assert re.search(r"^USER aicrowd$", text, re.MULTILINE)
    assert r"tr -d '\r'" in text


LARGE = 5_000_000
"""Bytes that plain git may carry; the shipped router has two million."""


def test_no_large_weight_is_tracked_outside_git_lfs() -> None:
    listing = subprocess.run(["git", "ls-files", "models"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        pytest.skip("not a git checkout")
    weights = [path for path in listing.stdout.split() if path.endswith((".safetensors", ".bin", ".gguf", ".onnx"))]
    for path in weights:
        if (ROOT / path).stat().st_size < LARGE:
            continue
        kind = ["git", "check-attr", "filter", path]
        attribute = subprocess.run(kind, cwd=ROOT, capture_output=True, text=True, check=True)
        assert attribute.stdout.strip().endswith(": lfs"), path


@pytest.mark.parametrize(
    "path",
    ["models/weights/m/model.safetensors", "models/weights/m/sub/w.bin", "models/adapters/a/adapter.safetensors"],
)
def test_weights_would_be_checked_in_by_git_lfs(path: str) -> None:
    attribute = subprocess.run(
        ["git", "check-attr", "filter", path], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if attribute.returncode != 0:
        pytest.skip("not a git checkout")
    assert attribute.stdout.strip() == f"{path}: filter: lfs"


class FakeDocker:
    """An executable called docker that writes down its arguments; `runtimes` is what `docker info` says."""

    def __init__(self, folder: Path, runtimes: str) -> None:
        self.log = folder / "calls"
        self.weights = folder / "weights"
        self.weights.mkdir()
        self.bin = folder / "bin"
        self.bin.mkdir()
        docker = self.bin / "docker"
        docker.write_text(
            "#!/usr/bin/env bash\n"
            f'printf "%s\\037" "$@" >> "{self.log}"; echo >> "{self.log}"\n'
            f"if [ \"$1\" = info ]; then echo '{runtimes}'; fi\n"
        )
        docker.chmod(0o755)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        settings = {"PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}", "HOME": str(self.bin)}
        settings |= {"CRAG_MODELS_DIR": str(self.weights)} | environment
        command = [str(ROOT / "docker_run.sh"), *arguments]
        return subprocess.run(command, cwd="/", env=settings, capture_output=True, text=True, timeout=30, check=False)

    def calls(self) -> list[list[str]]:
        if not self.log.exists():
            return []
        return [line.split("\x1f")[:-1] for line in self.log.read_text().splitlines()]


@pytest.fixture
def docker(tmp_path: Path) -> FakeDocker:
    return FakeDocker(tmp_path, '{"runc":{}}')


def environment_of(call: list[str]) -> list[str]:
    return [call[place + 1] for place, word in enumerate(call) if word == "--env"]


def test_the_script_parses() -> None:
    assert subprocess.run(["bash", "-n", "docker_run.sh"], cwd=ROOT, check=False).returncode == 0
    assert os.access(ROOT / "docker_run.sh", os.X_OK)


def test_it_works_without_an_openai_key_and_without_a_gpu(docker: FakeDocker) -> None:
    done = docker.run("--preset", "cpu", "--limit", "1")
    assert done.returncode == 0, done.stderr
    build, _, run = docker.calls()
    assert build == ["build", "--tag", "crag-submission", "."]
    assert run[0] == "run"
    assert "--gpus" not in run
    assert f"{ROOT}:/submission" in run
    assert run[-6:] == ["crag-submission", "python", "local_evaluation.py", "--preset", "cpu", "--limit", "1"][-6:]
    names = {variable.split("=")[0] for variable in environment_of(run)}
    assert names == {"HOME", "USER", "CRAG_MODELS_DIR"}


def test_it_passes_the_evaluator_s_variables_and_shows_no_secret(docker: FakeDocker) -> None:
    done = docker.run(
        CRAG_MOCK_API_URL="http://localhost:8000",
        CRAG_PRESET="db3_task1",
        OPENAI_API_KEY="secret-value",
        EVALUATION_MODEL_NAME="some-model",
    )
    assert done.returncode == 0, done.stderr
    run = docker.calls()[-1]
    assert "CRAG_MOCK_API_URL=http://host.docker.internal:8000" in environment_of(run)
    assert {"CRAG_PRESET", "OPENAI_API_KEY", "EVALUATION_MODEL_NAME"} <= set(environment_of(run))
    assert "host.docker.internal:host-gateway" in run
    assert not any("secret-value" in word for word in run)


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        ("http://127.0.0.1:9000/kg", "http://host.docker.internal:9000/kg"),
        ("http://kg.example.org:8000", "http://kg.example.org:8000"),
    ],
)
def test_only_the_machine_s_own_address_is_rewritten(docker: FakeDocker, given: str, passed: str) -> None:
    docker.run(CRAG_MOCK_API_URL=given)
    assert f"CRAG_MOCK_API_URL={passed}" in environment_of(docker.calls()[-1])


def test_gpus_are_used_where_docker_has_the_nvidia_runtime(tmp_path: Path) -> None:
    docker = FakeDocker(tmp_path, '{"nvidia":{"path":"nvidia-container-runtime"},"runc":{}}')
    assert docker.run().returncode == 0
    run = docker.calls()[-1]
    assert run[run.index("--gpus") + 1] == "all"


def test_the_smoke_run_is_four_questions_without_network(docker: FakeDocker) -> None:
    done = docker.run("--smoke", "--no-build")
    assert done.returncode == 0, done.stderr
    (run,) = docker.calls()
    assert run[run.index("--network") + 1] == "none"
    assert f"{docker.weights}:/weights:ro" in run
    command = " ".join(run[run.index("crag-submission") + 1 :])
    assert command.startswith("python local_evaluation.py --preset cpu --dataset data/sample/questions.jsonl --limit 4")
    assert "--gpus" not in run


def test_the_smoke_run_says_how_to_get_missing_weights(docker: FakeDocker) -> None:
    done = docker.run("--smoke", "--no-build", CRAG_MODELS_DIR="/nowhere")
    assert done.returncode == 1
    assert "python -m models.fetch cpu" in done.stderr
    assert docker.calls() == []


def test_the_smoke_run_refuses_arguments_that_it_would_ignore(docker: FakeDocker) -> None:
    done = docker.run("--smoke", "--limit", "3")
    assert done.returncode == 2
    assert docker.calls() == []
