"""Checks of the code, and of files that a build reads line by line."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata

from evaluation.preflight.findings import CheckReport, NotApplicableError, some
from evaluation.preflight.image import CONSTRAINTS, REQUIREMENTS, normalised, read_pins
from evaluation.preflight.subject import Subject, strings

BUILD_FILES = (
    "apt.txt", "requirements*.txt", "constraints.txt", "Dockerfile", ".dockerignore", ".gitattributes", "aicrowd.json",
    "*.sh", "models/*.toml", "agents/presets/*.toml",
)  # fmt: skip
CPU_REQUIREMENTS = "requirements-cpu.txt"
CODE = ("agents/**/*.py", "models/**/*.py", "*.py")
RUNS_THERE = ("agents/**/*.py", "models/manifest.py", "models/user_config.py")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ABSOLUTE = re.compile(r"(?<![\w./:~-])(?:/home/|/root/|/Users/|/mnt/|/content/|[A-Za-z]:\\)[^\s'\"]*")
"""Paths of one machine (/tmp and /dev exist everywhere)."""
_TEXT_RUNS = "runs any text as code: parse the text"
_DISTURBS = "its processes disturb the evaluator's (Meta's baseline)"
RISKY_CALLS = {
    "encode_multi_process": _DISTURBS,
    "start_multi_process_pool": _DISTURBS,
    "eval": _TEXT_RUNS,
    "exec": _TEXT_RUNS,
    "trust_remote_code": "runs code from the weights' repository",
}
IMPORTED_AS = {"bs4": "beautifulsoup4", "sklearn": "scikit-learn", "PIL": "pillow", "yaml": "pyyaml"}
"""Import name -> distribution name, where they differ, for packages that are not installed."""


def line_ends(subject: Subject, found: CheckReport) -> None:
    r"""No carriage returns and no byte order marks: apt-get looks for a package called "git\r"."""
    names = subject.files(*BUILD_FILES)
    for name in names:
        content = (subject.root / name).read_bytes()
        if content.startswith(BYTE_ORDER_MARK):
            problem = "begins with a byte order mark, which becomes part of the first word"
            found.error(name, problem, f"sed -i '1s/^\\xef\\xbb\\xbf//' {name}", line=1)
        if b"\r" in content:
            line = content[: content.index(b"\r")].count(b"\n") + 1
            remedy = f"sed -i 's/\\r$//' {name}; .gitattributes with '* text=auto eol=lf' keeps it so"
            found.error(name, "has carriage returns (Windows line ends)", remedy, line=line)
    found.note = f"{len(names)} files"


def absolute_paths(subject: Subject, found: CheckReport) -> None:
    """Code and presets have no paths of one machine."""
    texts: list[tuple[str, str, int | None]] = [
        (name, *text) for name in subject.files(*CODE) for text in _code_texts(subject, name)
    ]
    for name in subject.files("agents/presets/*.toml"):
        texts += [(name, value, None) for value in strings(tomllib.loads(subject.text(name) or ""))]
    for name, text, line in texts:
        if match := ABSOLUTE.search(text):
            remedy = "name it relative to the repository: Path(__file__).parent / ..."
            found.error(name, f"the path {match.group()} exists only on one machine", remedy, line=line)


def _code_texts(subject: Subject, name: str) -> Iterator[tuple[str, int]]:
    nodes = _nodes(subject, name) if ABSOLUTE.search(subject.text(name) or "") else []
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value, node.lineno


def _nodes(subject: Subject, name: str) -> list[ast.AST]:
    """All nodes of a Python file; none for invalid Python (the import reports it, with its line)."""
    try:
        return list(ast.walk(ast.parse(subject.text(name) or "")))
    except (SyntaxError, ValueError):
        return []


def risky_calls(subject: Subject, found: CheckReport) -> None:
    """No calls that lost submissions, or that run text from a model or a page."""
    for name in subject.files(*CODE):
        text = subject.text(name) or ""
        for node in _nodes(subject, name) if any(word in text for word in RISKY_CALLS) else ():
            if not isinstance(node, ast.Call):
                continue
            called = {getattr(node.func, "id", "")}
            called |= {getattr(node.func, "attr", "")} - {"eval", "exec"}  # model.eval() is something else
            called |= {word.arg or "" for word in node.keywords if getattr(word.value, "value", None) is True}
            for risky in sorted(called & RISKY_CALLS.keys()):
                problem = f"{risky} {RISKY_CALLS[risky]}"
                found.error(name, problem, "do it in this process, without this call", line=node.lineno)


def imports_named(subject: Subject, found: CheckReport) -> None:
    """requirements.txt names all packages that the agents import."""
    if subject.text(REQUIREMENTS) is None:
        raise NotApplicableError(f"{REQUIREMENTS} is missing")
    unused = CheckReport("pinned")
    wanted, allowed = read_pins(subject, REQUIREMENTS, unused), read_pins(subject, CONSTRAINTS, unused)
    of_processors = read_pins(subject, CPU_REQUIREMENTS, unused)
    installed = metadata.packages_distributions()
    imports = _foreign_imports(subject)
    for module, (file, line) in sorted(imports.items()):
        names = {normalised(name) for name in (*installed.get(module, []), IMPORTED_AS.get(module, module))}
        if names & wanted.keys():
            continue
        if names & of_processors.keys() and module != subject.settings.language_model.engine:
            continue  # an engine for machines without GPUs, not used by this preset
        if brought := sorted(names & allowed.keys()):
            problem = f"imports {module}, which is only a dependency of another package"
            found.warning(
                file, problem, f"add {brought[0]}=={allowed[brought[0]].version} to {REQUIREMENTS}", line=line
            )
        else:
            problem = f"imports {module}, which {REQUIREMENTS} does not install"
            remedy = f"add {some(sorted(names))} with its exact version, to {CONSTRAINTS} too"
            found.error(file, problem, remedy, line=line)
    found.note = f"{len(imports)} packages imported"


def _foreign_imports(subject: Subject) -> dict[str, tuple[str, int]]:
    own = {path.name.removesuffix(".py") for path in subject.root.iterdir() if path.is_dir() or path.suffix == ".py"}
    known = own | set(sys.stdlib_module_names) | {"_typeshed"}
    found: dict[str, tuple[str, int]] = {}
    for name in subject.files(*RUNS_THERE):
        for node in _nodes(subject, name):
            modules: list[str] = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules = [node.module]
            for top in {module.partition(".")[0] for module in modules} - known:
                found.setdefault(top, (name, getattr(node, "lineno", 1)))
    return found
