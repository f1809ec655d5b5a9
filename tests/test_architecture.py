"""Which package may import which. A new dependency between packages must be added here first."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
OWN = ("agents", "models", "evaluation", "training", "mock_api", "benchmarks", "scripts", "crag")

FLOOR_OF_MODELS = {"models.int8", "models.manifest", "models.needed", "models.openvino_graph"}
FLOOR = {"agents.common", "agents.settings"} | FLOOR_OF_MODELS
"""The lowest layer: values, settings, clock, readers, cleaning of texts. It imports no other package."""

ENCODERS = FLOOR | {"agents.llm", "agents.encoders"}
PUBLIC = ("llm", "encoders", "dates", "questions", "web", "public_data", "answering", "kg", "matching", "reasoning")

PACKAGES: dict[str, set[str]] = {
    "agents.llm": FLOOR,
    "agents.encoders": FLOOR,
    "agents.dates": {"agents.common"},
    "agents.questions": ENCODERS | {"agents.dates"},
    "agents.web": ENCODERS | {"agents.dates"},
    "agents.public_data": ENCODERS | {"agents.matching"},
    "agents.matching": FLOOR | {"agents.dates"},
    "agents.reasoning": FLOOR | {"agents.matching"},
    "agents.answering": ENCODERS | {"agents.dates", "agents.matching", "agents.questions", "agents.reasoning"},
    "agents.kg": ENCODERS | {"agents.dates", "agents.matching", "agents.questions", "agents.reasoning"},
    "agents.pipeline": FLOOR | {f"agents.{package}" for package in PUBLIC},
    "agents.crag_agent": FLOOR | {f"agents.{package}" for package in (*PUBLIC, "pipeline")},
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
            assert node.level == 0, f"{path}: relative import; dependencies are easier to see when imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {module for module in found if module.split(".")[0] in OWN}


def package_of(name: str) -> str | None:
    """The longest listed prefix: agents.web.extract.worker is in agents.web."""
    parts = name.split(".")
    return next((".".join(parts[:end]) for end in range(len(parts), 0, -1) if ".".join(parts[:end]) in PACKAGES), None)


def is_command(path: Path) -> bool:
    """Whether the file is run as a command: ``python -m`` of its folder or of itself."""
    text = path.read_text(encoding="utf-8")
    return path.name == "__main__.py" or '__name__ == "__main__"' in text


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


@pytest.mark.parametrize(("name", "path"), [pytest.param(*module, id=module[0]) for module in modules()])
def test_a_module_imports_only_what_its_package_may(name: str, path: Path) -> None:
    package = package_of(name)
    assert package or name == "agents", f"{name} is in no package"
    if package is None:
        return
    entry = "crag" if path.name == "__main__.py" else "crag.command"  # command lines live in crag, or end through it
    for imported in imports_of(name, path):
        known = PACKAGES[package] | ({entry, f"crag.{path.stem}"} if is_command(path) else set())
        allowed = within(imported, package) or any(within(imported, other) for other in known)
        assert allowed, f"{name} imports {imported}, but {package} may only know {sorted(PACKAGES[package])}"


def test_the_test_sees_a_forbidden_import(tmp_path: Path) -> None:
    path = tmp_path / "chunk.py"
    path.write_text("def f():\n    from agents.kg.client import fetch\n", encoding="utf-8")
    assert imports_of("agents.web.chunk", path) == {"agents.kg.client.fetch"}
    assert not any(within("agents.kg.client.fetch", other) for other in PACKAGES["agents.web"])


def test_other_packages_are_imported_through_their_public_interface() -> None:
    """Others import `agents.web`, not `agents.web.chunk`. Training uses single steps."""
    packages = {f"agents.{package}" for package in PUBLIC}
    public = {"agents.llm.base", "agents.encoders.base"}
    steps = {f"agents.kg.{step}" for step in ("client", "derive", "entities", "executor", "language", "results")}
    steps |= {"agents.kg.schema", "agents.kg.writing"}
    steps |= {f"agents.llm.{part}" for part in ("attention", "local_engine", "tokenizer")}
    steps |= {f"agents.questions.{part}" for part in ("calibration", "classifier", "network", "ngrams")}
    packages |= {f"training.{name}" for name in ("adapters", "api_pairs", "calibrate", "labels", "lora", "router")}
    public |= {"training.lora.model"}  # what an adapter needs before it is tuned
    for name, path in modules():
        if name.split(".")[0] == "benchmarks":
            continue  # they measure single steps
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or node.module is None:
                continue
            package = next((package for package in packages if node.module.startswith(package + ".")), None)
            if package and not within(name, package):
                training = steps if name.split(".")[0] == "training" or name == "crag.kg" else set()
                assert node.module in public | training, f"{name} imports from inside {package}: {node.module}"
