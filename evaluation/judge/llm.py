"""The llm judge: a language model decides by a rubric, from any engine of `agents.llm`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.deadline import Deadline
from agents.llm import (
    EngineUnavailableError,
    Generation,
    GenerationRequest,
    LanguageModel,
    LanguageModelDiedError,
    Message,
)
from evaluation.judge.base import Claim, Judgement, JudgeUnavailableError, Verdict
from evaluation.judge.rubrics import Rubric
from evaluation.judge.verdict_cache import VerdictCache, content_key
from models.manifest import UnknownModelError, WeightsMissingError

SECONDS_PER_REQUEST = 60.0
"""A call with n requests has n times that; a model on a CPU works on them one after another."""

MAX_TOKENS = 128
"""The reply needs ten; the rest is for models that do not stop at once."""

CLAIMS_AT_ONCE = 16
"""After so many the verdicts are on disk; an endpoint is asked as many at a time."""

_PROBE = Claim("what is two plus two?", ("4",), "it is four")
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(
    r"[\"'{,\s](?:accuracy|score)[\"']?\s*[:=]\s*[\"']?(?P<value>true|false|[01](?:\.0)?)[\"']?\s*"
    r"(?:,(?!\d)|[}\n]|\Z)",  # the value must end there: "true or false" repeats the form, "1/5" is no verdict
    re.IGNORECASE,
)
_BARE = re.compile(r"\W*(?P<value>true|false|[01])\W*", re.IGNORECASE)
_RIGHT = frozenset({"true", "1", "1.0"})


@dataclass(frozen=True, slots=True)
class Prices:
    """Money per million tokens."""

    prompt: float
    completion: float


@dataclass(slots=True)
class JudgeCost:
    """Counts so far. `claims` were to be judged, `cached` of them were known; `requests` count every attempt."""

    claims: int = 0
    cached: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prices: Prices | None = None

    def line(self) -> str:
        """One line for people; money only where prices are known."""
        share = f"{self.cached / self.claims:.0%}" if self.claims else "none"
        text = (
            f"judge: {self.requests} requests, {self.prompt_tokens} prompt and {self.completion_tokens} completion "
            f"tokens; {self.cached} of {self.claims} verdicts ({share}) from the cache"
        )
        if self.prices is None:
            return text
        money = (self.prompt_tokens * self.prices.prompt + self.completion_tokens * self.prices.completion) / 1_000_000
        return f"{text}; {money:.4f} at the given prices"


class LanguageModelJudge:
    """Asks a language model for each claim that the official rules leave open and that the cache does not know.

    A reply that cannot be read, a failed request and one that ran out of time are tried again, up to `attempts` times
    in all; what is unreadable then is unscored with the reason, never wrong. Decoding is greedy. Verdicts are cached
    as soon as they are there, unscored ones never.

    Args:
        model: An engine, not warmed up yet.
        model_name: The model's name as it shall stand in signatures.
        where: What the model is reached by, for messages: an address or a preset.
        engine: What tells two models of one name apart, for the cache alone: an address, or a hash of settings.
        rubric: What is asked.
        cache: Known verdicts.
        attempts: How often a claim is asked at most.
        cost: Counts what is spent.
    """

    name = "llm"

    def __init__(
        self,
        model: LanguageModel,
        *,
        model_name: str,
        where: str,
        engine: str,
        rubric: Rubric,
        cache: VerdictCache,
        attempts: int = 3,
        cost: JudgeCost | None = None,
    ) -> None:
        self.version = f"1:{model_name}:{rubric.name}-{rubric.fingerprint}"
        self.cost = cost or JudgeCost()
        self._model = model
        self._where = where
        self._engine = engine
        self._rubric = rubric
        self._cache = cache
        self._attempts = attempts
        self._checked = False
        self._model_name = model_name

    @property
    def model(self) -> LanguageModel:
        """The engine, for a caller that has more to ask of the same model: large ones are not loaded twice."""
        return self._model

    @property
    def model_identity(self) -> str:
        """The model's name and what tells two of that name apart."""
        return f"{self._model_name}@{self._engine}"

    def check(self) -> None:
        """Ask for one obvious verdict, once, so that a fault shows before the first claim.

        Raises:
            JudgeUnavailableError: the model cannot be loaded, nobody answers, or the answer is an error.
        """
        if self._checked:
            return
        try:
            self._model.warm_up()
            (generation,) = self._generate([self._request(_PROBE)])
        except (EngineUnavailableError, WeightsMissingError, UnknownModelError, LanguageModelDiedError) as error:
            raise JudgeUnavailableError(f"the llm judge cannot ask {self._where}: {_cause(error)}") from error
        if generation.finish_reason in {"error", "deadline"}:
            raise JudgeUnavailableError(f"the llm judge cannot ask {self._where}: {_fault(generation)}")
        self._checked = True

    def close(self) -> None:
        """Release the model."""
        self._model.close()

    def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        """One judgement per claim, in order.

        Raises:
            JudgeUnavailableError: see `check`, which comes before the first request.
        """
        keys = [content_key(f"{self._signature}:{self._engine}", claim) for claim in claims]
        known = {key: verdict for key in keys if (verdict := self._cache.get(key)) is not None}
        self.cost.claims += len(claims)
        self.cost.cached += sum(key in known for key in keys)
        judged = {key: self._judgement(correct, "from the cache") for key, correct in known.items()}
        unknown = [(key, claim) for key, claim in zip(keys, claims, strict=True) if key not in known]
        if unknown:
            self.check()
        for start in range(0, len(unknown), CLAIMS_AT_ONCE):
            judged |= self._ask(dict(unknown[start : start + CLAIMS_AT_ONCE]))
        return [judged[key] for key in keys]

    @property
    def _signature(self) -> str:
        return f"{self.name}@{self.version}"

    def _ask(self, claims: dict[str, Claim]) -> dict[str, Judgement]:
        """Judgements by key; what stays unreadable after all attempts is unscored."""
        judged: dict[str, Judgement] = {}
        faults: dict[str, str] = {}
        for attempt in range(self._attempts):
            waiting = [key for key in claims if key not in judged]
            if not waiting:
                break
            generations = self._generate_all([self._request(claims[key], again=attempt > 0) for key in waiting])
            verdicts: dict[str, bool] = {}
            for key, generation in zip(waiting, generations, strict=True):
                correct = None if generation.finish_reason == "error" else read_verdict(generation.text)
                if correct is None:
                    faults[key] = _fault(generation)
                else:
                    verdicts[key] = correct
                    judged[key] = self._judgement(correct, f"in attempt {attempt + 1}")
            self._cache.put(verdicts, self._signature)
        unscored = {
            key: Judgement(Verdict.UNSCORED, f"llm: no verdict after {self._attempts} attempts: {fault}")
            for key, fault in faults.items()
        }
        return unscored | judged

    def _judgement(self, correct: bool, how: str) -> Judgement:
        said = "the same as" if correct else "not what"
        reason = f"llm: the model finds the prediction {said} the gold answer{'' if correct else ' says'}, {how}"
        return Judgement(Verdict.CORRECT if correct else Verdict.INCORRECT, reason)

    def _request(self, claim: Claim, *, again: bool = False) -> GenerationRequest:
        messages = self._rubric.messages(claim)
        if again:  # greedy decoding would only repeat itself
            last = messages[-1]
            messages = (*messages[:-1], Message("user", f"{last.content}\n\n{self._rubric.reminder}"))
        return GenerationRequest(messages=messages, max_tokens=MAX_TOKENS)

    def _generate_all(self, requests: list[GenerationRequest]) -> list[Generation]:
        """One generation per request, whatever happens to the engine."""
        try:
            generations = self._generate(requests)
        except LanguageModelDiedError as error:
            return [Generation.failed(str(error))] * len(requests)
        if len(generations) != len(requests):
            return [Generation.failed(f"{len(generations)} replies to {len(requests)} requests")] * len(requests)
        return generations

    def _generate(self, requests: list[GenerationRequest]) -> list[Generation]:
        self.cost.requests += len(requests)
        generations = self._model.generate(requests, Deadline(SECONDS_PER_REQUEST * len(requests)))
        self.cost.prompt_tokens += sum(generation.prompt_tokens for generation in generations)
        self.cost.completion_tokens += sum(generation.completion_tokens for generation in generations)
        return generations


def _cause(error: Exception) -> str:
    """Of an engine that finds no server, the bare fault: its advice is for the agent's server, not the judge's."""
    cause = error.__cause__
    if (
        isinstance(error, EngineUnavailableError)
        and isinstance(cause, Exception)
        and not isinstance(cause, ImportError)
    ):
        return str(cause) or "no reply in time"
    return str(error)


def _fault(generation: Generation) -> str:
    match generation.finish_reason:
        case "error":
            return generation.error or "the engine failed"
        case "deadline":
            return "no reply in time"
        case _:
            return f"the reply cannot be read: {generation.text[:80]!r}"


def read_verdict(reply: str) -> bool | None:
    """True or False as the reply's ``accuracy`` or ``score`` says, or None where it says neither or both.

    Accepted besides plain JSON: Python's ``True``, quoted values, single quotes, text or a code fence around the
    object, a missing last brace, a thought before it, and a reply that is the bare value.
    """
    text = _THOUGHT.sub(" ", reply)
    values = [match["value"] for match in _FIELD.finditer(f" {text}")]
    if not values and (bare := _BARE.fullmatch(text)):
        values = [bare["value"]]
    verdicts = {value.lower() in _RIGHT for value in values}
    return verdicts.pop() if len(verdicts) == 1 else None
