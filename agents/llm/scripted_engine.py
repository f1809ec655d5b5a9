"""A fake language model for tests and smoke runs: answers from a table and fails on request, without weights."""

import random
import re
import time
from collections.abc import Sequence

from agents.common.deadline import Deadline
from agents.llm.base import (
    FinishReason,
    Generation,
    GenerationRequest,
    LanguageModelDiedError,
    end_before_stop,
    refuse_unknown_adapter,
)
from agents.settings import ScriptedEngine

_TOKEN = re.compile(r"\S+")
_SEED = 20240805
_HANG_OVERRUN_SECONDS = 0.5
_POLL_SECONDS = 0.02
_LOG_PROBABILITY = -0.1

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
            self._served, self._dead = 0, False

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
        return text if len(words) <= max_tokens else text[: words[max_tokens - 1].end()]

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """One generation per request, in order, unless the fault is ``short_list``.
        Raises LanguageModelDiedError: the fault is ``die_after`` and has begun.
        """
        generations = (self._serve(request, deadline) for request in requests)
        return [generation for generation in generations if generation is not None]

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
            time.sleep(deadline.remaining + _HANG_OVERRUN_SECONDS)
            return Generation.out_of_time()
        if not _work(max(0.5, 10 * seconds) if fault == "slow" else seconds, deadline):
            return Generation.out_of_time()
        return self._speak_or_fail(request, fault)

    def _speak_or_fail(self, request: GenerationRequest, fault: str | None) -> Generation | None:
        match fault:
            case "short_list":
                return None
            case "error":
                return Generation.failed("the scripted engine fails on purpose")
            case "garbage":
                return self._garbage(request)
            case _:
                return self._speak("" if fault == "empty" else self._reply(request), request)

    def _reply(self, request: GenerationRequest) -> str:
        asked = _last_user_message(request)
        return next(
            (reply for part, reply in self._settings.replies.items() if part in asked), self._settings.default_reply
        )

    def _speak(self, reply: str, request: GenerationRequest) -> Generation:
        stopped = end_before_stop(reply, request.stop)
        text = self.truncate(stopped, request.max_tokens)
        tokens = self.count_tokens(text)
        reason: FinishReason = "stop" if text == stopped else "length"
        return Generation(text, _LOG_PROBABILITY if tokens else None, self._prompt_tokens(request), tokens, reason)

    def _garbage(self, request: GenerationRequest) -> Generation:
        chance = random.Random(_SEED + self._served)  # noqa: S311 - not a secret, it must be the same in every run
        noise = "".join(chr(chance.randrange(1, 0xD800)) for _ in range(40))
        text = chance.choice((*_GARBAGE, noise))
        return Generation(text, _LOG_PROBABILITY, self._prompt_tokens(request), self.count_tokens(text), "length")

    def _prompt_tokens(self, request: GenerationRequest) -> int:
        texts = [message.content for message in request.messages] + [request.prompt or ""]
        return sum(map(self.count_tokens, texts))


def _last_user_message(request: GenerationRequest) -> str:
    if request.prompt is not None:
        return request.prompt
    return next((turn.content for turn in reversed(request.messages) if turn.role == "user"), "")


def _work(seconds: float, deadline: Deadline) -> bool:
    """Spend `seconds`; False if the deadline came first."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if deadline.expired:
            return False
        time.sleep(min(left, _POLL_SECONDS))
    return True
