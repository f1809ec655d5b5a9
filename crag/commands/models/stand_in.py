"""Write small random models instead of a preset's large ones: `crag models stand-in PRESET --to DIR`.

With them every preset starts and answers on a small machine (`make smoke PRESET=... STAND_INS=yes`). This tests wiring
and interfaces, not quality. A stand-in has the architecture, file names and chat template of its model, and its
tokenizer where a package has it; `fetched.toml` in its folder marks it, so that no check takes it for the model. Models
are in DIR/NAME, where CRAG_MODELS_DIR=DIR finds them; adapters and classifiers are in DIR/models/..., as in the
repository.
"""

from collections.abc import Sequence
from pathlib import Path

from crag.commands.command_line import command, parser_of, read_changed_preset
from crag.core.files import UserError
from crag.submission.stand_in import make_stand_ins
from crag.weights.preset_files import available_presets


@command(ValueError, code=1)
def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; returns the exit code."""
    parser = parser_of(
        "crag models stand-in", __doc__, "Exit code: 0 all are there; 1 something cannot be made; 2 wrong arguments."
    )
    parser.add_argument(
        "preset",
        metavar="PRESET",
        help=f"{', '.join(available_presets())}, or a preset's file",
    )
    parser.add_argument(
        "--to",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder for the models, one folder each",
    )

    options = parser.parse_args(arguments)
    preset = read_changed_preset(options.preset)
    if preset is None:
        raise UserError(f"no preset {options.preset!r}; shipped presets: {', '.join(available_presets())}")
    for name, is_random in make_stand_ins(preset, options.to).items():
        print(f"{name}: {'stand-in' if is_random else 'real'}")
