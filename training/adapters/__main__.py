"""Train a shipped adapter from nothing: python -m training.adapters kg_writer.

The steps are those of recipes.toml. A step that is done is left out, one that was stopped goes on where it was: after a
kill, give the same command again. --dry-run shows the commands.
"""

import argparse
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[2]
RECIPES = Path(__file__).with_name("recipes.toml")
ADAPTERS = REPOSITORY / "models" / "adapters" / "cpu"


class Step(NamedTuple):
    """A module with its arguments, and the file that holds this command once it was carried out."""

    command: tuple[str, ...]
    record: Path

    @property
    def done(self) -> bool:
        """Whether this very command was carried out in this work folder."""
        return self.record.is_file() and self.record.read_text(encoding="utf-8") == shlex.join(self.command)


def recipes() -> list[str]:
    """Names of the adapters that can be trained."""
    return list(tomllib.loads(RECIPES.read_text(encoding="utf-8")))


def steps(name: str, work: Path, out: Path, hold_out: str | None = None) -> list[Step]:
    """What makes the adapter of that name.

    Args:
        name: One of `recipes`.
        work: Folder of everything that is made on the way.
        out: The adapter's folder.
        hold_out: A fold (``0/2``) that is kept out of the training, to be measured on; ``none``: learn from everything;
            None: as the recipe says, which is how the shipped adapter was made.
    """
    recipe = tomllib.loads(RECIPES.read_text(encoding="utf-8"))[name]
    made = []
    fold = hold_out or recipe.get("hold_out", "none")
    for number, step in enumerate(recipe["steps"], start=1):
        module, *arguments = (part.replace("{work}", str(work)).replace("{out}", str(out)) for part in step["run"])
        if module == "training.lora" and fold != "none":
            arguments += ["--hold-out", fold]
        made.append(Step((module, *arguments), work / f"step-{number}.done"))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is not done yet; the exit code is that of the first step that fails."""
    parser = argparse.ArgumentParser(
        prog="python -m training.adapters", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=recipes())
    parser.add_argument("--work", type=Path, help="folder of what is made on the way (default: results/training/NAME)")
    parser.add_argument("--out", type=Path, help="folder of the adapter (default: models/adapters/cpu/NAME)")
    parser.add_argument("--hold-out", metavar="I/K", help="fold to keep out, or none (default: as it shipped)")
    parser.add_argument("--dry-run", action="store_true", help="show the commands that are not done yet")
    options = parser.parse_args(arguments)
    work = (options.work or REPOSITORY / "results" / "training" / options.name).resolve()
    out = (options.out or ADAPTERS / options.name).resolve()
    todo = _undone(steps(options.name, work, out, options.hold_out))
    for step in () if options.dry_run else todo:
        step.record.unlink(missing_ok=True)  # what comes later was made of something old
    for number, step in enumerate(todo, start=1):
        print(f"[{number}/{len(todo)}] python -m {shlex.join(step.command)}", flush=True)
        if options.dry_run:
            continue
        work.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        code = subprocess.run(  # noqa: S603 - our own modules
            [sys.executable, "-m", *step.command], cwd=REPOSITORY, check=False
        ).returncode
        if code:
            print(f"error: python -m {step.command[0]} ended with {code}; the same command goes on", file=sys.stderr)
            return code
        step.record.write_text(shlex.join(step.command), encoding="utf-8")
        print(f"    done in {time.monotonic() - started:.0f} s", flush=True)
    if not options.dry_run:
        print(f"the adapter is in {out}")
    return 0


def _undone(made: Sequence[Step]) -> list[Step]:
    """The steps from the first one on that is not done."""
    first = next((number for number, step in enumerate(made) if not step.done), len(made))
    return list(made[first:])


if __name__ == "__main__":
    sys.exit(main())
