"""Checks of files that a build reads line by line, and of what is written in the code."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from evaluation.preflight.findings import Findings, Outcome, Place
from evaluation.preflight.subject import Subject

BUILD_FILES = (
    "apt.txt", "requirements*.txt", "constraints.txt", "Dockerfile", ".dockerignore", ".gitattributes", "aicrowd.json",
    "*.sh", "models/*.toml", "agents/presets/*.toml",
)  # fmt: skip
CODE = ("agents/**/*.py", "models/**/*.py", "*.py")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ABSOLUTE = re.compile(r"(?<![\w./:~-])(?:/home/|/root/|/Users/|/mnt/|/content/|[A-Za-z]:\\)[^\s'\"]*")
"""Paths of somebody's machine. (/tmp and /dev are everywhere.)"""


class Text(NamedTuple):
    """A text constant of a file, and the line where it begins (None: not known)."""

    value: str
    line: int | None


def line_ends(subject: Subject) -> Outcome:
    r"""No carriage returns and no byte order marks: apt-get looks for a package called "git\r"."""
    found = Findings()
    names = subject.files(*BUILD_FILES)
    for name in names:
        content = (subject.root / name).read_bytes()
        if content.startswith(BYTE_ORDER_MARK):
            remedy = f"sed -i '1s/^\\xef\\xbb\\xbf//' {name}"
            found.error(Place(name, 1), "begins with a byte order mark, which becomes part of the first word", remedy)
        if b"\r" in content:
            line = content[: content.index(b"\r")].count(b"\n") + 1
            remedy = f"sed -i 's/\\r$//' {name}; .gitattributes with '* text=auto eol=lf' keeps it so"
            found.error(Place(name, line), "has carriage returns (Windows line ends)", remedy)
    return found.outcome(note=f"{len(names)} files")


def absolute_paths(subject: Subject) -> Outcome:
    """No path of somebody's machine stands in code or presets."""
    found = Findings()
    for name in subject.files(*CODE, "agents/presets/*.toml"):
        for text in _texts(subject, name):
            match = ABSOLUTE.search(text.value)
            if match:
                remedy = "name it relative to the repository: Path(__file__).parent / ..."
                found.error(Place(name, text.line), f"the path {match.group()} is of one machine only", remedy)
    return found.outcome()


def _texts(subject: Subject, name: str) -> Iterator[Text]:
    """Text constants of a Python file without its docstrings, or the values of a TOML file."""
    content = subject.text(name) or ""
    if PurePosixPath(name).suffix == ".toml":
        try:
            yield from (Text(value, _line_of(content, value)) for value in strings(tomllib.loads(content)))
        except tomllib.TOMLDecodeError:
            return  # the check of the preset says so
        return
    tree = subject.module(name) if ABSOLUTE.search(content) else None  # parsing hundreds of files takes seconds
    nodes = list(ast.walk(tree)) if tree else []
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield Text(node.value, node.lineno)


def strings(value: Any) -> Iterator[str]:  # noqa: ANN401 - a value of TOML
    """Every text in a value of TOML, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def _line_of(content: str, value: str) -> int | None:
    lines = content.splitlines()
    return next((number for number, line in enumerate(lines, start=1) if value in line), None)


DANGEROUS_CALLS = {
    "encode_multi_process": "its processes disturb the evaluator's (Meta's baseline)",
    "start_multi_process_pool": "its processes disturb the evaluator's (Meta's baseline)",
}
RUNS_TEXT = {"eval", "exec"}
_RISKY = re.compile("|".join([*DANGEROUS_CALLS, *(rf"\b{name}\s*\(" for name in RUNS_TEXT), "trust_remote_code"]))
"""What a file has to hold before it is worth parsing."""


def risky_calls(subject: Subject) -> Outcome:
    """Calls that lost submissions or run what a model or a page wrote."""
    found = Findings()
    for name in subject.files(*CODE):
        tree = subject.module(name) if _RISKY.search(subject.text(name) or "") else None
        for node in ast.walk(tree) if tree else ():
            if not isinstance(node, ast.Call):
                continue
            called = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
            place = Place(name, node.lineno)
            if called in DANGEROUS_CALLS:
                found.error(place, f"{called}: {DANGEROUS_CALLS[called]}", "encode in this process, on one device")
            elif isinstance(node.func, ast.Name) and called in RUNS_TEXT:
                found.error(
                    place, f"{called} runs whatever text it is given", "parse the text; agents/reasoning shows how"
                )
            trusted = [
                k for k in node.keywords if k.arg == "trust_remote_code" and getattr(k.value, "value", None) is True
            ]
            if trusted:
                problem = "trust_remote_code=True runs code that came with the weights"
                found.error(place, problem, "use an architecture that the library knows")
    return found.outcome()
