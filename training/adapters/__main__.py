"""Train an adapter from scratch: python -m training.adapters kg_writer --out DIR.

    python -m training.adapters kg_writer --config cpu_small    # as shipped with the preset cpu_small
    python -m training.adapters kg_writer --config db3 --device cuda --questions FILE --graph DIR
    python -m training.adapters kg_answerer --config db3 --device cuda --questions FILE --graph DIR
    python -m training.adapters web_answerer --config db3 --device cuda --pages FILE
    python -m training.adapters web_answerer --config reading   # from reading sets, without a question of CRAG

Prompts, examples and model are those of --base-preset, so that training matches serving. --config db3 follows the
paper: Llama-3-8B in 4 bits on one GPU, batches of 1 x 4 with gradient checkpointing. The preset's model judges its own
answers and checks the contexts, unless the --judge options name another model (GPT-4 in the paper).

recipes.toml lists the steps, docs/training.md the files that they need. Finished steps are skipped and a stopped step
resumes: after a kill, run the same command again. --dry-run shows the commands.
"""

import argparse
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agents.common.console import end_with
from agents.common.files import lock_folder
from agents.llm.trainable import adapter_folder, model_folder
from agents.settings import OpenvinoEngine, Settings, TransformersEngine, VllmEngine, load_settings
from evaluation.judge import JUDGE_NAMES
from evaluation.runner import Terminated, stopped_in_order
from evaluation.signature import settings_hash
from models.manifest import WeightsMissingError
from training.adapters.recipe import DEFAULT_CONFIG, Choices, GivenFiles, Recipe, RecipeStep, configs, recipes
from training.api_pairs import check_whole
from training.command import CommandError, add_split_argument, check_data_file, exit_code, parser_of, positive
from training.folds import parse_fold
from training.lora.model import WEIGHTS_FILE, check_tunable
from training.lora.settings import load_training

REPOSITORY = Path(__file__).parents[2]
ADAPTERS = REPOSITORY / "models" / "adapters"
TUNING = "training.lora"
GRACE_SECONDS = 5.0
"""Seconds that a step has to end after Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the unfinished steps; return the exit code of the first step that fails."""
    options = _options(arguments)
    return exit_code(lambda: _main(options), goes_on="the same command")


def _main(options: argparse.Namespace) -> int:
    recipe = Recipe(options.name, options.config)
    work = (options.work or REPOSITORY / "results" / "training" / options.config / options.name).resolve()
    out = (options.out or ADAPTERS / options.config / options.name).resolve()
    files = GivenFiles(
        options.questions,
        tuple(options.graph),
        options.contexts,
        options.pages,
        options.reading,
        real=not options.no_real,
    )
    preset = _preset(options, recipe)
    choices = _choices(options, recipe, preset)
    steps = recipe.steps(work, out, files, choices)
    if options.dry_run:
        for step in _undone(steps):
            print(f"python -m {shlex.join(step.command)}")
        return 0
    with lock_folder(work) as lock, stopped_in_order():
        todo = _undone(steps)
        _check_files(todo, out, overwrite=options.overwrite)
        if todo and preset is not None:
            _check_models(options, recipe, choices, preset)
        code = _carry_out(todo, lock, overwrite=options.overwrite)
    if not code:
        print(f"the adapter is in {out}")
        if hint := _looked_for_elsewhere(options, preset, out):
            print(hint)
    return code


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("training.adapters", __doc__)
    parser.add_argument("name", choices=recipes())
    parser.add_argument(
        "--config", choices=configs(), default=DEFAULT_CONFIG, help="set of recipes (default: %(default)s)"
    )
    parser.add_argument(
        "--base-preset", metavar="P", help="preset or TOML file to train the adapter for (default: the recipe's)"
    )
    parser.add_argument(
        "--device", choices=("cpu", "cuda"),
        help="device of all models and the tuning: cuda uses one GPU, cpu does without 4 bits "
        "(default: cuda for db3, cpu for the others)",
    )  # fmt: skip
    parser.add_argument("--questions", type=Path, metavar="FILE", help="labelled questions with their calls")
    parser.add_argument("--no-real", action="store_true", help="omit --questions: train on made-up ones only")
    parser.add_argument(
        "--graph", type=Path, action="append", default=[], metavar="DIR",
        help="folder of graph tables; can be repeated: first the one that --questions were labelled on",
    )  # fmt: skip
    parser.add_argument("--contexts", type=Path, metavar="FILE", help="questions with segments of web pages")
    parser.add_argument("--pages", type=Path, metavar="FILE", help="questions with their pages, in CRAG's format")
    parser.add_argument("--reading", type=Path, metavar="DIR", help="folder of reading sets")
    add_split_argument(parser)
    parser.add_argument("--limit", type=positive, metavar="N", help="use at most N real questions, for a trial")
    parser.add_argument("--max-steps", type=positive, metavar="N", help="stop the tuning after N steps")
    judge = parser.add_argument_group("judge of basic answers and contexts, as in training.labels")
    judge.add_argument(
        "--judge", choices=JUDGE_NAMES, help="default: llm for db3 (the preset's model), rules for the others"
    )
    judge.add_argument("--judge-url", metavar="URL", help="llm: an OpenAI-compatible endpoint")
    judge.add_argument("--judge-model", metavar="NAME", help="llm: the endpoint's model")
    judge.add_argument("--judge-preset", metavar="P", help="llm: a preset's language model (default: --base-preset)")
    parser.add_argument(
        "--work", type=Path, help="folder for intermediate files (default: results/training/CONFIG/NAME)"
    )
    parser.add_argument("--out", type=Path, help="folder of the adapter (default: models/adapters/CONFIG/NAME)")
    parser.add_argument("--overwrite", action="store_true", help="replace the adapter in --out")
    parser.add_argument(
        "--hold-out", type=_fold, metavar="NUMBER/TOTAL", help="fold to hold out, or none (default: as shipped)"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the remaining commands")
    options = parser.parse_args(arguments)
    if options.name not in recipes(options.config):
        parser.error(f"--config {options.config} has no {options.name}; it has {', '.join(recipes(options.config))}")
    given = {name for name in ("questions", "graph", "contexts", "pages", "reading") if getattr(options, name)}
    given |= {"questions"} if options.no_real else set()
    for name in sorted(given - Recipe(options.name, options.config).files):
        parser.error(f"{options.name} of {options.config} does not learn from --{name}")
    if options.no_real and options.config == "db3":
        parser.error("db3's adapters learn from real questions only: omit --no-real")
    if (options.judge_url or options.judge_model or options.judge_preset) and options.judge == "rules":
        parser.error("--judge-url, --judge-model and --judge-preset have no effect with --judge rules")
    return options


def _fold(text: str) -> str:
    return text if text == "none" else str(parse_fold(text))


def _preset(options: argparse.Namespace, recipe: Recipe) -> Settings | None:
    """The preset that the adapter is for."""
    name = options.base_preset or recipe.base_preset
    preset = load_settings(name, []) if name else None
    if preset and preset.knowledge_graph is None and "graph" in recipe.files:
        raise CommandError(
            f"preset {preset.name} uses no graph, so it has no prompt for {options.name}: pass a --base-preset with "
            f"[knowledge_graph], such as {recipe.base_preset}"
        )
    return preset


def _choices(options: argparse.Namespace, recipe: Recipe, preset: Settings | None) -> Choices:
    base_preset = options.base_preset
    if base_preset and base_preset.endswith(".toml"):
        base_preset = str(Path(base_preset).resolve())
    return Choices(
        preset=base_preset,
        preset_hash=settings_hash(preset) if preset is not None else "",
        base=_other_base(recipe, preset) if preset is not None else None,
        device=options.device or ("cuda" if options.config == "db3" else None),
        judge=_judge(options, base_preset or recipe.base_preset),
        split=str(options.split),
        limit=options.limit,
        max_steps=options.max_steps,
        hold_out=options.hold_out,
    )


def _other_base(recipe: Recipe, preset: Settings) -> str | None:
    """The preset's model, if the tuning configuration names another one."""
    engine = preset.language_model
    if not isinstance(engine, OpenvinoEngine | TransformersEngine | VllmEngine):
        raise CommandError(
            f"preset {preset.name} runs the engine {engine.engine}: its weights cannot be tuned here; pass a "
            "--base-preset whose language_model.engine is openvino, transformers or vllm"
        )
    return None if engine.model == load_training(recipe.tuning).base else engine.model


def _judge(options: argparse.Namespace, base_preset: str | None) -> tuple[str, ...]:
    remote = options.judge_url or options.judge_model
    if (options.judge or ("llm" if remote or options.judge_preset or options.config == "db3" else "rules")) == "rules":
        return ()
    chosen = {
        "--judge-url": options.judge_url,
        "--judge-model": options.judge_model,
        "--judge-preset": options.judge_preset or (None if remote else base_preset),
    }
    given = [part for option, value in chosen.items() if value for part in (option, value)]
    return ("--judge", "llm", "--judge-rubric", "db3", *given, "--context-check", "llm")


def _check_models(options: argparse.Namespace, recipe: Recipe, choices: Choices, preset: Settings) -> None:
    """Check the requirements of the tuning first, because the earlier steps may take hours."""
    changes = ["quantise=none"] if choices.device == "cpu" else []
    changes += [f'base="{choices.base}"'] if choices.base else []
    training = load_training(recipe.tuning, changes)
    check_tunable(training, model_folder(training.base), choices.device or "cpu")
    adapters = preset.language_model.adapters
    for name in recipe.table.get("needs", ()):
        if name in adapters:
            try:
                adapter_folder(adapters[name])
            except WeightsMissingError:
                raise CommandError(
                    f"{options.name} learns from what {name} finds, but {adapters[name]} does not exist yet: train it "
                    f"first ({_command_for(name, options, adapters[name])})"
                ) from None


def _command_for(name: str, options: argparse.Namespace, folder: str) -> str:
    """The command that trains another adapter of the preset into the folder that the preset names."""
    base_preset = ["--base-preset", options.base_preset] if options.base_preset else []
    is_usual = REPOSITORY / folder == ADAPTERS / options.config / name
    out = [] if is_usual else ["--out", folder]
    return shlex.join(["python", "-m", "training.adapters", name, "--config", options.config, *base_preset, *out])


def _looked_for_elsewhere(options: argparse.Namespace, preset: Settings | None, out: Path) -> str | None:
    """A hint if the preset names another folder for the adapter."""
    folder = preset.language_model.adapters.get(options.name) if preset is not None else None
    if preset is None or folder is None or (REPOSITORY / folder).resolve() == out:
        return None
    change = f"language_model.adapters.{options.name}={json.dumps(str(out))}"
    return f"preset {preset.name} looks for it in {folder}: change the preset, or pass --set {shlex.quote(change)}"


def _undone(steps: Sequence[RecipeStep]) -> list[RecipeStep]:
    """The first unfinished step and all steps after it."""
    first = next((number for number, step in enumerate(steps) if not step.done), len(steps))
    return list(steps[first:])


def _check_files(todo: Sequence[RecipeStep], out: Path, *, overwrite: bool) -> None:
    for option, path in (read for step in todo for read in step.reads):
        without = " or --no-real" if option == "--questions" else ""
        remedy = f'pass {option}{without} (docs/training.md, "What you need")'
        if not path:
            raise CommandError(f"nothing to learn from: {remedy}")
        if option not in {"--graph", "--reading"}:
            check_data_file(Path(path), remedy)
        elif not Path(path).is_dir():
            raise CommandError(f"{path}: no such folder; {remedy}")
        elif option == "--graph":
            check_whole(Path(path))
    if todo and (out / WEIGHTS_FILE).is_file() and not (overwrite or todo[-1].begun):
        raise CommandError(
            f"{out} holds a finished adapter: --out names another folder, --overwrite replaces the adapter"
        )


def _carry_out(todo: Sequence[RecipeStep], lock: int, *, overwrite: bool) -> int:
    for step in todo:
        step.record.unlink(missing_ok=True)  # later steps used outdated input
    for number, step in enumerate(todo, start=1):
        command = (*step.command, "--overwrite") if overwrite and step.command[0] == TUNING else step.command
        print(f"[{number}/{len(todo)}] python -m {shlex.join(command)}", flush=True)
        started = time.monotonic()
        step.begin()
        if code := _run(command, lock):
            mended = "fix the cause and run the same command again; if older work is in the way, pass another --work"
            advice = "run the same command again" if code < 0 else mended
            print(f"error: python -m {command[0]} ended with {code}; {advice}", file=sys.stderr)
            return code
        step.end()
        print(f"    done in {time.monotonic() - started:.0f} s", flush=True)
    return 0


def _run(command: Sequence[str], lock: int) -> int:
    """Run a step and return its exit code; the step ends with this process.

    After a SIGKILL the step keeps running. It holds the lock, so that nobody else writes there.
    """
    with subprocess.Popen(  # noqa: S603 - our own modules
        [sys.executable, "-m", *command], cwd=REPOSITORY, pass_fds=(lock,)
    ) as process:
        try:
            return process.wait()
        except Terminated:
            raise
        except KeyboardInterrupt:
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_SECONDS)
            raise
        finally:
            process.terminate()


if __name__ == "__main__":
    end_with(main)
