"""The whole way of a submission on vLLM, with two tensor-parallel processes, where an evaluator may start it.

A copy of what git has, stand-ins for all weights, and an evaluator's script without a main guard. Preflight's empty
world is walked by the rehearsals of `make test-vllm`.
"""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from crag.settings import load_settings
from crag.submission.preflight.subject import Subject
from crag.submission.smoke import PARALLEL_BYTES, PATIENCE, VLLM_ENVIRONMENT, available_bytes, processor_changes
from crag.submission.stand_in import make_stand_ins
from crag.submission.stand_in_adapters import reply_of
from crag.weights.manifest import WeightsMissingError
from tests.engines.llm.conftest import NO_VLLM

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.models,
    pytest.mark.skipif(find_spec("vllm") is None, reason=NO_VLLM),
]

ROOT = Path(__file__).parents[2]
PRESET = "submission"
SECONDS = 900
"""Only keeps a broken start from hanging."""
EVALUATOR = """
import json, sys
from pathlib import Path
from agents.user_config import UserAgent
from crag.evaluation.datasets import read_rows

print("main runs", flush=True)
agent = UserAgent()
rows = list(read_rows(Path("data/sample/questions.jsonl"), 4))
keys = ("interaction_id", "query", "search_results", "query_time")
answers = agent.batch_generate_answer({key: [row[key] for row in rows] for key in keys})
texts = [trace.generations["answer"].text for trace in agent.last_traces if "answer" in trace.generations]
print(json.dumps([answers, texts]), flush=True)
print([trace.events for trace in agent.last_traces], file=sys.stderr)
agent.close()
"""
WORLD = [sys.executable, str(Path(__file__).with_name("worlds.py"))]
UNSHARE = ["unshare", *([] if os.getuid() == 0 else ["--map-root-user"]), "--net", "--uts", "--mount"]
CONTAINER = ["podman", "run", "--rm", "--network=none", "--ipc=host", f"--timeout={SECONDS}"]
"""With the files of this machine, since an image with vLLM has many gigabytes. Shared memory as in `docker_run.sh`."""
CONTAINERS_CONF = str(ROOT / "crag" / "submission" / "containers.conf")


class Walk(NamedTuple):
    """A copy of the submission, and the variables of an evaluator that runs it."""

    folder: Path
    environment: dict[str, str]
    temporary: Path
    """Holds the copy, its weights and its home."""


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    available = available_bytes()
    if available < PARALLEL_BYTES:
        pytest.skip(f"{PARALLEL_BYTES / 2**30:.0f} GiB of free memory are needed, {available / 2**30:.1f} are there")

    pushed = tmp_path_factory.mktemp("submission") / "pushed"
    subject = Subject(ROOT)  # deletes its own copy
    shutil.copytree(subject.pushed, pushed, symlinks=True)
    weights = tmp_path_factory.mktemp("stand-ins")
    settings = load_settings(PRESET, [])

    try:
        make_stand_ins(settings.model_dump(), weights, repository=ROOT)
    except WeightsMissingError as error:
        pytest.skip(str(error))

    if (weights / "models").is_dir():
        shutil.copytree(weights / "models", pushed / "models", dirs_exist_ok=True)

    (pushed / "evaluator.py").write_text(EVALUATOR)
    home = tmp_path_factory.mktemp("home")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "CONTAINERS_CONF": CONTAINERS_CONF,
        "CRAG_PRESET": PRESET,
        "CRAG_MODELS_DIR": str(weights),
        "CRAG_SETTINGS": "\n".join([*processor_changes(settings), PATIENCE]),
        **VLLM_ENVIRONMENT,
    }
    return Walk(pushed, environment, tmp_path_factory.getbasetemp())


def run(walk: Walk, prefix: list[str], *command: str) -> "subprocess.CompletedProcess[str]":
    """Run Python in a world, whose prefix is that of a command."""
    if prefix == CONTAINER:
        variables = [f"--env={name}={value}" for name, value in walk.environment.items()]
        # Temporary files may be on a file system of their own.
        folders = [f"--volume={walk.temporary}:{walk.temporary}", f"--workdir={walk.folder}"]
        prefix = [*CONTAINER, *variables, *folders, "--rootfs", "/:O"]

    return subprocess.run(
        [*prefix, sys.executable, *command],
        cwd=walk.folder,
        env=walk.environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def require(walk: Walk, prefix: list[str], what: str) -> None:
    """Skip unless Python starts in this world."""
    if not prefix:
        return
    if shutil.which(prefix[0]) is None:
        pytest.skip(f"{what} cannot be made here: {prefix[0]} is missing")
    if run(walk, prefix, "-c", "pass").returncode != 0:
        pytest.skip(f"{what} cannot be made here: {prefix[0]} is not allowed to (is this root?)")


@pytest.mark.parametrize(
    ("prefix", "what"),
    [
        ([*UNSHARE, *WORLD], "a machine without a route"),
        ([], "this machine"),
        ([*UNSHARE, *WORLD, "--name", "evaluator"], "a machine whose name resolves to loopback"),
        (CONTAINER, "a container without a network"),
    ],
    ids=["no route", "as it is", "name on loopback", "container"],
)
def test_it_starts_and_answers(walk: Walk, prefix: list[str], what: str) -> None:
    require(walk, prefix, what)
    done = run(walk, prefix, "evaluator.py")
    assert done.returncode == 0, done.stderr[-3000:]

    # An evaluator's main script runs once, and vLLM prints nothing into its output.
    first, *rest = done.stdout.splitlines()
    assert first == "main runs"
    assert len(rest) == 1, done.stdout
    answers, texts = json.loads(rest[0])
    assert len(answers) == 4
    assert any(text.startswith(reply_of("web_answerer")[:8]) for text in texts), (texts, done.stderr[-3000:])


def test_without_loopback_one_line_says_so(walk: Walk) -> None:
    prefix = [*UNSHARE, *WORLD, "--no-loopback"]
    require(walk, prefix, "a machine without a network")
    done = run(walk, prefix, "evaluator.py")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "vLLM cannot start: LoopbackError: this machine cannot connect to 127.0.0.1" in last
    assert "ip link set lo up" in last
