"""Write the int8 weights of a Hugging Face folder and the OpenVINO graph that reads them: half the size, fast on CPUs.

Each row of a matrix has its own scale, so that its largest value becomes 127 (symmetric, no zero point). Vectors stay
float32. `crag models fetch` writes them for the models of the manifest.
"""

from collections.abc import Sequence
from pathlib import Path

from crag.commands.command_line import command, parser_of
from crag.weights.conversion.int8 import write_int8


@command(ValueError)
def main(arguments: Sequence[str] | None = None) -> None:
    """Convert."""
    parser = parser_of("crag models int8", __doc__, "Exit code: 0 written; 2 the folder cannot be used.")
    parser.add_argument("folder", type=Path, help="folder with config.json and model.safetensors")
    write_int8(parser.parse_args(arguments).folder)
