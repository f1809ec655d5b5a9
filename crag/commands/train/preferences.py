r"""Turn labels with several answers to each prompt into pairs for `crag train dpo`: right over silent over wrong.

    crag train preferences web_answerer --preset db3_task1 --labels labels.jsonl --out pairs.jsonl

The labels are those of `crag train labels` over several runs of the adapter that is to learn, each with its own
temperature:

    for T in 0.4 0.6 0.8 1.0; do crag evaluate --preset db3_task1 --dataset QUESTIONS --output run$T \
        --set answering.temperature=$T --set answering.confidence=none; done
    crag train labels --run run0.4 --run run0.6 --run run0.8 --run run1.0 --out labels.jsonl

Each right sample makes a pair over "i don't know", each wrong one a pair under it, so that the model learns to answer
where it is right more often than wrong. `crag/training/preferences.py` has the rules.
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

from crag.commands.argument_types import argument_type, new_file
from crag.commands.command_line import add_preset_arguments, add_split_argument, command, parser_of
from crag.core.files import write_rows
from crag.core.text import counted
from crag.evaluation.signature import settings_hash
from crag.settings import load_settings
from crag.training.files import RunCard, file_hash
from crag.training.preferences import build_preferences, count_kinds


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file."""
    options = _parse(arguments)
    card = RunCard.beside(options.out, options.labels)
    settings = load_settings(options.preset, options.set)

    pairs = build_preferences(options.labels, settings, options.task, options.split)
    # Pairs of a prompt stand together; a fixed seed keeps the output reproducible
    random.Random(0).shuffle(pairs)  # noqa: S311 - an order, not a secret
    write_rows(options.out, (pair.to_row() for pair in pairs))

    kinds = count_kinds(pairs)
    metrics = {
        "pairs": len(pairs),
        "questions": len({pair.query for pair in pairs}),
        "kinds": kinds,
        "sha256": file_hash(options.out),
        **options.split.to_card(),
    }
    card_settings = {"task": options.task, "preset": f"{settings.name}@{settings_hash(settings)}"}
    card_path = card.write({"labels": options.labels}, card_settings, metrics)

    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    print(f"wrote {counted(len(pairs), 'pair')} to {options.out}: {counts}; the run card is {card_path}")
    options.split.report()


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("crag train preferences", __doc__, "Exit code: 0 written; 2 an input is missing or wrong.")
    parser.add_argument("task", choices=("kg_answerer", "web_answerer"))
    parser.add_argument(
        "--labels",
        type=Path,
        required=True,
        help="rows of crag train labels",
    )
    parser.add_argument(
        "--out",
        type=argument_type(new_file),
        required=True,
        help="pairs for crag train dpo",
    )
    add_preset_arguments(parser)
    add_split_argument(parser)

    return parser.parse_args(arguments)
