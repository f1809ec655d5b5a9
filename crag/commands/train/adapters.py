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
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from crag.commands.command_line import argument_type, command, override, parser_of, say
from crag.core.files import UserError
from crag.core.places import REPOSITORY
from crag.settings import Settings, inherited_changes, load_settings
from crag.training.adapters import (
    BASE_PRESETS,
    CHANGES_BY_CONFIG,
    PRESETS_BY_CONFIG,
    READS_PAGES,
    REFUSALS,
    WRITER_FOLDS,
    adapters_not_yet_made,
    check_trainable,
    extended_files,
    find_untrainable,
    longest_example,
    served_folder,
)
from crag.training.files import CARD_FILE
from crag.weights.manifest import locate
from crag.weights.preset_files import preset_file

RECIPES = "crag/training/recipes.mk"
_VARIABLE = re.compile(r"\b[A-Z][A-Z_]+\b")
_STEP = re.compile(r"^echo 'step: (.+)'\n", re.MULTILINE)
"""The line of a dry run that names the step whose commands follow."""
_CARD_KEYS = ("hold_out", "max_steps")
"""Settings of an adapter's run card that are variables of the recipe, in capitals."""


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
    variables = {name: str(value) for name, value in _variables(options, preset, settings).items()}
    # Those of the user come last and win
    variables |= dict(_parse_variable(text) for text in options.variables)
    _check(options, settings, variables)

    make = ["make", "-f", RECIPES, options.name]
    make += [f"{name}={value}" for name, value in variables.items()]
    rehearsal = subprocess.run([*make, "-n"], cwd=REPOSITORY, capture_output=True, text=True, check=False)  # noqa: S603
    if rehearsal.returncode:
        sys.stderr.write(rehearsal.stderr)
        return rehearsal.returncode

    steps = _STEP.findall(rehearsal.stdout)
    if _is_finished(variables, steps):
        print(f"nothing is left to do: {variables['OUT']} holds the adapter; OVERWRITE=--overwrite tunes it again")
        return 0
    if options.dry_run:
        print(_STEP.sub("", rehearsal.stdout), end="")
    print(_list_steps(steps), flush=True)
    if options.dry_run:
        return 0

    # The last step tunes it, and would say so after hours
    check_trainable(variables["BASE"], locate(variables["BASE"]))
    returncode = subprocess.run(make, cwd=REPOSITORY, check=False).returncode  # noqa: S603 - our recipe
    if returncode:
        say("finished steps are kept: the same command continues, --work names a folder for a new start")
    return returncode


def _parse_variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.isidentifier() and equals):
        raise UserError(f"{text!r} is not VARIABLE=VALUE such as LIMIT=8")
    # make would take any name, and train for a day what was meant as a trial
    variables = _VARIABLE.findall((REPOSITORY / RECIPES).read_text(encoding="utf-8"))
    if name not in variables:
        similar = get_close_matches(name, variables, n=1)
        hint = f"; did you mean {similar[0]}?" if similar else ""
        raise UserError(f"{text}: {RECIPES} has no variable {name}{hint}")
    return name, value


def _list_steps(steps: Sequence[str]) -> str:
    """The steps that are left, in their order, numbered."""
    lines = [f"{number:>3}. {step}" for number, step in enumerate(steps, start=1)]
    return "\n".join(["steps that are left:", *lines])


def _is_finished(variables: Mapping[str, str], steps: Sequence[str]) -> bool:
    """Whether the adapter is there, and made as it is asked for now.

    Raises UserError: it is there, but its rows are to be made again, or it held out other rows. This is said before
    the hours of work, not when the adapter is in the way after them.
    """
    # make takes what the command line lacks from the environment
    variables_of_make = os.environ | variables
    card = Path(variables["OUT"]) / CARD_FILE
    if variables_of_make.get("OVERWRITE") or not card.is_file():
        return False

    made_with = _read_card_settings(card)

    def differs(key: str) -> bool:
        return str(made_with.get(key) or "") != variables_of_make.get(key.upper(), "")

    differing = list(filter(differs, _CARD_KEYS))
    # The tuning itself is always among the steps
    if len(steps) == 1 and not differing:
        return True

    reason = f"and {len(steps) - 1} steps before it have to be done again"
    if differing:
        key = differing[0]
        reason = f"made with {key.upper()}={made_with.get(key) or ''}"
    raise UserError(
        f"{variables['OUT']} holds a finished adapter, {reason}: OVERWRITE=--overwrite replaces it, --out names "
        "another folder"
    )


def _read_card_settings(card: Path) -> Mapping[str, object]:
    try:
        settings: Mapping[str, object] = json.loads(card.read_text(encoding="utf-8"))["settings"]
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{card}: no run card of an adapter: OVERWRITE=--overwrite replaces the folder") from None
    return settings


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


def _variables(options: argparse.Namespace, preset: str, settings: Settings) -> dict[str, object]:
    """The variables of recipes.mk that the options decide."""
    served = served_folder(settings, options.name)
    # Presets that serve the same adapters share the work on them
    work_of_all = REPOSITORY / "results/training" / served.parent.name
    work = options.work or work_of_all / options.name
    out = options.out or served
    # make watches the files, so that a changed preset runs the steps again
    preset_path = preset_file(preset).resolve()

    # A writer that reads no examples learns from them instead; its folds leave out templates, not names
    graph = settings.knowledge_graph
    is_question_form = graph is not None and graph.writer.form == "question"
    writer = graph.writer.adapter if graph is not None else None

    is_on_cpu = settings.device == "cpu" or settings.language_model.engine == "openvino"
    removed: list[str] = []
    for adapter in adapters_not_yet_made(settings, options.name):
        removed += ["--set", f"language_model.adapters.{adapter}=none"]
    sets: list[str] = []
    for line in options.set:
        sets += ["--set", line]

    return {
        "PYTHON": sys.executable,
        "CONFIG": options.config,
        "DEVICE": "cpu" if is_on_cpu else "cuda",
        # make would expand a single dollar sign
        "SETS": shlex.join(sets).replace("$", "$$"),
        "WITHOUT": shlex.join(removed),
        "BASE": getattr(settings.language_model, "model", None),
        "PRESET": preset_path,
        "EXTENDS": " ".join(map(str, extended_files(preset_path))),
        "QUESTIONS": " ".join(str(path.resolve()) for path in options.questions),
        "PAIRS": "--bank --group-by calls" if is_question_form else "",
        "GRAPH": options.graph.resolve() if options.graph else "",
        "PAGES": " ".join(str(path.resolve()) for path in options.pages),
        "WRITER": writer or "",
        "WRITER_WORK": work_of_all / "kg_writer",
        # Without tuning no writer knows a question
        "FOLDS": WRITER_FOLDS if writer else 1,
        "LENGTH": f"--set max_tokens={longest_example(settings, options.config, options.name)}",
        "WORK": work.resolve(),
        "OUT": out.resolve(),
    }
