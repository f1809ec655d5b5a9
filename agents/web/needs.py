"""Parts that some settings need and others do not."""

from typing import TypeVar

Part = TypeVar("Part")


def needed(part: Part | None, name: str, user: str) -> Part:
    """The part itself; raises ValueError, naming the setting that needs it, where it is absent."""
    if part is None:
        raise ValueError(f"{user} needs a {name}, but none was given")
    return part
