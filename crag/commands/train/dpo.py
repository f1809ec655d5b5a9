"""Tune an adapter by preferences: crag train dpo --config db3 --start DIR --data pairs.jsonl --out DIR.

The pairs are those of `crag train preferences`. --start is the adapter of `crag train lora` to go on from; without it a
new adapter is tuned. The folder written is like that of `crag train lora`.
"""

import argparse
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from crag.commands.command_line import command, parser_of
from crag.commands.train.lora import (
    add_tuning_arguments,
    data_files,
    final_loss,
    report_end,
    select_examples,
    set_environment,
    tuning_run,
    write_card,
)
from crag.core.files import UserError, lock_folder
from crag.core.text import counted
from crag.engines.llm.local_engine import check_folders, model_folder
from crag.training.adapters import check_trainable
from crag.training.files import RunCard
from crag.training.lora.settings import PreferenceTraining
from crag.training.preferences import read_pairs_of_answers
from crag.weights.adapter_files import ADAPTER_WEIGHTS, Adapter


@command(FloatingPointError)
def main(arguments: Sequence[str] | None = None) -> None:
    """Tune."""
    options = _parse(arguments)
    set_environment(options)
    # Imported here: torch reads the environment once
    from crag.training.lora.model import check_tunable
    from crag.training.lora.preferences import tokenize_pairs, tune_preferences

    card = RunCard(options.out)
    configuration = PreferenceTraining.load(options.config, options.set)
    pairs, held_out = select_examples(options, read_pairs_of_answers)
    base = model_folder(configuration.base)
    check_tunable(configuration.as_texts, base, options.device)
    check_trainable(configuration.base, base)
    if options.start:
        _check_start(options, configuration.base)

    tokens = tokenize_pairs(base, pairs, configuration.max_tokens)
    if options.dry_run:
        _report_plan(configuration, tokens.sources, tokens.too_long, held_out, options.max_steps)
        return

    with lock_folder(options.out):
        steps = tune_preferences(configuration, tokens, tuning_run(options, base), options.start)
        metrics = {
            "pairs": dict(tokens.sources),
            "too_long": dict(tokens.too_long),
            "held_out_pairs": held_out,
        }
        write_card(card, options, configuration, _inputs(options), metrics, steps)

    print(
        f"{counted(len(tokens.kept), 'pair')} ({tokens.too_long.total()} too long, {held_out} held out), "
        f"{counted(len(steps), 'step')}, loss {final_loss(steps):.3f} (at the start 0.693)"
    )
    report_end(options, card)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag train dpo",
        __doc__,
        "Exit code: 0 the adapter was written; 2 an input is missing or wrong, or the training diverged.",
    )
    PreferenceTraining.add_arguments(parser, "change a setting: beta=0.3")
    add_tuning_arguments(parser, "pairs; can be repeated")
    parser.add_argument(
        "--start",
        type=Path,
        metavar="DIR",
        help="adapter to go on from, in its own shape",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="check everything, and show how many pairs and steps there are",
    )

    return parser.parse_args(arguments)


def _inputs(options: argparse.Namespace) -> dict[str, Path]:
    """The files that the run card describes, by their roles."""
    files = data_files(options)
    if options.start:
        files["start"] = options.start / ADAPTER_WEIGHTS
    return files


def _check_start(options: argparse.Namespace, base: str) -> None:
    """Raise UserError: the adapter to start from is not there, damaged, of another base, or more than LoRA."""
    if options.start.resolve() == options.out.resolve():
        raise UserError(f"--out {options.out} is the adapter to start from: use another folder")

    check_folders(base, {"of --start": str(options.start.resolve())})
    feature = Adapter(options.start).feature_beyond_lora
    if feature:
        raise UserError(f"--start: {feature}: only plain LoRA can be tuned further")


def _report_plan(
    configuration: PreferenceTraining,
    kinds: Counter[str],
    too_long: Counter[str],
    held_out: int,
    max_steps: int | None,
) -> None:
    """Print what a run would do."""
    pairs_of_step = configuration.batch_size * configuration.accumulation
    steps = configuration.epochs * math.ceil(kinds.total() / pairs_of_step)
    steps = min(steps, max_steps or steps)

    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    print(f"{counted(kinds.total(), 'pair')} ({too_long.total()} too long, {held_out} held out): {counts}")
    print(f"{counted(steps, 'step')} of {counted(pairs_of_step, 'pair')}; nothing was tuned or written")
