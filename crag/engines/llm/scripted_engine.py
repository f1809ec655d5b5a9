"""A fake language model for tests and smoke runs: answers from a table and fails on request, without weights."""

import random
import re
import time
from collections.abc import Sequence

from crag.core.deadline import Deadline
from crag.engines.llm.base import (
    FinishReason,
    Generation,
    GenerationRequest,
    LanguageModelDiedError,
    end_before_stop,
    refuse_unknown_adapter,
)
from crag.settings import ScriptedEngine

_TOKEN = re.compile(r"\S+")
_SEED = 20240805
_HANG_OVERRUN_SECONDS = 0.5
_LOG_PROBABILITY = -0.1
"""The mean log-probability of every text that is not empty."""

_GARBAGE = (
    "<|im_end|>\n<|im_start|>assistant\n<|eot_id|><s>[INST] answer [/INST]</s>",
    "\n\n".join(f"{n}. and then\r\n" for n in range(30)),
    "word " * 20_000,
    "half a character: \ud83d and its \udc00 other",
    "\x00\x07\x1b[31m\u202e\u200b\ufeff",
    '{"answer": "' + "[" * 5_000,
    " \t\r\n ",
)


class ScriptedLanguageModel:
    """Replies from `settings.replies`; tokens are words separated by white space.

        settings = ScriptedEngine(engine="scripted", replies={"Dune": "Frank Herbert"})
        ScriptedLanguageModel(settings)   # answers a question that has "Dune" in it with "Frank Herbert"

    The fault starts after `settings.fault_after` requests since `warm_up`, and stays:

    * ``hang``: a call returns nothing, half a second (real time) after its deadline.
    * ``die_after``: raises `LanguageModelDiedError` until the next `warm_up`.
    * ``garbage``: chat tokens, control characters, lone surrogates, 100,000 characters, more than `max_tokens`; the
      same in every run.
    * ``slow``: ten times `seconds_per_request`, at least half a second.
    * ``error``, ``empty``: failed generations, empty texts.
    * ``short_list``: the failing requests' generations are missing from the list, against the contract.
    """

    def __init__(self, settings: ScriptedEngine) -> None:
        self._settings = settings
        self._served = 0
        self._dead = False

    def check_weights(self) -> None:
        """There are no weights."""

    def warm_up(self) -> None:
        """Revive a dead engine; there is nothing to load."""
        if self._dead:
            self._dead = False
            self._served = 0

    def close(self) -> None:
        """Nothing to release."""

    def count_tokens(self, text: str) -> int:
        """Number of words."""
        return len(_TOKEN.findall(text))

    def truncate(self, text: str, max_tokens: int) -> str:
        """The first `max_tokens` words of the text."""
        if max_tokens <= 0:
            return ""
        words = list(_TOKEN.finditer(text))
        if len(words) <= max_tokens:
            return text
        return text[: words[max_tokens - 1].end()]

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """One generation per request, in order, unless the fault is ``short_list``.
        Raises LanguageModelDiedError: the fault is ``die_after`` and has begun.
        """
        generations: list[Generation] = []
        for request in requests:
            generation = self._serve(request, deadline)
            if generation is not None:
                generations.append(generation)
        return generations

    def _serve(self, request: GenerationRequest, deadline: Deadline) -> Generation | None:
        if deadline.expired:
            return Generation.out_of_time()
        refused = refuse_unknown_adapter(request, self._settings.adapters)
        if refused is not None:
            return refused

        self._served += 1
        seconds = self._settings.seconds_per_request
        fault = self._settings.fault if self._served > self._settings.fault_after else None
        if fault == "die_after":
            self._dead = True
            raise LanguageModelDiedError(f"the scripted engine dies after {self._settings.fault_after} requests")
        if fault == "hang":
            seconds = deadline.remaining + _HANG_OVERRUN_SECONDS
        elif fault == "slow":
            seconds = max(0.5, 10 * seconds)

        in_time = seconds <= deadline.remaining
        # A hanging call overruns the deadline, a slow one only uses it up.
        time.sleep(seconds if in_time or fault == "hang" else deadline.remaining)
        if not in_time:
            return Generation.out_of_time()
        return self._generation(request, fault)

    def _generation(self, request: GenerationRequest, fault: str | None) -> Generation | None:
        if fault == "short_list":
            return None
        if fault == "error":
            return Generation.failed("the scripted engine fails on purpose")

        reason: FinishReason = "length"
        if fault == "garbage":
            text = self._garbage()
        else:
            reply = "" if fault == "empty" else self._reply(request)
            reply = end_before_stop(reply, request.stop)
            text = self.truncate(reply, request.max_tokens)
            if text == reply:
                reason = "stop"

        completion_tokens = self.count_tokens(text)
        prompt_parts = [message.content for message in request.messages] + [request.prompt or ""]
        return Generation(
            text=text,
            mean_log_probability=_LOG_PROBABILITY if completion_tokens else None,
            prompt_tokens=sum(map(self.count_tokens, prompt_parts)),
            completion_tokens=completion_tokens,
            finish_reason=reason,
        )

    def _reply(self, request: GenerationRequest) -> str:
        """The reply to the prompt, or to the chat's newest question."""
        question = request.prompt
        if question is None:
            user_turns = [turn.content for turn in request.messages if turn.role == "user"]
            question = user_turns[-1] if user_turns else ""

        for substring, reply in self._settings.replies.items():
            if substring in question:
                return reply
        return self._settings.default_reply

    def _garbage(self) -> str:
        generator = random.Random(_SEED + self._served)  # noqa: S311 - not a secret, it must be the same in every run
        noise = "".join(chr(generator.randrange(1, 0xD800)) for _ in range(40))
        return generator.choice((*_GARBAGE, noise))
