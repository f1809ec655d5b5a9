"""Runs the mock knowledge graph in its own process for the duration of a run, as in the competition.

The server reads a pipe from this process and stops when the pipe closes, even if the evaluator is killed.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

from crag.core.files import UserError

PROBE_PATH = "/open/search_entity_by_name"
PROBE_SECONDS = 5.0
STOP_SECONDS = 10.0


@contextmanager
def mock_graph(data: str | Path = "") -> Iterator[str]:
    """The address of `crag graph serve` with the graph of the folder `data`, by default the shipped graph.
    Raises UserError: it exited at once; the message ends with its output.

    Example:
        with mock_graph() as address:
            ...  # http://127.0.0.1:PORT
    """
    # Port 0: the system picks a free one, and the first line of output names it
    command = [sys.executable, "-m", "crag", "graph", "serve", "--port", "0", "--stop-with-stdin"]
    if data:
        command += ["--data", str(data)]

    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
        subprocess.Popen(  # noqa: S603 - this interpreter with a list of arguments
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            # The first line has the address. It comes when the server is ready: the official graph takes minutes.
            first_line = process.stdout.readline() if process.stdout else ""
            address = re.search(r"https?://\S+", first_line)
            if address is None:
                errors.seek(0)
                last_lines = " ".join(errors.read().split("\n")[-4:]).strip()
                raise UserError(f"the mock knowledge graph did not start: {last_lines.removeprefix('error: ')}")

            yield address.group()

        finally:
            # In any case: `Popen` waits for its process when the block ends
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def graph_server_fault(address: str) -> str | None:
    """Why a graph server gives no results, None if it does; takes at most a few seconds."""
    try:
        with requests.Session() as session:
            session.trust_env = False  # an internet proxy would hide a server in the local network
            reply = session.post(
                f"{address.rstrip('/')}{PROBE_PATH}",
                json={"query": "x"},
                timeout=PROBE_SECONDS,
            )
        if not reply.ok:
            return f"status {reply.status_code} for {PROBE_PATH}"
        content = reply.json()

    except requests.Timeout:
        return f"no reply in {PROBE_SECONDS:g} s"
    except requests.JSONDecodeError:
        return "its reply is not JSON"
    except requests.RequestException as error:
        return "connection refused" if "refused" in str(error) else type(error).__name__
    except (ValueError, RecursionError):  # a number of thousands of digits; nested too deeply
        return "its reply is not JSON that can be read"

    has_result = isinstance(content, dict) and "result" in content
    return None if has_result else 'its reply has no "result"'
