"""Pages that are never read to their end, on a machine of any speed: at them the worker's extractor stays in C code."""

import select
from pathlib import Path
from typing import Any

import pytest

from agents.deadline import Clock

STUCK = "a page that is never read to its end"

_COMMAND = """
import itertools, pathlib, sys, uuid
from agents.web import extract
from agents.web.extract import worker

load = extract.load_extractor

def load_hanging(settings):
    real = load(settings)

    class Hanging:
        def extract(self, html):
            if {stuck!r} in html:
                (pathlib.Path({folder!r}) / uuid.uuid4().hex).touch()
                sum(itertools.repeat(0))
            return real.extract(html)

    return Hanging()

extract.load_extractor = load_hanging
worker.main(sys.stdin.buffer, sys.stdout.buffer)
"""


def hanging_command(folder: Path) -> str:
    """The program of a worker that hangs at stuck pages and leaves a file in the folder for each one it has begun."""
    folder.mkdir(exist_ok=True)
    return _COMMAND.format(stuck=STUCK, folder=str(folder))


def clock_that_waits(folder: Path, stuck: int, patch: pytest.MonkeyPatch) -> Clock:
    """A clock that stands still until so many stuck pages have been begun, and then has gone on by 100 s."""
    wait = select.select

    def wait_briefly(read: Any, write: Any, other: Any, seconds: float) -> Any:
        return wait(read, write, other, min(seconds, 0.05))

    patch.setattr(select, "select", wait_briefly)
    return lambda: 100.0 if len(list(folder.iterdir())) >= stuck else 0.0
