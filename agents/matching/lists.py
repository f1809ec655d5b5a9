"""Lists of names in texts."""

import re

_LISTED = re.compile(r"(?m)(?:^|\s)\(?(?P<number>\d{1,2})[.)](?:\s+\S|\s*$)")


def split_list(text: str) -> list[str]:
    """The items of a list in words. "And" separates only the last two, as it can be part of a name."""
    if ";" in text or "\n" in text:
        return re.split(r"[;\n]", text)
    parts = re.split(r",(?!\d{3}\b)", text)
    last = parts.pop()
    joined = re.match(r"\s*(?:and|or|&)\s+(.*)", last, re.DOTALL)
    if joined:
        return [*parts, joined[1]]
    return [*parts, *re.split(r"\s(?:and|&)\s(?!.*\s(?:and|&)\s)", last)]


def count_listed(text: str) -> int:
    """How many items a numbered or bulleted list in the text has; 0 without one."""
    found = [int(match["number"]) for match in _LISTED.finditer(text)]
    if 1 in found and 2 in found:
        return max(found)
    bullets = len(re.findall(r"(?m)^\s*[-*•]\s+\S", text))
    return bullets if bullets > 1 else 0
