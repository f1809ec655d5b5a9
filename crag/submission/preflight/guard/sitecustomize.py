"""Blocks the network for a Python process and its children.

Python imports a module of this name from PYTHONPATH at its start, before any other code; children inherit that.
Standard library only. Python code cannot bypass the audit hook; compiled libraries, other programs and children that
ignore PYTHONPATH can.
"""

import errno
import json
import os
import sys
from typing import Any

GUARD_VARIABLE = "CRAG_GUARD"
"""JSON: `allowed` (hosts and addresses that are allowed besides loopback), `log` (file for a line per refused host),
`hidden` (folder to remove from the import path)."""
LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")  # noqa: S104 - for comparison, not for binding
DATAGRAM = 2
"""socket.SOCK_DGRAM. Connecting such a socket sends nothing: vLLM and Ray look up this machine's address so, and do not
need it. It is refused, as on a machine without network, but not reported."""


def install(request: str) -> None:
    """Watch this process from now on, configured by the JSON of `GUARD_VARIABLE`."""
    settings = json.loads(request)
    hidden = os.path.realpath(settings["hidden"])
    # The empty path is the current folder, whatever that is.
    sys.path[:] = [path for path in sys.path if not path or os.path.realpath(path) != hidden]
    # Appending writes of one line do not mix, though several processes share the file
    log = os.open(settings["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def check_host(name: object, *, silent: bool = False) -> None:
        """Raise OSError unless the host is allowed."""
        host = name.decode() if isinstance(name, bytes) else str(name)
        if host.startswith(LOOPBACK) or host in settings["allowed"]:
            return
        if not silent:
            os.write(log, f"{host}\n".encode())
        # The error that a machine without network gives, so that libraries behave as they would there
        raise OSError(errno.ENETUNREACH, f"the evaluator has no network: {host}")

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        """An audit hook: see https://docs.python.org/3/library/audit_events.html for the arguments."""
        # A tuple is an internet address; a path is a socket of this machine
        if event in {"socket.connect", "socket.sendto"} and isinstance(arguments[1], tuple):
            is_datagram = getattr(arguments[0], "type", None) == DATAGRAM
            check_host(arguments[1][0], silent=is_datagram and event == "socket.connect")
        elif event in {"socket.getaddrinfo", "socket.gethostbyname"} and arguments[0]:
            check_host(arguments[0])

    sys.addaudithook(watch)


if __name__ == "sitecustomize" and GUARD_VARIABLE in os.environ:
    install(os.environ[GUARD_VARIABLE])
