"""Checks of the image that the evaluator builds."""

import re
import tomllib
from collections.abc import Iterator

from evaluation.preflight.dockerfile import Dockerfile, DockerfileError, build_context, copied, parse_dockerfile
from evaluation.preflight.findings import Findings, Outcome, Place, skipped, some
from evaluation.preflight.requirements import CONSTRAINTS, REQUIREMENTS
from evaluation.preflight.subject import Subject
from evaluation.preflight.text_files import strings

DOCKERFILE, IGNORE = "Dockerfile", ".dockerignore"
USER, USER_NUMBER = "aicrowd", "1001"
"""The evaluator's user, whose home is /home/aicrowd (2024 kit)."""
_FETCHES = re.compile(r"\b(curl|wget|git clone|pip install|models\.fetch|huggingface-cli|hf download|apt-get)\b")
NEEDED = (
    "agents/**/*", "evaluation/**/*", "models/*.py", "models/manifest.toml", "models/routers/**/*",
    "models/calibration/**/*", "data/sample/**/*", "local_evaluation.py",
)  # fmt: skip
"""With what the presets name by its folder: code, tables, grammars, small models, the questions of the rehearsal."""
REPAIR = "correct the line; Docker stops at it"


def dockerfile(subject: Subject) -> Outcome:
    """The Dockerfile installs what the lists say, copies what is there, and ends as the evaluator's user."""
    text = subject.text(DOCKERFILE)
    if text is None:
        return skipped(f"there is no {DOCKERFILE}: the evaluator takes its own")
    found = Findings()
    image = parse_dockerfile(text)
    try:
        _check_copies(subject, image, found)
    except DockerfileError as error:
        found.error(Place(error.file, error.line), error.problem, REPAIR)
    _check_user(image, found)
    _check_lists(image, found)
    _check_run_time(image, found)
    return found.outcome()


def _check_copies(subject: Subject, image: Dockerfile, found: Findings) -> None:
    seen, ignored = build_context(subject.root)
    rules = {item.path: item.rule for item in ignored}
    for copy in image.copies:
        for source in copy.unknown:
            problem = f"copies {source}: only a build can tell what that is"
            found.warning(Place(DOCKERFILE, copy.line), problem, "see that it is there, or name the file")
        for source in copy.sources:
            if copied(source, seen):
                continue
            rule = next((rules[path] for path in copied(source, rules)), None)
            if rule is None:
                found.error(
                    Place(DOCKERFILE, copy.line), f"copies {source}, which is not there", "add it, or take the line out"
                )
            else:
                place = Place(IGNORE, rule.line)
                found.error(
                    place, f"{rule.text!r} keeps {source} from the build, and COPY needs it", "narrow the pattern"
                )


def _check_user(image: Dockerfile, found: Findings) -> None:
    user, folder = image.last("USER"), image.last("WORKDIR")
    if user is None or user.text.split(":")[0] not in {USER, USER_NUMBER}:
        place = Place(DOCKERFILE, user.line if user else None)
        found.error(place, f"the container runs as {user.text if user else 'root'}", f"end with: USER {USER}")
    if folder is None:
        found.warning(DOCKERFILE, "sets no WORKDIR, so the code is not found by name", f"WORKDIR /home/{USER}")
    if image.environment({}).get("LANG", "").lower() not in {"en_us.utf-8", "c.utf-8"}:
        problem = "sets no UTF-8 locale: names with accents break"
        found.warning(DOCKERFILE, problem, "ENV LANG=en_US.UTF-8 LC_ALL=en_US.UTF-8, or C.UTF-8")


def _check_lists(image: Dockerfile, found: Findings) -> None:
    runs = image.named("RUN")
    install = next((run for run in runs if "apt.txt" in run.text), None)
    if install is None:
        remedy = "RUN tr -d '\\r' < apt.txt | xargs apt-get install --yes"
        found.error(DOCKERFILE, "does not install the packages of apt.txt", remedy)
    elif r"\r" not in install.text:
        problem = "takes apt.txt as it is: one carriage return breaks the build"
        found.warning(Place(DOCKERFILE, install.line), problem, "tr -d '\\r' < apt.txt | xargs apt-get install ...")
    for name in (REQUIREMENTS, CONSTRAINTS):
        if not any(name in run.text and "install" in run.text for run in runs):
            remedy = "RUN python -m pip install -r requirements.txt -c constraints.txt"
            found.error(DOCKERFILE, f"does not install with {name}", remedy)


def _check_run_time(image: Dockerfile, found: Findings) -> None:
    """Nothing is fetched when the container runs: there is no network then."""
    if image.environment({}).get("HF_HUB_OFFLINE") != "1":
        problem = "does not set HF_HUB_OFFLINE=1: libraries wait for a hub that cannot be reached"
        found.warning(DOCKERFILE, problem, "ENV HF_HUB_OFFLINE=1")
    for name in ("ENTRYPOINT", "CMD"):
        instruction = image.last(name)
        match = _FETCHES.search(instruction.text) if instruction else None
        if instruction and match:
            place = Place(DOCKERFILE, instruction.line)
            found.error(place, f"{name} runs {match.group()}, and the container has no network", "do it in a RUN line")


def docker_context(subject: Subject) -> Outcome:
    """.dockerignore keeps no code from the image (a bare models/** did), and weights out of it."""
    if subject.text(DOCKERFILE) is None:
        return skipped(f"there is no {DOCKERFILE}")
    found = Findings()
    try:
        _, ignored = build_context(subject.root)
    except DockerfileError as error:
        found.error(Place(error.file, error.line), error.problem, REPAIR)
        return found.outcome()
    needed = set(subject.files(*NEEDED, *_named_by_presets(subject)))
    lost: dict[tuple[int, str], list[str]] = {}
    for item in ignored:
        if item.path in needed:
            lost.setdefault((item.rule.line, item.rule.text), []).append(item.path)
    for (line, rule), names in lost.items():
        problem = f"{rule!r} keeps {len(names)} file(s) that the agent needs out of the image: {some(names)}"
        remedy = "name the folders that are large (models/weights), not the code beside them"
        found.error(Place(IGNORE, line), problem, remedy)
    return found.outcome(note=f"{len(needed)} needed files")


def _named_by_presets(subject: Subject) -> Iterator[str]:
    """Patterns of the folders below models/ that presets name: adapters, but no weights, which are mounted."""
    for file in subject.files("agents/presets/*.toml"):
        try:
            preset = tomllib.loads(subject.text(file) or "")
        except tomllib.TOMLDecodeError:
            continue  # the check of the preset says so
        yield from (f"{value}/**/*" for value in strings(preset) if value.startswith("models/"))
