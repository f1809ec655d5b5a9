"""Runs the mock knowledge graph in its own process for the duration of a run, as in the competition.

The server reads a pipe from this process and stops when the pipe closes, even if the evaluator is killed.
"""

import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import requests

from agents.common.files import UserError

START_SECONDS = 60.0
BYTES_PER_SECOND = 1_000_000
"""An upper bound for reading and indexing a graph; the official one takes minutes."""
PROBE = "/open/search_entity_by_name"
PROBE_SECONDS = 5.0
_ADDRESS = re.compile(r"https?://\S+")


class GraphServerError(UserError, RuntimeError):
    """The server did not start; the message ends with its output."""


@contextmanager
def mock_graph(data: Path | None = None, delay_seconds: float = 0.0) -> Iterator[str]:
    """The address of `python -m mock_api` with the shipped graph or that of a folder.

    A delay before each answer simulates a distant server.

    Raises:
        GraphServerError: it exited at once, or was not ready in time.
    """
    folder = ["--data", str(data)] if data else []
    delay = ["--delay", f"{delay_seconds:g}"] if delay_seconds else []
    command = [sys.executable, "-m", "mock_api", "--port", "0", "--stop-with-stdin", *folder, *delay]
    process = subprocess.Popen(  # noqa: S603 - this interpreter with a list of arguments
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    said: queue.SimpleQueue[str] = queue.SimpleQueue()
    reader = threading.Thread(target=_forward, args=(process, said), daemon=True, name="mock-graph-output")
    reader.start()
    try:
        yield _address(said, START_SECONDS + _size(data) / BYTES_PER_SECOND)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reader.join()
        if process.stdin is not None:
            process.stdin.close()


def silent_graph(address: str) -> str | None:
    """Why a graph server gives no results, None if it does; takes at most a few seconds."""
    try:
        with requests.Session() as session:
            session.trust_env = False  # an internet proxy would hide a server in the local network
            reply = session.post(f"{address.rstrip('/')}{PROBE}", json={"query": "x"}, timeout=PROBE_SECONDS)
        if reply.ok and "result" in reply.json():
            return None
    except requests.Timeout:
        return f"no reply in {PROBE_SECONDS:g} s"
    except requests.JSONDecodeError:
        return "its reply is no JSON"
    except requests.RequestException as error:
        return "connection refused" if "refused" in str(error) else type(error).__name__
    return f"status {reply.status_code} for {PROBE}" if not reply.ok else 'its reply has no "result"'


def _size(folder: Path | None) -> int:
    """Bytes of the tables that a server reads before it is ready; stores are read on demand."""
    tables = folder.glob("*/*") if folder else ()
    return sum(path.stat().st_size for path in tables if path.is_file() and path.suffix != ".sqlite")


def _address(said: "queue.SimpleQueue[str]", seconds: float) -> str:
    """The first address in the server's output; an empty line marks its end."""
    lines: list[str] = []
    try:
        while line := said.get(timeout=seconds):
            if found := _ADDRESS.search(line):
                return found.group()
            lines.append(line.strip())
    except queue.Empty:
        raise GraphServerError(f"the mock knowledge graph was not ready in {seconds:.3g} s") from None
    raise GraphServerError("the mock knowledge graph did not start: " + " ".join(lines[-3:]))


def _forward(process: "subprocess.Popen[str]", said: "queue.SimpleQueue[str]") -> None:
    """Read all output of the server, so that its pipe never fills, and close it."""
    with process.stdout or nullcontext(()) as lines:
        for line in lines:
            said.put(line)
    said.put("")
