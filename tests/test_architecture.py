"""Which room may import which. A new arrow between rooms must be added here first; none may run up."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]

BASE = {"core", "weights", "settings"}
MODELS = BASE | {"engines"}
SIDE_BY_SIDE = {"router", "facts", "graph", "web", "answering"}
PIPELINE = MODELS | {"text"} | SIDE_BY_SIDE

ROOMS: dict[str, set[str]] = {
    "core": set(),
    "mock_api": set(),
    "weights": {"core"},
    "settings": {"core", "weights"},
    "text": {"core"},
    "engines": BASE,
    # Five rooms that do not know each other.
    "router": MODELS | {"text"},
    "facts": MODELS | {"text"},
    "graph": MODELS | {"text"},
    "web": MODELS | {"text"},
    "answering": MODELS | {"text"},
    "pipeline": PIPELINE,
    "asking": PIPELINE | {"pipeline"},
    "evaluation": PIPELINE | {"pipeline", "asking"},
    "submission": PIPELINE | {"pipeline", "asking", "evaluation"},
    "training": PIPELINE | {"pipeline", "asking", "evaluation", "submission", "mock_api"},
    "benchmarks": PIPELINE | {"pipeline", "asking", "evaluation", "submission", "training", "mock_api"},
    "commands": PIPELINE | {"pipeline", "asking", "evaluation", "submission", "training", "benchmarks", "mock_api"},
}
"""Room -> the rooms below it that it may import."""

INNER = {"training", "benchmarks", "commands"}
"""Rooms that use single steps of the rooms below. All others import a room's interface, not a module inside it."""
INTERFACES = {"crag.engines.llm.base", "crag.engines.encoders.base"}
"""Modules that are interfaces besides the packages themselves."""


def modules() -> Iterator[tuple[str, Path]]:
    for top in ("agents", "crag", "models"):
        for path in sorted((REPOSITORY / top).rglob("*.py")):
            yield ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__"), path


def imports_of(path: Path) -> set[str]:
    """Absolute names of our own modules that a file imports anywhere, also inside functions."""
    imported: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; dependencies are easier to see when imports are absolute"
            imported |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in imported if name.split(".")[0] in {"agents", "crag", "models"}}


def room_of(module: str) -> str:
    """The room of a module in `crag`; the empty string for the package itself and its command line."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS else ""


def forbidden(module: str, imported: str) -> bool:
    """Whether an import runs up, sideways, or out of the package."""
    if module == "models.user_config":  # the evaluator's name for the same agent
        return imported != "agents.user_config.UserAgent"
    if module.split(".", maxsplit=1)[0] in {"agents", "models"}:
        return imported != "crag.pipeline.user_agent.UserAgent"
    if not imported.startswith("crag."):
        return True
    room, other = room_of(module), room_of(imported)
    if room == "":  # crag/__init__.py names what it passes on, crag/__main__.py ends through a command's helper
        return False
    return other != room and other not in ROOMS[room]


def test_no_arrow_runs_up_and_there_is_no_circle() -> None:
    order: list[str] = []
    remaining = dict(ROOMS)
    while remaining:
        grounded = [room for room, below in remaining.items() if below <= set(order)]
        assert grounded, f"the rooms {sorted(remaining)} import each other in a circle"
        order += grounded
        for room in grounded:
            del remaining[room]
    assert not any("commands" in below for below in ROOMS.values()), "commands are imported by nobody"


@pytest.mark.parametrize(("name", "path"), [pytest.param(*module, id=module[0]) for module in modules()])
def test_a_module_imports_only_what_its_room_may(name: str, path: Path) -> None:
    assert room_of(name) or name in {"crag", "crag.__main__"} or not name.startswith("crag."), f"{name} is in no room"
    # Preflight starts the pushed agent as the evaluator does.
    as_evaluator = {"agents.user_config.UserAgent", "models.user_config.UserModel"}
    known = as_evaluator if name == "crag.submission.preflight.agent" else set()
    wrong = sorted(imported for imported in imports_of(path) - known if forbidden(name, imported))
    assert not wrong, f"{name} imports {', '.join(wrong)}; {room_of(name)} may only know {sorted(ROOMS[room_of(name)])}"


def test_the_test_sees_a_forbidden_import(tmp_path: Path) -> None:
    path = tmp_path / "chunk.py"
    path.write_text("def f():\n    from crag.graph.client import fetch\n", encoding="utf-8")
    assert imports_of(path) == {"crag.graph.client.fetch"}
    assert forbidden("crag.web.chunk", "crag.graph.client.fetch")
    assert forbidden("crag.graph.path", "crag.commands.ask.main")
    assert not forbidden("crag.web.chunk", "crag.core.files.UserError")


def test_rooms_are_imported_through_their_interface() -> None:
    """Others import `crag.web`, not `crag.web.chunk`."""
    packages = {f"crag.{room}" for room in SIDE_BY_SIDE} | {"crag.engines.llm", "crag.engines.encoders"}
    packages |= {f"crag.text.{part}" for part in ("dates", "matching", "reasoning")}
    for name, path in modules():
        if room_of(name) in INNER:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or node.module is None or node.module in INTERFACES:
                continue
            inside = [package for package in packages if node.module.startswith(f"{package}.")]
            assert all(name == package or name.startswith(f"{package}.") for package in inside), (
                f"{name} imports from inside a room: {node.module}"
            )
