"""Reads the TOML files of presets as plain tables: what they extend, their changes, the table ``untuned``.

`crag.settings` validates the tables. They are read here so that fetching weights needs no valid settings.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crag.core.files import parse_toml
from crag.core.places import PACKAGE

PRESETS = PACKAGE / "presets"
EXTENDS = "extends"
"""The key of a preset that names another one to start from."""
NOTHING = "none"
"""The value that removes a key of the preset that is extended or overridden."""


def available_presets() -> list[str]:
    """Names of the shipped presets."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def preset_file(name: str | Path, folder: Path | None = None) -> Path:
    """The file of a shipped preset, or the path if the name ends in .toml, relative to the `folder`."""
    if str(name).endswith(".toml"):
        return (folder or Path()) / name
    return PRESETS / f"{name}.toml"


def read_preset(name: str) -> dict[str, Any] | None:
    """The tables of a preset: a shipped one, or a file that ends in .toml; None: no such preset.

    Raises ValueError: this file or one that it extends is not TOML or does not exist.
    """
    path = preset_file(name)
    if not path.is_file():
        return None
    return apply_changes(read_tables(path))


def read_tables(path: Path, extended_by: tuple[Path, ...] = ()) -> dict[str, Any]:
    """A preset's tables. Its key ``extends`` names another preset, or a file beside it, whose tables it changes.

    `extended_by` are the resolved paths of the files that led here, to find circles.
    Raises ValueError: not TOML, cannot be read, or it extends itself or something that does not exist.
    """
    tables = read_file(path)
    base_name = tables.pop(EXTENDS, None)
    if base_name is None:
        return tables

    base = preset_file(base_name, path.parent) if isinstance(base_name, str) else None
    if base is None or not base.is_file():
        raise ValueError(
            f'{path}: key "{EXTENDS}": found {base_name!r}, allowed: a TOML file beside it, or one of '
            f"{', '.join(available_presets())}"
        )

    # Without this check two presets that extend each other would recurse for ever
    chain = (*extended_by, path.resolve())
    if base.resolve() in chain:
        raise ValueError(f'{path}: key "{EXTENDS}": {base_name} extends this file')
    return merge_tables(read_tables(base, chain), tables)


def read_file(path: Path) -> dict[str, Any]:
    """The tables of one file, without those that it extends. Raises ValueError: not TOML, or cannot be read."""
    try:
        return parse_toml(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path}: not valid TOML: {error}") from None


def apply_changes(tables: Mapping[str, Any], changes: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The tables with the changes merged in turn; before them the table ``untuned`` if ``tuned`` is false after all."""
    # The last change decides, since --set may switch back what a file has set
    tuned = tables.get("tuned")
    for change in changes:
        tuned = change.get("tuned", tuned)

    result = dict(tables)
    untuned = tables.get("untuned")
    if tuned is False and isinstance(untuned, dict):
        result = merge_tables(result, untuned)
    for change in changes:
        # Changes come after `untuned`, so that a user can override its keys too
        result = merge_tables(result, change)
    return result


def merge_tables(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Merge tables unless the new one names another engine; replace everything else, and remove what is ``none``.

    >>> merge_tables({"web": {"keep": 5, "snippets": True}}, {"web": {"keep": 3, "snippets": "none"}})
    {'web': {'keep': 3}}
    """
    tables = dict(old)
    for key, value in new.items():
        old_value = tables.get(key)
        if value == NOTHING:
            tables.pop(key, None)
        elif value and isinstance(value, dict) and isinstance(old_value, dict):
            # Another engine has other keys.
            old_engine = old_value.get("engine")
            has_same_engine = value.get("engine", old_engine) == old_engine
            tables[key] = merge_tables(old_value, value) if has_same_engine else value
        else:
            tables[key] = value
    return tables
