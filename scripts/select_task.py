"""Choose the task of the next submission: `make task1`, `make task2`, `make task3`, optionally with PRESET=...

Two files must agree: `aicrowd.json` names the challenge, `agents/presets/active.toml` the preset (the evaluator passes
no environment variables of ours). This changes only these two entries. Standard library only, so that it runs before
anything is installed.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from evaluation.preflight.challenges import CHALLENGES

DEFAULT_PRESET = "submission"
_PRESET_LINE = re.compile(r'^preset\s*=\s*"[^"]*"[ \t]*$', re.MULTILINE)


class SelectionError(RuntimeError):
    """A file or preset cannot be used; the message names it. Nothing was written."""


def select_task(root: Path, task: str, preset: str = DEFAULT_PRESET) -> None:
    """Write task and preset into the two files under `root`; raises `SelectionError`, before writing, if it cannot."""
    known = sorted(path.stem for path in (root / "agents" / "presets").glob("*.toml") if path.stem != "active")
    if preset not in known:
        raise SelectionError(f"no preset {preset!r}; known: {', '.join(known)}")
    description_file, active_file = root / "aicrowd.json", root / "agents" / "presets" / "active.toml"
    try:
        description = json.loads(description_file.read_text(encoding="utf-8"))
        active, count = _PRESET_LINE.subn(f'preset = "{preset}"', active_file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SelectionError(f"cannot read {description_file.name} or {active_file.name}: {error}") from error
    if not isinstance(description, dict):
        raise SelectionError(f"{description_file}: an object is expected")
    if count != 1:
        raise SelectionError(f'{active_file}: exactly one line like preset = "{preset}" is expected')
    description["challenge_id"] = CHALLENGES[task]
    for path, text in (
        (description_file, json.dumps(description, indent=2, ensure_ascii=False) + "\n"),
        (active_file, active),
    ):
        partial = path.with_name(path.name + ".part")
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(path)


def main(arguments: list[str] | None = None, root: Path = Path(__file__).parents[1]) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.select_task", description="Choose challenge and preset of the submission."
    )
    parser.add_argument("task", choices=sorted(CHALLENGES))
    parser.add_argument("--preset", default=DEFAULT_PRESET, help="a name in agents/presets (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        select_task(root, options.task, options.preset)
    except SelectionError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{options.task}: {CHALLENGES[options.task]}, preset {options.preset}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
