"""Where a run comes from: date, machine, command and commit, for run.json and the report."""

import os
import platform
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from crag.core.text import without_credentials

COMMAND_SECONDS = 10.0
"""Time limit for git and nvidia-smi."""


def describe_origin(arguments: Sequence[str], program: str = "crag evaluate") -> dict[str, str]:
    """``date``, ``machine``, ``command`` and, in a git repository, ``commit``, of a run with these arguments.

    Reports are passed on, so the machine is described but not named, and addresses in the command lose their passwords.
    """
    origin = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": describe_machine(),
    }

    # Empty outside of a repository
    commit = _command_output("git", "rev-parse", "--short=12", "HEAD")
    if commit:
        # Without a lock: one that a killed `git status` leaves behind would stop the next commit.
        changes = _command_output(
            "git",
            "--no-optional-locks",
            "status",
            "--porcelain",
            "--untracked-files=no",
        )
        origin["commit"] = f"{commit} with changes" if changes else commit

    origin["command"] = without_credentials(f"{program} {shlex.join(arguments)}")
    return origin


def describe_machine() -> str:
    """Cores, processor, memory and GPUs, for people: ``8 cores, AMD EPYC 7763, 32 GiB, 1 x Tesla T4``."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    parts = [f"{os.cpu_count()} cores", processor_name(), f"{memory_bytes / 2**30:.0f} GiB"]

    gpu_names = _command_output("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").splitlines()
    parts += [f"{count} x {name}" for name, count in Counter(gpu_names).items()]
    return ", ".join(parts)


def processor_name() -> str:
    """The processor's model, such as ``AMD EPYC 7763``; where it is unknown, its architecture."""
    # Python's `platform` has only the architecture on Linux; the model is in /proc alone.
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        model = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(encoding="utf-8"), re.MULTILINE)
        if model:
            return model[1].strip()
    return platform.processor() or platform.machine()


def _command_output(*command: str) -> str:
    """The output of a command; empty if it is not installed, fails or hangs."""
    try:
        finished = subprocess.run(  # noqa: S603 - a list of arguments, no shell
            command,
            capture_output=True,
            text=True,
            check=True,
            errors="replace",
            timeout=COMMAND_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return finished.stdout.strip()
