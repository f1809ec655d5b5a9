"""Checks of the image that the evaluator builds."""

import re
import tomllib

from evaluation.preflight.dockerfile import Dockerfile, DockerfileError, build_context, copied, parse_dockerfile
from evaluation.preflight.findings import CheckReport, NotApplicableError, Place, some
from evaluation.preflight.requirements import CONSTRAINTS, REQUIREMENTS
from evaluation.preflight.subject import Subject
from evaluation.preflight.text_files import strings

DOCKERFILE, IGNORE = "Dockerfile", ".dockerignore"
USERS = {"aicrowd", "1001"}
"""The evaluator's user, whose home is /home/aicrowd, and its number (2024 kit)."""
_FETCHES = re.compile(r"\b(curl|wget|git clone|pip install|models\.fetch|huggingface-cli|hf download|apt-get)\b")
NEEDED = (
    "agents/**/*", "evaluation/**/*", "models/*.py", "models/manifest.toml", "models/routers/**/*",
    "models/calibration/**/*", "data/sample/**/*", "local_evaluation.py",
)  # fmt: skip
"""Code, tables, grammars, small models and the questions of the rehearsal; presets name further folders."""


def _shipped(subject: Subject) -> Dockerfile:
    text = subject.text(DOCKERFILE)
    if text is None:
        raise NotApplicableError(f"there is no {DOCKERFILE}: the evaluator takes its own")
    return parse_dockerfile(text)


def dockerfile(subject: Subject, found: CheckReport) -> None:
    """The Dockerfile copies what is there, installs what the lists name, and ends as the evaluator's user."""
    image = _shipped(subject)
    try:
        _check_copies(subject, image, found)
    except DockerfileError as error:
        found.error(Place(error.file, error.line), error.problem, "correct the line, or copy files by their names")
    user = image.last("USER")
    if user is None or user.text not in USERS:
        place = Place(DOCKERFILE, user.line if user else None)
        found.error(place, f"the container runs as {user.text if user else 'root'}", "end with: USER aicrowd")
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
            found.error(Place(DOCKERFILE, instruction.line), problem, "do it in a RUN line")


def _check_copies(subject: Subject, image: Dockerfile, found: CheckReport) -> None:
    seen, ignored = build_context(subject.root)
    rules = {item.path: item.rule for item in ignored}
    for copy in image.copies:
        for source in copy.sources:
            if copied(source, seen):
                continue
            rule = next((rules[path] for path in copied(source, rules)), None)
            if rule is None:
                problem = f"copies {source}, which is not there"
                found.error(Place(DOCKERFILE, copy.line), problem, "add it, or take the line out")
            else:
                problem = f"{rule.text!r} keeps {source} from the build, and COPY needs it"
                found.error(Place(IGNORE, rule.line), problem, "narrow the pattern")


def docker_context(subject: Subject, found: CheckReport) -> None:
    """.dockerignore keeps no code from the image (a bare models/** did), and weights out of it."""
    _shipped(subject)
    _, ignored = build_context(subject.root)
    presets = [tomllib.loads(subject.text(file) or "") for file in subject.files("agents/presets/*.toml")]
    folders = [f"{value}/**/*" for preset in presets for value in strings(preset) if value.startswith("models/")]
    needed = set(subject.files(*NEEDED, *folders))
    lost: dict[tuple[int, str], list[str]] = {}
    for item in ignored:
        if item.path in needed:
            lost.setdefault((item.rule.line, item.rule.text), []).append(item.path)
    for (line, rule), names in lost.items():
        problem = f"{rule!r} keeps {len(names)} file(s) that the agent needs out of the image: {some(names)}"
        remedy = "name the folders that are large (models/weights), not the code beside them"
        found.error(Place(IGNORE, line), problem, remedy)
    found.note = f"{len(needed)} needed files"
