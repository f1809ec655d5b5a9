"""Elements of a page's own making that hold their text in a tree of their own (HTML, 4.12.3, `shadowrootmode`).

Parsers keep such a `<template>` away from the page, but a browser shows it.
"""

import re

_ATTRIBUTE = "shadowrootmode"
_TEMPLATE_TAG = re.compile(
    r"""<(?P<slash>/?)template\b(?P<rest>(?>(?:[^<>"']|"[^"]*+"|'[^']*+')*))>""",
    re.IGNORECASE,
)


def open_shadow_trees(html: str) -> str:
    """The page with the templates of shadow trees as `<div>`; other templates stay what they are.

    Example:
        open_shadow_trees("<x-fact><template shadowrootmode=open>Built 1931</template></x-fact>")
    """
    if _ATTRIBUTE not in html:
        return html

    is_shadow: list[bool] = []
    """For each open template, whether it is a shadow tree that a browser shows."""

    def rename(tag: re.Match[str]) -> str:
        if not tag["slash"]:
            # What is inside of a template that is not shown is not shown either.
            is_inside = bool(is_shadow) and not is_shadow[-1]
            is_shadow.append(_ATTRIBUTE in tag["rest"] and not is_inside)
            return "<div>" if is_shadow[-1] else tag[0]
        was_shadow = bool(is_shadow) and is_shadow.pop()
        return "</div>" if was_shadow else tag[0]

    return _TEMPLATE_TAG.sub(rename, html)
