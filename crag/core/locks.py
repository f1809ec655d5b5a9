"""A lock for models that may hang: one caller at a time, and no second long wait for a call that does not end."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from crag.core.deadline import Deadline


class PatientLock:
    """Lets one thread at a time use a model.

    A caller waits for an earlier call, within its own deadline and at most `patience_seconds`. Whoever waited that long
    in vain shows that the earlier call hangs: until it ends, later callers do not wait at all.

    Example:
        with lock.acquire(deadline, 20.0) as acquired:
            if acquired:
                model.generate(...)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hangs = False

    @property
    def is_held(self) -> bool:
        """Whether a call is running now."""
        return self._lock.locked()

    @contextmanager
    def acquire(self, deadline: Deadline | None, patience_seconds: float) -> Iterator[bool]:
        """Hold the lock for the block, or give False if an earlier call does not end."""
        patience = patience_seconds if deadline is None else min(patience_seconds, deadline.remaining)

        acquired = self._lock.acquire(timeout=0 if self._hangs else patience)
        if acquired:
            self._hangs = False
        elif patience == patience_seconds:
            # Only a full wait shows this; a caller whose deadline ended earlier knows nothing.
            self._hangs = True

        try:
            yield acquired
        finally:
            if acquired:
                self._lock.release()
