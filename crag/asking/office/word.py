"""A DOCX as HTML, by mammoth: headings, lists, tables, notes; without deleted text and comments."""

import io

from crag.asking.markdown import without_links

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
    return without_links(result.value)
