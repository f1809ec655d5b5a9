"""One call at a time inside an encoder, and what becomes of one that does not end."""

import threading
from typing import Any

MOST_LEFT_BEHIND = 2
"""Stuck calls that keep weights of their own. Where three hang a fourth would, and memory ends."""


class OneCallAtATime:
    """What dense encoders and cross-encoders share: a turn, and a way past a call that is stuck.

    Rooms that share an encoder work side by side; tokenizers that are configured per call must not.
    """

    _model: Any = None
    """What the engine has loaded; None before, and after a stuck call was left behind with it."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self._left_behind: list[threading.Lock] = []
        """Turns of stuck calls; one that ends frees its turn."""

    def leave_behind(self, patience: float) -> bool:
        """Whether a call was still inside after so many seconds; later calls load weights of their own.

        Beside `MOST_LEFT_BEHIND` that still hang nothing else is loaded: False, and later calls wait for their turn.
        """
        turn = self._one_at_a_time
        if turn.acquire(timeout=patience):
            turn.release()
            return False
        self._left_behind = [one for one in self._left_behind if one.locked()]
        if len(self._left_behind) >= MOST_LEFT_BEHIND:
            return False
        self._left_behind.append(turn)
        self._model = None
        self._one_at_a_time = threading.Lock()
        return True
