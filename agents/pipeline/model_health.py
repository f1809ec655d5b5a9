"""Replaces models with hanging calls: a hang costs its own batch some answers and later batches none.

* **The language model.** One call at a time. If an earlier call is still running, a batch waits a quarter of its time
  for it, in parallel with its other work. Then the engine is abandoned and a fresh one is loaded. The old one is closed
  when its call ends, because freeing memory under a running kernel can end the process. Until then the batch gives only
  answers that need no model. Every batch tries to load again. A dead engine is replaced in the same way. With
  `MOST_LEFT_BEHIND` hanging engines no other is loaded: their memory is not free.
* **Encoders.** An earlier batch's call gets a twentieth of the batch's time to end; then the next call loads its own
  weights (`agents.encoders`), unless two such calls hang already.
* **Python work on texts** is bounded in size (`agents.common.queries`) and blocks no later batch.
* **HTML parsers** run in killable processes (`agents.web.extract`).
* **The knowledge graph.** Calls have a deadline; threads in a hanging name lookup are abandoned (`agents.kg.client`).

Not covered: C code that holds the interpreter's lock, which stops all threads.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from agents.common.deadline import Deadline, call_within
from agents.llm import Generation, GenerationRequest, LanguageModel, LanguageModelDiedError

log = logging.getLogger(__name__)

PATIENCE_SHARE = 0.25
"""Share of a batch's time that an earlier batch's language-model call may still take."""
ENCODER_PATIENCE_SHARE = 0.05
"""The same for encoders."""
MOST_LEFT_BEHIND = 2
"""Maximum number of abandoned language models with a stuck call, beside the current one."""
CLOSING_SECONDS = 5.0
LOADING_SECONDS = 600.0

STUCK = "an earlier call is still stuck in the language model"


class LeavesBehind(Protocol):
    """An encoder; it runs one call at a time."""

    def leave_behind(self, patience: float) -> bool:
        """Abandon a call that still runs after `patience` seconds. Returns whether it did."""


@dataclass(slots=True, eq=False)
class _Engine:
    model: LanguageModel
    calls: int = 0
    busy: bool = False
    died: bool = False

    def close_quietly(self) -> None:
        try:
            call_within(CLOSING_SECONDS, self.model.close)
        except Exception:
            log.exception("the old language model could not be closed")


class WatchedModel:
    """A language model that runs one `generate` call at a time and is replaced if it hangs or dies.

    Two threads must not use an engine at the same time. The next caller waits for a stuck call, or for the new engine,
    within its own deadline.

    Args:
        model: The engine.
        fresh: Creates another engine of the same settings, not loaded. Without it a stuck engine is waited for, and a
            dead one is closed and loaded again.
    """

    def __init__(self, model: LanguageModel, fresh: Callable[[], LanguageModel] | None = None) -> None:
        self._fresh = fresh
        self._newest = _Engine(model)
        """Counts tokens even if it hangs: that needs no weights."""
        self._engine: _Engine | None = self._newest
        """None after the engine is abandoned, until another one is loaded."""
        self._left_behind: list[_Engine] = []
        """Abandoned with a call inside; closed and removed when the call ends."""
        self._changed = threading.Condition()
        self._renewal: threading.Thread | None = None
        self._fault = ""
        self._closed = False
        self._counts: Counter[str] = Counter()

    def check_weights(self) -> None:
        """See `LanguageModel`."""
        self._newest.model.check_weights()

    def warm_up(self) -> None:
        """See `LanguageModel`."""
        self._closed = False
        self._newest.model.warm_up()

    def count_tokens(self, text: str) -> int:
        """See `LanguageModel`."""
        return self._newest.model.count_tokens(text)

    def truncate(self, text: str, max_tokens: int) -> str:
        """See `LanguageModel`."""
        return self._newest.model.truncate(text, max_tokens)

    def close(self) -> None:
        """Close the engine, and one that is still being loaded once it is ready."""
        with self._changed:
            self._closed = True
        self._newest.model.close()

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """See `LanguageModel.generate`. Generations fail if no engine is free in time or will be."""
        with self._changed:
            self._changed.wait_for(self._settled, timeout=deadline.remaining)
            engine = self._engine
            if engine is None or engine.busy:
                return [Generation.failed(self._why_none()) for _ in requests]
            engine.busy = True
            engine.calls += 1
            counts = self._counts
        try:
            generations = engine.model.generate(requests, deadline)
        except LanguageModelDiedError:
            engine.died = True
            raise
        finally:
            with self._changed:
                engine.busy = False
                given_up = engine is not self._engine
                self._left_behind = [one for one in self._left_behind if one is not engine]
                self._changed.notify_all()
            if given_up:
                engine.close_quietly()
        # A later batch has its own counter.
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

    def begin_batch(self, whole: Deadline) -> str | None:
        """Start to replace an engine that hangs or died; returns a note for the traces."""
        with self._changed:
            if self._engine is not None and self._engine.died:
                self._engine = None
            if self._renewal is None and not self._closed and (self._engine is None or self._engine.busy):
                self._fault = ""
                work = partial(self._renew, whole.remaining * PATIENCE_SHARE)
                self._renewal = threading.Thread(target=work, daemon=True, name="load-language-model")
                self._renewal.start()
            free = self._engine is not None and not self._engine.busy
            return None if free else self._why_none()

    def _settled(self) -> bool:
        """Whether waiting would change nothing."""
        return not self._engine.busy if self._engine is not None else self._renewal is None

    def _why_none(self) -> str:
        if self._engine is not None:
            return STUCK
        return self._fault or "the language model hung or died in an earlier batch; a fresh one is being loaded"

    def _renew(self, patience: float) -> None:
        """Replace the engine and wake all waiting calls, even after a fault; runs in its own thread."""
        fault = ""
        try:
            if self._given_up(patience):
                self._replace()
        except Exception as error:
            # The traces report it; the next batch tries again.
            log.exception("the language model could not be loaded again")
            fault = f"the language model could not be loaded again: {error}"
        finally:
            with self._changed:
                self._fault = fault
                self._renewal = None
                self._changed.notify_all()

    def _given_up(self, patience: float) -> bool:
        """Whether the engine is dead, or hangs and can be replaced."""
        with self._changed:
            engine = self._engine
            if engine is None:
                return True
            stuck = engine.calls
            ended = self._changed.wait_for(lambda: not engine.busy or engine.calls > stuck, timeout=patience)
            if ended or self._fresh is None or len(self._left_behind) >= MOST_LEFT_BEHIND:
                return False
            self._left_behind.append(engine)
            self._engine = None
            return True

    def _replace(self) -> None:
        log.warning("the language model hung or died in an earlier batch and is loaded again")
        if not self._newest.busy:
            self._newest.close_quietly()
        engine = _Engine(self._fresh() if self._fresh is not None else self._newest.model)
        call_within(LOADING_SECONDS, engine.model.warm_up)
        with self._changed:
            self._newest = self._engine = engine
            closed = self._closed
        if closed:
            engine.close_quietly()


def begin_batch(model: WatchedModel, encoders: Sequence[LeavesBehind], whole: Deadline) -> list[str]:
    """Replace models with hanging calls of earlier batches; returns notes for the traces."""
    notes = [note for note in [model.begin_batch(whole)] if note]
    if [encoder for encoder in encoders if encoder.leave_behind(whole.remaining * ENCODER_PATIENCE_SHARE)]:
        notes.append("an earlier call is still stuck in an encoder: another one is loaded")
    return notes
