"""Print the text of an HTML file as retrieval sees it."""

from collections.abc import Sequence
from pathlib import Path

from crag.commands.command_line import add_preset_arguments, command, parser_of
from crag.settings import load_settings
from crag.web import page_text


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the text. Exit code: 0 done, 2 the file cannot be read."""
    parser = parser_of("crag inspect pages", __doc__)
    parser.add_argument("file", metavar="FILE", type=Path, help="an HTML file")
    add_preset_arguments(parser)
    options = parser.parse_args(arguments)

    settings = load_settings(options.preset, options.set)
    # Bytes that are not UTF-8 must not stop the command: pages of the web have them
    html = options.file.read_bytes().decode("utf-8", "replace")
    print(page_text(html, settings.web.extract))
