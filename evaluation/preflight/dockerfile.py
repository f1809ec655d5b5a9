"""What a Dockerfile and .dockerignore say, read without Docker: instructions, variables, files of the image."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_VARIABLE = re.compile(r"\$(?:\{(?P<braced>\w+)\}|(?P<bare>\w+))")
_ASSIGNMENT = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)')
_HEREDOC = re.compile(r"<<-?(['\"]?)(\w+)\1")
_ADDRESS = re.compile(r"[a-z]+://|git@")


class DockerfileError(ValueError):
    """A line that Docker refuses: its file, its number, what is wrong."""

    def __init__(self, file: str, line: int, problem: str) -> None:
        super().__init__(f"{file}:{line}: {problem}")
        self.file = file
        self.line = line
        self.problem = problem


class Instruction(NamedTuple):
    """One instruction: its name in capitals, its text with continuation lines joined, and its first line from 1."""

    name: str
    text: str
    line: int


class Copy(NamedTuple):
    """A COPY or ADD instruction: sources relative to the build folder, target in the image, line.

    `unknown` are sources that only a build knows: variables and texts in the Dockerfile itself.
    """

    sources: tuple[str, ...]
    unknown: tuple[str, ...]
    target: str
    line: int


@dataclass(frozen=True, slots=True)
class Dockerfile:
    """The instructions of a Dockerfile, in order."""

    instructions: tuple[Instruction, ...]

    def named(self, name: str) -> list[Instruction]:
        """All instructions of one name."""
        return [instruction for instruction in self.instructions if instruction.name == name]

    def last(self, name: str) -> Instruction | None:
        """The last instruction of one name, which is the one in force."""
        return next(reversed(self.named(name)), None)

    @property
    def copies(self) -> list[Copy]:
        """What is copied from the build folder (COPY --from takes from other images, ADD also from addresses).

        Raises:
            DockerfileError: an instruction names no source or no target.
        """
        found = []
        for instruction in (*self.named("COPY"), *self.named("ADD")):
            options, paths = _copy_words(instruction)
            if any(option.startswith("--from=") for option in options):
                continue
            if len(paths) < 2:
                raise DockerfileError("Dockerfile", instruction.line, f"{instruction.name} names no source and target")
            sources = [path for path in paths[:-1] if not _ADDRESS.match(path)]
            unknown = tuple(path for path in sources if "$" in path or path.startswith("<<"))
            known = tuple(path for path in sources if path not in unknown)
            found.append(Copy(known, unknown, paths[-1], instruction.line))
        return found

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """The variables that ENV sets, references to earlier ones, to ARG defaults and to `base` filled in."""
        known = dict(base)
        own: dict[str, str] = {}
        for instruction in self.instructions:
            if instruction.name not in {"ENV", "ARG"}:
                continue
            pairs = {name: _filled(value.strip('"'), known) for name, value in _ASSIGNMENT.findall(instruction.text)}
            known |= pairs
            if instruction.name == "ENV":
                own |= pairs
        return own

    @property
    def command(self) -> list[str]:
        """ENTRYPOINT and CMD as words; a shell form becomes ``sh -c``."""
        words: list[str] = []
        for name in ("ENTRYPOINT", "CMD"):
            instruction = self.last(name)
            if instruction is not None:
                words += _command_words(instruction.text)
        return words


def _copy_words(instruction: Instruction) -> tuple[list[str], list[str]]:
    """The options and the paths of COPY or ADD, whose paths may be a list in JSON (names with spaces)."""
    try:
        words = shlex.split(instruction.text)
    except ValueError as error:
        raise DockerfileError("Dockerfile", instruction.line, f"{instruction.name}: {error}") from None
    options = [word for word in words if word.startswith("--")]
    start = instruction.text.find("[")
    if start >= 0 and all(word.startswith("--") for word in instruction.text[:start].split()):
        try:
            paths = json.loads(instruction.text[start:])
        except ValueError:
            pass  # a name that begins with a bracket
        else:
            return options, [str(path) for path in paths]
    return options, [word for word in words if not word.startswith("--")]


def _command_words(text: str) -> list[str]:
    """The list form is JSON; what is not, Docker takes for a line of the shell."""
    try:
        words = json.loads(text)
    except ValueError:
        words = None
    return [str(word) for word in words] if isinstance(words, list) else ["sh", "-c", text]


def _filled(value: str, known: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: known.get(match["braced"] or match["bare"], ""), value)


def parse_dockerfile(text: str) -> Dockerfile:
    """Read a Dockerfile's text. Comments are dropped, also those between continuation lines.

    A text that an instruction carries itself (``<<EOF``) follows it as more lines of its text.
    """
    instructions: list[Instruction] = []
    words: list[str] = []
    first = 0
    lines = enumerate(text.splitlines(), start=1)
    for number, line in lines:
        stripped = line.strip()
        if stripped.startswith("#") or (not stripped and not words):
            continue
        first = first if words else number
        words.append(stripped.removesuffix("\\").strip())
        if not stripped.endswith("\\"):
            name, _, rest = " ".join(words).partition(" ")
            name, rest = name.upper(), rest.strip()
            ends = [match[2] for match in _HEREDOC.finditer(rest)] if name in {"RUN", "COPY", "ADD"} else []
            own = "".join(_carried(lines, end) for end in ends)
            instructions.append(Instruction(name, rest + own if name == "RUN" else rest, first))
            words = []
    return Dockerfile(tuple(instructions))


def _carried(lines: Iterator[tuple[int, str]], end: str) -> str:
    """The lines up to the one that says `end`, each after a line feed."""
    carried = ""
    for _, line in lines:
        if line.strip() == end:
            break
        carried += f"\n{line}"
    return carried


def copied(source: str, paths: Iterable[str]) -> dict[str, str]:
    """Path -> its place below the target, for those of `paths` that a COPY source names.

    That is the file itself, what is below the folder, or what is at or below a match of a pattern (``*``, ``?``).
    """
    name = source.strip("/").removeprefix("./")
    if name in {"", "."}:
        return {path: path for path in paths}
    pattern = re.compile(_expression(name))
    found: dict[str, str] = {}
    for path in paths:
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            if pattern.fullmatch("/".join(parts[:end])):
                found[path] = "/".join(parts[end:]) or parts[-1]
                break
    return found


class Rule(NamedTuple):
    """A line of .dockerignore: its number, its text, and what it matches."""

    line: int
    text: str
    pattern: re.Pattern[str]
    keeps: bool


class Ignored(NamedTuple):
    """A file that does not reach the image, and the rule that keeps it out."""

    path: str
    rule: Rule


@dataclass(frozen=True, slots=True)
class Dockerignore:
    """The rules of a .dockerignore; the last one that matches a path or a folder above it decides."""

    rules: tuple[Rule, ...]

    def rule_against(self, path: str) -> Rule | None:
        """The rule that keeps `path` (relative, with slashes) out of the image, or None."""
        parts = path.split("/")
        candidates = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
        against: Rule | None = None
        for rule in self.rules:
            if any(rule.pattern.fullmatch(candidate) for candidate in candidates):
                against = None if rule.keeps else rule
        return against

    def may_keep_below(self, folder: str) -> bool:
        """Whether a rule with ``!`` might take back something below an ignored folder."""
        wanted = [rule.text.removeprefix("!").strip("/") for rule in self.rules if rule.keeps]
        return any(text.startswith(f"{folder}/") or "*" in text.split("/")[0] for text in wanted)


def parse_dockerignore(text: str) -> Dockerignore:
    """Read a .dockerignore's text.

    Raises:
        DockerfileError: a line is no pattern.
    """
    rules = []
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        keeps = stripped.startswith("!")
        pattern = stripped.removeprefix("!").strip("/").removeprefix("./")
        try:
            expression = re.compile(_expression(pattern))
        except re.error:
            raise DockerfileError(".dockerignore", number, f"{stripped!r} is no pattern") from None
        rules.append(Rule(number, stripped, expression, keeps))
    return Dockerignore(tuple(rules))


def _expression(pattern: str) -> str:
    """Docker's pattern as a regular expression: ``**`` crosses folders (also none), ``*`` and ``?`` do not."""
    expression = ""
    rest = pattern
    while rest:
        if rest.startswith("**/"):
            expression, rest = expression + "(?:.*/)?", rest[3:]
        elif rest.startswith("**"):
            expression, rest = expression + ".*", rest[2:]
        elif rest[0] in "*?":
            expression, rest = expression + ("[^/]*" if rest[0] == "*" else "[^/]"), rest[1:]
        elif rest[0] == "[" and "]" in rest:
            end = rest.index("]") + 1
            expression, rest = expression + rest[:end], rest[end:]
        else:
            expression, rest = expression + re.escape(rest[0]), rest[1:]
    return expression


def build_context(root: Path) -> tuple[list[str], list[Ignored]]:
    """Files of a tree that Docker's build sees, and those that .dockerignore keeps from it; .git is in neither.

    Raises:
        DockerfileError: a line of .dockerignore is no pattern.
    """
    file = root / ".dockerignore"
    rules = parse_dockerignore(file.read_text(encoding="utf-8") if file.is_file() else "")
    seen: list[str] = []
    ignored: list[Ignored] = []
    for path in _files_below(root, root, rules):
        rule = rules.rule_against(path)
        if rule is None:
            seen.append(path)
        else:
            ignored.append(Ignored(path, rule))
    return sorted(seen), sorted(ignored, key=lambda item: item.path)


_NEVER_SOURCE = {".git", "__pycache__"}


def _files_below(folder: Path, root: Path, rules: Dockerignore) -> Iterator[str]:
    """Files as relative paths. Hidden folders that are ignored whole (a virtual environment) are not walked through."""
    for entry in sorted(folder.iterdir()):
        name = entry.relative_to(root).as_posix()
        if not entry.is_dir() or entry.is_symlink():
            yield name
        elif entry.name in _NEVER_SOURCE:
            continue
        elif not entry.name.startswith(".") or rules.rule_against(name) is None or rules.may_keep_below(name):
            yield from _files_below(entry, root, rules)
