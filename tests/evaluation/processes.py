"""Processes and their children, looked up in /proc."""

import time
from pathlib import Path


def descendants(pid: int) -> set[int]:
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):  # it ended meanwhile
            continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def command_of(pid: int) -> str:
    """Empty for a process that has ended, also where nobody has taken notice of that yet."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def wait_until_gone(processes: set[int]) -> None:
    """Return when they have ended; a process that never ends holds the test."""
    while any(map(command_of, processes)):
        time.sleep(0.02)
