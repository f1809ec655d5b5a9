"""Delete the indexes that `crag ask --pages` keeps: all, or those of some places. Your own files stay as they are."""

from collections.abc import Sequence

from crag.asking.index import clear_indexes, index_folder
from crag.commands.command_line import command, parser_of, say


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Delete indexes and say which."""
    parser = parser_of("crag index clear", __doc__, "Exit code: 0 done, also if there was none.")
    parser.add_argument(
        "places",
        metavar="PLACE",
        nargs="*",
        help="a folder or file as it was given to --pages; default: all indexes",
    )

    options = parser.parse_args(arguments)

    cleared = clear_indexes(options.places)
    if not cleared:
        places = f" of {', '.join(options.places)}" if options.places else ""
        say(f"{index_folder()}: no index{places}; crag index list shows the places of all")
    for index in cleared:
        print(f"deleted: {', '.join(index.places) or index.file} ({index.bytes / 1e6:.1f} MB)")
