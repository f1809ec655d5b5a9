"""Presets: found, read, validated, and explained where they cannot be used."""

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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
_BARE_WORD = re.compile(r"^(?P<key>[^=]+)=\s*(?!(?:true|false|inf|nan)\s*$)(?P<word>[A-Za-z][\w.-]*)\s*$")


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
        raise SettingsError(_explain(path, data, error)) from None


def _overridden(data: dict[str, Any], line: str) -> dict[str, Any]:
    """The data of a preset with one key changed. A single word needs no quotes, which a shell would eat anyway."""
    try:
        change = tomllib.loads(_BARE_WORD.sub(r"\g<key>='\g<word>'", line))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"the override {line!r} is not a line of TOML ({error}); allowed: KEY=VALUE such as "
            f"answering.word_limit=20, answering.prompt=basic or knowledge_graph=none"
        ) from None
    return _merged(data, change)


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Tables are merged, everything else is replaced; "none" takes a key out."""
    merged = dict(old)
    for key, value in new.items():
        before = merged.get(key)
        if value == NOTHING:
            merged.pop(key, None)
        elif isinstance(value, dict) and isinstance(before, dict) and value:
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


_UNION_TAGS = frozenset(
    {"transformers", "vllm", "openai", "scripted", "parent_child", "words", "tokens", "bm25", "dense"}
    | {"reciprocal_rank_fusion", "union", "encoder", "prompt", "class", "score"}
)


def _explain(path: Path, data: dict[str, Any], error: ValidationError) -> str:
    """One line per fault: file, key, what was found, what is allowed."""
    lines = []
    for fault in error.errors(include_url=False):
        key = _dotted(fault["loc"], data)
        found = "" if fault["type"] in {"missing", "value_error"} else f" (found {fault['input']!r})"
        message = fault["msg"]
        if fault["type"] == "extra_forbidden":
            siblings = _allowed_keys(fault["loc"])
            message = "unknown key" + (f"; allowed keys: {', '.join(siblings)}" if siblings else "")
            found = ""
        lines.append(f'{path}: key "{key}": {message}{found}')
    return "\n".join(lines)


def _dotted(location: tuple[int | str, ...], data: object) -> str:
    """The key as it is written in the file: pydantic puts the tag of a union into the location, the file has none."""
    parts: list[str] = []
    here: Any = data
    for part in location:
        if part in _UNION_TAGS and isinstance(here, dict) and part not in here:
            continue
        parts.append(str(part))
        try:
            here = here[part]
        except (KeyError, IndexError, TypeError):
            here = None
    return ".".join(parts) or "(whole file)"


def _allowed_keys(location: tuple[int | str, ...]) -> list[str]:
    """Field names of the settings class in which an unknown key was found."""
    schema = Settings.model_json_schema()
    definitions = schema.get("$defs", {})

    def resolve(node: dict[str, Any], tag: int | str | None = None) -> dict[str, Any]:
        if "$ref" in node:
            return dict(definitions[node["$ref"].rsplit("/", 1)[1]])
        options = [resolve(option) for option in node.get("oneOf", node.get("anyOf", []))]
        for option in options:
            consts = {field.get("const") for field in option.get("properties", {}).values()}
            if tag in consts or (tag is None and "properties" in option):
                return option
        return node

    node: dict[str, Any] = schema
    for index, part in enumerate(location[:-1]):
        following = location[index + 1] if index + 1 < len(location) - 1 else None
        if isinstance(part, int):
            node = resolve(node.get("items", node.get("prefixItems", {})), following)
        elif part in node.get("properties", {}):
            child = node["properties"][part]
            node = child if child.get("type") == "array" else resolve(child, following)
    return sorted(node.get("properties", {}))
