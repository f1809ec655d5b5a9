"""Turns a model's text into the submitted string: one line, at most 75 tokens, fixed phrases."""

import functools
import itertools
import re
from typing import Any

from crag.core.contracts import I_DONT_KNOW, INVALID_QUESTION, Answer, Decision
from crag.core.text import clean
from crag.engines.llm import truncate_to_bound
from crag.settings import TRIM_TOKENIZER
from crag.weights.manifest import WeightsMissingError, locate

MAX_TOKENS = 75
"""The evaluator's limit in Llama-2 tokens, without the beginning-of-sequence token."""

_SCAFFOLDING = re.compile(
    r"^\W*(?:(?:final |short |the )?answer(?: is)?\s{,9}:|assistant[^\S\n]{,9}:?\s{,9}\n|a:|output:|response:)\s*", re.I
)
_CHAT_TOKENS = re.compile(r"<\|[^|<>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>|</?s>|</?doc\b[^>\n]{0,200}>", re.IGNORECASE)
_ABSTENTIONS = re.compile(
    r"\bi (?:really |honestly )?(?:don't|do not|dont|didn't) (?:actually )?(?:know|have (?:enough|sufficient|any|that))"
    r"|\bi(?:'m| am) (?:not (?:sure|certain|aware)|unsure|unable to|afraid i)"
    r"|\bi (?:can't|cannot|could not|couldn't) (?:answer|determine|find|provide|confirm|say|tell|verify)"
    r"|\b(?:cannot|can't|could not) be (?:determined|answered|found|inferred)"
    r"|\bnot (?:enough|sufficient) information"
    r"|\b(?:references?|context|documents?|facts?|text|information|passages?)(?: \w+){0,3}"
    r" (?:do not|does not|don't|doesn't) (?:mention|provide|contain|specify|state|say|give|include)"
    r"|^not found:"
    r"|^(?:unknown|unsure|not (?:sure|known|available|specified|mentioned)|no (?:answer|information)|n/?a|idk)\W*$",
    re.IGNORECASE,
)
_INVALID = re.compile(
    r"\binvalid[ _-]?question\b|\bquestion is (?:invalid|not valid)\b|\bfalse premise\b", re.IGNORECASE
)
_ITEM = re.compile(r"^(?:[-*•–]|\(?\d{1,2}[.)])\s+(?=\S)")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'", "“": '"', "”": '"', "\u00a0": " "})


def normalise(text: str, source: str) -> Answer:
    """The answer in a generated text. `source` names its origin in the trace."""
    line = one_line(text)
    plain = line.translate(_QUOTES)
    if not line:
        return Answer(I_DONT_KNOW, Decision.ABSTAINED, source, "the model gave no text")
    if _INVALID.search(plain):
        return Answer(INVALID_QUESTION, Decision.INVALID_QUESTION, source, "the model found a false premise")
    if _ABSTENTIONS.search(plain):
        return Answer(I_DONT_KNOW, Decision.ABSTAINED, source, "the model said that it does not know")
    return Answer(trim_to_tokens(line), Decision.ANSWERED, source, "the model answered")


def one_line(text: str) -> str:
    """The first line with content, or a list's items, without chat tokens, scaffolding and wrapping quotes."""
    text = _CHAT_TOKENS.sub(" ", clean(text))
    text = _SCAFFOLDING.sub("", text.strip())
    printable = ("".join(c if c.isprintable() else " " for c in line) for line in text.splitlines())
    lines = [" ".join(line.split()) for line in printable if any(map(str.isalnum, line))]
    line = _joined_list(lines) if lines else ""
    line = re.sub(r"^\*\*(.+?)\*\*", r"\1", line).strip()
    if len(line) > 1 and line[0] == line[-1] and line[0] in "\"'`" and line[0] not in line[1:-1]:
        line = line[1:-1].strip()
    return line


def _joined_list(lines: list[str]) -> str:
    """The first line, with the list items that belong to it."""
    first, rest = lines[0], lines[1:]
    items = [_ITEM.sub("", line) for line in itertools.takewhile(_ITEM.match, rest)]
    if items and first.endswith(":"):
        return f"{first} {', '.join(items)}"
    if items and _ITEM.match(first):
        return ", ".join([_ITEM.sub("", first), *items])
    return first


def trim_to_tokens(text: str, max_tokens: int = MAX_TOKENS) -> str:
    """Cut the text to what the evaluator keeps.

    Uses the evaluator's Llama-2 tokenizer if it is installed (`crag models fetch llama-2-tokenizer`). Otherwise
    cuts by an upper bound of the token count, which keeps less text.
    """
    tokenizer = _tokenizer()
    if tokenizer is None:
        return truncate_to_bound(text, max_tokens).strip()
    encoding = tokenizer.encode(text, add_special_tokens=False)
    kept = max_tokens
    while len(encoding.ids) > max_tokens:
        # A character of several byte tokens may lie across the cut: shorten until the text fits.
        text = text[: encoding.offsets[kept - 1][1]].strip()
        encoding = tokenizer.encode(text, add_special_tokens=False)
        kept -= 1
    return text


@functools.cache
def _tokenizer() -> Any:  # noqa: ANN401 - tokenizers ships no types
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(locate(TRIM_TOKENIZER) / "tokenizer.json"))
    except WeightsMissingError:
        return None
