"""One call at a time inside an encoder, and what becomes of one that does not end."""

import threading
from typing import Any


class OneCallAtATime:
    """What dense encoders and cross-encoders share: a turn, and a way past a call that is stuck.

    Rooms that share an encoder work side by side; tokenizers that are configured per call must not.
    """

    _model: Any = None
    """What the engine has loaded; None before, and after a stuck call was left behind with it."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()

    def leave_behind(self, patience: float) -> bool:
        """Whether a call was still inside after so many seconds; later calls load weights of their own."""
        turn = self._one_at_a_time
        if turn.acquire(timeout=patience):
            turn.release()
            return False
        self._model = None
        self._one_at_a_time = threading.Lock()
        return True
