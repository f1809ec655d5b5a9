"""An empty world: only what git would push, without home, caches and network, so that nothing on the developer's
machine hides a gap.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from crag.submission.preflight.guard.sitecustomize import GUARD_VARIABLE

INHERITED = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")
"""Variables kept in an empty world: paths of programs and temporary files. Neither HOME nor caches."""
LIMIT_SECONDS = 1800.0
"""For one process; what it does has limits of its own."""


def empty_world(folder: Path, *, hidden: Path, server: str | None = None) -> dict[str, str]:
    """The variables of a process without the user's home, caches, tokens and proxies, and without network.

    Args:
        folder: Gets the empty home, and what `refused` reads.
        hidden: The checkout, whose modules must not be imported beside the copy's.
        server: A host that may be asked besides this machine.
    """
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    allowed = {socket.gethostname(), *([server] if server else [])}
    for host in list(allowed):
        with suppress(OSError):  # an unknown name: who asks it gets the error
            allowed |= {str(answer[4][0]) for answer in socket.getaddrinfo(host, None)}
    request = {"log": str(folder / "guard.log"), "hidden": str(hidden), "allowed": sorted(allowed)}
    passed = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return passed | {
        "HOME": str(home), "HF_HUB_OFFLINE": "1", "LANG": "C.UTF-8", "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(Path(__file__).with_name("guard")),
        GUARD_VARIABLE: json.dumps(request),
    }  # fmt: skip


def run_python(
    root: Path, environment: Mapping[str, str], *words: str, python: str = sys.executable
) -> "subprocess.CompletedProcess[str]":
    """Run an interpreter with these arguments in a folder."""
    return subprocess.run(  # noqa: S603 - a list of arguments, no shell
        [python, "-s", "-B", *words], cwd=root, env=dict(environment), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace", check=False, timeout=LIMIT_SECONDS,
    )  # fmt: skip


def refused(folder: Path) -> list[str] | None:
    """The hosts that processes of an empty world asked in vain. None: no Python process was watched."""
    log = folder / "guard.log"
    return sorted(set(log.read_text(encoding="utf-8").split())) if log.is_file() else None
