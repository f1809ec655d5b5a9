"""Train and cross-validate a question classifier: crag train router --config cpu --out DIR.

The folder written holds `config.json` and `weights.safetensors`, which `crag.router` loads, and `run_card.json`
(data, settings, hardware, figures).
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crag.commands.command_line import add_split_argument, command, parser_of
from crag.core.places import REPOSITORY
from crag.evaluation.public_questions import DEFAULT_FOLDER, FILES
from crag.training.files import RunCard, check_data_file, make_output_folder
from crag.training.router.settings import RouterTraining
from crag.weights.manifest import locate

DEFAULT_DATA = REPOSITORY / DEFAULT_FOLDER / FILES[4, 1][0]
PACKAGES = ("torch", "transformers", "tokenizers", "scikit-learn", "scipy", "numpy", "safetensors")


@command(FloatingPointError)
def main(arguments: Sequence[str] | None = None) -> None:
    """Train."""
    options = _parse(arguments)
    # Here, not at the top: --help must not wait for it
    import torch

    from crag.training.router.encoder import check_device  # torch
    from crag.training.router.questions import read_labelled_questions
    from crag.training.router.run import train

    settings = RouterTraining.load(options.config, options.set)
    default_device = "cuda" if torch.cuda.is_available() else "cpu"
    device = options.device or default_device
    # Before the data are read and a model is loaded
    check_device(device)

    check_data_file(options.data, "get it with: crag data fetch crag; or --data names labelled questions")
    examples = read_labelled_questions(options.data, settings.fields, options.split)
    base = locate(settings.encoder.base) if settings.encoder else None
    make_output_folder(options.out)
    card = RunCard(options.out)
    reports = train(
        settings,
        examples,
        options.out,
        base,
        device,
        show=not options.quiet,
    )

    metrics = {
        "questions": len(examples.texts),
        "cross_validated": reports,
        **options.split.to_card(),
    }
    card.write(
        {"train": options.data},
        settings.model_dump(mode="json"),
        metrics,
        PACKAGES,
    )

    _print_reports(reports)
    options.split.report()
    print(f"wrote {options.out} in {card.seconds:.0f} s")


def _print_reports(reports: Mapping[str, Mapping[str, Any]]) -> None:
    """The cross-validated figures, one line for each class of questions."""
    if not reports:
        print("not cross-validated")
        return

    print(f"{'cross-validated':20}{'accuracy':>10}{'macro-F1':>10}{'ECE':>8}")
    for field, report in reports.items():
        error = report["expected_calibration_error"]
        print(f"{field:20}{report['accuracy']:>10.3f}{report['macro_f1']:>10.3f}{error:>8.3f}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag train router",
        __doc__,
        "Exit code: 0 the classifier was written; 2 an input is missing or wrong, or the training diverged.",
    )
    RouterTraining.add_arguments(parser, "change a setting, such as folds=5 (0: no cross-validation) or encoder.seed=1")
    parser.add_argument(
        "--data",
        type=Path,
        default=DEFAULT_DATA,
        help="rows with query and labels (default: what `crag data fetch crag` gets)",
    )
    add_split_argument(parser)
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--device", help="a torch device (default: a GPU if there is one)")
    return parser.parse_args(arguments)
