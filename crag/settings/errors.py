"""Errors of settings, as the user reads them: file, key, the value found and the values allowed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from crag.core.files import UserError

_KEY_MARKER = "[key]"
"""The last part of pydantic's location if the key, not the value, is wrong."""

_TAG_ERRORS = frozenset({"union_tag_invalid", "union_tag_not_found"})
"""Pydantic's types of error where the key that chooses among several tables is wrong or missing."""

_Location = tuple[int | str, ...]
"""Pydantic's place of an error: names of keys, positions in lists, and the tags of unions."""


class SettingsError(UserError, ValueError):
    """A preset cannot be used; the message names file, key, the value found and the values allowed."""


def describe_errors(
    model: type[BaseModel],
    path: Path,
    error: ValidationError,
    changes: Sequence[tuple[str, Mapping[str, Any]]] = (),
) -> str:
    """One line for each error of a file that should hold a `model`.

    `changes` are the changes to the file: each as its line and as the tables that it sets.
    """
    schema = model.model_json_schema()
    all_details = error.errors(include_url=False)
    locations = [details["loc"] for details in all_details]

    lines: list[str] = []
    for details in all_details:
        # A list loses its wrong items. That it is then too short is no further mistake.
        if details["type"] == "too_short" and _has_error_inside(details["loc"], locations):
            continue

        key, allowed_keys = _locate(schema, details["loc"])
        if details["type"] in _TAG_ERRORS:
            discriminator = details["ctx"]["discriminator"].strip("'")
            key = f"{key}.{discriminator}"
        origin = _name_origin(path, changes, key)
        lines.append(f'{origin}: key "{key}": {_describe(details, allowed_keys)}')
    return "\n".join(lines)


def _describe(details: Mapping[str, Any], allowed_keys: Sequence[str]) -> str:
    """What is wrong with a key, and what is allowed, from one of pydantic's `errors()`."""
    allowed = ", ".join(allowed_keys)
    kind = details["type"]
    if kind == "extra_forbidden":
        return f"unknown key; allowed keys: {allowed}"

    if kind in _TAG_ERRORS:
        tag = details["ctx"].get("tag")
        problem = f"{tag!r} is not known" if tag else "missing"
        return f"{problem}; allowed: {allowed}"

    if kind in {"missing", "value_error"}:
        return str(details["msg"])
    return f"{details['msg']} (found {details['input']!r})"


def _name_origin(path: Path, changes: Sequence[tuple[str, Mapping[str, Any]]], key: str) -> str:
    """Where the value of a key comes from: the file, and the changes that set the key, a part of it or its table."""
    key_parts = key.split(".")
    at_fault = [line for line, tables in changes if _touches(tables, key_parts)]
    return f"{path}, changed by {'; '.join(at_fault)}" if at_fault else str(path)


def _touches(tables: object, key_parts: Sequence[str]) -> bool:
    """Whether the tables of a change lead to the key, or end on the way to it."""
    for part in key_parts:
        if not isinstance(tables, Mapping):
            return True
        if part not in tables:
            return False
        tables = tables[part]
    return True


def _has_error_inside(location: _Location, all_locations: Sequence[_Location]) -> bool:
    """Whether one of the errors lies deeper at a location, for example in an item of its list."""
    depth = len(location)
    return any(len(deeper) > depth and deeper[:depth] == location for deeper in all_locations)


def _locate(schema: Mapping[str, Any], location: _Location) -> tuple[str, list[str]]:
    """The key of an error as the file writes it, and the keys that its table may have.

    Where a tag chooses among several tables, the possible tags stand in place of the keys.

    Pydantic's location has a union's tag before the key: ``router, prompt, adapter`` is the key ``router.adapter`` of
    a router with ``engine = "prompt"``. The schema says which parts are tags, because a tag such as ``score`` may also
    be the name of a key.
    """
    key_parts: list[str] = []
    allowed_keys: list[str] = []
    node: Mapping[str, Any] = schema
    for part in location:
        node = _follow_references(schema, node)
        if "discriminator" in node:  # so this part is a tag
            node = {"$ref": node["discriminator"]["mapping"][part]}
            continue
        # The key itself is at fault, not its value.
        if part == _KEY_MARKER:
            break

        key_parts.append(str(part))
        properties = node.get("properties", {})
        allowed_keys = sorted(properties)
        node = properties.get(part) or _schema_of_members(node, part)

    node = _follow_references(schema, node)
    if "discriminator" in node:
        allowed_keys = list(node["discriminator"]["mapping"])
    return ".".join(key_parts) or "(whole file)", allowed_keys


def _follow_references(schema: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """The node behind references and behind ``X | None``."""
    while "$ref" in node or "anyOf" in node:
        if "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[1]
            node = schema["$defs"][name]
        else:
            node = next(option for option in node["anyOf"] if option.get("type") != "null")
    return node


def _schema_of_members(node: Mapping[str, Any], part: int | str) -> Mapping[str, Any]:
    """The schema that all items of a list, or all values of a table, share; empty if there is none."""
    members = node.get("items") if isinstance(part, int) else node.get("additionalProperties")
    return members if isinstance(members, dict) else {}
