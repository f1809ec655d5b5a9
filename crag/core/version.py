"""The version of this package. Light, so that `crag --version` answers at once."""

import tomllib
from contextlib import suppress
from importlib import metadata

from crag.core.places import REPOSITORY

DISTRIBUTION = "crag-submission"


def package_version() -> str:
    """The version in pyproject.toml, else of the installed package, ``unknown`` if only the code was copied."""
    try:
        text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
        return str(tomllib.loads(text)["project"]["version"])
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        with suppress(metadata.PackageNotFoundError):
            return metadata.version(DISTRIBUTION)
    return "unknown"
