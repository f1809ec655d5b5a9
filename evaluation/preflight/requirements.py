"""Checks of what pip will install."""

import ast
import re
import sys
from importlib import metadata
from typing import NamedTuple

from evaluation.preflight.findings import CheckReport, NotApplicableError, Place, some
from evaluation.preflight.subject import Subject

REQUIREMENTS, CONSTRAINTS = "requirements.txt", "constraints.txt"
RUNS_THERE = ("agents/**/*.py", "models/manifest.py", "models/user_config.py")
_PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[\w,.-]+\])?==(?P<version>[0-9][0-9A-Za-z.+!]*)")
_ONLY_FOR_TYPES = {"_typeshed"}
IMPORTED_AS = {"bs4": "beautifulsoup4", "sklearn": "scikit-learn", "PIL": "pillow", "yaml": "pyyaml"}
"""Import name -> distribution, where they differ, for packages that are not installed here."""


class Pin(NamedTuple):
    """A version that a file asks for, and where."""

    version: str
    place: Place


def normalised(name: str) -> str:
    """A distribution's name as pip compares it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(subject: Subject, file: str, found: CheckReport) -> dict[str, Pin]:
    """Distribution -> pin of a requirements file; a line that is no exact pin is an error."""
    pins: dict[str, Pin] = {}
    for number, line in enumerate((subject.text(file) or "").splitlines(), start=1):
        wanted = line.partition("#")[0].partition(";")[0].strip().removeprefix("\ufeff")
        if not wanted or wanted.startswith("-"):
            continue
        match = _PIN.fullmatch(wanted)
        if match is None:
            example = re.split(r"[^\w.-]", wanted, maxsplit=1)[0]
            remedy = f"pin it: {example}==VERSION, the one that `pip freeze` shows; unpinned pairs broke builds"
            found.error(Place(file, number), f"{wanted!r} is not an exact version", remedy)
        else:
            pins[normalised(match["name"])] = Pin(match["version"], Place(file, number))
    return pins


def pinned(subject: Subject, found: CheckReport) -> None:
    """Every line is an exact version, and requirements.txt and constraints.txt agree."""
    for name in (REQUIREMENTS, CONSTRAINTS):
        if subject.text(name) is None:
            found.error(name, "is missing", "write it, one exact version a line: `pip freeze` shows them")
    wanted, allowed = read_pins(subject, REQUIREMENTS, found), read_pins(subject, CONSTRAINTS, found)
    for package, pin in wanted.items():
        if package not in allowed:
            found.warning(CONSTRAINTS, f"does not name {package}", f"add {package}=={pin.version}")
        elif allowed[package].version != pin.version:
            problem = f"{package}=={pin.version}, but {allowed[package].place} has {allowed[package].version}"
            found.error(pin.place, problem, "pip cannot install both: write the same version")
    found.note = f"{len(wanted)} named, {len(allowed)} in all"


def imports_named(subject: Subject, found: CheckReport) -> None:
    """What the agents import is in requirements.txt by name."""
    if subject.text(REQUIREMENTS) is None:
        raise NotApplicableError(f"{REQUIREMENTS} is missing")
    unused = CheckReport("pinned")
    wanted, allowed = read_pins(subject, REQUIREMENTS, unused), read_pins(subject, CONSTRAINTS, unused)
    installed = metadata.packages_distributions()
    imports = _foreign_imports(subject)
    for module, place in sorted(imports.items()):
        names = {normalised(name) for name in (*installed.get(module, []), IMPORTED_AS.get(module, module))}
        if names & wanted.keys():
            continue
        brought = sorted(names & allowed.keys())
        if brought:
            problem = f"imports {module}, which comes only because another package needs it"
            found.warning(place, problem, f"add {brought[0]}=={allowed[brought[0]].version} to {REQUIREMENTS}")
        else:
            problem = f"imports {module}, which {REQUIREMENTS} does not install"
            found.error(place, problem, f"add {some(sorted(names))} with its exact version, to {CONSTRAINTS} too")
    found.note = f"{len(imports)} packages imported"


def _foreign_imports(subject: Subject) -> dict[str, Place]:
    """Foreign top-level modules that the code imports anywhere, each with one place."""
    own = {path.name.removesuffix(".py") for path in subject.root.iterdir() if path.is_dir() or path.suffix == ".py"}
    known = own | set(sys.stdlib_module_names) | _ONLY_FOR_TYPES
    found: dict[str, Place] = {}
    for name in subject.files(*RUNS_THERE):
        tree = subject.module(name)
        for node in ast.walk(tree) if tree else ():
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            modules = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                modules = [node.module] if node.module and not node.level else []
            for module in modules:
                top = module.partition(".")[0]
                if top not in known:
                    found.setdefault(top, Place(name, node.lineno))
    return found
