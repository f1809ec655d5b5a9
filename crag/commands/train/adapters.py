"""Train an adapter from scratch: crag train adapters kg_writer --questions FILE --graph DIR.

The steps are those of crag/training/recipes.mk, run by GNU make: finished ones are skipped, a stopped one resumes; the
steps that are left are listed first. Prompts, contexts, examples and model are those of --base-preset, on its own
cards: the adapter is for this preset, and is written where the preset looks for it. --config db3 follows the paper:
Llama-3-8B in 4 bits on the first visible GPU, batches of 1 x 4 with gradient checkpointing. --set device=cuda:0 puts
all models on one card, --set device=cpu does without cards and without 4 bits.

web_refusals goes on from a tuned web_answerer by preferences (crag train dpo): right answers over "i don't know" over
wrong ones, of several answers to each question. START=DIR names another adapter to go on from.

--config cpu tunes a writer that reads the question alone, on a laptop, from questions with calls and the shipped
examples: crag train adapters kg_writer --config cpu --questions FILE.

kg_answerer learns from calls that their writer did not see in tuning. It needs the rows of kg_writer, made before for
the same preset, and tunes a writer for each of two parts of the questions, without this part (FOLDS=5: five parts;
FOLDS=1: the preset's own writer).

VARIABLE=VALUE sets another variable of recipes.mk: LIMIT=8 and MAX_STEPS=2 for a trial, HOLD_OUT=1/5, SPLIT=any,
OVERWRITE=--overwrite, WRITER_WORK for the folder of kg_writer's rows, JUDGE (docs/training.md) another judge than the
preset's own model, or the interpreter that runs the base model: SERVING=.venv-gpu/bin/python for a preset on vLLM.
"""

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from crag.commands.argument_types import argument_type, override
from crag.commands.command_line import command, parser_of, say
from crag.commands.train.adapter_recipe import RECIPES, STEP, is_finished, parse_variable, recipe_variables
from crag.core.files import UserError
from crag.core.places import REPOSITORY
from crag.settings import Settings, inherited_changes, load_settings
from crag.training.adapters import (
    BASE_PRESETS,
    CHANGES_BY_CONFIG,
    PRESETS_BY_CONFIG,
    READS_PAGES,
    REFUSALS,
    check_trainable,
    find_untrainable,
)
from crag.weights.manifest import locate


@command()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run make."""
    options = _parse(arguments)
    presets = PRESETS_BY_CONFIG[options.config]
    preset = options.base_preset or presets.get(options.name)
    if preset is None:
        raise UserError(f"--config {options.config} makes no {options.name}, only {', '.join(presets)}")
    # With those of the environment, which some steps would read and others not
    options.set = [*CHANGES_BY_CONFIG[options.config], *inherited_changes(), *options.set]
    settings = load_settings(preset, options.set)
    variables = recipe_variables(options, preset, settings)
    # Those of the user come last and win
    variables |= dict(parse_variable(text) for text in options.variables)
    _check(options, settings, variables)

    make = ["make", "-f", RECIPES, options.name]
    make += [f"{name}={value}" for name, value in variables.items()]
    rehearsal = subprocess.run([*make, "-n"], cwd=REPOSITORY, capture_output=True, text=True, check=False)  # noqa: S603
    if rehearsal.returncode:
        sys.stderr.write(rehearsal.stderr)
        return rehearsal.returncode

    # Rehearsed first, as `make -n` tells what is left
    steps = STEP.findall(rehearsal.stdout)
    if is_finished(variables, steps):
        print(f"nothing is left to do: {variables['OUT']} holds the adapter; OVERWRITE=--overwrite tunes it again")
        return 0
    if options.dry_run:
        print(STEP.sub("", rehearsal.stdout), end="")
    print(_list_steps(steps), flush=True)
    if options.dry_run:
        return 0

    # The last step tunes it, and would say so after hours
    check_trainable(variables["BASE"], locate(variables["BASE"]))
    returncode = subprocess.run(make, cwd=REPOSITORY, check=False).returncode  # noqa: S603 - our recipe
    if returncode:
        say("finished steps are kept: the same command continues, --work names a folder for a new start")
    return returncode


def _list_steps(steps: Sequence[str]) -> str:
    """The steps that are left, in their order, numbered."""
    lines = [f"{number:>3}. {step}" for number, step in enumerate(steps, start=1)]
    return "\n".join(["steps that are left:", *lines])


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag train adapters", __doc__, "Exit code: 0 the adapter is there; 2 something is missing, or a step failed."
    )
    _add_adapter(parser)
    _add_data(parser)
    _add_folders(parser)
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show the commands that are left to do",
    )
    # Variables may stand between options
    return parser.parse_intermixed_args(arguments)


def _add_adapter(parser: argparse.ArgumentParser) -> None:
    """Which adapter, and how it is tuned."""
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
        type=argument_type(override),
        action="append",
        default=[],
        help="change a key of the preset in all steps: device=cuda:0",
    )


def _add_data(parser: argparse.ArgumentParser) -> None:
    """What it learns from."""
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
        action="append",
        default=[],
        metavar="FILE",
        help="web_answerer, web_refusals: questions with their pages; can be repeated, with five and with fifty pages",
    )


def _add_folders(parser: argparse.ArgumentParser) -> None:
    """Where steps and adapter are written."""
    parser.add_argument(
        "--work",
        type=Path,
        help="folder for the steps (default: results/training/PRESET/NAME)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="the adapter's folder (default: the one that the preset names, such as models/adapters/PRESET/NAME)",
    )


def _check(options: argparse.Namespace, settings: Settings, variables: Mapping[str, str]) -> None:
    """Raise UserError: the preset or the options do not fit the adapter."""
    engine = settings.language_model.engine
    if engine not in {"openvino", "transformers", "vllm"}:
        raise UserError(f"preset {settings.name} runs the engine {engine}: it has no weights")

    if settings.knowledge_graph is None and options.name not in READS_PAGES:
        raise UserError(f"preset {settings.name} uses no graph, so it has no prompt for {options.name}")
    if not options.pages and options.name in READS_PAGES:
        raise UserError(f"{options.name} learns from web pages: pass --pages FILE")
    if not options.questions and options.name not in READS_PAGES:
        raise UserError(f"{options.name} learns from labelled questions: pass --questions FILE")
    if len(options.pages) > 1 and options.name == REFUSALS:
        raise UserError(f"{REFUSALS} learns from one file of pages: pass --pages once")
    if len(options.questions) > 1 and options.name != "kg_writer":
        raise UserError(f"{options.name} learns from one file of questions: pass --questions once")
    _check_paths(options)

    reason = find_untrainable(settings, options.name)
    if reason is not None:
        raise UserError(f"{options.name} cannot be trained for preset {settings.name}: it {reason}")
    if options.name == "kg_answerer":
        _check_folds(settings, variables)


def _check_paths(options: argparse.Namespace) -> None:
    """Raise UserError: a file or folder is missing, which make would tell in its own words."""
    for path in [*options.questions, *options.pages]:
        if not path.is_file():
            raise UserError(f"{path}: there is no such file")
    if options.graph and not options.graph.is_dir():
        raise UserError(f"{options.graph}: there is no such folder")


def _check_folds(settings: Settings, variables: Mapping[str, str]) -> None:
    """Raise UserError: the questions cannot be asked through writers that do not know them."""
    folds = variables["FOLDS"]
    if not folds.isdecimal() or int(folds) < 1:
        raise UserError(f"FOLDS={folds}: must be a whole number of at least 1")
    rows = Path(variables["WRITER_WORK"])
    if folds != "1" and not (rows / "kg_writer.jsonl").is_file():
        raise UserError(
            f"{rows / 'kg_writer.jsonl'} is missing: kg_answerer learns from calls of writers that do not know its "
            f"questions. First: crag train adapters kg_writer --base-preset {settings.name} --questions FILE (or "
            "WRITER_WORK=DIR, its --work; FOLDS=1: the preset's own writer)"
        )
