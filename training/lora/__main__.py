"""Tune an adapter: python -m training.lora --config web_answerer --data examples.jsonl --out models/adapters/mine.

The folder written holds `adapter_model.safetensors` and `adapter_config.json`, which `agents.llm` and vLLM load,
`run_card.json` (data, settings, hardware, figures), `losses.jsonl` and pictures of them.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.common.console import end_with
from agents.common.files import lock_folder
from agents.llm.trainable import adapter_folder, model_folder
from evaluation.datasets import DatasetError
from training.command import add_split_argument, exit_code, parser_of, positive
from training.examples import TrainingExample, read_examples
from training.folds import Fold, may_train, parse_fold
from training.lora.model import WEIGHTS_FILE, check_tunable
from training.lora.run import LoraRun, TunedRun
from training.lora.settings import available_configs, load_training
from training.run_card import CARD_FILE, file_hash, run_card, write_card

PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate", "bitsandbytes", "tokenizers", "safetensors")
SMOOTHED_STEPS = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Tune. Exit code: 0 the adapter was written, 1 an input is missing or wrong."""
    parser = parser_of("training.lora", __doc__)
    parser.add_argument("--config", required=True, help=f"{', '.join(available_configs())}, or a TOML file")
    several = "examples; can be repeated"
    parser.add_argument("--data", type=Path, action="append", required=True, help=several)
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    fold = "hold out the examples that this fold tests, such as 1/2"
    parser.add_argument("--hold-out", type=parse_fold, metavar="NUMBER/TOTAL", help=fold)
    add_split_argument(parser)
    parser.add_argument("--start-from", metavar="FOLDER", help="start from this adapter, a folder or a manifest name")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a setting: epochs=1")
    parser.add_argument("--max-steps", type=positive, metavar="N", help="stop after N steps")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default: cpu")
    resume = "continue an unfinished run in --out; a finished one stays as it is"
    parser.add_argument("--resume", action="store_true", help=resume)
    overwrite = "replace the contents of --out; with --resume only those of other settings or data"
    parser.add_argument("--overwrite", action="store_true", help=overwrite)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    options = parser.parse_args(arguments)
    return exit_code(lambda: _train(options))


def _train(options: argparse.Namespace) -> int:
    settings = load_training(options.config, options.set)
    given = [example for path in options.data for example in read_examples(path, split=options.split)]
    examples = _without(given, options.hold_out)
    base, start_from = model_folder(settings.base), _start(options.start_from)
    check_tunable(settings, base, options.device, start_from)
    chosen: dict[str, Any] = {
        **settings.model_dump(mode="json"),
        "hold_out": str(options.hold_out) if options.hold_out else None,
        "started_from": file_hash(start_from / WEIGHTS_FILE) if start_from else None,
        "max_steps": options.max_steps,
        "split": str(options.split),
    }
    shown = not options.quiet
    run = LoraRun(settings, examples, base, options.out, options.device, start_from, options.max_steps, shown=shown)
    fingerprint = {"settings": chosen, "data": [file_hash(path) for path in options.data]}
    with lock_folder(options.out):
        if options.resume and _is_done(run, fingerprint):
            print(f"done already: {options.out} holds the adapter of these settings and data")
            return 0
        tuned = run.train(fingerprint, resume=options.resume, overwrite=options.overwrite)
        data = {f"train {number}": path for number, path in enumerate(options.data, start=1)}
        metrics = _metrics(tuned) | {"held_out_examples": len(given) - len(examples)} | options.split.to_card()
        write_card(options.out, run_card(data, chosen, tuned.seconds, metrics, PACKAGES))
        run.finish()
    kept, too_long = sum(metrics["examples"].values()), sum(metrics["too_long"].values())
    print(
        f"{kept} examples ({too_long} too long, {metrics['held_out_examples']} held out), {metrics['steps']} steps, "
        f"{metrics['tokens']} tokens, loss {metrics['final_loss']:.3f} over the last {SMOOTHED_STEPS} steps"
    )
    options.split.report()
    print(f"wrote {options.out} in {tuned.seconds:.0f} s")
    return 0


def _is_done(run: LoraRun, fingerprint: dict[str, Any]) -> bool:
    """Whether the folder's run card has these settings and data."""
    card_file = run.out / CARD_FILE
    if run.unfinished or not ((run.out / WEIGHTS_FILE).is_file() and card_file.is_file()):
        return False
    card = json.loads(card_file.read_text(encoding="utf-8"))
    of = {"settings": card.get("settings"), "data": [file["sha256"] for file in card.get("data", {}).values()]}
    return bool(of == json.loads(json.dumps(fingerprint)))


def _without(examples: list[TrainingExample], fold: Fold | None) -> list[TrainingExample]:
    nameless = sum(not example.groups for example in examples)
    if fold is not None and nameless:
        raise DatasetError(f'--hold-out: {nameless} examples have no "groups", so their fold is unknown')
    kept = [example for example in examples if may_train(example.groups, fold)]
    if not kept:
        raise DatasetError(f"--hold-out {fold} leaves none of {len(examples)} examples")
    return kept


def _start(name: str | None) -> Path | None:
    """A folder, relative to the current one, or a name in the manifest."""
    if name is None:
        return None
    return adapter_folder(str(Path(name).resolve()) if Path(name).is_dir() else name)


def _metrics(tuned: TunedRun) -> dict[str, Any]:
    last = tuned.steps[-SMOOTHED_STEPS:]
    return {
        "examples": dict(tuned.examples.sources),
        "too_long": dict(tuned.examples.too_long),
        "steps": len(tuned.steps),
        "tokens": tuned.steps[-1]["tokens"] if tuned.steps else 0,
        "final_loss": round(sum(step["loss"] for step in last) / max(1, len(last)), 4),
    }


if __name__ == "__main__":
    end_with(main)
