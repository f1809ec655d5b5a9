"""Tune an adapter: crag train lora --config db3 --data examples.jsonl --out models/adapters/mine.

The folder written holds `adapter_model.safetensors` and `adapter_config.json`, which `crag.engines.llm` and vLLM load,
`run_card.json` (data, settings, hardware, figures) and `losses.jsonl`.
"""

import argparse
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crag.commands.argument_types import argument_type, whole_number
from crag.commands.command_line import add_split_argument, command, parser_of
from crag.core.files import DatasetError, lock_folder
from crag.core.text import counted
from crag.engines.llm.local_engine import model_folder
from crag.evaluation.split import Split
from crag.training.adapters import check_trainable
from crag.training.files import ExampleT, RunCard, read_examples
from crag.training.folds import may_train, parse_fold
from crag.training.lora.settings import LoraTraining

if TYPE_CHECKING:
    from crag.training.lora.run import TuningRun

PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate", "bitsandbytes", "tokenizers", "safetensors")
SMOOTHED_STEPS = 20


@command(FloatingPointError)
def main(arguments: Sequence[str] | None = None) -> None:
    """Tune."""
    options = _parse(arguments)
    set_environment(options)
    # Imported here: torch reads the environment once
    from crag.training.lora.model import check_tunable
    from crag.training.lora.run import tune

    card = RunCard(options.out)
    configuration = LoraTraining.load(options.config, options.set)
    examples, held_out = select_examples(options, read_examples)
    base = model_folder(configuration.base)
    # Before tokenizing, which takes minutes
    check_tunable(configuration, base, options.device)
    check_trainable(configuration.base, base)

    with lock_folder(options.out):
        steps, tokens = tune(configuration, examples, tuning_run(options, base))
        metrics = {
            "examples": dict(tokens.sources),
            "too_long": dict(tokens.too_long),
            "held_out_examples": held_out,
            "tokens_of_an_epoch": sum(example.length for example in tokens.kept),
        }
        write_card(card, options, configuration, data_files(options), metrics, steps)

    print(
        f"{counted(len(tokens.kept), 'example')} ({tokens.too_long.total()} too long, {held_out} held out), "
        f"{counted(len(steps), 'step')}, loss {final_loss(steps):.3f} over the last {SMOOTHED_STEPS} steps"
    )
    report_end(options, card)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag train lora",
        __doc__,
        "Exit code: 0 the adapter was written; 2 an input is missing or wrong, or the training diverged.",
    )
    LoraTraining.add_arguments(parser, "change a setting: epochs=1")
    add_tuning_arguments(parser, "examples; can be repeated")
    return parser.parse_args(arguments)


def add_tuning_arguments(parser: argparse.ArgumentParser, data: str) -> None:
    """Add what all commands that tune an adapter have; `data` describes ``--data``."""
    parser.add_argument(
        "--data",
        type=Path,
        action="append",
        required=True,
        help=data,
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument(
        "--hold-out",
        type=argument_type(parse_fold),
        metavar="NUMBER/TOTAL",
        help="hold out the examples that this fold tests, such as 1/2",
    )
    add_split_argument(parser)
    parser.add_argument(
        "--max-steps",
        type=whole_number(1),
        metavar="N",
        help="stop after N steps",
    )

    parser.add_argument(
        "--device",
        choices=("cpu", "cuda"),
        default="cpu",
        help="default: cpu",
    )

    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue an unfinished run of the same settings and data in --out, if there is one",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace the contents of --out")


def set_environment(options: argparse.Namespace) -> None:
    """Set what torch reads when it is imported: how its threads wait, and the card."""
    # By default a thread that waits for another one keeps its core busy. Beside other work that was half of all seconds
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")

    # transformers would split each batch over all cards that it sees
    if options.device == "cuda":
        first_card, _, _ = os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")
        os.environ["CUDA_VISIBLE_DEVICES"] = first_card


def select_examples(
    options: argparse.Namespace,
    read: Callable[[Path, Split], list[ExampleT]],
) -> tuple[list[ExampleT], int]:
    """The examples of all files to train on, and how many are held out.

    Raises DatasetError: none, or a fold is unknown.
    """
    examples: list[ExampleT] = []
    for path in options.data:
        examples += read(path, options.split)

    # An example of unknown fold could leak what is tested
    without_groups = sum(not example.groups for example in examples)
    if options.hold_out and without_groups:
        raise DatasetError(f'--hold-out: {without_groups} examples have no "groups", so their fold is unknown')
    trained = [example for example in examples if may_train(example.groups, options.hold_out)]
    if not trained:
        raise DatasetError(f"--hold-out {options.hold_out} leaves none of {len(examples)} examples")
    return trained, len(examples) - len(trained)


def tuning_run(options: argparse.Namespace, base: Path) -> "TuningRun":
    """Where and how to tune, by the options."""
    from crag.training.lora.run import TuningRun

    return TuningRun(
        base,
        options.out,
        options.device,
        options.max_steps,
        resume=options.resume,
        overwrite=options.overwrite,
        show_progress=not options.quiet,
    )


def write_card(
    card: RunCard,
    options: argparse.Namespace,
    configuration: LoraTraining,
    inputs: Mapping[str, Path],
    metrics: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
) -> None:
    """Write the card of a finished run; then what it needed to be resumed goes."""
    from crag.training.lora.run import UNFINISHED

    of_steps = {"steps": len(steps), "final_loss": final_loss(steps)}
    all_metrics = {**metrics, **of_steps, **options.split.to_card()}
    card.write(inputs, card_settings(options, configuration), all_metrics, PACKAGES)
    # Last: a kill before this line can still be resumed
    shutil.rmtree(options.out / UNFINISHED, ignore_errors=True)


def report_end(options: argparse.Namespace, card: RunCard) -> None:
    """Print what the split left out, where the adapter is, and the seconds."""
    options.split.report()
    print(f"wrote {options.out} in {card.seconds:.0f} s")


def final_loss(steps: Sequence[Mapping[str, Any]]) -> float:
    """The mean loss of the last steps: that of a single one depends on its few examples."""
    final_losses: list[float] = [step["loss"] for step in steps[-SMOOTHED_STEPS:]]
    return round(sum(final_losses) / max(1, len(final_losses)), 4)


def data_files(options: argparse.Namespace) -> dict[str, Path]:
    """The data by their roles in the run card."""
    return {f"train {number}": path for number, path in enumerate(options.data, start=1)}


def card_settings(options: argparse.Namespace, configuration: LoraTraining) -> dict[str, Any]:
    """The settings of a run for its card."""
    return configuration.model_dump(mode="json") | {
        "hold_out": str(options.hold_out) if options.hold_out else None,
        "max_steps": options.max_steps,
        "resumed": options.resume,
    }
