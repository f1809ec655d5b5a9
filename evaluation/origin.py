"""Where a run comes from: when, on which machine, from which commit and by which command."""

import os
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

SECONDS = 10.0
"""Time limit for git and nvidia-smi."""


def origin_of(arguments: Sequence[str]) -> dict[str, str]:
    """``date``, ``machine``, ``command`` and, in a git repository, ``commit``, of a run with these arguments.

    The machine has no name, and addresses in the command no passwords: reports are passed on.
    """
    command = re.sub(r"//[^/@\s]+@", "//", shlex.join(["python", "local_evaluation.py", *arguments]))
    commit = _said("git", "rev-parse", "--short=12", "HEAD")
    changed = " with changes" if commit and _said("git", "status", "--porcelain", "--untracked-files=no") else ""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": _machine(),
        **({"commit": commit + changed} if commit else {}),
        "command": command,
    }


def _machine() -> str:
    parts = [f"{os.cpu_count()} cores", _processor()]
    parts.append(f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB")
    cards = _said("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").splitlines()
    return ", ".join([*filter(None, parts), *(f"{cards.count(card)} x {card}" for card in dict.fromkeys(cards))])


def _processor() -> str:
    """The processor's name; Linux tells it in a file only."""
    try:
        known = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        known = None
    return known[1].strip() if known else platform.processor() or platform.machine()


def _said(*command: str) -> str:
    """The output of a command; empty if it is not installed, fails or hangs."""
    if shutil.which(command[0]) is None:
        return ""
    try:
        done = subprocess.run(  # noqa: S603 - a list of arguments, no shell
            command, capture_output=True, text=True, check=False, errors="replace", timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
