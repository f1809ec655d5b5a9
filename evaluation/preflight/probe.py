"""Runs in a clean process of its own: imports the submission's agent, asks it, and writes down what happened.

Standard library only, and run as a file, so that nothing of the checking process is there before the agent is. The
network is cut off by an audit hook, which Python code cannot go around; compiled libraries and other processes can.
"""

import contextlib
import errno
import importlib
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

HEAVY = ("torch", "transformers", "vllm", "sentence_transformers", "onnxruntime", "tensorflow", "pandas", "sklearn")
"""Libraries that take seconds to import; an agent that needs none of them should not load them."""
LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")  # noqa: S104 - compared with, not bound to


class Watch:
    """Refuses network connections and notes them; notes files that are written below the submission's folder.

    `allowed` are names, addresses and ports of the knowledge graph; with `loopback` processes of this machine may be
    asked, too.
    """

    def __init__(self, root: str, allowed: list[list[Any]], *, loopback: bool) -> None:
        self.network: list[str] = []
        self.writes: list[str] = []
        self._root = root.rstrip(os.sep) + os.sep
        self._hosts = {str(host) for host, _ in allowed}
        self._allowed = {(str(host), int(port)) for host, port in allowed}
        self._loopback = loopback

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """The audit hook."""
        if event == "open":
            self._opened(*arguments)
        elif event in {"socket.connect", "socket.sendto"} and isinstance(arguments[1], tuple):
            host, port = arguments[1][:2]
            self._asked(str(host), (str(host), port) in self._allowed)
        elif event in {"socket.getaddrinfo", "socket.gethostbyname"} and arguments[0]:
            host = arguments[0].decode() if isinstance(arguments[0], bytes) else str(arguments[0])
            self._asked(host, host in self._hosts)

    def _asked(self, host: str, allowed: bool) -> None:
        if not allowed and not (self._loopback and host.startswith(LOOPBACK)):
            self.network.append(host)
            raise OSError(errno.ENETUNREACH, f"the evaluator has no network: {host}")

    def _opened(self, path: object, mode: object, flags: object) -> None:
        writing = set(mode) & set("wax+") if isinstance(mode, str) else False
        changing = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if (writing or changing) and isinstance(path, (str, bytes, os.PathLike)):
            place = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - no symbolic links are followed, nothing is read
            if place.startswith(self._root):
                self.writes.append(place.removeprefix(self._root))


def import_agent(result: dict[str, Any]) -> type[Any]:
    """Import both names of the agent, and say what was loaded with them."""
    began = time.monotonic()
    agent: type[Any] = importlib.import_module("agents.user_config").UserAgent
    result["import_seconds"] = time.monotonic() - began
    result["heavy"] = [name for name in HEAVY if name in sys.modules]
    result["methods"] = [
        name for name in ("get_batch_size", "batch_generate_answer") if callable(getattr(agent, name, None))
    ]
    with contextlib.suppress(ModuleNotFoundError):
        result["user_model"] = hasattr(importlib.import_module("models.user_config"), "UserModel")
    return agent


def ask(agent_class: type[Any], rows: dict[str, list[Any]], result: dict[str, Any]) -> None:
    """Build the agent and ask it all rows in batches of its own size, the last one shorter."""
    began = time.monotonic()
    agent = agent_class()
    result["build_seconds"] = time.monotonic() - began
    size = agent.get_batch_size()
    result["batch_size"] = size
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= 16:
        return
    count = len(rows["query"])
    starts = [*range(0, count - 1, size)]
    ends = [min(start + size, count - 1) for start in starts]
    result["batches"] = []
    for start, end in [*zip(starts, ends, strict=True), (count - 1, count)]:
        batch = {name: values[start:end] for name, values in rows.items()}
        began = time.monotonic()
        answers = agent.batch_generate_answer(batch)
        seconds = time.monotonic() - began
        plain = answers if isinstance(answers, list) else str(type(answers))
        result["batches"].append({"size": end - start, "seconds": seconds, "answers": plain})
    close = getattr(agent, "close", None)
    if callable(close):
        close()


def main() -> None:
    """Arguments: the submission's folder, a request (JSON), and where the result goes (JSON)."""
    root, request_file, result_file = sys.argv[1:]
    request = json.loads(Path(request_file).read_text(encoding="utf-8"))
    sys.path[:] = [root, *(path for path in sys.path if path and Path(path).resolve() != Path(__file__).parent)]
    result: dict[str, Any] = {}
    watch = Watch(root, request["allowed"], loopback=request["rows"] is not None)
    sys.addaudithook(watch)
    try:
        agent = import_agent(result)
        if request["rows"] is not None:
            ask(agent, request["rows"], result)
    except BaseException:  # noqa: BLE001 - SystemExit of foreign code included: all of it is a finding
        result["error"] = traceback.format_exc()
    result |= {"network": watch.network, "writes": watch.writes}
    Path(result_file).write_text(json.dumps(result, default=repr), encoding="utf-8")


if __name__ == "__main__":
    main()
