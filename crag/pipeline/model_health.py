"""Keeps a hanging or dead language model from costing later batches their time."""

import logging
import threading
from collections import Counter
from collections.abc import Sequence

from crag.core.deadline import Deadline
from crag.engines.llm import Generation, GenerationRequest, LanguageModel, LanguageModelDiedError

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 20.0
"""How long a call may overrun its own deadline before it counts as hanging: many times a step of the slowest engine."""
STUCK = "an earlier call is still stuck in the language model"


class WatchedModel:
    """A language model that runs one `generate` call at a time and never raises `LanguageModelDiedError`.

    Two threads must not use an engine at the same time. A caller waits for an earlier call, within its own deadline.
    After `PATIENCE_SECONDS` in vain the engine is off until that call ends: generations fail at once, and only values
    of the graph answer. A dead engine is asked again each time, because a server may come back.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._hangs = False
        self._counts: Counter[str] = Counter()
        self.check_weights, self.warm_up, self.close = model.check_weights, model.warm_up, model.close
        self.count_tokens, self.truncate = model.count_tokens, model.truncate

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """See `LanguageModel.generate`. All generations fail if the engine is dead or no earlier call ends in time."""
        patience = min(PATIENCE_SECONDS, deadline.remaining)
        if not self._lock.acquire(timeout=0 if self._hangs else patience):
            self._hangs = self._hangs or patience == PATIENCE_SECONDS
            return [Generation.failed(STUCK) for _ in requests]
        counts = self._counts  # a later batch has its own
        try:
            generations = self._model.generate(requests, deadline)
        except LanguageModelDiedError as error:
            log.exception("the language model died")
            return [Generation.failed(f"the language model died: {error}") for _ in requests]
        finally:
            self._hangs = False
            self._lock.release()
        for one in generations:
            late = one.finish_reason == "deadline"
            counts.update({"cut_short" if one.completion_tokens else "not_begun": late})
            counts.update(prompt=one.prompt_tokens, completion=one.completion_tokens)
        return generations

    def take_counts(self) -> dict[str, dict[str, int]]:
        """Counts since the last call, in the forms of `Trace.out_of_time` and `Trace.tokens`."""
        counts, self._counts = self._counts, Counter()
        kinds = {"out_of_time": ("not_begun", "cut_short"), "tokens": ("prompt", "completion")}
        return {kind: {name: counts[name] for name in names} for kind, names in kinds.items()}

    def begin_batch(self) -> list[str]:
        """What the traces of a new batch say about the engine."""
        return [STUCK] if self._lock.locked() else []
