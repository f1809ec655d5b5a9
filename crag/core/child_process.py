"""Starts a Python process of ours that talks to its parent through a pipe."""

import contextlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import IO, NamedTuple

from crag.core.places import REPOSITORY


class PipedProcess(NamedTuple):
    """A running process; whoever started it closes `connection` and `log`."""

    process: subprocess.Popen[bytes]
    connection: Connection
    log: IO[bytes]
    """What the process writes to standard error."""


def start_piped(command: str, environment: Mapping[str, str], *, logs_output: bool) -> PipedProcess:
    """Run Python code in a process of its own; the number of its end of the pipe is ``sys.argv[1]``.

    It finds this package, reads nothing from the keyboard, and only its parent reacts to an interrupt. Standard output
    goes to the log too if `logs_output` is set, else nowhere.
    """
    search_path = [str(REPOSITORY)]
    if environment.get("PYTHONPATH"):
        search_path.append(environment["PYTHONPATH"])

    with contextlib.ExitStack() as on_failure:
        # A file, not a pipe: nobody reads it while the process lives, and a full pipe would block it
        log = on_failure.enter_context(tempfile.TemporaryFile())
        connection, other_end = multiprocessing.Pipe()
        on_failure.enter_context(connection)
        with other_end:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter, and the caller's constant command
                [sys.executable, "-c", command, str(other_end.fileno())],
                pass_fds=[other_end.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log if logs_output else subprocess.DEVNULL,
                stderr=log,
                env={**environment, "PYTHONPATH": os.pathsep.join(search_path)},
                start_new_session=True,
            )
        # The process runs: from now on its owner releases the pipe and the file
        on_failure.pop_all()
    return PipedProcess(process, connection, log)
