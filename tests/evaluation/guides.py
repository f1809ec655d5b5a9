"""The blocks of code in a page of docs/, and the commands among them."""

import re
import shlex
from pathlib import Path


def blocks(guide: Path) -> list[str]:
    """The contents of its fences."""
    return re.findall(r"^```\n(.*?)^```", guide.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(guide: Path, beginning: str) -> list[list[str]]:
    """The words after the beginning, of every line of a block that begins so."""
    lines = [line for block in blocks(guide) for line in block.splitlines()]
    found = [shlex.split(line.removeprefix(beginning)) for line in lines if line.startswith(beginning)]
    assert found, f"{guide.name} has no line that begins with {beginning!r}"
    return found
