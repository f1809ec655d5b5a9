"""Where a path in a setting begins: in a preset at the repository, in a change of the user's at the current folder."""

import os
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from crag.core.places import REPOSITORY, expand_home


class TypedText(str):
    """A text of ``--set`` or `CRAG_SETTINGS`, where the user's folder is the current one."""

    __slots__ = ()


def typed(value: Any) -> Any:  # noqa: ANN401 - any TOML
    """The value with each text in it, also in tables and lists, as a `TypedText`."""
    if isinstance(value, str):
        return TypedText(value)
    if isinstance(value, list):
        return [typed(item) for item in value]
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    return value


def _find_path(value: object) -> object:
    """The path where the user means it; what does not exist in the current folder may be in the repository."""
    if not isinstance(value, TypedText):
        return value
    path = Path(os.path.normpath(Path.cwd() / expand_home(value)))
    is_here = value.startswith(("./", "../", "~")) or path.exists()
    if not is_here or value.startswith("/"):
        return str(value)
    # As presets write it, so that a run of the same settings is known again
    return str(path.relative_to(REPOSITORY) if path.is_relative_to(REPOSITORY) else path)


def _find_path_or_name(value: object) -> object:
    """A text with a slash, or a file's name, is a path; another is a name, whatever the current folder holds."""
    is_path = isinstance(value, str) and ("/" in value or value == "~" or value.endswith(".json"))
    return _find_path(value) if is_path else value


LocalPath = Annotated[str, BeforeValidator(_find_path)]
"""A file or folder."""
PathOrName = Annotated[str, BeforeValidator(_find_path_or_name)]
"""A file or folder, or a name that something else explains, such as a manifest."""
