"""Reads presets and overrides; every fault names file, key, the value found and the values allowed."""

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from crag.core.places import REPOSITORY
from crag.settings.agent import Settings
from crag.settings.base import SettingsError, StrictModel
from crag.weights import needed
from crag.weights.needed import available_presets

PRESET_VARIABLE = "CRAG_PRESET"
"""Environment variable that overrides the preset of `agents/active.toml`."""
ACTIVE_FILE = REPOSITORY / "agents" / "active.toml"
DEFAULT_PRESET = "cpu"
OVERRIDES_VARIABLE = "CRAG_SETTINGS"
"""Environment variable with changes to the preset, one TOML line ``key = value`` each."""
_BARE_WORD = re.compile(r"^(?P<key>[^=]+)=\s*(?!(?:true|false|inf|nan)\s*$)(?P<word>[A-Za-z/.~][\w./~:-]*)\s*$")
"""A name, path or address without quotes. Numbers and dates of TOML start with a digit or a sign."""
_WRONG_KEY = "[key]"
"""The last part of pydantic's location if the key, not the value, is wrong."""

Model = TypeVar("Model", bound=StrictModel)


def active_preset() -> str:
    """The active preset: environment `CRAG_PRESET`, else the line of `agents/active.toml`."""
    from_environment = os.environ.get(PRESET_VARIABLE, "").strip()
    if from_environment:
        return from_environment
    path = ACTIVE_FILE
    if not path.is_file():  # an installed package
        return DEFAULT_PRESET
    name = _read(path).get("preset")
    if not isinstance(name, str):
        raise SettingsError(f'{path}: key "preset": found {name!r}, allowed: one of {", ".join(available_presets())}')
    return name


def usual_preset() -> str:
    """The preset of commands if none is named: environment `CRAG_PRESET`, else the one for any laptop."""
    return os.environ.get(PRESET_VARIABLE, "").strip() or DEFAULT_PRESET


def load_settings(preset: str | Path | None = None, overrides: Sequence[str] | None = None) -> Settings:
    """Settings of a shipped preset by name, of a TOML file by path, or of the active preset.

    `overrides` change single keys; each is a TOML line such as ``answering.word_limit = 20`` or, to remove a part,
    ``knowledge_graph = none``. None: the lines of the environment variable `CRAG_SETTINGS`. Raises SettingsError.
    """
    chosen = preset if preset is not None else active_preset()
    path = needed.preset_file(chosen)
    if not path.is_file():
        raise SettingsError(f"there is no preset {str(chosen)!r}; shipped presets: {', '.join(available_presets())}")
    lines = os.environ.get(OVERRIDES_VARIABLE, "").splitlines() if overrides is None else overrides
    return read_settings(Settings, path, lines, name=path.stem)


def read_settings(model: type[Model], path: Path, overrides: Sequence[str] = (), **fixed: object) -> Model:
    """The TOML file with the overrides as a settings model; `fixed` are values that files cannot set.
    Raises SettingsError: names file, key, the value found and the values allowed, one fault a line.
    """
    data = needed.with_changes(_read(path), [parse_override(line) for line in overrides if line.strip()])
    try:
        return model.model_validate({**data, **fixed})
    except ValidationError as error:
        raise SettingsError(_explain(model, path, error)) from None


def quoted_override(line: str) -> str:
    """``KEY=VALUE`` of `--set` as a TOML line; names and paths need no quotes, which a shell would remove."""
    return _BARE_WORD.sub(r'\g<key>="\g<word>"', line)


def parse_override(line: str) -> dict[str, Any]:
    """The tables of one ``KEY=VALUE``. Raises SettingsError: not a TOML line."""
    try:
        return tomllib.loads(quoted_override(line))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"the override {line!r} is not a line of TOML ({error}); allowed: KEY=VALUE such as "
            f"answering.word_limit=20, answering.prompt=basic or knowledge_graph=none"
        ) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return needed.read_tables(path)
    except ValueError as error:
        raise SettingsError(str(error)) from None


def _explain(model: type[StrictModel], path: Path, error: ValidationError) -> str:
    schema = model.model_json_schema()
    lines = []
    for fault in error.errors(include_url=False):
        key, siblings = _place(schema, fault["loc"])
        message = fault["msg"]
        if fault["type"] == "extra_forbidden":
            message = f"unknown key; allowed keys: {', '.join(siblings)}"
        elif fault["type"] not in {"missing", "value_error"}:
            message += f" (found {fault['input']!r})"
        lines.append(f'{path}: key "{key}": {message}')
    return "\n".join(lines)


def _place(schema: dict[str, Any], location: tuple[int | str, ...]) -> tuple[str, list[str]]:
    """The key of a fault as in the file, and all keys that its table may have.

    Pydantic's location has a union's tag before the key. The schema says which parts are tags, because a tag such as
    ``score`` may also be the name of a key.
    """
    parts: list[str] = []
    node, siblings = schema, list[str]()
    for part in location:
        while "$ref" in node or "anyOf" in node:
            target = node.get("$ref") or next(o for o in node["anyOf"] if o.get("type") != "null")
            node = schema["$defs"][target.rsplit("/", 1)[1]] if isinstance(target, str) else target
        if "discriminator" in node:
            node = {"$ref": node["discriminator"]["mapping"][part]}
            continue
        if part == _WRONG_KEY:
            break
        parts.append(str(part))
        keys = node.get("properties", {})
        siblings = sorted(keys)
        of_all = node.get("items") if isinstance(part, int) else node.get("additionalProperties")
        node = keys.get(part) or (of_all if isinstance(of_all, dict) else {})
    return ".".join(parts) or "(whole file)", siblings
