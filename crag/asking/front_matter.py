"""The fields at the top of a Markdown text, between lines of hyphens (YAML) or pluses (TOML).

Names and values are read, not the rest of the two languages: people look for who wrote a text, when, and on what.
"""

import re

_BLOCK = re.compile(
    r"""
    \A (?P<mark> ---|\+\+\+ ) [ \t]* \n
    (?P<fields> .*? ) ^
    (?P=mark) [ \t]* (?: \n | \Z )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_FIELD = re.compile(r"(?P<name>[^\W\d][\w .-]{0,60}?)[ \t]*[:=](?:[ \t]+(?P<value>.*))?")
_FOLDED = re.compile(r"[>|][+-]?")
"""The mark of a value that follows on the lines below."""


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    r"""The fields before a text, and the text. Where the first line is not a field, the hyphens are a line of the text.

    >>> split_front_matter("---\nauthor: 'Mia Lund'\ntags: [boats, ropes]\n---\nOn ropes")
    ({'author': 'Mia Lund', 'tags': 'boats, ropes'}, 'On ropes')
    """
    block = _BLOCK.match(text)
    if block is None:
        return {}, text
    lines = [line for line in block["fields"].splitlines() if line.strip() and line[0] != "#"]
    if not lines or not _FIELD.fullmatch(lines[0].rstrip()):
        return {}, text

    fields = {name: _join(parts) for name, parts in _read_values(lines).items()}
    return {name: value for name, value in fields.items() if value}, text[block.end() :]


def _read_values(lines: list[str]) -> dict[str, list[str]]:
    """The values of the fields by their names: each with the lines below it that belong to it."""
    values: dict[str, list[str]] = {}
    for line in lines:
        field = _FIELD.fullmatch(line.rstrip())
        is_item = line.startswith("-")
        if field and not line[0].isspace() and not is_item:
            name = field["name"].replace("_", " ")
            value = field["value"] or ""
            values[name] = [] if _FOLDED.fullmatch(value) else [value]
        elif values:
            # A line below its field: an item of a list, or a text that goes on.
            values[name].append(line)
    return values


def _join(parts: list[str]) -> str:
    """A value without quotes and brackets; items are set apart by commas."""
    is_list = any(part.lstrip().startswith("- ") for part in parts)
    in_brackets = len(parts) == 1 and parts[0].startswith("[")
    items = parts[0].strip("[] ").split(",") if in_brackets else parts
    cleaned = [item.strip().removeprefix("- ").strip("\"' ") for item in items]
    return (", " if is_list or in_brackets else " ").join(filter(None, cleaned))
