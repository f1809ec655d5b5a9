"""Whether the models may be asked: one that died is loaded again, one with a stuck call inside is left alone."""

import logging
import threading
from collections import Counter
from collections.abc import Iterable, Sequence

from agents.batch_run import StageFault
from agents.deadline import Deadline
from agents.llm import Generation, GenerationRequest, LanguageModel, LanguageModelDiedError
from agents.watchdog import StuckError, call_within

log = logging.getLogger(__name__)


class WatchedModel:
    """A language model that lets one call at a time into `generate`; all else is the model's own.

    Adapters and engine steps are no business of two threads. A stage whose call hangs is left behind by its batch; who
    comes next waits for that call no longer than its own deadline.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._turn = threading.Lock()
        self._out_of_time: Counter[str] = Counter()
        self.check_weights = model.check_weights
        self.warm_up = model.warm_up
        self.count_tokens = model.count_tokens
        self.truncate = model.truncate
        self.close = model.close

    @property
    def busy(self) -> bool:
        """Whether a call is inside of `generate`."""
        return self._turn.locked()

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """As the model does it; failed generations where an earlier call does not end in time."""
        if not self._turn.acquire(timeout=deadline.remaining):
            return [Generation.failed("an earlier call is still stuck in the model") for _ in requests]
        try:
            generations = self._model.generate(requests, deadline)
            self._out_of_time.update(
                "cut_short" if one.completion_tokens else "not_begun"
                for one in generations
                if one.finish_reason == "deadline"
            )
            return generations
        finally:
            self._turn.release()

    def take_out_of_time(self) -> dict[str, int]:
        """How many generations the clock ended before their first token and later, since this was last asked."""
        counts, self._out_of_time = self._out_of_time, Counter()
        return {name: counts[name] for name in ("not_begun", "cut_short")}


class ModelHealth:
    """Remembers between batches what happened inside the models."""

    def __init__(self, model: WatchedModel) -> None:
        self._model = model
        self._died = False
        self._stuck_thread: threading.Thread | None = None

    def note(self, faults: Iterable[StageFault]) -> None:
        """Remember a language model that died, or a thread that may still be inside one of the encoders."""
        for stage, error in faults:
            if isinstance(error, LanguageModelDiedError):
                self._died = True
            elif isinstance(error, StuckError) and stage == "web":
                self._stuck_thread = error.thread

    def obstacle(self, whole: Deadline) -> str | None:
        """Why no model can be asked in this batch, or None; a dead one is loaded again within half of the time.

        While an abandoned call is still running, the models are not entered again.
        """
        if self._model.busy or (self._stuck_thread is not None and self._stuck_thread.is_alive()):
            return "an earlier call is still stuck in the agent's models"
        if not self._died:
            return None
        log.warning("the language model died in an earlier batch and is loaded again")
        try:
            call_within(whole.remaining / 2, self._reload)
        except Exception as fault:
            # Whatever a broken engine raises while it is taken down and built again: the batch abstains.
            log.exception("the language model could not be loaded again")
            if isinstance(fault, StuckError):
                self._stuck_thread = fault.thread
            return f"the language model died and could not be loaded again: {fault}"
        self._died = False
        return None

    def _reload(self) -> None:
        try:
            self._model.close()
        finally:
            self._model.warm_up()
