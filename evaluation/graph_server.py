"""Runs the mock knowledge graph in its own process for the duration of a run, as in the competition.

The server reads a pipe from this process and stops when the pipe closes, even if the evaluator is killed.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

from agents.common.files import UserError

START_SECONDS = 60.0
BYTES_PER_SECOND = 1_000_000
"""An upper bound for reading and indexing a graph; the official one takes minutes."""
PROBE = "/open/search_entity_by_name"
PROBE_SECONDS = 5.0
_POLL_SECONDS = 0.05
_ADDRESS = re.compile(r"https?://\S+(?=\s)")


class GraphServerError(UserError, RuntimeError):
    """The server did not start; the message ends with its output."""


@contextmanager
def mock_graph(data: str | Path = "") -> Iterator[str]:
    """The address of `python -m mock_api` with the graph of a folder; without one: the shipped graph.

    Raises:
        GraphServerError: it exited at once, or was not ready in time.
    """
    folder = ["--data", str(data)] if data else []
    command = [sys.executable, "-m", "mock_api", "--port", "0", "--stop-with-stdin", *folder]
    with (
        tempfile.TemporaryFile() as output,
        subprocess.Popen(  # noqa: S603 - this interpreter with a list of arguments
            command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            yield _address(process, output.fileno(), START_SECONDS + _size(data) / BYTES_PER_SECOND)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


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


def _size(folder: str | Path) -> int:
    """Bytes of the tables that a server reads before it is ready; stores are read on demand."""
    tables = Path(folder).glob("*/*") if folder else ()
    return sum(path.stat().st_size for path in tables if path.is_file() and path.suffix != ".sqlite")


def _address(process: "subprocess.Popen[bytes]", output: int, seconds: float) -> str:
    """The first address in the server's output."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        has_ended = process.poll() is not None
        text = os.pread(output, 1 << 20, 0).decode("utf-8", "replace")
        if address := _ADDRESS.search(text):
            return address.group()
        if has_ended:
            raise GraphServerError("the mock knowledge graph did not start: " + " ".join(text.split("\n")[-4:]).strip())
        time.sleep(_POLL_SECONDS)
    raise GraphServerError(f"the mock knowledge graph was not ready in {seconds:.3g} s")
