"""What a reader of the page would not see, as far as the HTML itself says so.

Covered: the `hidden` attribute, and inline styles that remove or hide an element or move it off the screen. Not
covered: style sheets, scripts, colours, sizes and opacity, which cannot be judged without rendering. `aria-hidden`
elements are not hidden from eyes, only from screen readers, so nothing here drops them. `<noscript>` goes, because
the reader's browser runs scripts.
"""

import re

DROPPED_ELEMENTS = ("script", "style", "noscript", "template", "iframe", "svg", "canvas", "object", "select")
"""Never text for the reader. A `select` is a list of choices that nobody wrote as prose."""

MAY_BE_HIDDEN_SELECTOR = '[style*="display" i], [style*="visibility" i], [style*="-9"], [hidden="until-found"]'
"""CSS selector of the elements whose style is worth reading; `is_hidden_style` decides."""

_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:left|top|text-indent)\s*:\s*-9{3,}",
    re.IGNORECASE,
)


def is_hidden_style(style: str) -> bool:
    """Whether an inline style keeps the element from being seen."""
    return _HIDING_STYLE.search(style) is not None
