"""One process at a time writes into a folder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class FolderInUseError(RuntimeError):
    """Another process is writing into the folder."""


@contextmanager
def written_alone(folder: Path) -> Iterator[int]:
    """Make the folder and keep other processes out of it; gives the lock's file descriptor.

    The folder itself is locked, so that no file of the lock stays in what is made there. A child process that inherits
    the descriptor holds the lock, too, until both have ended.

    Raises:
        FolderInUseError: another process has the lock.
        OSError: the folder cannot be made or opened.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderInUseError(f"{folder}: another process is writing here") from None
        yield descriptor
    finally:
        os.close(descriptor)
