"""Train a classifier of questions, measured by cross-validation: python -m training.router --config cpu.

The folder written holds `config.json` and `weights.safetensors`, which `agents.questions` loads, `run_card.json` (data,
settings, hardware, figures) and `out_of_fold.jsonl` (what the cross-validation predicted for each question).
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.datasets import DatasetError
from agents.settings import SettingsError
from models.manifest import UnknownModelError, WeightsMissingError, cache_folder, locate
from training.router.examples import read_examples
from training.router.report import FieldReport
from training.router.run import RouterRun, RunMismatchError
from training.router.settings import RouterTraining, available_configs, load_training
from training.run_card import file_hash, run_card, write_card

DEFAULT_DATA = Path(__file__).parents[2].parent / "shared/data/crag/questions_split0.jsonl"
PACKAGES = ("torch", "transformers", "tokenizers", "scikit-learn", "scipy", "numpy", "safetensors")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train; the exit code is 0 when the classifier was written, 1 when something it needs is missing or wrong."""
    parser = argparse.ArgumentParser(prog="python -m training.router", description=__doc__)
    parser.add_argument("--config", required=True, help=f"{', '.join(available_configs())}, or a TOML file")
    parser.add_argument(
        "--data", type=Path, default=DEFAULT_DATA, help="rows with query and labels (default: %(default)s)"
    )
    parser.add_argument("--out", type=Path, help="folder to write; default: where the agent looks for fetched models")
    parser.add_argument(
        "--cross-validate", type=int, metavar="K", help="parts; 0: none; default: as the configuration says"
    )
    parser.add_argument("--seed", type=int, help="one encoder with this seed instead of the configuration's seeds")
    parser.add_argument("--device", default="cpu", help="a torch device (default: cpu)")
    parser.add_argument("--resume", action="store_true", help="go on with an unfinished run in --out")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    options = parser.parse_args(arguments)
    try:
        return _train(options)
    except (DatasetError, SettingsError, RunMismatchError, WeightsMissingError, UnknownModelError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
    except FloatingPointError as error:
        print(f"error: training diverged: {error}", file=sys.stderr)
    return 1


def _train(options: argparse.Namespace) -> int:
    settings = _changed(load_training(options.config), options.cross_validate, options.seed)
    examples = read_examples(options.data, settings.fields)
    base = locate(settings.encoder.base) if settings.encoder else None
    out = options.out or cache_folder() / Path(options.config).stem
    started = time.monotonic()
    chosen = settings.model_dump(mode="json")
    run = RouterRun(settings, examples, out, base, options.device, shown=not options.quiet)
    reports = run.train({"settings": chosen, "data": file_hash(options.data)}, resume=options.resume)
    seconds = time.monotonic() - started
    metrics = {"questions": len(examples), "cross_validated": {name: one.to_dict() for name, one in reports.items()}}
    metrics["seconds_are_of_a_resumed_run"] = options.resume
    write_card(out, run_card({"train": options.data}, chosen, seconds, metrics, PACKAGES))
    print(_table(reports))
    print(f"wrote {out} in {seconds:.0f} s")
    return 0


def _changed(settings: RouterTraining, folds: int | None, seed: int | None) -> RouterTraining:
    changes: dict[str, Any] = settings.model_dump()
    if folds is not None:
        changes["folds"] = folds
    if seed is not None and changes["encoder"]:
        changes["encoder"]["seeds"] = (seed,)
    try:
        return RouterTraining.model_validate(changes)
    except ValueError as error:
        raise SettingsError(f"the command line's changes: {error}") from None


def _table(reports: Mapping[str, FieldReport]) -> str:
    lines = (
        [f"{'cross-validated':20}{'accuracy':>10}{'macro-F1':>10}{'ECE':>8}"] if reports else ["not cross-validated"]
    )
    lines += [
        f"{name:20}{one.accuracy:>10.3f}{one.macro_f1:>10.3f}{one.expected_calibration_error:>8.3f}"
        for name, one in reports.items()
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
