"""The llm judge: a language model applies a rubric, on any engine of `crag.engines.llm`."""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tqdm import tqdm

from crag.core.deadline import Deadline
from crag.core.files import DatasetError, UserError, append_rows, read_growing
from crag.engines.llm import (
    EngineUnavailableError,
    Generation,
    GenerationRequest,
    LanguageModelDiedError,
    Message,
    load_language_model,
)
from crag.evaluation.judge.base import Claim, Judgement, Verdict
from crag.evaluation.judge.rubrics import RUBRICS, Rubric
from crag.settings import LanguageModelSettings, OpenAIEngine
from crag.weights.manifest import UnknownModelError, WeightsMissingError

SECONDS_PER_REQUEST = 60.0
"""A call with n requests gets n times this; a CPU model handles them one by one."""

MAX_TOKENS = 128
"""The reply needs ten; the rest is for models that do not stop at once."""

CLAIMS_AT_ONCE = 16
"""Verdicts are saved after this many; also the number of concurrent requests to an endpoint."""

ATTEMPTS = 3
"""Requests per claim until the reply is readable."""

_PROBE = Claim("what is two plus two?", ("4",), "it is four")
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(
    r"[\"'{,\s](?:accuracy|score)[\"']?\s*[:=]\s*[\"']?(?P<value>true|false|[01](?:\.0)?)[\"']?\s*"
    r"(?:,(?!\d)|[}\n]|\Z)",  # the value must end here: "true or false" repeats the form, "1/5" is not a verdict
    re.IGNORECASE,
)
_BARE = re.compile(r"\W{0,9}(?P<value>true|false|[01])\W{0,9}", re.IGNORECASE)
_RIGHT = frozenset({"true", "1", "1.0"})


@dataclass(slots=True)
class JudgeCost:
    """Counts so far. `claims` were judged, `cached` of them from the cache; `requests` counts every attempt."""

    claims: int = 0
    cached: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class LanguageModelJudge:
    """Asks a language model about each claim that the official rules leave open and the cache lacks.

    Unreadable replies, failed requests and timeouts are retried, `ATTEMPTS` in all; then the claim is unscored
    with the reason, never wrong. Decoding is greedy. Scored verdicts are cached at once.

    `where` names the model's address or preset in messages; `cache` is a file of JSON lines ``{key, correct, judge}``,
    shared by runs. Raises UserError if the engine is missing or the cache is unusable.
    """

    name = "llm"

    def __init__(
        self, settings: LanguageModelSettings, where: str, rubric: str = "crag", cache: Path | None = None
    ) -> None:
        try:
            self.model = load_language_model(settings)
        except EngineUnavailableError as error:
            raise UserError(f"the llm judge cannot ask {where}: {error}") from error
        self._model_name = "scripted" if settings.engine == "scripted" else settings.model
        self._identity = _identity(settings)
        self.cost = JudgeCost()
        self._use(RUBRICS[rubric])
        self._where = where
        self._cache = cache
        self._known = _read_verdicts(cache) if cache else {}
        self._checked = False

    def with_rubric(self, rubric: Rubric) -> Self:
        """A judge by another rubric, with the same model, cache and cost."""
        other = copy(self)
        other._use(rubric)
        return other

    def _use(self, rubric: Rubric) -> None:
        self._rubric = rubric
        self.version = f"1:{self._model_name}:{rubric.name}-{rubric.fingerprint}"
        self._signature = f"{self.name}@{self.version}"
        self._key_signature = f"{self._signature}:{self._identity}"

    def check(self) -> None:
        """Ask for one obvious verdict, once, so that a fault (UserError) shows before the first claim."""
        if self._checked:
            return
        try:
            self.model.warm_up()
            (generation,) = self._generate([self._request(_PROBE)])
            why = _fault(generation) if generation.finish_reason in {"error", "deadline"} else None
        except (EngineUnavailableError, WeightsMissingError, UnknownModelError, LanguageModelDiedError) as error:
            why = _cause(error)
        if why:
            raise UserError(f"the llm judge cannot ask {self._where}: {why}")
        self._checked = True

    def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        """One judgement per claim, in order; raises UserError."""
        keys = [self._key(claim) for claim in claims]
        judged = {key: _judgement(self._known[key], "from the cache") for key in keys if key in self._known}
        self.cost.claims += len(claims)
        self.cost.cached += sum(key in judged for key in keys)
        unknown = [(key, claim) for key, claim in dict(zip(keys, claims, strict=True)).items() if key not in judged]
        if unknown:
            self.check()
        steps = range(0, len(unknown), CLAIMS_AT_ONCE)
        for start in tqdm(steps, desc="judging", unit=f"{CLAIMS_AT_ONCE} claims", disable=len(steps) < 2):
            judged |= self._ask(dict(unknown[start : start + CLAIMS_AT_ONCE]))
        return [judged[key] for key in keys]

    def _key(self, claim: Claim) -> str:
        parts = [self._key_signature, claim.query, list(claim.golds), claim.prediction]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _ask(self, claims: dict[str, Claim]) -> dict[str, Judgement]:
        judged: dict[str, Judgement] = {}
        for attempt in range(1, ATTEMPTS + 1):
            if not (waiting := {key: claim for key, claim in claims.items() if key not in self._known}):
                break
            generations = self._generate([self._request(claim, again=attempt > 1) for claim in waiting.values()])
            verdicts: dict[str, bool] = {}
            for key, generation in zip(waiting, generations, strict=True):
                correct = None if generation.finish_reason == "error" else read_verdict(generation.text)
                if correct is None:
                    reason = f"llm: no verdict after {ATTEMPTS} attempts: {_fault(generation)}"
                    judged[key] = Judgement(Verdict.UNSCORED, reason)
                else:
                    verdicts[key] = correct
                    judged[key] = _judgement(correct, f"in attempt {attempt}")
            self._keep(verdicts)
        return judged

    def _keep(self, verdicts: dict[str, bool]) -> None:
        self._known.update(verdicts)
        if self._cache is None:
            return
        rows = ({"key": key, "correct": right, "judge": self._signature} for key, right in verdicts.items())
        try:
            append_rows(self._cache, rows)
        except OSError as error:
            raise _unusable(self._cache, error.strerror) from error

    def _request(self, claim: Claim, *, again: bool = False) -> GenerationRequest:
        messages = self._rubric.messages(claim)
        if again:  # greedy decoding would only repeat itself
            last = messages[-1]
            messages = (*messages[:-1], Message("user", f"{last.content}\n\n{self._rubric.reminder}"))
        return GenerationRequest(messages=messages, max_tokens=MAX_TOKENS)

    def _generate(self, requests: list[GenerationRequest]) -> list[Generation]:
        """One generation per request; a dead model has failed all, but for the first question."""
        self.cost.requests += len(requests)
        try:
            generations = self.model.generate(requests, Deadline(SECONDS_PER_REQUEST * len(requests)))
        except LanguageModelDiedError as error:
            if not self._checked:
                raise
            return [Generation.failed(str(error))] * len(requests)
        self.cost.prompt_tokens += sum(generation.prompt_tokens for generation in generations)
        self.cost.completion_tokens += sum(generation.completion_tokens for generation in generations)
        if len(generations) != len(requests):
            return [Generation.failed(f"{len(generations)} replies to {len(requests)} requests")] * len(requests)
        return generations


def _judgement(correct: bool, how: str) -> Judgement:
    meaning = "the same as the gold answer" if correct else "not what the gold answer says"
    verdict = Verdict.CORRECT if correct else Verdict.INCORRECT
    return Judgement(verdict, f"llm: the model finds the prediction {meaning}, {how}")


def _identity(settings: LanguageModelSettings) -> str:
    """A server's address; otherwise a hash of settings, as quantization and dtype change verdicts."""
    if isinstance(settings, OpenAIEngine):
        return os.environ.get(settings.base_url_variable, "").strip() or settings.base_url
    plain = json.dumps(settings.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def _read_verdicts(path: Path) -> dict[str, bool]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
        rows = (row.data for row in read_growing(path))
        return {str(row["key"]): row["correct"] for row in rows if isinstance(row.get("correct"), bool)}
    except (OSError, DatasetError, KeyError) as error:
        raise _unusable(path, getattr(error, "strerror", error)) from error


def _unusable(path: Path, why: object) -> UserError:
    return UserError(f"{path}: the cache of verdicts cannot be used ({why}); --judge-cache names another file, or none")


def _cause(error: Exception) -> str:
    """The bare cause if an engine finds no server: the engine's advice is about the agent's server."""
    cause = error.__cause__
    if isinstance(error, EngineUnavailableError) and cause is not None and not isinstance(cause, ImportError):
        return str(cause) or "no reply in time"
    return str(error)


def _fault(generation: Generation) -> str:
    if generation.finish_reason == "error":
        return generation.error or "the engine failed"
    if generation.finish_reason == "deadline":
        return "no reply in time"
    return f"the reply cannot be read: {generation.text[:80]!r}"


def read_verdict(reply: str) -> bool | None:
    """The reply's ``accuracy`` or ``score`` as a bool, or None if it has neither or both.

    Also accepts Python's ``True``, quoted values, single quotes, text or a code fence around the object, a missing last
    brace, a thought before it, and a bare value.
    """
    text = _THOUGHT.sub(" ", reply)
    values = [match["value"] for match in _FIELD.finditer(f" {text}")]
    if not values and (bare := _BARE.fullmatch(text)):
        values = [bare["value"]]
    verdicts = {value.lower() in _RIGHT for value in values}
    return verdicts.pop() if len(verdicts) == 1 else None
