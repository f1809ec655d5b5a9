"""The code of an own agent, for the signature: read, not imported, so that nothing of the agent runs here."""

import ast
import hashlib
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from crag.core.places import REPOSITORY

READS_PRESET = frozenset({"UserAgent", "usual_preset"})
"""Names of ours: what imports one of them reads the active preset."""
_INSTALLED = ("site-packages", "dist-packages")


def code_signature(agent: str) -> str | None:
    """12 digits of the sha256 of the agent's file and of the files of its folder, and the one above, that it imports.

    `agent` is ``module:Class`` or ``FILE.py:Class``. None for our own agent, whose code is the package's, and for a
    file that cannot be found. Other files that the agent reads (weights, prompts) are not included.
    """
    files = _code_files(agent)
    if not files:
        return None

    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:12]


def reads_preset(agent: str) -> bool:
    """Whether an agent is built on our `UserAgent`, or asks for the active preset itself."""
    file = _agent_file(agent)
    if file is None:
        return False
    return any(_imports_preset(code_file) for code_file in (file, *_code_files(agent)))


def _code_files(agent: str) -> list[Path]:
    """The agent's file, and then what it imports from its folder and the one above, in alphabetical order."""
    file = _agent_file(agent)
    if file is None or _is_ours(file):
        return []

    # An installed agent's dependencies lie above it, and are not its code
    folders = [folder for folder in (file.parent, file.parent.parent) if folder.name not in _INSTALLED]
    files = {file}
    waiting = [file]
    while waiting:
        imported = set(_imported_files(waiting.pop(), folders)) - files
        files |= imported
        waiting += imported
    return [file, *sorted(files - {file})]


def _imported_files(file: Path, folders: Sequence[Path]) -> Iterator[Path]:
    """The files in the folders that a file imports; installed packages are not the agent's code.

    Not by the standard library's `modulefinder`, which fails on packages without ``__init__.py``.
    """
    for node in ast.walk(_parse(file)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _module_files(alias.name, folders)
        elif isinstance(node, ast.ImportFrom):
            start = [_relative_folder(file, node.level)] if node.level else folders
            module = f"{node.module}." if node.module else ""
            for alias in node.names:
                # A name may be a module of the package or something in it
                yield from _module_files(f"{module}{alias.name}", start)


def _relative_folder(file: Path, dots: int) -> Path:
    """Where a relative import of the file starts: one dot is its folder, each further dot the folder above."""
    return file.parents[min(dots, len(file.parents)) - 1]


def _module_files(name: str, folders: Sequence[Path]) -> Iterator[Path]:
    """The files of a module and of the packages that it is in, where they are in one of the folders."""
    parts = name.split(".")
    if parts[0] == "crag":
        return
    for folder in folders:
        for end in range(1, len(parts) + 1):
            path = folder.joinpath(*parts[:end])
            for file in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
                if file.is_file():
                    yield file.resolve()


def _agent_file(agent: str) -> Path | None:
    source, _, _ = agent.rpartition(":")
    if source.endswith(".py"):
        file = Path(source).resolve()
        return file if file.is_file() else None

    spec = _find_module(source)
    return Path(spec.origin).resolve() if spec and spec.origin and spec.origin.endswith(".py") else None


def _find_module(name: str) -> ModuleSpec | None:
    """Where a module is. Unlike `importlib.util.find_spec` this imports none of its packages."""
    search_paths: list[str] | None = [str(Path.cwd()), *sys.path]
    spec = None
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        spec = PathFinder.find_spec(".".join(parts[:end]), search_paths)
        if spec is None:
            return None
        search_paths = list(spec.submodule_search_locations or ())
    return spec


def _is_ours(file: Path) -> bool:
    """Whether the file is of this package, or only passes its agent on, as `agents/user_config.py` does at first."""
    if file.is_relative_to(REPOSITORY / "crag"):
        return True
    if not file.is_relative_to(REPOSITORY):
        return False

    for node in ast.walk(_parse(file)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Import):
            return False
        if isinstance(node, ast.ImportFrom) and not _is_our_module(node):
            return False
    return True


def _is_our_module(node: ast.ImportFrom) -> bool:
    module = node.module or ""
    return node.level == 0 and (module == "crag" or module.startswith("crag.") or module == "agents.user_config")


def _imports_preset(file: Path) -> bool:
    """Whether the file imports one of `READS_PRESET`, or names it as an attribute: ``crag.UserAgent``."""
    for node in ast.walk(_parse(file)):
        if isinstance(node, ast.ImportFrom) and _is_our_module(node):
            if READS_PRESET.intersection(alias.name for alias in node.names):
                return True
        elif isinstance(node, ast.Attribute) and node.attr in READS_PRESET and _root_name(node) == "crag":
            return True
    return False


def _root_name(node: ast.expr) -> str | None:
    """The first name of ``a.b.c``; None for the attribute of another expression."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _parse(file: Path) -> ast.Module:
    """The file's syntax tree; an empty one if it has none, which the agent's start will report."""
    try:
        return ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])
