"""Takes the network away from a Python process and from its children, and notes what they write into a folder.

Python imports a module of this name at its start, before any other code, where its folder is in PYTHONPATH; children
inherit that. Standard library only. Python code cannot go around the audit hook; compiled libraries, other programs and
children that ignore PYTHONPATH can.
"""

import errno
import json
import os
import sys
from typing import Any

GUARD_VARIABLE = "CRAG_GUARD"
"""JSON: `allowed` [[host or address, port], ...], `loopback` (may processes of this machine be asked), `root` (folder
whose files are not to be written, or null), `log` (file that gets a line of JSON for each refusal and write), `hidden`
(folders that are taken out of the import path)."""
LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")  # noqa: S104 - compared with, not bound to
DATAGRAM = 2
"""socket.SOCK_DGRAM. To connect such a socket sends nothing: vLLM and Ray look up this machine's own address so, and do
without where it is refused. It is refused, as on a machine without network, and not held against them."""


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
    """The audit hook: refuses connections and notes them; notes files that are written below `root`.

    See `GUARD_VARIABLE` for the arguments; `log` is an open file descriptor, or None.
    """

    def __init__(self, root: str | None, allowed: list[list[Any]], *, loopback: bool, log: int | None = None) -> None:
        self._root = root.rstrip(os.sep) + os.sep if root else None
        self._hosts = {str(host) for host, _ in allowed}
        self._allowed = {(str(host), int(port)) for host, port in allowed}
        self._loopback = loopback
        self._log = log

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Called by the interpreter before each such event."""
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
            place = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - no symbolic links are followed, nothing is read
            if place.startswith(root):
                self._note("writes", place.removeprefix(root))

    def _note(self, kind: str, what: str) -> None:
        if self._log is not None:
            os.write(self._log, (json.dumps([kind, what]) + "\n").encode())


def install(request: str) -> None:
    """Watch over this process from now on, as the JSON of `GUARD_VARIABLE` says."""
    wanted = json.loads(request)
    hidden = {os.path.realpath(path) for path in wanted["hidden"]}
    sys.path[:] = [path for path in sys.path if not path or os.path.realpath(path) not in hidden]
    log = os.open(wanted["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    sys.addaudithook(Watch(wanted["root"], wanted["allowed"], loopback=wanted["loopback"], log=log))


if __name__ == "sitecustomize" and GUARD_VARIABLE in os.environ:
    install(os.environ[GUARD_VARIABLE])
