"""Presets: found, read, validated, and explained where they cannot be used."""

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from agents.settings.base import SettingsError
from agents.settings.whole import Settings

PRESETS = Path(__file__).parents[1] / "presets"
PRESET_VARIABLE = "CRAG_PRESET"
"""Environment variable that overrides the preset of `agents/presets/active.toml`."""
OVERRIDES_VARIABLE = "CRAG_SETTINGS"
"""Environment variable with changes to the preset, one ``key = value`` of TOML a line."""
NOTHING = "none"
"""The value of an override that takes a key out."""
_BARE_WORD = re.compile(r"^(?P<key>[^=]+)=\s*(?!(?:true|false|inf|nan)\s*$)(?P<word>[A-Za-z/.~][\w./~:-]*)\s*$")
"""A name, path or address without quotes. What TOML reads as a number or a date begins with a digit or a sign."""


def available_presets() -> list[str]:
    """Names of the shipped presets."""
    return sorted(path.stem for path in PRESETS.glob("*.toml") if path.stem != "active")


def active_preset() -> str:
    """The preset in force: environment `CRAG_PRESET`, else the line of `agents/presets/active.toml`."""
    from_environment = os.environ.get(PRESET_VARIABLE, "").strip()
    if from_environment:
        return from_environment
    path = PRESETS / "active.toml"
    name = _read_toml(path).get("preset")
    if not isinstance(name, str):
        raise SettingsError(f'{path}: key "preset": found {name!r}, allowed: one of {", ".join(available_presets())}')
    return name


def load_settings(preset: str | Path | None = None, overrides: Sequence[str] | None = None) -> Settings:
    """Settings of a shipped preset by name, of a TOML file by path, or of the active preset.

    `overrides` change single keys, each as a line of TOML such as ``answering.word_limit = 20`` or, to take a part out,
    ``knowledge_graph = "none"``. None: those of the environment variable `CRAG_SETTINGS`, one a line.

    Raises:
        SettingsError: no such preset, not TOML, an unknown key, a wrong type or a value out of range.
    """
    chosen = preset if preset is not None else active_preset()
    path = Path(chosen) if str(chosen).endswith(".toml") else PRESETS / f"{chosen}.toml"
    if not path.is_file():
        raise SettingsError(f"there is no preset {str(chosen)!r}; shipped presets: {', '.join(available_presets())}")
    data = _read_toml(path)
    lines = os.environ.get(OVERRIDES_VARIABLE, "").splitlines() if overrides is None else overrides
    for line in filter(str.strip, lines):
        data = _overridden(data, line)
    try:
        return Settings.model_validate({**data, "name": path.stem})
    except ValidationError as error:
        raise SettingsError(_explain(path, error)) from None


def _overridden(data: dict[str, Any], line: str) -> dict[str, Any]:
    """The data of a preset with one key changed. A name or path needs no quotes, which a shell would eat."""
    try:
        change = tomllib.loads(_BARE_WORD.sub(r"\g<key>='\g<word>'", line))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"the override {line!r} is not a line of TOML ({error}); allowed: KEY=VALUE such as "
            f"answering.word_limit=20, answering.prompt=basic or knowledge_graph=none"
        ) from None
    return _merged(data, change)


def _same_kind(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether the change is to the table that is there, and not another engine in its place."""
    return "engine" not in new or new["engine"] == old.get("engine")


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Tables are merged, everything else is replaced; "none" takes a key out."""
    merged = dict(old)
    for key, value in new.items():
        before = merged.get(key)
        if value == NOTHING:
            merged.pop(key, None)
        elif isinstance(value, dict) and isinstance(before, dict) and value and _same_kind(before, value):
            merged[key] = _merged(before, value)
        else:
            merged[key] = value
    return merged


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None


def _explain(path: Path, error: ValidationError) -> str:
    """One line per fault: file, key, what was found, what is allowed."""
    lines = []
    for fault in error.errors(include_url=False):
        place = _place(fault["loc"])
        found = "" if fault["type"] in {"missing", "value_error"} else f" (found {fault['input']!r})"
        message = fault["msg"]
        if fault["type"] == "extra_forbidden":
            message = f"unknown key; allowed keys: {', '.join(place.siblings)}"
            found = ""
        lines.append(f'{path}: key "{place.key}": {message}{found}')
    return "\n".join(lines)


_KEY_ITSELF = "[key]"
"""What pydantic puts at the end of a location where not the value but its key is wrong."""


class _Place(NamedTuple):
    """A key as it is written in the file, and all keys that its table may have."""

    key: str
    siblings: list[str]


def _place(location: tuple[int | str, ...]) -> _Place:
    """Where pydantic found a fault. Its location has the tag of a union before the key, the file has none.

    Which parts are tags is told by the schema alone: a tag such as ``score`` may be the name of a key, too.
    """
    schema = Settings.model_json_schema()
    definitions = schema["$defs"]

    def resolved(node: dict[str, Any]) -> dict[str, Any]:
        """What stands behind references and beside null."""
        while "$ref" in node or "anyOf" in node:
            target = node.get("$ref") or next(o for o in node["anyOf"] if o.get("type") != "null")
            node = definitions[target.rsplit("/", 1)[1]] if isinstance(target, str) else target
        return node

    parts: list[str] = []
    node, siblings = schema, []
    for part in location:
        node = resolved(node)
        if "discriminator" in node:
            node = {"$ref": node["discriminator"]["mapping"][part]}
            continue
        if part == _KEY_ITSELF:
            break
        parts.append(str(part))
        keys = node.get("properties", {})
        siblings = sorted(keys)
        of_all = node.get("items") if isinstance(part, int) else node.get("additionalProperties")
        node = keys.get(part) or (of_all if isinstance(of_all, dict) else {})
    return _Place(".".join(parts) or "(whole file)", siblings)
