"""Choose the task of the next submission: `make task1`, `make task2`, `make task3`, optionally with PRESET=...

Two files must agree: `aicrowd.json` names the challenge, `agents/active.toml` the preset (the evaluator passes
no environment variables of ours). This changes only these two entries. Standard library only, so that it runs before
anything is installed.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from crag.submission.preflight import CHALLENGES


def main(arguments: list[str] | None = None, root: Path = Path(__file__).parents[2]) -> int:
    """Write task and preset into the two files under `root`; exit code 1: one cannot be used, nothing was written."""
    description_file = root / "aicrowd.json"
    active_file = root / "agents" / "active.toml"
    options = _parse(arguments, root)

    try:
        description = json.loads(description_file.read_text(encoding="utf-8-sig"))
        description["challenge_id"] = CHALLENGES[options.task]
    except (OSError, ValueError, TypeError, RecursionError) as error:
        restore = "the last commit's: git checkout aicrowd.json"
        sys.stderr.write(f"error: aicrowd.json cannot be used: {error}; {restore}\n")
        return 1

    line = f'preset = "{options.preset}"'
    try:
        # Only the one line, so that comments in the file stay
        active, count = re.subn(
            r'(?m)^preset\s*=\s*"[^"]*"[ \t]*$',
            line,
            active_file.read_text(encoding="utf-8"),
        )
    except (OSError, ValueError) as error:
        sys.stderr.write(f"error: agents/active.toml cannot be used: {error}\n")
        return 1
    # Both files are checked before either is written, so that they always agree
    if count != 1:
        sys.stderr.write(f"error: agents/active.toml: exactly one line like {line} is expected, found {count}\n")
        return 1

    text = json.dumps(description, indent=2, ensure_ascii=False) + "\n"
    description_file.write_text(text, encoding="utf-8", newline="\n")
    active_file.write_text(active, encoding="utf-8", newline="\n")
    sys.stdout.write(f"{options.task}: {CHALLENGES[options.task]}, preset {options.preset}\n")
    return 0


def _parse(arguments: list[str] | None, root: Path) -> argparse.Namespace:
    shipped = sorted(path.stem for path in (root / "crag" / "presets").glob("*.toml"))

    def preset(text: str) -> str:
        is_own = text.endswith(".toml") and (root / text).is_file() and not Path(text).is_absolute()
        if text not in shipped and not is_own:
            known = f"{', '.join(shipped)}, or the path of a .toml file in this repository"
            raise argparse.ArgumentTypeError(f"there is no preset {text!r}; known: {known}")
        return text

    parser = argparse.ArgumentParser(
        prog="python -m crag.submission.select_task",
        description=(__doc__ or "").splitlines()[0],
    )
    parser.add_argument("task", choices=sorted(CHALLENGES))
    parser.add_argument(
        "--preset",
        metavar="NAME|FILE.toml",
        type=preset,
        default="submission",
        help="a shipped preset, or the path of your own file in this repository; default: %(default)s",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
