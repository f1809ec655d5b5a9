"""Makes text from the web harmless for tokenizers and prompts: it may say anything, but it may not pretend to be markup
of ours.
"""

import re

# Marks that some chat template or tokenizer turns into control tokens, and the marks we put round passages. Their
# text stays readable, but is no longer what a tokenizer looks for.
_CONTROL_MARK = re.compile(
    r"<\|(?P<bar>[^<>|\n]{0,64})\|>"
    r"|\[(?P<square>/?INST|/?SYSTEM_PROMPT|/?AVAILABLE_TOOLS|/?TOOL_RESULTS|TOOL_CALLS)\]"
    r"|<<(?P<double>/?SYS)>>"
    r"|<(?P<angle>/?s|unk|pad|bos|eos|mask|cls|sep|/?start_of_turn|/?end_of_turn|/?doc(?=[\s>/])[^<>\n]{0,256}|/?doc)>"
    r"|<(?P<open_doc>/?doc)(?![A-Za-z0-9])"
    r"|\[(?P<bert>CLS|SEP|MASK|PAD|UNK)\]",
    re.IGNORECASE,
)
_BROKEN_OPENING = re.compile(r"<\|")
_BROKEN_CLOSING = re.compile(r"\|>")

_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line end
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e007f\ud800-\udfff"
    "]+"
)
"""Format characters (zero width, direction overrides, soft hyphen, tag characters), lone surrogates, control
characters.
"""


def strip_invisible(text: str) -> str:
    """The text without characters that nobody sees: they split words, hide instructions and break encoders."""
    return _INVISIBLE.sub("", text)


def neutralise(text: str) -> str:
    """The text without invisible characters, its chat-template tokens and `<doc>` marks turned into plain brackets.

    ``<|eot_id|>`` becomes ``(eot_id)``, ``[INST]`` becomes ``(INST)``; applying it twice changes nothing more.
    """
    text = strip_invisible(text)
    before = ""
    while text != before and ("<" in text or "[" in text or "|>" in text):  # a mark may stand inside another one
        before = text
        text = _CONTROL_MARK.sub(lambda match: f"({(match.group(match.lastgroup or 0) or '').strip()})", text)
        text = _BROKEN_CLOSING.sub("|)", _BROKEN_OPENING.sub("(|", text))
    return text
