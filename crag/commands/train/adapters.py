"""Train an adapter from scratch: crag train adapters kg_writer --questions FILE --graph DIR.

The steps are those of crag/training/recipes.mk, run by GNU make: finished ones are skipped, a stopped one resumes.
Prompts, examples and model are those of --base-preset, on its own cards, so that training matches serving. --config db3
follows the paper: Llama-3-8B in 4 bits on the first visible GPU, batches of 1 x 4 with gradient checkpointing. --set
device=cuda:0 puts all models on one card, --set device=cpu does without cards and without 4 bits.

web_refusals goes on from a tuned web_answerer by preferences (crag train dpo): right answers over "i don't know" over
wrong ones, of several answers to each question. START=DIR names another adapter to go on from.

--config cpu tunes a writer that reads the question alone, on a laptop, from questions with calls and the shipped
examples: crag train adapters kg_writer --config cpu --questions FILE.

VARIABLE=VALUE sets another variable of recipes.mk: LIMIT=8 and MAX_STEPS=2 for a trial, HOLD_OUT=1/5, SPLIT=any,
OVERWRITE=--overwrite, JUDGE (docs/training.md) another judge than the preset's own model, or the interpreter that runs
the base model: SERVING=.venv-gpu/bin/python for a preset on vLLM.
"""

import argparse
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from crag.commands.command_line import command, form, override, parser_of
from crag.core.files import UserError
from crag.core.places import REPOSITORY
from crag.settings import PRESETS, Settings, load_settings
from crag.training.adapters import BASE_PRESETS, CHANGES_BY_CONFIG, PRESETS_BY_CONFIG, READS_PAGES, REFUSALS


@command()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run make; exit code: 0 the adapter is there, 2 something is missing or a step failed."""
    options = _parse(arguments)
    presets = PRESETS_BY_CONFIG[options.config]
    preset = options.base_preset or presets.get(options.name)
    if preset is None:
        raise UserError(f"--config {options.config} makes no {options.name}, only {', '.join(presets)}")
    options.set = [*CHANGES_BY_CONFIG[options.config], *options.set]
    settings = load_settings(preset, options.set)
    _check(options, settings)

    make = ["make", "-f", "crag/training/recipes.mk"]
    if options.dry_run:
        make.append("-n")
    # The target, then variables; those of the user come last and win
    make.append(options.name)
    make += [f"{name}={value}" for name, value in _variables(options, preset, settings).items()]
    make += options.variables
    return subprocess.run(make, cwd=REPOSITORY, check=False).returncode  # noqa: S603 - our recipe


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("crag train adapters", __doc__)
    parser.add_argument("name", choices=[*BASE_PRESETS, REFUSALS])
    parser.add_argument(
        "variables",
        nargs="*",
        metavar="VARIABLE=VALUE",
        help="other variables of crag/training/recipes.mk",
    )
    parser.add_argument(
        "--config",
        choices=PRESETS_BY_CONFIG,
        default="db3",
        help="configuration of crag train lora (default: db3)",
    )
    parser.add_argument(
        "--base-preset",
        metavar="P",
        help="preset or TOML file that the adapter is for",
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        type=form(override),
        action="append",
        default=[],
        help="change a key of the preset in all steps: device=cuda:0",
    )
    parser.add_argument(
        "--questions",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="kg_writer: questions with calls, can be repeated; kg_answerer: questions with answers",
    )
    parser.add_argument(
        "--graph",
        type=Path,
        metavar="DIR",
        help="folder of the graph tables they were labelled on",
    )
    parser.add_argument(
        "--pages",
        type=Path,
        metavar="FILE",
        help="web_answerer, web_refusals: questions with their pages",
    )
    parser.add_argument(
        "--work",
        type=Path,
        help="folder for the steps (default: results/training/CONFIG/NAME)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="the adapter's folder (default: models/adapters/CONFIG/NAME)",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show the commands that are left to do",
    )
    # Variables may stand between options
    return parser.parse_intermixed_args(arguments)


def _check(options: argparse.Namespace, settings: Settings) -> None:
    """Raise UserError: the preset or the options do not fit the adapter."""
    engine = settings.language_model.engine
    if engine not in {"openvino", "transformers", "vllm"}:
        raise UserError(f"preset {settings.name} runs the engine {engine}: it has no weights")
    if settings.knowledge_graph is None and options.name not in READS_PAGES:
        raise UserError(f"preset {settings.name} uses no graph, so it has no prompt for {options.name}")
    if options.pages is None and options.name in READS_PAGES:
        raise UserError(f"{options.name} learns from web pages: pass --pages FILE")
    if not options.questions and options.name not in READS_PAGES:
        raise UserError(f"{options.name} learns from labelled questions: pass --questions FILE")
    if len(options.questions) > 1 and options.name != "kg_writer":
        raise UserError(f"{options.name} learns from one file of questions: pass --questions once")


def _variables(options: argparse.Namespace, preset: str, settings: Settings) -> dict[str, object]:
    """The variables of recipes.mk that the options decide."""
    subfolder = Path(options.config) / options.name
    work = options.work or REPOSITORY / "results/training" / subfolder
    out = options.out or REPOSITORY / "models/adapters" / subfolder

    # A writer that reads no examples learns from them instead; its folds leave out templates, not names
    graph = settings.knowledge_graph
    is_question_form = graph is not None and graph.writer.form == "question"

    is_on_cpu = settings.device == "cpu" or settings.language_model.engine == "openvino"
    sets: list[str] = []
    for line in options.set:
        sets += ["--set", line]

    return {
        "PYTHON": sys.executable,
        "CONFIG": options.config,
        "DEVICE": "cpu" if is_on_cpu else "cuda",
        # make would expand a single dollar sign
        "SETS": shlex.join(sets).replace("$", "$$"),
        "BASE": getattr(settings.language_model, "model", None),
        # make watches the file, so that a changed preset runs the steps again
        "PRESET": Path(preset).resolve() if preset.endswith(".toml") else PRESETS / f"{preset}.toml",
        "QUESTIONS": " ".join(str(path.resolve()) for path in options.questions),
        "PAIRS": "--bank --group-by calls" if is_question_form else "",
        "GRAPH": options.graph.resolve() if options.graph else "",
        "PAGES": options.pages.resolve() if options.pages else "",
        "WORK": work.resolve(),
        "OUT": out.resolve(),
    }
