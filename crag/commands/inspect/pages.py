"""Print the text of a page as retrieval sees it: of what `crag ask --pages` reads, a file, a folder or a URL."""

from collections.abc import Sequence

from crag.asking.chosen_pages import settings_for_chosen_pages
from crag.asking.documents import read_documents
from crag.commands.command_line import add_preset_arguments, command, parser_of, say
from crag.core.files import UserError
from crag.settings import load_settings


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the texts, of several pages under their addresses."""
    parser = parser_of("crag inspect pages", __doc__, "Exit code: 0 done; 2 no page can be read.")
    parser.add_argument(
        "place",
        metavar="PLACE",
        help="a file (HTML, text, Markdown, PDF, DOCX, XLSX, PPTX, ODT, ODS, ODP, EPUB, RTF, CSV, TSV, JSON), a folder "
        "or a URL",
    )
    add_preset_arguments(parser)

    options = parser.parse_args(arguments)

    settings = settings_for_chosen_pages(load_settings(options.preset, options.set))
    documents = read_documents(options.place, settings.web.extract, say)
    if not documents:
        raise UserError(f"no readable page: {options.place}")

    for document in documents:
        if len(documents) > 1:
            print(f"# {document.address}")
        print(document.text)
