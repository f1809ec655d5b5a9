"""Rehearse a preset without its weights: `crag smoke --preset P --stand-ins`.

The files that git has go into an empty folder, without home, caches and network. Small random models replace the
preset's (`crag models stand-in`), and its engine answers four questions, with the shipped graph if the preset asks one.
This tests wiring, not quality, memory or speed. A preset with vLLM needs the environment of
requirements/vllm-cpu.txt. Without --stand-ins the cache's weights are used.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from crag.commands.command_line import command, parser_of
from crag.core.places import REPOSITORY
from crag.submission.preflight.subject import NotApplicableError
from crag.submission.smoke import smoke


@command(NotApplicableError, subprocess.TimeoutExpired)
def main(arguments: Sequence[str] | None = None, repository: Path = REPOSITORY) -> None:
    """Command line."""
    parser = parser_of("crag smoke", __doc__, "Exit code: 0 the preset is wired well; 2 it is not, and why.")
    parser.add_argument("--preset", default="scripted", help="default: %(default)s, a fake model")
    parser.add_argument(
        "--stand-ins",
        action="store_true",
        help="small random models replace the preset's",
    )
    options = parser.parse_args(arguments)
    smoke(repository, options.preset, stand_ins=options.stand_ins)
