"""Import the official graph as tables: python -m mock_api.tables import OFFICIAL_FOLDER --out DIR.

OFFICIAL_FOLDER is `mock_api/cragkg` of the CRAG repository, with its files fetched by Git LFS. No code in its pickles
is run. After a kill or a fault, run the same command again; it makes the tables that are not there yet.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mock_api.tables import GraphError


def main(arguments: Sequence[str] | None = None) -> int:
    """Import. Exit code: 0 complete, 1 something could not be imported, 130 interrupted."""
    parser = argparse.ArgumentParser(prog="python -m mock_api.tables", description=__doc__)
    command = parser.add_subparsers(required=True).add_parser("import", help="make tables from official files")
    command.add_argument("folder", type=Path, metavar="OFFICIAL_FOLDER", help="the folder cragkg, with open/ ...")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="new folder for the tables")
    command.add_argument("--partial", action="store_true", help="import although files are missing")
    options = parser.parse_args(arguments)
    try:
        from mock_api.official.importer import import_graph

        import_graph(options.folder, options.out, partial=options.partial)
    except (GraphError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; continue with the same command", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
