"""Make tables from the official graph files.

OFFICIAL_FOLDER is `mock_api/cragkg` of the CRAG repository, with its files fetched by Git LFS. No code in its pickles
is run. After a kill or an error, run the same command again; it makes the tables that are not there yet.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from crag.commands.command_parser import CommandParser
from crag.commands.ending import EXIT_INTERRUPTED, EXIT_UNUSABLE
from crag.mock_api.tables import GraphError


def main(arguments: Sequence[str] | None = None) -> int:
    """Import."""
    parser = CommandParser(
        prog="crag graph import",
        description=__doc__,
        epilog="Exit code: 0 complete; 2 something could not be imported; 130 interrupted.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )

    parser.add_argument(
        "folder",
        type=Path,
        metavar="OFFICIAL_FOLDER",
        help="the folder cragkg, with open/ ...",
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="new folder for the tables",
    )
    parser.add_argument("--partial", action="store_true", help="import although files are missing")

    options = parser.parse_args(arguments)

    try:
        from crag.mock_api.official.importer import import_graph

        import_graph(options.folder, options.out, partial=options.partial)
    except (GraphError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_UNUSABLE
    except KeyboardInterrupt:
        print("stopped; continue with the same command", file=sys.stderr)
        return EXIT_INTERRUPTED
    return 0
