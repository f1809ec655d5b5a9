"""An empty world: an environment without home, caches and network, for a copy of the files that git would push.

A submission that works in it does not depend on anything else on the developer's machine.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from crag.submission.preflight.guard.sitecustomize import GUARD_VARIABLE

INHERITED = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")
"""Variables that an empty world keeps: paths of programs and temporary files. Neither HOME nor caches."""
LIMIT_SECONDS = 1800.0
"""Time limit of one process; its steps have shorter limits."""
GUARD_LOG = "guard.log"
"""File in the folder of an empty world, with a line per refused host."""


def empty_world(folder: Path, *, hidden: Path, server: str | None = None) -> dict[str, str]:
    """The variables of a process without the user's home, caches, tokens and proxies, and without network.

    Args:
        folder: Gets the empty home, and the log that `refused` reads.
        hidden: The checkout, whose modules must not be imported beside the copy's.
        server: A host to which connections are allowed, besides this machine.
    """
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)

    # Ray and vLLM connect to this machine by its name
    hosts = [socket.gethostname()]
    if server:
        hosts.append(server)
    guard_settings = {
        "log": str(folder / GUARD_LOG),
        "hidden": str(hidden),
        "allowed": sorted({*hosts, *_addresses(hosts)}),
    }

    # A list of what is kept, not of what is removed: an unknown token cannot slip through
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return inherited | {
        "HOME": str(home),
        # Fail at once, and do not wait for the network
        "HF_HUB_OFFLINE": "1",
        "LANG": "C.UTF-8",
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        # Python imports guard/sitecustomize.py at its start, also in children.
        "PYTHONPATH": str(Path(__file__).with_name("guard")),
        GUARD_VARIABLE: json.dumps(guard_settings),
    }


def _addresses(hosts: Sequence[str]) -> set[str]:
    """The addresses of these hosts."""
    addresses: set[str] = set()
    for host in hosts:
        # An unknown name is not an error yet: a process that connects to it gets the error.
        with suppress(OSError):
            addresses |= {str(answer[4][0]) for answer in socket.getaddrinfo(host, None)}
    return addresses


def run_python(
    root: Path,
    environment: Mapping[str, str],
    *words: str,
    python: str = sys.executable,
) -> "subprocess.CompletedProcess[str]":
    """Run an interpreter with these arguments in a folder, without a user's packages and without bytecode files."""
    return subprocess.run(  # noqa: S603 - a list of arguments, no shell
        [python, "-s", "-B", *words],
        cwd=root,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=LIMIT_SECONDS,
    )


def refused(folder: Path) -> list[str] | None:
    """The hosts to which the guard refused a connection. None: no Python process was watched."""
    log = folder / GUARD_LOG
    if not log.is_file():
        return None
    return sorted(set(log.read_text(encoding="utf-8").split()))
