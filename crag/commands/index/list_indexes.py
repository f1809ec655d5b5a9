"""List the indexes that `crag ask --pages` keeps of folders with many pages: places, pages, bytes and last use."""

from collections.abc import Sequence

from crag.asking.index import index_folder, list_indexes
from crag.commands.command_line import command, parser_of, say
from crag.core.text import counted


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each index, the last used first."""
    parser = parser_of(
        "crag index list",
        f"{__doc__}\n\nThe folder is $CRAG_INDEX_DIR, else ~/.cache/crag-index.",
        "Exit code: 0 done, also if there is none.",
    )
    parser.parse_args(arguments)

    indexes = list_indexes()
    if not indexes:
        say(f"{index_folder()}: no index")
    for index in indexes:
        sources = ", ".join(index.places) or "damaged"
        print(f"{index.used:%Y-%m-%d %H:%M}  {counted(index.pages, 'page')}  {index.bytes / 1e6:.1f} MB  {sources}")
