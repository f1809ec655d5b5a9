"""Reads the shipped Dockerfile and .dockerignore in the forms that they use: COPY of patterns, CMD as a list."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_ASSIGNMENT = re.compile(r'(\w+)=("[^"]*"|\S+)')
_WILDCARD = re.compile(r"(\*\*/|\*\*|\*|\?)")
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_NO_SOURCE = {".git", "__pycache__"}


class DockerfileError(ValueError):
    """A line of the Dockerfile is unreadable; the message names it."""


class Instruction(NamedTuple):
    """One instruction: its name in capitals, its text with joined continuation lines, and its first line from 1."""

    name: str
    text: str
    line: int


class Copy(NamedTuple):
    """A COPY instruction: sources relative to the build folder, target in the image, line."""

    sources: tuple[str, ...]
    target: str
    line: int


@dataclass(frozen=True, slots=True)
class Dockerfile:
    """The instructions of a Dockerfile in order."""

    instructions: tuple[Instruction, ...]

    def named(self, name: str) -> list[Instruction]:
        """All instructions with a name."""
        return [instruction for instruction in self.instructions if instruction.name == name]

    def last(self, name: str) -> Instruction | None:
        """The last instruction with a name, which takes effect."""
        return next(reversed(self.named(name)), None)

    @property
    def copies(self) -> list[Copy]:
        """The COPY instructions from the build folder; raises DockerfileError."""
        found = []
        for instruction in (*self.named("COPY"), *self.named("ADD")):
            words = [word for word in instruction.text.split() if not word.startswith("--")]
            if len(words) < 2 or re.search(r'[$"<:]', " ".join(words)) or "--from" in instruction.text:
                problem = f"{instruction.name} {instruction.text!r} does not name files and a target"
                raise DockerfileError(f"Dockerfile:{instruction.line}: {problem}")
            found.append(Copy(tuple(words[:-1]), words[-1], instruction.line))
        return found

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """The variables that ENV sets, with references to earlier ones, ARG defaults and `base` resolved."""
        known = dict(base)
        own: dict[str, str] = {}
        for instruction in self.instructions:
            if instruction.name not in {"ENV", "ARG"}:
                continue
            for name, value in _ASSIGNMENT.findall(instruction.text):
                known[name] = _VARIABLE.sub(lambda match: known.get(match[1], ""), value.strip('"'))
                if instruction.name == "ENV":
                    own[name] = known[name]
        return own

    @property
    def command(self) -> list[str]:
        """The words of CMD; raises DockerfileError."""
        instruction = self.last("CMD") or Instruction("CMD", "", 1)
        try:
            words = json.loads(instruction.text)
        except ValueError:
            words = None
        if not isinstance(words, list) or not words or self.last("ENTRYPOINT"):
            problem = 'the command is not a list: CMD ["python", ...], without ENTRYPOINT'
            raise DockerfileError(f"Dockerfile:{instruction.line}: {problem}")
        return [str(word) for word in words]


def parse_dockerfile(text: str) -> Dockerfile:
    """Parse a Dockerfile. Drops comments, also between continuation lines."""
    instructions: list[Instruction] = []
    words: list[str] = []
    first = 0
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith("#") or not stripped:
            continue
        first = first if words else number
        words.append(stripped.removesuffix("\\").strip())
        if not stripped.endswith("\\"):
            name, _, rest = " ".join(words).partition(" ")
            instructions.append(Instruction(name.upper(), rest.strip(), first))
            words = []
    return Dockerfile(tuple(instructions))


def _pattern(text: str) -> re.Pattern[str]:
    """Docker's pattern: ``**`` matches any number of folders, ``*`` and ``?`` match within one."""
    parts = _WILDCARD.split(text.strip("/").removeprefix("./"))
    return re.compile("".join(_MEANINGS.get(part) or re.escape(part) for part in parts))


def _beginnings(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]


def copied(source: str, paths: Iterable[str]) -> dict[str, str]:
    """Path -> its place below the target, for those of `paths` that match a COPY source (file, folder, pattern)."""
    if source.strip("/") in {"", "."}:
        return {path: path for path in paths}
    pattern = _pattern(source)
    found: dict[str, str] = {}
    for path in paths:
        match = next((part for part in _beginnings(path) if pattern.fullmatch(part)), None)
        if match is not None:
            found[path] = path.removeprefix(match).lstrip("/") or path.rpartition("/")[2]
    return found


class Rule(NamedTuple):
    """A line of .dockerignore: its number, text, pattern, and whether it keeps (``!``) the match."""

    line: int
    text: str
    pattern: re.Pattern[str]
    keeps: bool


def parse_dockerignore(text: str) -> list[Rule]:
    """Parse a .dockerignore."""
    rules = []
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            pattern = _pattern(stripped.removeprefix("!"))
            rules.append(Rule(number, stripped, pattern, keeps=stripped.startswith("!")))
    return rules


def rule_against(path: str, rules: Iterable[Rule]) -> Rule | None:
    """The rule that excludes `path` from the image: the last match of it or of a folder above it decides."""
    against: Rule | None = None
    for rule in rules:
        if any(rule.pattern.fullmatch(part) for part in _beginnings(path)):
            against = None if rule.keeps else rule
    return against


def build_context(root: Path) -> tuple[list[str], dict[str, Rule]]:
    """The files of Docker's build context, and those that .dockerignore excludes; .git is in neither."""
    file = root / ".dockerignore"
    rules = parse_dockerignore(file.read_text(encoding="utf-8") if file.is_file() else "")
    against = {path: rule_against(path, rules) for path in sorted(_files_below(root, root, rules))}
    seen = [path for path, rule in against.items() if rule is None]
    return seen, {path: rule for path, rule in against.items() if rule is not None}


def _files_below(folder: Path, root: Path, rules: list[Rule]) -> Iterator[str]:
    """Files as relative paths. Ignored hidden folders (a virtual environment) are not searched."""
    for entry in folder.iterdir():
        name = entry.relative_to(root).as_posix()
        if not entry.is_dir() or entry.is_symlink():
            yield name
        elif entry.name not in _NO_SOURCE and not (entry.name.startswith(".") and rule_against(name, rules)):
            yield from _files_below(entry, root, rules)
