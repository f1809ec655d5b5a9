"""The command-line arguments that choose a judge, and the chosen judge."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from crag.core.environment import read_variable
from crag.core.files import UserError
from crag.core.places import home_folder
from crag.core.text import counted, without_credentials
from crag.evaluation.judge.base import Judge
from crag.evaluation.judge.llm import LanguageModelJudge
from crag.evaluation.judge.rubrics import RUBRICS
from crag.evaluation.judge.rules import RulesJudge
from crag.settings import LanguageModelSettings, OpenAIEngine, load_settings

JUDGE_NAMES = ("rules", "llm")
DEFAULT_JUDGE = "rules"
"""It agrees more with strong models: docs/decisions.md, decision 33."""

MODEL_VARIABLE = "EVALUATION_MODEL_NAME"
KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_MODEL = "gpt-4-0125-preview"
"""The 2024 starter kit's default model."""
DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_RUBRIC = "crag"
_MODEL_OPTIONS: Mapping[str, object] = {
    "judge_model": None,
    "judge_url": None,
    "judge_preset": None,
    "judge_set": [],
    "judge_rubric": DEFAULT_RUBRIC,
    "judge_cache": None,
}
"""The options of the judge ``llm`` and their defaults: with another judge they would do nothing."""


def add_judge_arguments(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the arguments that choose a judge; `judge_from` reads them."""
    parser.add_argument(
        "--judge", choices=JUDGE_NAMES, default=DEFAULT_JUDGE, help="the judge of the answers (default: %(default)s)"
    )

    # An endpoint, or a preset's model.
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
        "--judge-set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="llm: changes its preset",
    )

    parser.add_argument(
        "--judge-rubric", choices=RUBRICS, default=DEFAULT_RUBRIC, help="llm: the rubric (default: %(default)s)"
    )
    default_cache = str(default_cache_file()).replace("%", "%%")  # argparse formats help texts
    parser.add_argument(
        "--judge-cache", metavar="FILE|none", help=f"llm: file of cached verdicts (default: {default_cache})"
    )


def judge_from(arguments: argparse.Namespace, *, check: bool = True) -> Judge:
    """The judge for the arguments of `add_judge_arguments`; see `make_judge`."""
    if arguments.judge != "llm":
        # Whoever gives --judge-url expects that model to judge.
        unused = [name for name, default in _MODEL_OPTIONS.items() if getattr(arguments, name) != default]
        if unused:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in unused)
            raise UserError(f"{options} has no effect without --judge llm")

    if arguments.judge_set and arguments.judge_preset is None:
        raise UserError("--judge-set has no effect without --judge-preset")

    return make_judge(
        arguments.judge,
        model=arguments.judge_model,
        url=arguments.judge_url,
        preset=arguments.judge_preset,
        changes=arguments.judge_set,
        rubric=arguments.judge_rubric,
        cache=arguments.judge_cache,
        check=check,
    )


def make_judge(
    name: str,
    *,
    model: str | None = None,
    url: str | None = None,
    preset: str | None = None,
    changes: Sequence[str] = (),
    rubric: str = DEFAULT_RUBRIC,
    cache: str | None = None,
    check: bool = True,
) -> Judge:
    """The judge of that name; all options are for ``llm``. Raises UserError with the reason.

    `model` and `url` default to the environment. `preset` uses a preset's base model, with its `changes`, without
    adapters, which were tuned for other tasks. `cache` is a file or "none"; None: the default file, but none for a
    scripted model. With `check` the model is asked once now instead of before the first uncached verdict.

    Example:
        >>> from crag.evaluation.judge import Claim
        >>> [judgement] = make_judge("rules").judge([Claim("who wrote it?", ("Ann Lee",), "It was Ann Lee.")])
        >>> judgement.verdict
        <Verdict.CORRECT: 'correct'>
    """
    if name == "rules":
        return RulesJudge()

    settings: LanguageModelSettings
    if preset is not None:
        settings = load_settings(preset, changes).language_model.model_copy(update={"adapters": {}})
        # For messages only
        where = f"the model of preset {preset}"
    else:
        settings = _endpoint_settings(model, url)
        where = f"{settings.model} at {without_credentials(settings.base_url)} (key: ${KEY_VARIABLE})"

    judge = LanguageModelJudge(settings, where, rubric, _cache_file(cache, settings))
    if check:
        judge.check()
    return judge


def _endpoint_settings(model: str | None, url: str | None) -> OpenAIEngine:
    """An engine for the model at an OpenAI-compatible endpoint; raises UserError: the public one needs a key."""
    # An empty variable counts as none
    url = url or read_variable(URL_VARIABLE) or DEFAULT_URL
    model = model or read_variable(MODEL_VARIABLE) or DEFAULT_MODEL
    if url == DEFAULT_URL and not read_variable(KEY_VARIABLE):
        raise UserError(
            f"the llm judge has no key for {url}: set {KEY_VARIABLE}, or give --judge-url or --judge-preset"
        )
    # base_url_variable: no variable overrides --judge-url, in particular not that of the agent's server
    return OpenAIEngine(
        engine="openai",
        model=model,
        base_url=url,
        base_url_variable="",
        api_key_variable=KEY_VARIABLE,
    )


def _cache_file(cache: str | None, settings: LanguageModelSettings) -> Path | None:
    if cache == "none":
        return None
    if cache:
        return Path(cache)

    # Scripted verdicts belong to tests and must not reach the shared cache
    return None if settings.engine == "scripted" else default_cache_file()


def cost_line(judge: Judge) -> str | None:
    """The judge's cost so far, or None if it is free."""
    if not isinstance(judge, LanguageModelJudge):
        return None

    cost = judge.cost
    cached_share = f"{cost.cached / cost.claims:.0%}" if cost.claims else "none"
    return (
        f"judge: {counted(cost.requests, 'request')}, "
        f"{cost.prompt_tokens} prompt and {cost.completion_tokens} completion tokens; "
        f"{cost.cached} of {counted(cost.claims, 'verdict')} ({cached_share}) from the cache"
    )


def default_cache_file() -> Path:
    """Verdicts of language models, in the user's cache folder."""
    folder = read_variable("XDG_CACHE_HOME") or home_folder() / ".cache"
    return Path(folder) / "crag-judge" / "verdicts.jsonl"
