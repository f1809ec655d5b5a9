"""Imports the agent that ``module:Class`` or ``FILE.py:Class`` names, as the evaluator would find it."""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from crag.core.places import REPOSITORY
from crag.evaluation.worker import DEFAULT_AGENT, AgentStartError

OUR_PACKAGES = ("agents", "crag", "models")
"""Our top-level packages: an agent's folder may have some of these names (the 2024 kit has `models`)."""


def load_agent_class(path: str) -> Callable[[], Any]:
    """The class or function that the path names. Errors in the agent's module are not caught.
    Raises AgentStartError: there is no such file, module or attribute.
    """
    # The last colon: a path may have others
    module_name, _, attribute = path.rpartition(":")
    if not (module_name and attribute):
        raise AgentStartError(f"agent {path}: expected MODULE:CLASS or FILE.py:CLASS, as in {DEFAULT_AGENT}")
    if module_name.endswith(".py"):
        module = _import_file(Path(module_name).resolve())
    else:
        module = _import_module(path, module_name, attribute)

    if not hasattr(module, attribute):
        raise AgentStartError(f"agent {path}: the module has no attribute {attribute!r}; {_describe_classes(module)}")
    agent_class: object = getattr(module, attribute)
    if not callable(agent_class):
        kind = type(agent_class).__name__
        raise AgentStartError(f"agent {path}: {attribute!r} is a {kind}, expected a class, as in {DEFAULT_AGENT}")
    return agent_class


def has_name_of_ours(module_name: str) -> bool:
    """Whether a module is called like one of ours, `models.user_config` for example."""
    return module_name.partition(".")[0] in OUR_PACKAGES


def is_ours(module: ModuleType) -> bool:
    """Whether a module, or a package without a file of its own, lies in this repository."""
    file = getattr(module, "__file__", None)
    places = [file] if file else list(getattr(module, "__path__", ()))
    return any(Path(place).is_relative_to(REPOSITORY) for place in places)


def _describe_classes(module: ModuleType) -> str:
    """The classes that a module defines, one of which was perhaps meant."""
    own_classes = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return f"it defines {', '.join(own_classes)}" if own_classes else "it defines no class"


def _import_module(path: str, module_name: str, attribute: str) -> ModuleType:
    local_file = Path(*module_name.split(".")).with_suffix(".py")
    if path == DEFAULT_AGENT and not local_file.is_file():
        # In another folder than the clone, where an installed package may be called `agents`, too
        sys.path.insert(0, str(REPOSITORY))

    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # Another missing module is a fault in the agent's code, whose traceback helps.
        if not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise AgentStartError(f"agent {path}: {error}, neither in this folder nor among the packages") from None

    # `models.user_config` may be a file of the user and a module of ours at the same time.
    if module.__file__ and local_file.is_file() and not local_file.samefile(module.__file__):
        raise AgentStartError(
            f"agent {path}: that module is {module.__file__}; the file in this folder is --agent "
            f"{local_file}:{attribute}"
        )
    return module


def _import_file(file: Path) -> ModuleType:
    """The module of a file. For what it imports, its folder and the one above take precedence over our packages."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise AgentStartError(f"agent {file}: there is no such file")

    folders = [file.parent, file.parents[1]]
    # The nearer folder comes last, so that its packages replace those of the other.
    for folder in reversed(folders):
        for name in OUR_PACKAGES:
            _give_way(folder / name)

    # In front, as Python does with the folder of a script
    sys.path[:0] = map(str, folders)

    module = importlib.util.module_from_spec(spec)
    # Before it runs: dataclasses and pickle look a module up by its name
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def _give_way(package: Path) -> None:
    """Let a package of the agent with the name of one of ours take its name."""
    has_code = any(package.glob("*.py")) or package.with_suffix(".py").is_file()
    if not has_code or package == REPOSITORY / package.name:
        return

    # A module that is loaded already would be found before any path is searched
    for module_name in list(sys.modules):
        if module_name == package.name or module_name.startswith(f"{package.name}."):
            del sys.modules[module_name]

    if package.is_dir() and not (package / "__init__.py").is_file():
        # A folder without __init__.py would lose against a package of that name anywhere on the path.
        namespace = ModuleType(package.name)
        namespace.__path__ = [str(package)]
        sys.modules[package.name] = namespace
