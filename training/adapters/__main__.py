"""Train a shipped adapter from nothing: python -m training.adapters kg_writer --out DIR.

The steps are those of recipes.toml; docs/training.md tells which files they need. A step that is done is left out, one
that was stopped goes on where it was: after a kill, give the same command again. --dry-run shows the commands.
"""

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agents.datasets import DatasetError
from evaluation.folder_lock import FolderInUseError, written_alone
from evaluation.termination import Terminated, stopped_in_order
from training.adapters.recipe import GivenFiles, Step, file_options, recipes, steps
from training.data_files import check_data_file
from training.folds import parse_fold
from training.lora.model import WEIGHTS_FILE

REPOSITORY = Path(__file__).parents[2]
ADAPTERS = REPOSITORY / "models" / "adapters" / "cpu"
TUNING = "training.lora"
GRACE_SECONDS = 5.0
"""Ctrl-C in a terminal reaches the step, too: so long it may take to end in its own way."""
EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143


class NotReadyError(RuntimeError):
    """A folder that a step reads is missing, or an adapter is in the way; the message names the option that helps."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is not done yet; the exit code is that of the first step that fails."""
    options = _options(arguments)
    work = (options.work or REPOSITORY / "results" / "training" / options.name).resolve()
    out = (options.out or ADAPTERS / options.name).resolve()
    files = GivenFiles(options.questions, tuple(options.graph), options.contexts, real=not options.no_real)
    made = steps(options.name, work, out, files, options.hold_out)
    if options.dry_run:
        for step in _undone(made):
            print(f"python -m {shlex.join(step.command)}")
        return 0
    try:
        with written_alone(work) as lock, stopped_in_order():
            todo = _undone(made)
            _check(todo, out, overwrite=options.overwrite)
            code = _carry_out(todo, lock, overwrite=options.overwrite)
    except (DatasetError, FolderInUseError, NotReadyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as interrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        return EXIT_TERMINATED if isinstance(interrupt, Terminated) else EXIT_INTERRUPTED
    if not code:
        print(f"the adapter is in {out}")
    return code


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m training.adapters", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=recipes())
    parser.add_argument("--questions", type=Path, metavar="FILE", help="labelled questions with their calls")
    parser.add_argument("--no-real", action="store_true", help="do without --questions: learn from made-up ones alone")
    parser.add_argument(
        "--graph", type=Path, action="append", default=[], metavar="DIR",
        help="folder of graph tables, the one that --questions were labelled on first; may be given several times",
    )  # fmt: skip
    parser.add_argument("--contexts", type=Path, metavar="FILE", help="questions with segments of web pages")
    parser.add_argument("--work", type=Path, help="folder of what is made on the way (default: results/training/NAME)")
    parser.add_argument("--out", type=Path, help="folder of the adapter (default: models/adapters/cpu/NAME)")
    parser.add_argument("--overwrite", action="store_true", help="replace the adapter that is in --out")
    parser.add_argument(
        "--hold-out", type=_fold, metavar="I/K", help="fold to keep out, or none (default: as it shipped)"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the commands that are not done yet")
    options = parser.parse_args(arguments)
    given = {name for name in ("questions", "graph", "contexts") if getattr(options, name)}
    given |= {"questions"} if options.no_real else set()
    for name in sorted(given - file_options(options.name)):
        parser.error(f"{options.name} does not learn from --{name}")
    return options


def _fold(text: str) -> str:
    try:
        return text if text == "none" else str(parse_fold(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _undone(made: Sequence[Step]) -> list[Step]:
    """The steps from the first one on that is not done."""
    first = next((number for number, step in enumerate(made) if not step.done), len(made))
    return list(made[first:])


def _check(todo: Sequence[Step], out: Path, *, overwrite: bool) -> None:
    for step in todo:
        for option, path in step.reads:
            without = " or --no-real" if option == "--questions" else ""
            remedy = f'give {option}{without} (docs/training.md, "What you need")'
            if option != "--graph":
                check_data_file(Path(path), remedy)
            elif not Path(path).is_dir():
                raise NotReadyError(f"{path}: there is no such folder; {remedy}")
    if todo and (out / WEIGHTS_FILE).is_file() and not (overwrite or todo[-1].begun):
        raise NotReadyError(
            f"{out} holds a finished adapter: --out names another folder, --overwrite replaces the adapter"
        )


def _carry_out(todo: Sequence[Step], lock: int, *, overwrite: bool) -> int:
    for step in todo:
        step.record.unlink(missing_ok=True)  # what comes later was made of something old
    for number, step in enumerate(todo, start=1):
        command = (*step.command, "--overwrite") if overwrite and step.command[0] == TUNING else step.command
        print(f"[{number}/{len(todo)}] python -m {shlex.join(command)}", flush=True)
        started = time.monotonic()
        step.begin()
        if code := _run(command, lock):
            advice = "the same command goes on" if code < 0 else "once that is mended, the same command goes on with it"
            print(f"error: python -m {command[0]} ended with {code}; {advice}", file=sys.stderr)
            return code
        step.end()
        print(f"    done in {time.monotonic() - started:.0f} s", flush=True)
    return 0


def _run(command: Sequence[str], lock: int) -> int:
    """The exit code of a step, which is ended where this process is.

    After SIGKILL it goes on alone; it has the lock, so that until its end nobody else writes there.
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
    sys.exit(main())
