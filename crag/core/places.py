"""Where the files of this project and of its user are."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of the package `crag`: presets, schemas and small trained files ship inside it."""

REPOSITORY = PACKAGE.parent
"""The checkout around the package, with `agents/` and `models/`. Of an installed package: its site-packages, where
neither exists."""


def home_folder() -> Path:
    """The user's home folder; ``/`` for a user without one, as container engines set it."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def expand_home(path: str) -> Path:
    """A path as the user wrote it, with a home folder in place of ``~`` or ``~NAME``.

    A name that no user has is a part of the path: a file may be called ``~draft``.

    Example:
        expand_home("~/models")  # Path("/home/ida/models")
    """
    if path == "~" or path.startswith("~/"):
        return home_folder() / path[2:]
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)
