"""The rows of Markdown's tables as texts, then as HTML: markdown-it has a kilobyte of tokens for each cell."""

from typing import TYPE_CHECKING

from markdown_it.rules_block import table as read_table
from markdown_it.token import Token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.utils import EnvType, OptionsDict

ROWS_AT_ONCE = 1_000
"""Of which all tokens are in memory; two at least, which make room for the head above the next ones."""

_ROWS = "rows_of_table"
"""Type of the token that holds rows."""


def table_rows_plugin(parser: "MarkdownIt") -> None:
    """Let a parser keep the rows of tables as the texts of their cells, and then as their HTML."""
    parser.block.ruler.at("table", _read_table, {"alt": ["paragraph", "reference"]})
    parser.core.ruler.after("inline", _ROWS, _write_rows)
    parser.add_render_rule(_ROWS, _render_rows)


def _read_table(state: "StateBlock", start_line: int, end_line: int, silent: bool) -> bool:
    """Read a table: its first rows, then others as if the head stood above them."""
    last_line = min(end_line, start_line + 2 + ROWS_AT_ONCE)
    first_token = len(state.tokens)
    if not read_table(state, start_line, last_line, silent):
        return False
    if silent or state.line == start_line + 2:  # without rows
        return True

    rows = _take_rows(state, first_token)
    ends = state.tokens[-2:]
    del state.tokens[-2:]
    while rows:
        state.push(_ROWS, "", 0).meta = {"rows": rows}
        rows = _read_more_rows(state, start_line, end_line) if state.line == last_line else []
        last_line = min(end_line, last_line + ROWS_AT_ONCE)
    state.tokens += ends
    return True


def _read_more_rows(state: "StateBlock", head_line: int, end_line: int) -> list[list[str]]:
    """The next rows of a table whose head begins at a line; none behind its end."""
    line = state.line
    # What was read is not needed any more.
    for places in (state.bMarks, state.eMarks, state.tShift, state.sCount, state.bsCount):
        places[line - 2 : line] = places[head_line : head_line + 2]

    first_token = len(state.tokens)
    is_table = line < end_line and read_table(state, line - 2, min(end_line, line + ROWS_AT_ONCE), False)
    rows = _take_rows(state, first_token) if is_table and state.line > line else []
    del state.tokens[first_token:]
    return rows


def _take_rows(state: "StateBlock", first_token: int) -> list[list[str]]:
    """The texts of a table's cells, whose tokens are the last ones; those of the body's rows are taken away."""
    tokens = state.tokens
    body = next(place for place in range(first_token, len(tokens)) if tokens[place].type == "tbody_open") + 1
    rows: list[list[str]] = []
    for token in tokens[body:-2]:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(token.content)
    del tokens[body:-2]
    return rows


def _write_rows(state: "StateCore") -> None:
    """Write the rows of tables as HTML; what links refer to is known by now."""
    for token in state.tokens:
        if token.type == _ROWS:
            lines = []
            for row in token.meta.pop("rows"):
                cells = [f"<td>{_write_cell(text, state)}</td>" for text in row]
                lines.append(f"<tr>{''.join(cells)}</tr>\n")
            token.content = "".join(lines)


def _write_cell(text: str, state: "StateCore") -> str:
    pieces: list[Token] = []
    state.md.inline.parse(text, state.md, state.env, pieces)
    for piece in pieces:
        if piece.type == "text_special":  # an escaped character
            piece.type = "text"
    return str(state.md.renderer.render([Token("inline", "", 0, children=pieces)], state.md.options, state.env))


def _render_rows(
    _renderer: "RendererHTML", tokens: "Sequence[Token]", place: int, _options: "OptionsDict", _env: "EnvType"
) -> str:
    return tokens[place].content
