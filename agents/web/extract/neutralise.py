"""Makes text from the web harmless for tokenizers and prompts: it may say anything, but it may not pretend to be markup
of ours.
"""

import re

from agents.text import clean

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


def neutralise(text: str, *, references: bool = False) -> str:
    """The text cleaned by `agents.text.clean`, its chat-template tokens and `<doc>` marks turned into plain brackets.

    ``<|eot_id|>`` becomes ``(eot_id)``, ``[INST]`` becomes ``(INST)``; applying it twice changes nothing more.
    """
    text = clean(text, references=references)
    before = ""
    while text != before and ("<" in text or "[" in text or "|>" in text):  # a mark may stand inside another one
        before = text
        text = _CONTROL_MARK.sub(lambda match: f"({(match.group(match.lastgroup or 0) or '').strip()})", text)
        text = _BROKEN_CLOSING.sub("|)", _BROKEN_OPENING.sub("(|", text))
    return text
