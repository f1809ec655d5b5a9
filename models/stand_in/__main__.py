"""Write small random models instead of a preset's large ones: `python -m models.stand_in PRESET --to DIR`.

With them every preset starts and answers on a small machine (`make smoke PRESET=... STAND_INS=yes`): a rehearsal of
wiring and interfaces, never of quality. Models lie in DIR/NAME, so that CRAG_MODELS_DIR=DIR finds them; adapters and
classifiers lie in DIR/models/..., as they do in the repository. Exit code 0: all is there; 1: something cannot be made.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from models.needed import available_presets, read_preset
from models.stand_in.folders import StandInError, make_stand_ins


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m models.stand_in", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("preset", metavar="PRESET", help=f"{', '.join(available_presets())}, or a preset's file")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR", help="gets one folder per model")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    options = parser.parse_args(arguments)
    try:
        preset = _preset(options.preset)
        made = make_stand_ins(preset, options.to, seed=options.seed, say=lambda line: print(line, file=sys.stderr))
    except (StandInError, ValueError, OSError) as error:
        print(f"stand_in: {error}", file=sys.stderr)
        return 1
    for one in made:
        print(f"{one.name}: {one.what}")
    count = sum(one.is_stand_in for one in made)
    print(f"{options.to}: {count} stand-in(s), {len(made) - count} real; for rehearsals of wiring, never of quality")
    return 0


def _preset(name: str) -> dict[str, Any]:
    preset = read_preset(name)
    if preset is None:
        raise StandInError(f"there is no preset {name!r}; shipped presets: {', '.join(available_presets())}")
    return preset


if __name__ == "__main__":
    sys.exit(main())
