"""Which judge: the arguments of every command that judges, defined once, and the judge that they ask for."""

import argparse
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from agents.llm import EngineUnavailableError, LanguageModel, load_language_model
from agents.settings import LanguageModelSettings, OpenAIEngine, SettingsError, load_settings
from evaluation.judge.base import Judge, JudgeUnavailableError
from evaluation.judge.llm import JudgeCost, LanguageModelJudge, Prices
from evaluation.judge.rubrics import RUBRICS
from evaluation.judge.rules import RulesJudge
from evaluation.judge.verdict_cache import VerdictCache, default_cache_file

JUDGE_NAMES = ("rules", "llm")
DEFAULT_JUDGE = "rules"
"""The one that agrees more with strong models: docs/decisions.md, 39."""

MODEL_VARIABLE = "EVALUATION_MODEL_NAME"
KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_MODEL = "gpt-4-0125-preview"
"""What the 2024 starter kit asks where the environment names no model."""
DEFAULT_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class LanguageModelJudgeOptions:
    """How the llm judge reaches its model; what is None comes from the environment.

    `preset` takes the language model of a preset instead of an endpoint. `cache` None: the default file.
    """

    model: str | None = None
    url: str | None = None
    preset: str | None = None
    rubric: str = "crag"
    cache: str | None = None
    attempts: int = 3
    prices: Prices | None = None


def add_judge_arguments(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """The arguments that choose a judge; `judge_from` reads them."""
    default = LanguageModelJudgeOptions()
    parser.add_argument(
        "--judge", choices=JUDGE_NAMES, default=DEFAULT_JUDGE, help="who judges the answers (default: %(default)s)"
    )
    parser.add_argument(
        "--judge-model",
        metavar="NAME",
        help=f"llm: model at the endpoint; else ${MODEL_VARIABLE}, else {DEFAULT_MODEL}",
    )
    parser.add_argument(
        "--judge-url",
        metavar="URL",
        help=f"llm: any OpenAI-compatible endpoint; else ${URL_VARIABLE}, else {DEFAULT_URL}. Its key: ${KEY_VARIABLE}",
    )
    parser.add_argument("--judge-preset", metavar="P", help="llm: a preset's language model instead of an endpoint")
    parser.add_argument(
        "--judge-rubric", choices=RUBRICS, default=default.rubric, help="llm: what is asked (default: %(default)s)"
    )
    parser.add_argument(
        "--judge-cache",
        metavar="FILE|none",
        help=f"llm: verdicts already paid for (default: {_for_help(default_cache_file())})",
    )
    parser.add_argument(
        "--judge-attempts",
        metavar="N",
        type=int,
        choices=range(1, 11),
        default=default.attempts,
        help="llm: how often a claim is asked until the reply can be read (default: %(default)s)",
    )
    parser.add_argument(
        "--judge-prices",
        metavar="IN,OUT",
        type=_prices,
        help="llm: money per million prompt and completion tokens, to show what it cost",
    )


def judge_from(arguments: argparse.Namespace, *, check: bool = True) -> Judge:
    """The judge that the arguments of `add_judge_arguments` ask for.

    Args:
        arguments: As parsed.
        check: Ask the model of an llm judge once at once, rather than before the first verdict that is not cached.

    Raises:
        JudgeUnavailableError: it cannot be used; the message says why.
    """
    _refuse_unused(arguments)
    options = LanguageModelJudgeOptions(
        arguments.judge_model,
        arguments.judge_url,
        arguments.judge_preset,
        arguments.judge_rubric,
        arguments.judge_cache,
        arguments.judge_attempts,
        arguments.judge_prices,
    )
    return make_judge(arguments.judge, options, check=check)


def _refuse_unused(arguments: argparse.Namespace) -> None:
    """An argument that has no effect is a mistake: who gives --judge-url wants that model to judge."""
    given = {
        "--judge-model": arguments.judge_model,
        "--judge-url": arguments.judge_url,
        "--judge-preset": arguments.judge_preset,
    }
    unused = [name for name, value in given.items() if value is not None]
    if arguments.judge != "llm" and unused:
        raise JudgeUnavailableError(f"{', '.join(unused)} has no effect without --judge llm: give that, too")


def make_judge(name: str, options: LanguageModelJudgeOptions | None = None, *, check: bool = True) -> Judge:
    """The judge of that name; `options` and `check` are for ``llm`` alone.

    Raises:
        JudgeUnavailableError: it cannot be used; the message says why.
        ValueError: no such judge.
    """
    if name == "rules":
        return RulesJudge()
    if name != "llm":
        raise ValueError(f"there is no judge {name!r}; judges: {', '.join(JUDGE_NAMES)}")
    judge = _language_model_judge(options or LanguageModelJudgeOptions())
    if check:
        judge.check()
    return judge


def cost_line(judge: Judge) -> str | None:
    """What the judge cost so far, or None for one that costs nothing."""
    return judge.cost.line() if isinstance(judge, LanguageModelJudge) else None


def _for_help(path: Path) -> str:
    """Help texts are formatted by argparse, and a path may hold a percent sign."""
    return str(path).replace("%", "%%")


class _Engine(NamedTuple):
    settings: LanguageModelSettings
    model_name: str
    where: str


def _language_model_judge(options: LanguageModelJudgeOptions) -> LanguageModelJudge:
    engine = _preset_engine(options.preset) if options.preset else _endpoint(options)
    return LanguageModelJudge(
        _loaded(engine),
        model_name=engine.model_name,
        where=engine.where,
        engine=_identity(engine.settings),
        rubric=RUBRICS[options.rubric],
        cache=VerdictCache(_cache_file(options.cache, engine.settings)),
        attempts=options.attempts,
        cost=JudgeCost(prices=options.prices),
    )


def _cache_file(chosen: str | None, settings: LanguageModelSettings) -> Path | None:
    """A script's verdicts are worth nothing to others: they are kept only where a file is named."""
    if chosen:
        return None if chosen == "none" else Path(chosen)
    return None if settings.engine == "scripted" else default_cache_file()


def _identity(settings: LanguageModelSettings) -> str:
    """A server's address; else a hash of settings, as quantization and dtype change verdicts."""
    if isinstance(settings, OpenAIEngine):
        return os.environ.get(settings.base_url_variable, "").strip() or settings.base_url
    plain = json.dumps(settings.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def _loaded(engine: _Engine) -> LanguageModel:
    try:
        return load_language_model(engine.settings)
    except EngineUnavailableError as error:
        raise JudgeUnavailableError(f"the llm judge cannot ask {engine.where}: {error}") from error


def _preset_engine(preset: str) -> _Engine:
    """The base model of a preset: its adapters were tuned for other work."""
    try:
        settings = load_settings(preset, []).language_model
    except SettingsError as error:
        raise JudgeUnavailableError(f"--judge-preset: {error}") from error
    name = "scripted" if settings.engine == "scripted" else settings.model
    return _Engine(settings.model_copy(update={"adapters": {}}), name, f"the model of preset {preset}")


def _endpoint(options: LanguageModelJudgeOptions) -> _Engine:
    url = options.url or os.environ.get(URL_VARIABLE, "").strip() or DEFAULT_URL
    model = options.model or os.environ.get(MODEL_VARIABLE, "").strip() or DEFAULT_MODEL
    if url == DEFAULT_URL and not os.environ.get(KEY_VARIABLE, "").strip():
        raise JudgeUnavailableError(
            f"the llm judge has no key for {url}: set {KEY_VARIABLE}, or give --judge-url for another endpoint or "
            "--judge-preset for a local model"
        )
    settings = OpenAIEngine(
        engine="openai",
        model=model,
        base_url=url,
        base_url_variable="",  # no variable is to win over --judge-url, least of all the one of the agent's own server
        api_key_variable=KEY_VARIABLE,
    )
    return _Engine(settings, model, f"{model} at {url} (key: ${KEY_VARIABLE})")


def _prices(text: str) -> Prices:
    prompt, _, completion = text.partition(",")
    prices = Prices(float(prompt), float(completion))
    if not (0 <= prices.prompt < float("inf") and 0 <= prices.completion < float("inf")):
        raise argparse.ArgumentTypeError(f"must be two prices such as 2.5,10, found {text}")
    return prices


_prices.__name__ = "pair of prices"  # argparse shows it in "invalid pair of prices value"
