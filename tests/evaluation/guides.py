"""The commands that a page of docs/ prints."""

import re
import shlex
from pathlib import Path


def commands(guide: Path, beginning: str) -> list[list[str]]:
    """The words after the beginning, of every line of a block that begins so; comments are left out."""
    text = guide.read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"^```\n(.*?)^```", text, re.M | re.S) for line in block.splitlines()]
    found = [shlex.split(line.removeprefix(beginning), comments=True) for line in lines if line.startswith(beginning)]
    assert found, f"{guide.name} has no line that begins with {beginning!r}"
    return found
