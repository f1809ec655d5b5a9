"""Keeps a hanging or dead language model from costing later batches their time."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crag.core.deadline import Deadline
from crag.core.locks import PatientLock
from crag.engines.llm import (
    Generation,
    GenerationRequest,
    LanguageModel,
    LanguageModelDiedError,
    Message,
    RehearsedModel,
)

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 20.0
"""How long a call may overrun its own deadline before it counts as hanging: many times a step of the slowest engine."""
FIRST_REQUEST = GenerationRequest(
    messages=(Message("system", "Answer in one word."), Message("user", "What is the capital of France?")),
    max_tokens=16,
    with_log_probability=True,
)
"""In the usual form of answers: what a server refuses of it is known before the first question."""
STUCK = "an earlier call is still stuck in the language model"


class ModelCounts(NamedTuple):
    """What the model did for a batch, in the forms of `Trace.out_of_time` and `Trace.tokens`."""

    out_of_time: Mapping[str, int]
    tokens: Mapping[str, int]


NOTHING_COUNTED = ModelCounts({}, {})


class WatchedModel:
    """A language model that runs one call of `generate` at a time and never raises `LanguageModelDiedError`.

    Two threads must not use an engine at the same time. A caller waits for an earlier call, within its own deadline.
    After `PATIENCE_SECONDS` in vain the engine is off until that call ends: generations fail at once, and only values
    of the graph answer. A dead engine is asked again each time, because a server may come back.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._lock = PatientLock()
        self._counts: Counter[str] = Counter()

        # These need no lock.
        self.check_weights = model.check_weights
        self.close = model.close
        self.count_tokens = model.count_tokens
        self.truncate = model.truncate

    def warm_up(self) -> None:
        """See `LanguageModel.warm_up`; a server also answers a first request."""
        self._model.warm_up()
        if isinstance(self._model, RehearsedModel):
            self._model.rehearse(FIRST_REQUEST)

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """See `LanguageModel.generate`. All generations fail if the engine is dead or no earlier call ends in time."""
        # A call that outlives its batch counts here, not in the counts of a later batch.
        counts = self._counts

        with self._lock.acquire(deadline, PATIENCE_SECONDS) as acquired:
            if not acquired:
                return [Generation.failed(STUCK) for _ in requests]
            try:
                generations = self._model.generate(requests, deadline)
            except LanguageModelDiedError as error:
                log.exception("the language model died")
                return [Generation.failed(f"the language model died: {error}") for _ in requests]

        for generation in generations:
            counts["prompt"] += generation.prompt_tokens
            counts["completion"] += generation.completion_tokens
            # Without a token, the time was over before the model began to write.
            if generation.finish_reason == "deadline":
                counts["cut_short" if generation.completion_tokens else "not_begun"] += 1
        return generations

    def take_counts(self) -> ModelCounts:
        """The counts since the previous call of this function."""
        counts = self._counts
        # A new object: a call that outlives its batch still adds to the old one.
        self._counts = Counter()
        return ModelCounts(
            out_of_time={"not_begun": counts["not_begun"], "cut_short": counts["cut_short"]},
            tokens={"prompt": counts["prompt"], "completion": counts["completion"]},
        )

    def begin_batch(self) -> list[str]:
        """What the traces of a new batch say about the engine."""
        return [STUCK] if self._lock.is_held else []
