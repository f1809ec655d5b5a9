"""A DOCX as HTML, by mammoth: headings, lists, tables, notes; without deleted text and comments."""

import io

from crag.asking.markdown import without_links
from crag.asking.tables import names_columns

_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => h2:fresh
"""


def read_word(content: bytes) -> str:
    """The HTML of a document. Pictures go."""
    import mammoth

    def drop(_: object) -> list[object]:
        return []

    result = mammoth.convert_to_html(io.BytesIO(content), style_map=_STYLES, convert_image=drop)
    return _mark_headers(without_links(result.value))


def _mark_headers(markup: str) -> str:
    """HTML whose tables have a header row where their first row names the columns: few authors tell Word so."""
    from bs4 import BeautifulSoup

    page = BeautifulSoup(markup, "lxml")
    for table in page.find_all("table"):
        rows = table.find_all("tr")
        texts = [[cell.get_text(" ", strip=True) for cell in row.find_all(["td", "th"])] for row in rows]
        if len(rows) > 1 and not table.find("th") and any(texts[0]) and names_columns(texts[0], texts[1:]):
            for cell in rows[0].find_all("td"):
                cell.name = "th"
    return str(page)
