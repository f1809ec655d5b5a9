"""What a page says only to browsers without scripts, in its head.

Parsers without scripts close the head there, and its words would stand in the page. A browser of today shows none.
"""

import re

_BODY = re.compile(r"<body\b", re.IGNORECASE)
_NOSCRIPT = re.compile(
    r"""
    <noscript \b [^<>]*+ >
    (?> (?: (?! <!-- | --> | </? (?: script | noscript ) \b ) . )* )    # not what a script or a comment holds
    </noscript \s*+ >
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)


def drop_noscript_of_head(html: str) -> str:
    """The page without the `<noscript>` elements before its body; those in the body are dropped with other elements.

    Example:
        drop_noscript_of_head("<head><noscript>Turn on scripts</noscript><body>Kites")  # "<head><body>Kites"
    """
    if not _NOSCRIPT.search(html):
        return html
    body = _BODY.search(html)
    end = body.start() if body else len(html)
    return _NOSCRIPT.sub("", html[:end]) + html[end:]
