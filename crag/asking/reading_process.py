"""Reads a file in a process of its own, which is killed when it takes too long or too much memory."""

import gc
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from crag.core.places import REPOSITORY

SECONDS = 60.0
"""Limit for a file."""
MEMORY_BYTES = 3 << 30
"""Of the process: a file that needs more ends it, not the machine."""

NEW_OBJECTS = 1_000_000
"""After so many it looks for objects that nobody uses. After 700, as is usual, Markdown takes twice as long."""

_REMEDIES = {"MemoryError": "it needs too much memory; split it"}
PACKAGE_REMEDIES = {
    "BadZipFile": "it is damaged or not whole; open it and save it again, or fetch it again",
    "RecursionError": "it is nested too deeply; open it and save it again",
    "KeyError": "a part of it is missing; open it and save it again",
    "XMLSyntaxError": "its XML is damaged; open it and save it again",
}
"""What can be done about an archive of XML, by a part of the error's message."""


class PageReply(TypedDict):
    """A page: its HTML, and its part of the file ("" for the whole)."""

    html: str
    part: str


class FileReply(TypedDict):
    """What was read of a file: the title, the pages, and a note on what was not read."""

    title: str
    pages: list[PageReply]
    note: str


class UnreadableFileError(ValueError):
    """A file that cannot be read. The message names the remedy."""


def read_in_process(
    module: str, argument: str, content: bytes, seconds: float, remedies: Mapping[str, str]
) -> dict[str, Any]:
    """What ``main(argument)`` of a module writes as JSON when it reads the content from standard input.

    `remedies` are what can be done, by a part of the error's message.
    Raises UnreadableFileError: it is damaged, takes too long or too much memory, or its library is not installed.
    """
    search_path = [str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])]
    # With `-P` nothing is imported from the working directory, where a file could pose as a library.
    program = f"import sys; from {module} import main; main(sys.argv[1])"
    command = [sys.executable, "-P", "-c", program, argument]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(search_path)}
    try:
        process = subprocess.run(  # noqa: S603 - our own interpreter and a constant program
            command, input=content, capture_output=True, check=False, timeout=seconds, env=environment
        )
    except subprocess.TimeoutExpired:
        raise UnreadableFileError(f"it took more than {seconds:g} s; split it") from None

    if process.returncode:
        raise UnreadableFileError(_describe_failure(process.stderr, process.returncode, remedies))
    reply: dict[str, Any] = json.loads(process.stdout)
    if "error" in reply:
        raise UnreadableFileError(reply["error"])
    return reply


def read_file_in_process(module: str, argument: str, content: bytes, remedies: Mapping[str, str]) -> FileReply:
    """The pages of a file, by the ``main(argument)`` of a module. Raises UnreadableFileError, as `read_in_process`."""
    reply = read_in_process(module, argument, content, SECONDS, remedies)
    return FileReply(title=reply["title"], pages=reply["pages"], note=reply["note"])


def reply_in_process(read: Callable[[bytes], Mapping[str, object]]) -> None:
    """In the process: write what is read of the file on standard input, or why it cannot be read."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    gc.set_threshold(NEW_OBJECTS, 20, 100)
    try:
        reply = read(sys.stdin.buffer.read())
    except UnreadableFileError as error:
        reply = {"error": str(error)}
    sys.stdout.buffer.write(json.dumps(reply).encode())


def _describe_failure(error_output: bytes, status: int, remedies: Mapping[str, str]) -> str:
    """The remedy of a known failure, else the exception or the status."""
    # The last line of a traceback is the exception.
    _, _, last_line = error_output.decode("utf-8", "replace").strip().rpartition("\n")
    for part, remedy in {**_REMEDIES, **remedies}.items():
        if part in last_line:
            return remedy
    return last_line[:200] or f"its reader ended with status {status}"
