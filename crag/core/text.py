"""The one cleaning function for external text; it accepts any input.

It cleans questions, names, snippets, values of the knowledge graph, rows of question files and generations. HTML is
only made `encodable` here: cleaning 50 pages of markup takes seconds, so the processes that read pages do it.
"""

import html
import math
import re
from urllib.parse import urlsplit

import regex

from crag.core.model_marks import CONTROL_TOKENS

MOST_MARKS = 30
"""Maximum combining marks per character (as in Unicode's Stream-Safe Text Format, UAX 15); normalising takes quadratic
time in their number."""

_LINE_END = re.compile("[\r\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")
_INVISIBLE = regex.compile(r"(?V1)[[\p{Cc}\p{Cf}]--[\t\n]]+")
"""Format characters (zero width, direction overrides, soft hyphen, tag characters) and control characters."""

_CONTROL_TOKEN = re.compile(CONTROL_TOKENS, re.IGNORECASE)

_CREDENTIALS = re.compile(
    r"""
    (?<=//)
    [^\s/:@]{0,100}       # the user; without a slash, so that an @ in a path is none
    (?: : \S{0,200} )?    # the password, with any characters
    @
    """,
    re.VERBOSE,
)

_MARK = r"[\p{M}\uff9e\uff9f]"
"""The last two, halfwidth Japanese sound marks, are letters in Unicode, but normal forms make combining marks of them.
"""
_LOOSE_MARKS = regex.compile(
    rf"""
      \A {_MARK}+                              # no base character before them
    | (?<= {_MARK}{{{MOST_MARKS}}} ) {_MARK}+    # beyond the maximum
    """,
    regex.VERBOSE,
)

_LONG_NUMBER = re.compile(
    r"""
    &\# (?= [0-9]{9} )     # a reference of nine digits or more; shorter ones stay as they are
    0*+
    ( [0-9]{0,8} )         # eight digits are already beyond the last character
    [0-9]*+
    """,
    re.VERBOSE,
)


def clean(value: object, *, references: bool = False, max_characters: int | None = None) -> str:
    r"""The value as text without characters that break libraries or hide words; "" for anything but a string.

    Lone surrogates become U+FFFD. Control and format characters are dropped, but tabs stay and all line ends become
    ``\n``. Combining marks without a base character or beyond `MOST_MARKS` are dropped. The result is never longer than
    the value, and cleaning it again changes nothing. `references`: replace character references (``&amp;``, ``&#x27;``)
    once, by the rules of HTML 5. `max_characters`: use at most this many of the first characters.
    """
    if not isinstance(value, str):
        return ""

    text = value if max_characters is None else value[:max_characters]
    if references and "&" in text:
        # `html.unescape` fails above Python's limit of 4,300 digits; no character has more than seven.
        text = html.unescape(_LONG_NUMBER.sub(lambda reference: f"&#{reference[1] or 0}", text))

    # Most names and questions end here.
    if text.isascii() and text.isprintable():
        return text

    # These line ends first, or each would become two.
    text = encodable(text).replace("\r\n", "\n")
    text = _LINE_END.sub("\n", text)
    text = _INVISIBLE.sub("", text)
    return text if text.isascii() else str(_LOOSE_MARKS.sub("", text))


def without_control_tokens(text: str, model_tokens: re.Pattern[str] | None = None) -> str:
    """The text with a blank inside every control token of common models, and of the model with that pattern.

    Engines pass all prompts through it: what a question, a page or a graph says must not end its turn.
    """
    for pattern in (model_tokens, _CONTROL_TOKEN):
        if pattern is not None:
            text = pattern.sub(lambda token: f"{token[0][0]} {token[0][1:]}", text)
    return text


def without_credentials(text: str) -> str:
    """The text without users and passwords of addresses (``http://user:password@host``), even malformed ones."""
    return _CREDENTIALS.sub("", text)


def is_server_address(text: str) -> bool:
    """Whether the text is the address of an HTTP server, such as ``http://127.0.0.1:8000``."""
    try:
        parts = urlsplit(text)
        has_port = parts.port != 0
    except ValueError:  # of the port, or of an IPv6 address
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and has_port


def counted(count: int, singular: str, plural: str = "") -> str:
    """A number of things in words: ``1 question``, ``2 questions``."""
    if count == 1:
        return f"{count:,} {singular}"
    return f"{count:,} {plural or singular + 's'}"


def encodable(text: str) -> str:
    """Join surrogates, or replace lone ones by U+FFFD: tokenizers and files accept none."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # In UTF-16 the halves of a character meet again.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def encodable_json(value: object) -> object:
    """The value of `json.loads` with every string `encodable`, also the keys; NaN and infinity become None.

    Raises RecursionError: the value is nested too deeply.
    """
    if isinstance(value, str):
        return value if value.isascii() else encodable(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [encodable_json(item) for item in value]
    if isinstance(value, dict):
        return {encodable(key): encodable_json(item) for key, item in value.items()}
    return value
