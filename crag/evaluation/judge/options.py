"""The command-line arguments that choose a judge, and the chosen judge."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from crag.core.files import UserError
from crag.core.text import without_credentials
from crag.evaluation.judge.base import Judge
from crag.evaluation.judge.llm import LanguageModelJudge
from crag.evaluation.judge.rubrics import RUBRICS
from crag.evaluation.judge.rules import RulesJudge
from crag.settings import LanguageModelSettings, OpenAIEngine, load_settings

JUDGE_NAMES = ("rules", "llm")
DEFAULT_JUDGE = "rules"
"""Agrees more with strong models: docs/decisions.md, 35."""

MODEL_VARIABLE = "EVALUATION_MODEL_NAME"
KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_MODEL = "gpt-4-0125-preview"
"""The 2024 starter kit's default model."""
DEFAULT_URL = "https://api.openai.com/v1"


def add_judge_arguments(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the arguments that choose a judge; `judge_from` reads them."""
    model = f"llm: model at the endpoint; else ${MODEL_VARIABLE}, else {DEFAULT_MODEL}"
    url = f"llm: any OpenAI-compatible endpoint; else ${URL_VARIABLE}, else {DEFAULT_URL}. Its key: ${KEY_VARIABLE}"
    preset, rubric = "llm: a preset's language model instead of an endpoint", "llm: the rubric (default: %(default)s)"
    cache = str(default_cache_file()).replace("%", "%%")  # argparse formats help texts
    judge = "the judge of the answers (default: %(default)s)"
    parser.add_argument("--judge", choices=JUDGE_NAMES, default=DEFAULT_JUDGE, help=judge)
    parser.add_argument("--judge-model", metavar="NAME", help=model)
    parser.add_argument("--judge-url", metavar="URL", help=url)
    parser.add_argument("--judge-preset", metavar="P", help=preset)
    parser.add_argument("--judge-set", metavar="KEY=VALUE", action="append", default=[], help="llm: changes its preset")
    parser.add_argument("--judge-rubric", choices=RUBRICS, default="crag", help=rubric)
    parser.add_argument("--judge-cache", metavar="FILE|none", help=f"llm: file of cached verdicts (default: {cache})")


def judge_from(arguments: argparse.Namespace, *, check: bool = True) -> Judge:
    """The judge for the arguments of `add_judge_arguments`; see `make_judge`."""
    options = {name: getattr(arguments, f"judge_{name}") for name in ("model", "url", "preset", "rubric", "cache")}
    unused = [f"--judge-{name}" for name in ("model", "url", "preset") if options[name] is not None]
    if arguments.judge != "llm" and unused:  # --judge-url suggests that that model should judge
        raise UserError(f"{', '.join(unused)} has no effect without --judge llm")
    return make_judge(arguments.judge, **options, changes=arguments.judge_set, check=check)


def make_judge(
    name: str,
    *,
    model: str | None = None,
    url: str | None = None,
    preset: str | None = None,
    changes: Sequence[str] = (),
    rubric: str = "crag",
    cache: str | None = None,
    check: bool = True,
) -> Judge:
    """The judge of that name; all options are for ``llm``. Raises UserError with the reason.

    `model` and `url` default to the environment. `preset` uses a preset's base model, with its `changes`, without
    adapters, which were tuned for other tasks. `cache` is a file or "none"; None: the default file, but none for a
    scripted model. With `check` the model is asked once now instead of before the first uncached verdict.
    """
    if name == "rules":
        return RulesJudge()
    settings: LanguageModelSettings
    if preset:
        settings = load_settings(preset, changes).language_model.model_copy(update={"adapters": {}})
        where = f"the model of preset {preset}"
    else:
        url = url or os.environ.get(URL_VARIABLE, "").strip() or DEFAULT_URL
        model = model or os.environ.get(MODEL_VARIABLE, "").strip() or DEFAULT_MODEL
        if url == DEFAULT_URL and not os.environ.get(KEY_VARIABLE, "").strip():
            raise UserError(
                f"the llm judge has no key for {url}: set {KEY_VARIABLE}, or give --judge-url or --judge-preset"
            )
        # base_url_variable: no variable overrides --judge-url, in particular not that of the agent's server
        settings = OpenAIEngine(
            engine="openai", model=model, base_url=url, base_url_variable="", api_key_variable=KEY_VARIABLE
        )
        where = f"{model} at {without_credentials(url)} (key: ${KEY_VARIABLE})"
    file = Path(cache) if cache else default_cache_file() if settings.engine != "scripted" else None
    judge = LanguageModelJudge(settings, where, rubric, None if cache == "none" else file)
    if check:
        judge.check()
    return judge


def cost_line(judge: Judge) -> str | None:
    """The judge's cost so far, or None if it is free."""
    if not isinstance(judge, LanguageModelJudge):
        return None
    cost = judge.cost
    share = f"{cost.cached / cost.claims:.0%}" if cost.claims else "none"
    return (
        f"judge: {cost.requests} requests, {cost.prompt_tokens} prompt and {cost.completion_tokens} completion tokens; "
        f"{cost.cached} of {cost.claims} verdicts ({share}) from the cache"
    )


def default_cache_file() -> Path:
    """Verdicts of language models, in the user's cache folder."""
    folder = os.environ.get("XDG_CACHE_HOME", "").strip() or Path.home() / ".cache"
    return Path(folder) / "crag-judge" / "verdicts.jsonl"
