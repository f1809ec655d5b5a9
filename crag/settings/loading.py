"""Reads presets and overrides; every error names file, key, the value found and the values allowed."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from crag.core.environment import read_variable
from crag.core.files import parse_toml
from crag.core.places import REPOSITORY
from crag.core.text import encodable
from crag.settings.agent import Settings
from crag.settings.base import StrictModel
from crag.settings.errors import SettingsError, describe_errors
from crag.settings.places import typed
from crag.weights.preset_files import apply_changes, available_presets, preset_file, read_tables

PRESET_VARIABLE = "CRAG_PRESET"
"""Environment variable that overrides the preset of `agents/active.toml`."""
ACTIVE_FILE = REPOSITORY / "agents" / "active.toml"
DEFAULT_PRESET = "cpu"
OVERRIDES_VARIABLE = "CRAG_SETTINGS"
"""Environment variable with changes to the preset, one TOML line ``key = value`` each."""

_UNQUOTED_VALUE = re.compile(
    r"""
    ^ (?P<key>[^=]+) = \s*
    (?! (?:true|false|inf|nan) \s*$ )     # words that TOML knows are not strings
    (?P<word> [A-Za-z/.~] [\w./~:-]* )    # a name, path or address; TOML's numbers and dates start with a digit or sign
    \s* $
    """,
    re.VERBOSE,
)

Model = TypeVar("Model", bound=StrictModel)


def active_preset() -> str:
    """The active preset: environment `CRAG_PRESET`, else the line of `agents/active.toml`."""
    from_environment = read_variable(PRESET_VARIABLE)
    if from_environment:
        return from_environment
    if not ACTIVE_FILE.is_file():  # an installed package
        return DEFAULT_PRESET

    name = _read_tables(ACTIVE_FILE).get("preset")
    if not isinstance(name, str):
        allowed = ", ".join(available_presets())
        raise SettingsError(f'{ACTIVE_FILE}: key "preset": found {name!r}, allowed: one of {allowed}')
    return name


def usual_preset() -> str:
    """The preset of commands if none is named: environment `CRAG_PRESET`, else the one for any laptop."""
    return read_variable(PRESET_VARIABLE) or DEFAULT_PRESET


def inherited_changes() -> list[str]:
    """The changes to the preset of the environment variable `CRAG_SETTINGS`, one a line."""
    lines = read_variable(OVERRIDES_VARIABLE).splitlines()
    return [line.strip() for line in lines if line.strip()]


def load_settings(preset: str | Path | None = None, overrides: Sequence[str] | None = None) -> Settings:
    """Settings of a shipped preset by name, of a TOML file by path, or of the active preset.

    `overrides` change single keys; each is a TOML line, and ``none`` removes a part. None: the lines of the environment
    variable `CRAG_SETTINGS`. Raises SettingsError.

    Example:
        settings = load_settings("cpu", ["answering.word_limit = 20", "knowledge_graph = none"])
    """
    if preset is None:
        preset = active_preset()
    path = preset_file(preset)
    if not path.is_file():
        is_from_environment = str(preset) == read_variable(PRESET_VARIABLE)
        origin = f" (of ${PRESET_VARIABLE})" if is_from_environment else ""
        similar = get_close_matches(str(preset).lower(), available_presets(), n=1)
        hint = f": did you mean {similar[0]}?" if similar else ";"
        shipped = ", ".join(available_presets())
        raise SettingsError(f"there is no preset {str(preset)!r}{origin}{hint} shipped presets: {shipped}")

    if overrides is None:
        overrides = inherited_changes()
    return read_settings(Settings, path, overrides, name=path.stem)


def read_settings(model: type[Model], path: Path, overrides: Sequence[str] = (), **fixed: object) -> Model:
    """The TOML file with the overrides as a settings model; `fixed` are values that files cannot set.

    A relative path begins at the repository in the file, and at the current folder in an override.
    Raises SettingsError: names file, key, the value found and the values allowed, one error a line.
    """
    tables = _read_tables(path)
    changes = [(_shown(line), typed(parse_override(line))) for line in overrides if line.strip()]
    data = apply_changes(tables, [change for _, change in changes])
    try:
        return model.model_validate({**data, **fixed})
    except ValidationError as error:
        raise SettingsError(describe_errors(model, path, error, changes)) from None


def quoted_override(line: str) -> str:
    """``KEY=VALUE`` of `--set` as a TOML line; names and paths need no quotes, which a shell would remove.

    Example:
        quoted_override("answering.prompt=basic")  # 'answering.prompt="basic"'
        quoted_override("answering.word_limit=20")  # unchanged: a number
    """
    return _UNQUOTED_VALUE.sub(r'\g<key>="\g<word>"', line)


def parse_override(line: str) -> dict[str, Any]:
    """The tables of one ``KEY=VALUE``. Raises SettingsError: not a TOML line."""
    try:
        return parse_toml(encodable(quoted_override(line)).encode())
    except ValueError as error:
        raise SettingsError(
            f"the override {_shown(line, quoted=True)} is not a line of TOML ({error}); allowed: KEY=VALUE such as "
            f"answering.word_limit=20, answering.prompt=basic or knowledge_graph=none"
        ) from None


def _shown(change: str, *, quoted: bool = False) -> str:
    """A change as messages show it: with the environment variable that holds it, which a user may have forgotten."""
    line = change.strip()
    origin = f" (of ${OVERRIDES_VARIABLE})" if line in inherited_changes() else ""
    return f"{repr(line) if quoted else line}{origin}"


def _read_tables(path: Path) -> dict[str, Any]:
    try:
        return read_tables(path)
    except ValueError as error:
        raise SettingsError(str(error)) from None
