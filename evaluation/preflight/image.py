"""Checks of the evaluator's image: the Dockerfile, .dockerignore and pip requirements."""

import re
import tomllib
from typing import NamedTuple

from evaluation.preflight.dockerfile import Dockerfile, Rule, build_context, parse_dockerfile
from evaluation.preflight.findings import CheckReport, NotApplicableError, some
from evaluation.preflight.subject import Subject, strings

DOCKERFILE, IGNORE = "Dockerfile", ".dockerignore"
REQUIREMENTS, CONSTRAINTS = "requirements.txt", "constraints.txt"
USERS = {"aicrowd", "1001"}
"""The evaluator's user with home /home/aicrowd, and its number (2024 kit)."""
_FETCHES = re.compile(r"\b(curl|wget|git clone|pip install|models\.fetch|huggingface-cli|hf download|apt-get)\b")
NEEDED = (
    "agents/**/*", "evaluation/**/*", "models/*.py", "models/manifest.toml", "models/routers/**/*",
    "models/calibration/**/*", "data/sample/**/*", "local_evaluation.py",
)  # fmt: skip
"""Code, tables, grammars, small models and the rehearsal's questions; presets name further folders."""
_PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[\w,.-]+\])?==(?P<version>[0-9][0-9A-Za-z.+!]*)")


def _shipped(subject: Subject) -> Dockerfile:
    text = subject.text(DOCKERFILE)
    if text is None:
        raise NotApplicableError(f"there is no {DOCKERFILE}: the evaluator uses its own")
    return parse_dockerfile(text)


def dockerfile(subject: Subject, found: CheckReport) -> None:
    """The Dockerfile installs all requirements, needs no network at run time, and ends as the evaluator's user."""
    if subject.text(DOCKERFILE) is None:
        problem = "is missing: the evaluator then builds its own image, with a Python that nobody has tried"
        found.warning(DOCKERFILE, problem, f"git checkout HEAD -- {DOCKERFILE}, or the one of this project's releases")
        return
    image = _shipped(subject)
    user = image.last("USER")
    if user is None or user.text not in USERS:
        problem = f"the container runs as {user.text if user else 'root'}"
        found.error(DOCKERFILE, problem, "end with: USER aicrowd", line=user.line if user else None)
    if image.last("WORKDIR") is None:
        found.warning(DOCKERFILE, "sets no WORKDIR, so the code is not found by name", "WORKDIR /home/aicrowd")
    environment = image.environment({})
    if environment.get("LANG", "").lower() not in {"en_us.utf-8", "c.utf-8"}:
        problem = "sets no UTF-8 locale: names with accents break"
        found.warning(DOCKERFILE, problem, "ENV LANG=en_US.UTF-8 LC_ALL=en_US.UTF-8, or C.UTF-8")
    if environment.get("HF_HUB_OFFLINE") != "1":
        problem = "does not set HF_HUB_OFFLINE=1: libraries wait for a hub that cannot be reached"
        found.warning(DOCKERFILE, problem, "ENV HF_HUB_OFFLINE=1")
    for name in ("apt.txt", REQUIREMENTS, CONSTRAINTS):
        if not any(name in run.text and "install" in run.text for run in image.named("RUN")):
            found.error(DOCKERFILE, f"does not install with {name}", f"name {name} in a RUN line that installs it")
    for instruction in (*image.named("ENTRYPOINT"), *image.named("CMD")):
        if match := _FETCHES.search(instruction.text):
            problem = f"{instruction.name} runs {match.group()}, and the container has no network"
            found.error(DOCKERFILE, problem, "do it in a RUN line", line=instruction.line)


def docker_context(subject: Subject, found: CheckReport) -> None:
    """.dockerignore excludes weights, but no code (a bare models/** did)."""
    _shipped(subject)
    _, ignored = build_context(subject.root)
    presets = [tomllib.loads(subject.text(file) or "") for file in subject.files("agents/presets/*.toml")]
    folders = [f"{value}/**/*" for preset in presets for value in strings(preset) if value.startswith("models/")]
    needed = subject.files(*NEEDED, *folders)
    lost: dict[Rule, list[str]] = {}
    for path in needed:
        if path in ignored:
            lost.setdefault(ignored[path], []).append(path)
    for rule, names in lost.items():
        problem = f"{rule.text!r} keeps {len(names)} file(s) that the agent needs out of the image: {some(names)}"
        remedy = "exclude only large folders (models/weights), not the code beside them"
        found.error(IGNORE, problem, remedy, line=rule.line)
    found.note = f"{len(needed)} needed files"


class Pin(NamedTuple):
    """A pinned version in a requirements file, and its line."""

    version: str
    line: int


def normalised(name: str) -> str:
    """A distribution's name as pip compares it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(subject: Subject, file: str, found: CheckReport) -> dict[str, Pin]:
    """Distribution -> pin of a requirements file; a line without an exact version is an error."""
    pins: dict[str, Pin] = {}
    for number, line in enumerate((subject.text(file) or "").splitlines(), start=1):
        wanted = line.partition("#")[0].partition(";")[0].strip().removeprefix("\ufeff")
        if not wanted or wanted.startswith("-"):
            continue
        if match := _PIN.fullmatch(wanted):
            pins[normalised(match["name"])] = Pin(match["version"], number)
        elif "://" in wanted:
            problem = f"{wanted[:80]!r} comes from an address, which a build may not reach and whose content can change"
            remedy = "name a release: PACKAGE==VERSION; without one, put its code into the submission"
            found.error(file, problem, remedy, line=number)
        else:
            example = re.split(r"[^\w.-]", wanted, maxsplit=1)[0]
            remedy = f"pin it: {example}==VERSION, the one that `pip freeze` shows; unpinned pairs broke builds"
            found.error(file, f"{wanted!r} is not an exact version", remedy, line=number)
    return pins


def pinned(subject: Subject, found: CheckReport) -> None:
    """Every line has an exact version, and requirements.txt and constraints.txt agree."""
    for name in (REQUIREMENTS, CONSTRAINTS):
        if subject.text(name) is None:
            found.error(name, "is missing", "write it, one exact version a line: `pip freeze` shows them")
    wanted, allowed = read_pins(subject, REQUIREMENTS, found), read_pins(subject, CONSTRAINTS, found)
    for package, pin in wanted.items():
        other = allowed.get(package)
        if other is None:
            found.warning(CONSTRAINTS, f"does not name {package}", f"add {package}=={pin.version}")
        elif other.version != pin.version:
            problem = f"{package}=={pin.version}, but {CONSTRAINTS}:{other.line} has {other.version}"
            found.error(REQUIREMENTS, problem, "pip cannot install both: write the same version", line=pin.line)
    found.note = f"{len(wanted)} named, {len(allowed)} in all"
