"""Main text of a page by resiliparse (Bevendorff et al., ECIR 2018), with what its heuristics lose put back.

It drops menus and boilerplate in about 10 ms a page, but also tables beside the article, where CRAG's answers often
live (an encyclopaedia's box of facts, a list of records). So data tables are written as rows before, and put at the
end where the main text left them out. Touching single nodes from Python is what costs time here, so whole tables are
read at once.
"""

from typing import TYPE_CHECKING, Any

from agents.web.extract.hidden import DROPPED_ELEMENTS, MAY_BE_HIDDEN_SELECTOR, is_hidden_style
from agents.web.extract.tables import is_data_table, row_text

if TYPE_CHECKING:
    from resiliparse.parse.html import ElementNode, HTMLTree

_SKIPPED = ["[hidden]", *DROPPED_ELEMENTS]
_NOT_CONTENT = "nav, footer, [role=navigation], .navbox"
_CELL_END = "\ue0f0"
_ROW_END = "\ue0f1"
"""Private-use characters that survive extraction and mark where cells and rows ended."""


class MainTextExtractor:
    """resiliparse's main content, all visible text where that is shorter than `fallback_characters`."""

    def __init__(self, fallback_characters: int) -> None:
        self._fallback_characters = fallback_characters

    def extract(self, html: str) -> str:
        """Text of one page."""
        from resiliparse.parse.html import HTMLTree

        tree = HTMLTree.parse(html)
        if tree.body is None:
            return ""
        _mark_hidden(tree)
        tables = _write_tables_as_rows(tree)
        main = _text_of(tree, main_content=True)
        if len(main) < self._fallback_characters:
            return max(_text_of(tree, main_content=False), main, key=len)
        lost = [rows for rows in tables if not _holds_rows(main, rows)]
        return "\n".join([main, *lost])


def _holds_rows(text: str, rows: str) -> bool:
    """Whether every row of a table stands in the text; one row alone may be the head of another table."""
    return all(row in text for row in rows.split("\n"))


def _text_of(html: "HTMLTree | str", *, main_content: bool, preserve_formatting: bool = True) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return str(
        extract_plain_text(
            html,
            preserve_formatting=preserve_formatting,
            main_content=main_content,
            list_bullets=False,
            alt_texts=False,
            skip_elements=_SKIPPED,
        )
    )


def _all(tree: "HTMLTree", selector: str) -> "tuple[ElementNode, ...]":
    """The elements that match. The slice matters: going over the collection itself runs the search anew for each."""
    return tuple(tree.body.query_selector_all(selector)[:]) if tree.body is not None else ()


def _mark_hidden(tree: "HTMLTree") -> None:
    """Give elements that an inline style hides the attribute that the extraction skips; clear it where a search finds
    it.
    """
    for node in _all(tree, MAY_BE_HIDDEN_SELECTOR):
        if node.getattr("hidden") == "until-found":
            node.delattr("hidden")
        elif is_hidden_style(node.getattr("style") or ""):
            node.setattr("hidden", "")


def _write_tables_as_rows(tree: "HTMLTree") -> list[str]:
    """Replace each innermost data table by its rows as text; return the texts of those that a reader would see as part
    of the content.
    """
    unseen = ", ".join([_NOT_CONTENT, *_SKIPPED])
    texts = []
    for table in _all(tree, "table"):
        if table.query_selector("table") is not None:
            continue
        rows = _rows(table)
        if not is_data_table(rows):
            continue
        text = "\n".join(line for line in map(row_text, rows) if line)
        is_content = table.closest(unseen) is None
        block: Any = tree.create_element("pre")
        block.text = text
        table.replace_with(block)
        if is_content:
            texts.append(text)
    return texts


def _rows(table: "ElementNode") -> list[list[str]]:
    marked = table.outer_html.replace("</td>", f"{_CELL_END}</td>").replace("</th>", f"{_CELL_END}</th>")
    marked = marked.replace("</tr>", f"<td>{_ROW_END}</td></tr>").replace("</caption>", f"{_ROW_END}</caption>")
    text = _text_of(marked, main_content=False, preserve_formatting=False)
    return [[" ".join(cell.split()) for cell in row.split(_CELL_END)] for row in text.split(_ROW_END)]
