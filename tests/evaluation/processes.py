"""Processes and their children, looked up in /proc."""

import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

HANGING_SECONDS = 300.0
"""After this long a wait is given up. It only keeps a broken test from hanging: no test asserts on it."""


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


def wait_until(holds: Callable[[], object], what: str) -> None:
    """Return when the condition holds."""
    give_up = time.monotonic() + HANGING_SECONDS
    while not holds():
        if time.monotonic() > give_up:
            raise TimeoutError(f"waited in vain: {what}")
        time.sleep(0.02)


def wait_until_answered(output: Path, evaluator: Popen[str], least: int) -> None:
    """Return when the run has so many answers; an evaluator that ends before is an error."""
    predictions = output / "predictions.jsonl"

    def has_answered() -> bool:
        assert evaluator.poll() is None, evaluator.communicate()
        return predictions.exists() and len(predictions.read_bytes().splitlines()) >= least

    wait_until(has_answered, f"{least} answers")


def wait_until_gone(processes: set[int]) -> None:
    """Return when they have ended."""
    wait_until(lambda: not any(map(command_of, processes)), "the processes end")
