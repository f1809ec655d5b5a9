"""Checks of files that a build reads line by line, and of what is written in the code."""

import ast
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from evaluation.preflight.findings import CheckReport, Place
from evaluation.preflight.subject import Subject

BUILD_FILES = (
    "apt.txt", "requirements*.txt", "constraints.txt", "Dockerfile", ".dockerignore", ".gitattributes", "aicrowd.json",
    "*.sh", "models/*.toml", "agents/presets/*.toml",
)  # fmt: skip
CODE = ("agents/**/*.py", "models/**/*.py", "*.py")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ABSOLUTE = re.compile(r"(?<![\w./:~-])(?:/home/|/root/|/Users/|/mnt/|/content/|[A-Za-z]:\\)[^\s'\"]*")
"""Paths of one machine. (/tmp and /dev are everywhere.)"""
RISKY_CALLS = {
    **dict.fromkeys(
        ("encode_multi_process", "start_multi_process_pool"), "its processes disturb the evaluator's (Meta's baseline)"
    ),
    **dict.fromkeys(("eval", "exec"), "runs whatever text it is given: parse the text"),
    "trust_remote_code": "runs code that came with the weights",
}


def line_ends(subject: Subject, found: CheckReport) -> None:
    r"""No carriage returns and no byte order marks: apt-get looks for a package called "git\r"."""
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
    found.note = f"{len(names)} files"


def absolute_paths(subject: Subject, found: CheckReport) -> None:
    """No path of one machine stands in code or presets."""
    texts = [text for name in subject.files(*CODE) for text in _code_texts(subject, name)]
    texts += [
        (value, Place(name))
        for name in subject.files("agents/presets/*.toml")
        for value in strings(tomllib.loads(subject.text(name) or ""))
    ]
    for text, place in texts:
        if match := ABSOLUTE.search(text):
            remedy = "name it relative to the repository: Path(__file__).parent / ..."
            found.error(place, f"the path {match.group()} is of one machine only", remedy)


def _code_texts(subject: Subject, name: str) -> Iterator[tuple[str, Place]]:
    """The text constants of a Python file that may hold such a path, without docstrings."""
    tree = subject.module(name) if ABSOLUTE.search(subject.text(name) or "") else None
    nodes = list(ast.walk(tree)) if tree else []
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value, Place(name, node.lineno)


def strings(value: Any) -> Iterator[str]:  # noqa: ANN401 - a value of TOML
    """Every text in a value of TOML, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def risky_calls(subject: Subject, found: CheckReport) -> None:
    """No call that lost submissions, or that runs what a model or a page wrote."""
    for name in subject.files(*CODE):
        text = subject.text(name) or ""
        tree = subject.module(name) if any(word in text for word in RISKY_CALLS) else None
        for node in ast.walk(tree) if tree else ():
            if not isinstance(node, ast.Call):
                continue
            called = {getattr(node.func, "id", "")}
            called |= {getattr(node.func, "attr", "")} - {"eval", "exec"}  # model.eval() is another thing
            called |= {word.arg or "" for word in node.keywords if getattr(word.value, "value", None) is True}
            for risky in sorted(called & RISKY_CALLS.keys()):
                found.error(Place(name, node.lineno), f"{risky} {RISKY_CALLS[risky]}", "do it in this process, without")
