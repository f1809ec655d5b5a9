"""Turns a model's text into the submitted string: one line, at most 75 tokens, fixed phrases."""

import functools
import itertools
import re
from typing import Any

from crag.core.contracts import I_DONT_KNOW, INVALID_QUESTION, Answer, Decision
from crag.core.model_marks import final_text
from crag.core.text import clean
from crag.engines.llm import truncate_to_bound
from crag.settings import TRIM_TOKENIZER
from crag.weights.manifest import WeightsMissingError, locate

MAX_TOKENS = 75
"""The evaluator's limit in Llama-2 tokens, without the beginning-of-sequence token."""

_SCAFFOLDING = re.compile(
    r"""
    ^\W*
    (?: (?:final[ ]|short[ ]|the[ ])? answer (?:[ ]is)? \s{,9}:   # "The answer is:", not "The answer is Paris"
      | assistant [^\S\n]{,9} :? \s{,9} \n                       # a role on a line of its own
      | a: | output: | response:
    )
    \s*
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DOCUMENT_MARKS = re.compile(r"</?doc\b[^>\n]{0,200}>", re.IGNORECASE)
"""The marks of our contexts."""
_ABSTENTIONS = re.compile(
    r"""
      \bi[ ](?:really[ ]|honestly[ ])?(?:don't|do[ ]not|dont|didn't)[ ](?:actually[ ])?
          (?: know | have[ ](?:enough|sufficient|any|that) )
    | \bi(?:'m|[ ]am)[ ](?: not[ ](?:sure|certain|aware) | unsure | unable[ ]to | afraid[ ]i )
    | \bi[ ](?:can't|cannot|could[ ]not|couldn't)[ ](?:answer|determine|find|provide|confirm|say|tell|verify)
    | \b(?:cannot|can't|could[ ]not)[ ]be[ ](?:determined|answered|found|inferred)
    | \bnot[ ](?:enough|sufficient)[ ]information
      # "the references do not mention it"
    | \b(?:references?|context|documents?|facts?|text|information|passages?)(?:[ ]\w+){0,3}
          [ ](?:do[ ]not|does[ ]not|don't|doesn't)[ ](?:mention|provide|contain|specify|state|say|give|include)
    | ^not[ ]found:
      # These as a whole answer only: "The Unknown" and "Not Available" are names.
    | ^(?: unknown | unsure | not[ ](?:sure|known|available|specified|mentioned) | no[ ](?:answer|information)
         | n/?a | idk )\W*$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_INVALID = re.compile(
    r"\binvalid[ _-]?question\b|\bquestion is (?:invalid|not valid)\b|\bfalse premise\b", re.IGNORECASE
)
_LIST_MARK = re.compile(r"^(?:[-*•–]|\(?\d{1,2}[.)])\s+(?=\S)")
_PLAIN_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'", "“": '"', "”": '"', "\u00a0": " "})


def normalise(text: str, source: str) -> Answer:
    """The answer in a generated text. `source` names its origin in the trace."""
    line = answer_line(text)
    if not line:
        return Answer(I_DONT_KNOW, Decision.ABSTAINED, source, "the model gave no text")

    # The patterns know straight apostrophes only; the answer keeps the model's.
    plain_line = line.translate(_PLAIN_QUOTES)
    if _INVALID.search(plain_line):
        return Answer(INVALID_QUESTION, Decision.INVALID_QUESTION, source, "the model found a false premise")
    if _ABSTENTIONS.search(plain_line):
        return Answer(I_DONT_KNOW, Decision.ABSTAINED, source, "the model said that it does not know")
    return Answer(trim_to_tokens(line), Decision.ANSWERED, source, "the model answered")


def answer_line(text: str) -> str:
    """The first line with content, or a list's items, without thoughts, tokens, scaffolding and wrapping quotes."""
    text = _DOCUMENT_MARKS.sub(" ", final_text(clean(text)))
    # Before the lines are split, or "assistant" on a line of its own would be the answer.
    text = _SCAFFOLDING.sub("", text.strip())

    lines = _content_lines(text)
    line = _join_list(lines) if lines else ""
    line = re.sub(r"^\*\*(.+?)\*\*", r"\1", line).strip()  # bold
    return line[1:-1].strip() if _is_quoted(line) else line


def _content_lines(text: str) -> list[str]:
    """The lines with a letter or digit; what cannot be printed becomes a blank, and runs of blanks become one."""
    lines = []
    for line in text.splitlines():
        printable = "".join(character if character.isprintable() else " " for character in line)
        if has_letter_or_digit(printable):
            lines.append(" ".join(printable.split()))
    return lines


def has_letter_or_digit(text: str) -> bool:
    """Whether a text says anything: marks and blanks alone do not."""
    return any(map(str.isalnum, text))


def _is_quoted(line: str) -> bool:
    """Whether one pair of equal quotes wraps the whole line. In ``"A" and "B"`` the quotes are two pairs."""
    if len(line) < 2 or line[0] not in "\"'`":
        return False
    quote = line[0]
    return line[-1] == quote and quote not in line[1:-1]


def _join_list(lines: list[str]) -> str:
    """The first line, with the list items that belong to it."""
    first_line, *later_lines = lines
    item_lines = itertools.takewhile(_LIST_MARK.match, later_lines)
    items = [_LIST_MARK.sub("", line) for line in item_lines]
    if not items:
        return first_line

    # "The films are:" introduces the list; a first line with a mark is its first item.
    if first_line.endswith(":"):
        return f"{first_line} {', '.join(items)}"
    if _LIST_MARK.match(first_line):
        return ", ".join([_LIST_MARK.sub("", first_line), *items])
    return first_line


def trim_to_tokens(text: str) -> str:
    """Cut the text to what the evaluator keeps.

    Uses the evaluator's Llama-2 tokenizer if it is installed (`crag models fetch llama-2-tokenizer`). Otherwise
    cuts by an upper bound of the token count, which keeps less text.
    """
    # No text has more tokens than bytes, and one before it: most answers do without the 44 MB of the tokenizer.
    if len(text.encode("utf-8", "surrogatepass")) < MAX_TOKENS:
        return text

    tokenizer = _tokenizer()
    if tokenizer is None:
        return truncate_to_bound(text, MAX_TOKENS).strip()

    encoding = tokenizer.encode(text, add_special_tokens=False)
    tokens_to_keep = MAX_TOKENS
    while len(encoding.ids) > MAX_TOKENS:
        # A character of several byte tokens may lie across the cut: shorten until the text fits.
        _, end = encoding.offsets[tokens_to_keep - 1]
        text = text[:end].strip()
        encoding = tokenizer.encode(text, add_special_tokens=False)
        tokens_to_keep -= 1
    return text


@functools.cache
def _tokenizer() -> Any:  # noqa: ANN401 - tokenizers ships no types
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(locate(TRIM_TOKENIZER) / "tokenizer.json"))
    except WeightsMissingError:
        return None
