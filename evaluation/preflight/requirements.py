"""Checks of what pip will install."""

import ast
import posixpath
import re
import subprocess
import sys
from importlib import metadata
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.version import InvalidVersion, Version

from evaluation.preflight.findings import Findings, Outcome, Place, one_line, skipped, some
from evaluation.preflight.subject import Subject

REQUIREMENTS, CONSTRAINTS = "requirements.txt", "constraints.txt"
RESOLVE_SECONDS = 1800.0
_PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[\w,.-]+\])?==(?P<version>[0-9][0-9A-Za-z.+!]*)")
_OPTION = re.compile(r"-{1,2}[a-z]")
_FURTHER = re.compile(r"(?:-r|--requirement)[ =]*(?P<file>\S.*)")
_BARE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
IMPORTED_AS = {
    "bs4": "beautifulsoup4", "PIL": "pillow", "yaml": "pyyaml", "sklearn": "scikit-learn", "rank_bm25": "rank-bm25",
    "sentence_transformers": "sentence-transformers", "faiss": "faiss-cpu", "cv2": "opencv-python-headless",
    "resiliparse": "resiliparse", "flag_embedding": "flagembedding",
}  # fmt: skip
"""Import name -> distribution, where they differ, for packages that are not installed here."""
RUNS_THERE = ("agents/**/*.py", "models/manifest.py", "models/user_config.py")
_IMPORT = re.compile(r"(?:^|[;:])[ \t]*(?:from[ \t]+(?P<source>\w+)|import[ \t]+(?P<names>[^\n;]+))", re.MULTILINE)
"""What looks like an import; parsing decides."""
_ONLY_FOR_TYPES = {"_typeshed"}


class Pin(NamedTuple):
    """A version that a file asks for, and where."""

    version: str
    place: Place


def normalised(name: str) -> str:
    """A distribution's name as pip compares it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def same_version(one: str, other: str) -> bool:
    """Whether pip takes two versions for one: 26.3 is 26.3.0."""
    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return one == other


def read_pins(subject: Subject, name: str, found: Findings) -> dict[str, Pin]:
    """Distribution -> pin of a requirements file and of those that it names; what is no exact pin is a finding."""
    pins: dict[str, Pin] = {}
    read = [name]
    for file in read:  # grows while lines name further files
        read += [further for further in _read_file(subject, file, pins, found) if further not in read]
    return pins


def _read_file(subject: Subject, name: str, pins: dict[str, Pin], found: Findings) -> list[str]:
    """Add the pins of one file; the further files that it names with -r."""
    further = []
    for number, line in enumerate((subject.text(name) or "").splitlines(), start=1):
        wanted = line.partition(" #")[0].partition(";")[0].strip().removeprefix("\ufeff")
        place = Place(name, number)
        if named := _FURTHER.fullmatch(wanted):
            file = posixpath.normpath(posixpath.join(posixpath.dirname(name), named["file"]))
            if subject.text(file) is None:
                found.error(place, f"names {file}, which is not there", "add it, or take the line out")
            further.append(file)
        if not wanted or wanted.startswith("#") or _OPTION.match(wanted):
            continue
        match = _PIN.fullmatch(wanted)
        if match is None:
            example = (_BARE_NAME.match(wanted) or [wanted])[0]
            remedy = f"pin it: {example}==VERSION, the one that `pip freeze` shows; unpinned pairs broke builds"
            found.error(place, f"{wanted!r} is not an exact version", remedy)
            continue
        package = normalised(match["name"])
        if package in pins:
            found.error(place, f"{package} stands twice, first at {pins[package].place}", "keep one line")
        pins[package] = Pin(match["version"], place)
    return further


def pinned(subject: Subject) -> Outcome:
    """Every line is an exact version, and requirements.txt and constraints.txt agree."""
    found = Findings()
    if subject.text(REQUIREMENTS) is None:
        found.error(REQUIREMENTS, "is missing", "write it: one exact version a line")
        return found.outcome()
    wanted = read_pins(subject, REQUIREMENTS, found)
    if subject.text(CONSTRAINTS) is None:
        remedy = "pip freeze, run where requirements.txt is installed, gives it"
        found.warning(CONSTRAINTS, "is missing, so what the packages pull in may change any day", remedy)
        return found.outcome()
    allowed = read_pins(subject, CONSTRAINTS, found)
    for package, pin in wanted.items():
        if package not in allowed:
            found.warning(Place(CONSTRAINTS), f"does not name {package}", f"add {package}=={pin.version}")
        elif not same_version(allowed[package].version, pin.version):
            problem = f"{package}=={pin.version}, but {allowed[package].place} says {allowed[package].version}"
            remedy = "pip cannot install both: write the same version, then see --resolve"
            found.error(pin.place, problem, remedy)
    return found.outcome(note=f"{len(wanted)} named, {len(allowed)} in all")


def imports_named(subject: Subject) -> Outcome:
    """What the agents import is in requirements.txt by name."""
    if subject.text(REQUIREMENTS) is None:
        return skipped(f"{REQUIREMENTS} is missing")
    wanted = read_pins(subject, REQUIREMENTS, Findings())
    allowed = read_pins(subject, CONSTRAINTS, Findings())
    installed = metadata.packages_distributions()
    found = Findings()
    imports = _imports(subject)
    for module, place in sorted(imports.items()):
        names = {normalised(name) for name in (*installed.get(module, []), IMPORTED_AS.get(module, module))}
        if names & wanted.keys():
            continue
        brought = sorted(names & allowed.keys())
        if brought:
            problem = f"imports {module}, which comes only because another package needs it"
            remedy = f"add {brought[0]}=={allowed[brought[0]].version} to {REQUIREMENTS}"
            found.warning(place, problem, remedy)
        else:
            problem = f"imports {module}, which {REQUIREMENTS} does not install"
            found.error(place, problem, f"add {some(sorted(names))} with its exact version, to {CONSTRAINTS} too")
    return found.outcome(note=f"{len(imports)} packages imported")


def _imports(subject: Subject) -> dict[str, Place]:
    """Foreign top-level modules that the code imports anywhere, each with one place."""
    own = {path.name.removesuffix(".py") for path in subject.root.iterdir() if path.is_dir() or path.suffix == ".py"}
    known = own | set(sys.stdlib_module_names) | _ONLY_FOR_TYPES
    found: dict[str, Place] = {}
    for name in subject.files(*RUNS_THERE):
        new = _perhaps_imported(subject.text(name) or "") - known - found.keys()
        tree = subject.module(name) if new else None  # parsing hundreds of files takes seconds
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules = [node.module]
            else:
                continue
            for module in modules:
                top = module.partition(".")[0]
                if top not in known:
                    found.setdefault(top, Place(name, node.lineno))
    return found


def _perhaps_imported(text: str) -> set[str]:
    """Top-level modules that the text of a Python file seems to import."""
    found = set()
    for match in _IMPORT.finditer(text):
        for name in (match["source"] or match["names"]).split(","):
            found.add(name.strip().partition(".")[0].partition(" ")[0])
    return found


def compatible(subject: Subject) -> Outcome:
    """The pinned versions suit each other, as far as the packages that are installed here in these versions tell."""
    ignored = Findings()  # what is no exact version is told by another check
    every = read_pins(subject, CONSTRAINTS, ignored) | read_pins(subject, REQUIREMENTS, ignored)
    found = Findings()
    asked = 0
    for package, pin in sorted(every.items()):
        try:
            distribution = metadata.distribution(package)
        except metadata.PackageNotFoundError:
            continue
        if not same_version(distribution.version.partition("+")[0], pin.version):
            continue
        asked += 1
        for line in distribution.requires or ():
            need = Requirement(line)
            if normalised(need.name) not in every or (need.marker and not need.marker.evaluate({"extra": ""})):
                continue
            other = every[normalised(need.name)]
            if not need.specifier.contains(other.version, prereleases=True):
                problem = f"{need.name}=={other.version}, but {package} {pin.version} needs {need.name}{need.specifier}"
                found.error(other.place, problem, "pin versions that suit each other, then see --resolve")
    return found.outcome(note=f"{asked} of {len(every)} packages are installed here and were asked")


def resolved(subject: Subject) -> Outcome:
    """The index has versions for everything that requirements.txt and constraints.txt ask for; with --resolve."""
    if not subject.resolve:
        return skipped("asks the package index for minutes: only with --resolve")
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed"]
    command += ["--only-binary=:all:", "--disable-pip-version-check", "-r", REQUIREMENTS, "-c", CONSTRAINTS]
    found = Findings()
    remedy = "change the versions that it names, then write constraints.txt anew as its head tells"
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter with a list of arguments
            command, cwd=subject.root, capture_output=True, text=True, check=False, timeout=RESOLVE_SECONDS
        )
    except subprocess.TimeoutExpired:
        found.error(REQUIREMENTS, f"pip found no versions in {RESOLVE_SECONDS / 60:g} minutes", remedy)
        return found.outcome()
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [done.stderr]
        found.error(REQUIREMENTS, one_line(" ".join(lines), 600), remedy)
    return found.outcome()
