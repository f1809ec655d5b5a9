"""Who may import whom, floor by floor. The arrows are those of the design; a new arrow must be drawn here first."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
OWN = ("agents", "models", "evaluation", "training", "mock_api", "benchmarks", "scripts", "crag")

FLOOR_OF_MODELS = {"models.int8", "models.manifest", "models.needed"}
FLOOR = {"agents.common", "agents.settings"} | FLOOR_OF_MODELS
"""The ground floor: values, settings, clock, readers, and the cleaning of texts. It knows nobody but itself."""

ENCODERS = FLOOR | {"agents.llm", "agents.encoders"}
DOORS = ("llm", "encoders", "dates", "questions", "web", "public_data", "answering", "kg", "matching", "reasoning")

ROOMS: dict[str, set[str]] = {
    "agents.llm": FLOOR,
    "agents.encoders": FLOOR,
    "agents.dates": {"agents.common"},
    "agents.questions": ENCODERS | {"agents.dates"},
    "agents.web": ENCODERS,
    "agents.public_data": ENCODERS | {"agents.matching"},
    "agents.matching": FLOOR | {"agents.dates"},
    "agents.reasoning": FLOOR | {"agents.matching"},
    "agents.answering": ENCODERS | {"agents.dates", "agents.matching", "agents.questions", "agents.reasoning"},
    "agents.kg": ENCODERS | {"agents.dates", "agents.matching", "agents.questions", "agents.reasoning"},
    "agents.pipeline": FLOOR | {f"agents.{room}" for room in DOORS},
    "agents.crag_agent": FLOOR | {f"agents.{room}" for room in (*DOORS, "pipeline")},
    "agents.user_config": FLOOR | {"agents.crag_agent"},
    "models.user_config": {"agents.user_config"},
    "models": FLOOR_OF_MODELS | {"agents.common"},
    "evaluation": {"agents", "models"},
    "training": {"agents", "models", "evaluation", "mock_api"},
    "mock_api": set(),
    "benchmarks": {"agents", "models", "evaluation", "training", "mock_api", "crag"},
    "scripts": {"agents", "models", "evaluation"},
    "crag": {"agents", "models", "evaluation", "training", "mock_api"},
} | dict.fromkeys(FLOOR, FLOOR)


def modules() -> Iterator[tuple[str, Path]]:
    for root in OWN:
        for path in sorted((REPOSITORY / root).rglob("*.py")):
            name = ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")
            yield name, path


def imports_of(name: str, path: Path) -> set[str]:
    """Absolute names of our own modules that a file imports anywhere, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; the arrows are easier to see when imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {module for module in found if module.split(".")[0] in OWN}


def room_of(name: str) -> str | None:
    """The longest listed prefix: agents.web.extract.worker lives in agents.web."""
    parts = name.split(".")
    return next((".".join(parts[:end]) for end in range(len(parts), 0, -1) if ".".join(parts[:end]) in ROOMS), None)


def is_command(path: Path) -> bool:
    """Whether the file is run as a command: ``python -m`` of its folder or of itself."""
    text = path.read_text(encoding="utf-8")
    return path.name == "__main__.py" or '__name__ == "__main__"' in text


def within(module: str, room: str) -> bool:
    return module == room or module.startswith(room + ".")


@pytest.mark.parametrize(("name", "path"), [pytest.param(*module, id=module[0]) for module in modules()])
def test_a_module_imports_only_what_its_room_may(name: str, path: Path) -> None:
    room = room_of(name)
    assert room or name == "agents", f"{name} has no room"
    if room is None:
        return
    entry = "crag" if path.name == "__main__.py" else "crag.command"  # command lines live in crag, or end through it
    for imported in imports_of(name, path):
        known = ROOMS[room] | ({entry, f"crag.{path.stem}"} if is_command(path) else set())
        allowed = within(imported, room) or any(within(imported, other) for other in known)
        assert allowed, f"{name} imports {imported}, but {room} may only know {sorted(ROOMS[room])}"


def test_the_test_sees_a_forbidden_arrow(tmp_path: Path) -> None:
    path = tmp_path / "chunk.py"
    path.write_text("def f():\n    from agents.kg.client import fetch\n", encoding="utf-8")
    assert imports_of("agents.web.chunk", path) == {"agents.kg.client.fetch"}
    assert not any(within("agents.kg.client.fetch", other) for other in ROOMS["agents.web"])


def test_nobody_reaches_through_the_door_of_another_room() -> None:
    """Each room has one door: other rooms import `agents.web`, not `agents.web.chunk`. Training uses single steps."""
    rooms = {f"agents.{room}" for room in DOORS}
    doors = {"agents.llm.base", "agents.encoders.base"}
    steps = {f"agents.kg.{step}" for step in ("client", "derive", "entities", "executor", "language", "results")}
    steps |= {"agents.kg.schema", "agents.kg.writing"}
    steps |= {f"agents.llm.{part}" for part in ("attention", "local_engine", "tokenizer")}
    steps |= {f"agents.questions.{part}" for part in ("calibration", "classifier", "network", "ngrams")}
    rooms |= {f"training.{room}" for room in ("adapters", "api_pairs", "calibrate", "labels", "lora", "router")}
    doors |= {"training.lora.model"}  # what an adapter needs before it is tuned
    for name, path in modules():
        if name.split(".")[0] == "benchmarks":
            continue  # they measure single steps
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or node.module is None:
                continue
            room = next((room for room in rooms if node.module.startswith(room + ".")), None)
            if room and not within(name, room):
                training = steps if name.split(".")[0] == "training" or name == "crag.kg" else set()
                assert node.module in doors | training, f"{name} reaches past the door of {room}: {node.module}"
