"""Blocks the network for a Python process and its children, and logs their writes into a folder.

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
"""JSON: `allowed` [[host or address, port], ...], `loopback` (whether processes of this machine may be reached), `root`
(folder that must not be written, or null), `log` (file for a JSON line per refusal and write), `hidden` (folders to
remove from the import path)."""
LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")  # noqa: S104 - for comparison, not for binding
DATAGRAM = 2
"""socket.SOCK_DGRAM. Connecting such a socket sends nothing: vLLM and Ray look up this machine's address so, and do not
need it. It is refused, as on a machine without network, but not reported."""


def is_here(host: str) -> bool:
    """Whether a name or address is this machine's own."""
    if host.startswith(LOOPBACK) or host == os.uname().nodename:
        return True
    if not (host.replace(".", "").isdecimal() or ":" in host):
        return False
    import socket

    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as own:
        try:
            own.bind((host, 0))
        except OSError:
            return False
    return True


class Watch:
    """The audit hook: refuses and logs connections; logs files that are written below `root`.

    `GUARD_VARIABLE` describes the arguments; `log` is an open file descriptor, or None.
    """

    def __init__(self, root: str | None, allowed: list[list[Any]], *, loopback: bool, log: int | None = None) -> None:
        self._root = root.rstrip(os.sep) + os.sep if root else None
        self._hosts = {str(host) for host, _ in allowed}
        self._allowed = {(str(host), int(port)) for host, port in allowed}
        self._loopback = loopback
        self._log = log

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """The interpreter calls it before each audited event."""
        if event == "open" and self._root is not None:
            self._opened(self._root, *arguments)
        elif event in {"socket.connect", "socket.sendto"} and isinstance(arguments[1], tuple):
            host, port = arguments[1][:2]
            silent = event == "socket.connect" and getattr(arguments[0], "type", None) == DATAGRAM
            self._asked(str(host), (str(host), port) in self._allowed, silent=silent)
        elif event in {"socket.getaddrinfo", "socket.gethostbyname"} and arguments[0]:
            host = arguments[0].decode() if isinstance(arguments[0], bytes) else str(arguments[0])
            self._asked(host, host in self._hosts)

    def _asked(self, host: str, allowed: bool, *, silent: bool = False) -> None:
        if not allowed and not (self._loopback and is_here(host)):
            if not silent:
                self._note("network", host)
            raise OSError(errno.ENETUNREACH, f"the evaluator has no network: {host}")

    def _opened(self, root: str, path: object, mode: object, flags: object) -> None:
        writing = set(mode) & set("wax+") if isinstance(mode, str) else False
        changing = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if (writing or changing) and isinstance(path, (str, bytes, os.PathLike)):
            place = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - does not follow symbolic links
            if place.startswith(root):
                self._note("writes", place.removeprefix(root))

    def _note(self, kind: str, what: str) -> None:
        if self._log is not None:
            os.write(self._log, (json.dumps([kind, what]) + "\n").encode())


def install(request: str) -> None:
    """Watch this process from now on, configured by the JSON of `GUARD_VARIABLE`."""
    wanted = json.loads(request)
    hidden = {os.path.realpath(path) for path in wanted["hidden"]}
    sys.path[:] = [path for path in sys.path if not path or os.path.realpath(path) not in hidden]
    log = os.open(wanted["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    sys.addaudithook(Watch(wanted["root"], wanted["allowed"], loopback=wanted["loopback"], log=log))


if __name__ == "sitecustomize" and GUARD_VARIABLE in os.environ:
    install(os.environ[GUARD_VARIABLE])
