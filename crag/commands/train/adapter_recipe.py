"""How `crag train adapters` calls GNU make: the variables of crag/training/recipes.mk, and the steps that are left."""

import argparse
import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from crag.core.files import UserError
from crag.core.places import REPOSITORY
from crag.settings import Settings
from crag.training.adapters import WRITER_FOLDS, adapters_not_yet_made, extended_files, longest_example, served_folder
from crag.training.files import CARD_FILE
from crag.weights.preset_files import preset_file

RECIPES = "crag/training/recipes.mk"
_VARIABLE = re.compile(r"\b[A-Z][A-Z_]+\b")
STEP = re.compile(r"^echo 'step: (.+)'\n", re.MULTILINE)
"""The line of a dry run that names the step whose commands follow."""
_CARD_KEYS = ("hold_out", "max_steps")
"""Settings of an adapter's run card that are variables of the recipe, in capitals."""


def parse_variable(text: str) -> tuple[str, str]:
    """The name and the value of ``LIMIT=8``. Raises UserError: another form, or the recipe has no such variable."""
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


def is_finished(variables: Mapping[str, str], steps: Sequence[str]) -> bool:
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
    wanted = {key: variables_of_make.get(key.upper(), "") for key in _CARD_KEYS}
    differing = [key for key in _CARD_KEYS if str(made_with.get(key) or "") != wanted[key]]
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


def recipe_variables(options: argparse.Namespace, preset: str, settings: Settings) -> dict[str, str]:
    """The variables of recipes.mk that the options decide."""
    variables = {
        "PYTHON": sys.executable,
        "CONFIG": options.config,
        "LENGTH": f"--set max_tokens={longest_example(settings, options.config, options.name)}",
        **_model_variables(options, preset, settings),
        **_data_variables(options),
        **_folder_and_writer_variables(options, settings),
    }
    return {name: str(value) for name, value in variables.items()}


def _model_variables(options: argparse.Namespace, preset: str, settings: Settings) -> dict[str, object]:
    """The base model, and the preset with its changes."""
    is_on_cpu = settings.device == "cpu" or settings.language_model.engine == "openvino"
    removed = [f"language_model.adapters.{adapter}=none" for adapter in adapters_not_yet_made(settings, options.name)]
    # make watches the files, so that a changed preset runs the steps again
    preset_path = preset_file(preset).resolve()
    return {
        "DEVICE": "cpu" if is_on_cpu else "cuda",
        # make would expand a single dollar sign
        "SETS": _set_arguments(options.set).replace("$", "$$"),
        "WITHOUT": _set_arguments(removed),
        "BASE": getattr(settings.language_model, "model", None),
        "PRESET": preset_path,
        "EXTENDS": " ".join(map(str, extended_files(preset_path))),
    }


def _set_arguments(changes: Iterable[str]) -> str:
    """Changes of a preset as arguments of a command line: ``--set device=cpu --set tuned=false``."""
    arguments: list[str] = []
    for change in changes:
        arguments += ["--set", change]
    return shlex.join(arguments)


def _data_variables(options: argparse.Namespace) -> dict[str, object]:
    """The files that the adapter learns from."""
    return {
        "QUESTIONS": " ".join(str(path.resolve()) for path in options.questions),
        "GRAPH": options.graph.resolve() if options.graph else "",
        "PAGES": " ".join(str(path.resolve()) for path in options.pages),
    }


def _folder_and_writer_variables(options: argparse.Namespace, settings: Settings) -> dict[str, object]:
    """Where the steps and the adapter are written, and how the preset's writer is tuned."""
    served = served_folder(settings, options.name)
    # Presets that serve the same adapters share the work on them
    work_of_all = REPOSITORY / "results/training" / served.parent.name
    work = options.work or work_of_all / options.name
    out = options.out or served

    graph = settings.knowledge_graph
    writer = graph.writer.adapter if graph is not None else None
    # A writer that reads no examples learns from them instead; its folds leave out templates, not names
    is_question_form = graph is not None and graph.writer.form == "question"
    return {
        "WORK": work.resolve(),
        "OUT": out.resolve(),
        "PAIRS": "--bank --group-by calls" if is_question_form else "",
        "WRITER": writer or "",
        "WRITER_WORK": work_of_all / "kg_writer",
        # Without tuning no writer knows a question
        "FOLDS": WRITER_FOLDS if writer else 1,
    }
