"""Pages that are never read to their end, on a machine of any speed: the worker stays in C code at them."""

from pathlib import Path

from agents.common.deadline import Clock

STUCK = "a page that is never read to its end"

_COMMAND = """
import itertools, pathlib, sys, uuid
from agents.web.extract import worker

read = worker.page_text

def hang(html, settings):
    if {stuck!r} in html:
        (pathlib.Path({folder!r}) / uuid.uuid4().hex).touch()
        sum(itertools.repeat(0))
    return read(html, settings)

worker.page_text = hang
worker.main(int(sys.argv[1]))
"""


def hanging_command(folder: Path) -> str:
    """The program of a worker that hangs at stuck pages and leaves a file in the folder for each one it has begun."""
    folder.mkdir(exist_ok=True)
    return _COMMAND.format(stuck=STUCK, folder=str(folder))


def clock_that_waits(folder: Path, stuck: int) -> Clock:
    """A clock that stands still until so many stuck pages have been begun, and then has gone on by 100 s."""
    return lambda: 100.0 if len(list(folder.iterdir())) >= stuck else 0.0
