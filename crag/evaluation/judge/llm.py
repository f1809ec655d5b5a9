"""The llm judge: a language model applies a rubric, on any engine of `crag.engines.llm`."""

import hashlib
import json
import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tqdm import tqdm

from crag.core.deadline import Deadline
from crag.core.files import DatasetError, UserError, append_rows, read_growing
from crag.core.model_marks import final_text
from crag.engines.llm import (
    EngineUnavailableError,
    Generation,
    GenerationRequest,
    LanguageModelDiedError,
    Message,
    configured_url,
    load_language_model,
)
from crag.evaluation.judge.base import NO_VERDICT, Claim, Judgement, Verdict
from crag.evaluation.judge.rubrics import RUBRICS, Rubric
from crag.settings import LanguageModelSettings, OpenAIEngine
from crag.weights.manifest import UnknownModelError, WeightsMissingError

SECONDS_PER_REQUEST = 60.0
"""A call with n requests gets n times this; a CPU model handles them one by one."""

FIRST_SECONDS = 600.0
"""The first request gets this: a server may still load its model."""

MAX_TOKENS = 128
"""The reply needs ten; the rest is for models that do not stop at once."""

CLAIMS_AT_ONCE = 16
"""Verdicts are saved after this many; also the number of concurrent requests to an endpoint."""

ATTEMPTS = 3
"""Requests per claim until the reply is readable."""

_PROBE = Claim("what is two plus two?", ("4",), "it is four")
_FIELD = re.compile(
    r"""
    ["'{,\s](?:accuracy|score)["']?\s*[:=]\s*["']?
    (?P<value>true|false|[01](?:\.0)?)["']?\s*
    # The value must end here: "true or false" repeats the form, "1/5" is not a verdict.
    (?:,(?!\d)|[}\n]|\Z)
    """,
    re.IGNORECASE | re.VERBOSE,
)
# The whole reply is the value
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
        self.cost = JudgeCost()
        self._where = where
        self._model_name = "scripted" if settings.engine == "scripted" else settings.model
        self._model_identity = _model_identity(settings)
        self._use(RUBRICS[rubric])
        self._cache = cache
        self._known_verdicts = _read_verdicts(cache) if cache else {}
        self._checked = False

    def with_rubric(self, rubric: Rubric) -> Self:
        """A judge by another rubric, with the same model, cache and cost."""
        judge = copy(self)
        judge._use(rubric)
        return judge

    def _use(self, rubric: Rubric) -> None:
        self._rubric = rubric
        self.version = f"1:{self._model_name}:{rubric.name}-{rubric.fingerprint}"
        self._signature = f"{self.name}@{self.version}"
        self._key_signature = f"{self._signature}:{self._model_identity}"

    def check(self) -> None:
        """Ask for one obvious verdict, once, so that a fault (UserError) shows before the first claim."""
        if self._checked:
            return
        try:
            self.model.warm_up()
            (generation,) = self._generate([self._request(_PROBE)])
            fault = _describe_fault(generation) if generation.finish_reason in {"error", "deadline"} else None
        # All mean that no verdict will ever come, so the run stops before its first claim
        except (EngineUnavailableError, WeightsMissingError, UnknownModelError, LanguageModelDiedError) as error:
            fault = _bare_cause(error)
        if fault:
            raise UserError(f"the llm judge cannot ask {self._where}: {fault}")
        self._checked = True

    def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        """One judgement per claim, in order; raises UserError."""
        keys = [self._key(claim) for claim in claims]
        judgements: dict[str, Judgement] = {}
        unknown: dict[str, Claim] = {}  # by key, so that equal claims are asked once
        for key, claim in zip(keys, claims, strict=True):
            if key in self._known_verdicts:
                judgements[key] = _judgement(self._known_verdicts[key], "from the cache")
            else:
                unknown[key] = claim

        self.cost.claims += len(claims)
        self.cost.cached += sum(key in judgements for key in keys)
        # A run whose verdicts are all cached needs no model at all
        if unknown:
            self.check()
        judgements |= self._ask_all(unknown)
        return [judgements[key] for key in keys]

    def _key(self, claim: Claim) -> str:
        # Everything that can change the verdict: model, rubric and texts
        parts = [self._key_signature, claim.query, list(claim.golds), claim.prediction]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _ask_all(self, claims: dict[str, Claim]) -> dict[str, Judgement]:
        """Ask about `CLAIMS_AT_ONCE` at a time, with a progress bar if that is more than once."""
        judgements: dict[str, Judgement] = {}
        keys = list(claims)
        # Small portions, so that little is lost if the run is ended
        starts = range(0, len(keys), CLAIMS_AT_ONCE)
        # None: a bar on a terminal only, as it would be one endless line of a log
        disable = True if len(starts) < 2 else None
        for start in tqdm(starts, desc="judging", unit=f"{CLAIMS_AT_ONCE} claims", disable=disable):
            judgements |= self._ask({key: claims[key] for key in keys[start : start + CLAIMS_AT_ONCE]})
        return judgements

    def _ask(self, claims: dict[str, Claim]) -> dict[str, Judgement]:
        """Ask about the claims until each has a readable verdict, or `ATTEMPTS` are over."""
        judgements: dict[str, Judgement] = {}
        open_claims = claims
        for attempt in range(1, ATTEMPTS + 1):
            requests = [self._request(claim, again=attempt > 1) for claim in open_claims.values()]
            generations = self._generate(requests)

            verdicts: dict[str, bool] = {}
            for key, generation in zip(open_claims, generations, strict=True):
                # A reply that the deadline cut may still have its verdict
                is_correct = None if generation.finish_reason == "error" else read_verdict(generation.text)
                if is_correct is None:
                    reason = f"{NO_VERDICT} after {ATTEMPTS} attempts: {_describe_fault(generation)}"
                    # Stands only if no later attempt replaces it
                    judgements[key] = Judgement(Verdict.UNSCORED, reason)
                else:
                    verdicts[key] = is_correct
                    judgements[key] = _judgement(is_correct, f"in attempt {attempt}")

            # Before the next attempt, which may take minutes
            self._remember(verdicts)

            open_claims = {key: claim for key, claim in open_claims.items() if key not in verdicts}
            if not open_claims:
                break
        return judgements

    def _remember(self, verdicts: dict[str, bool]) -> None:
        """Keep the verdicts, and append them to the cache at once."""
        # Unscored claims are not kept: a later run asks again
        self._known_verdicts.update(verdicts)
        if self._cache is None:
            return

        rows = [{"key": key, "correct": is_correct, "judge": self._signature} for key, is_correct in verdicts.items()]
        try:
            append_rows(self._cache, rows)
        except OSError as error:
            raise _unusable(self._cache, error.strerror) from error

    def _request(self, claim: Claim, *, again: bool = False) -> GenerationRequest:
        messages = self._rubric.messages(claim)
        if again:  # greedy decoding would only repeat itself
            *previous, question = messages
            messages = (*previous, Message("user", f"{question.content}\n\n{self._rubric.reminder}"))
        return GenerationRequest(messages=messages, max_tokens=MAX_TOKENS)

    def _generate(self, requests: list[GenerationRequest]) -> list[Generation]:
        """One generation per request. A model that dies has failed all; before `check` has succeeded it is an error."""
        self.cost.requests += len(requests)
        try:
            seconds = SECONDS_PER_REQUEST * len(requests) if self._checked else FIRST_SECONDS
            generations = self.model.generate(requests, Deadline(seconds))
        except LanguageModelDiedError as error:
            # `check` turns it into an error of the user
            if not self._checked:
                raise
            return [Generation.failed(str(error))] * len(requests)

        self.cost.prompt_tokens += sum(generation.prompt_tokens for generation in generations)
        self.cost.completion_tokens += sum(generation.completion_tokens for generation in generations)
        # Replies that cannot be matched to claims are worth nothing
        if len(generations) != len(requests):
            return [Generation.failed(f"{len(generations)} replies to {len(requests)} requests")] * len(requests)
        return generations


def _judgement(is_correct: bool, how: str) -> Judgement:
    if is_correct:
        return Judgement(Verdict.CORRECT, f"llm: the model finds the prediction the same as the gold answer, {how}")
    return Judgement(Verdict.INCORRECT, f"llm: the model finds the prediction not what the gold answer says, {how}")


def _model_identity(settings: LanguageModelSettings) -> str:
    """A server's address; otherwise a hash of settings, as quantization and dtype change verdicts."""
    if isinstance(settings, OpenAIEngine):
        # The weights behind an address are unknown; the address is all there is
        return configured_url(settings)
    plain = json.dumps(settings.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def _read_verdicts(path: Path) -> dict[str, bool]:
    """The cached verdicts by key; raises UserError: the file cannot be read and written."""
    verdicts: dict[str, bool] = {}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Append mode leaves the contents as they are
        path.open("ab").close()  # finds out now whether it can be written
        for record in read_growing(path):
            is_correct = record.data.get("correct")
            if isinstance(is_correct, bool):
                verdicts[str(record.data["key"])] = is_correct
    except (OSError, DatasetError, KeyError) as error:
        raise _unusable(path, getattr(error, "strerror", error)) from error
    return verdicts


def _unusable(path: Path, reason: object) -> UserError:
    return UserError(
        f"{path}: the cache of verdicts cannot be used ({reason}); --judge-cache names another file, or none"
    )


def _bare_cause(error: Exception) -> str:
    """The bare cause if an engine finds no server: the engine's advice is about the agent's server."""
    cause = error.__cause__
    if isinstance(error, EngineUnavailableError) and cause is not None and not isinstance(cause, ImportError):
        return str(cause) or "no reply in time"
    return str(error)


def _describe_fault(generation: Generation) -> str:
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
    text = final_text(reply)
    values = [match["value"] for match in _FIELD.finditer(f" {text}")]
    if not values:
        bare = _BARE.fullmatch(text)
        if bare:
            values.append(bare["value"])

    # A reply that repeats its verdict has one, one that contradicts itself has two
    verdicts = {value.lower() in _RIGHT for value in values}
    return verdicts.pop() if len(verdicts) == 1 else None
