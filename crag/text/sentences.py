"""Where sentences of English prose end: not after an abbreviation, as in "Dr. Ek", "Jan. 5" or "p. 12"."""

from collections.abc import Iterator

import regex

_END = regex.compile(
    r"(?<=[.!?])"
    r"[\"'”’»)\]]*"  # closing quotes and brackets belong to the sentence
    r"\s+"
    r"(?=[\"“«]|['‘¿¡(\[]*[\p{Lu}\p{Nd}])"  # no sentence begins with a lower-case letter, "Érik" with a capital one
)
_ABBREVIATION = regex.compile(
    r"(?:^|[\s(])"  # a whole word, not the end of a longer one
    r"(?:\p{Lu}"  # an initial
    r"|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Gen|Sen|Rep|Gov|Lt|Col|Maj|Capt|Cmdr|Sgt|Rev|Hon|Ph\.D"
    r"|Mt|Ft"
    r"|Inc|Ltd|Co|Corp"
    r"|No|vs|etc|e\.g|i\.e|U\.S|U\.K|approx|Vol|Fig)"
    r"\.$"
)
_BEFORE_NUMBER = regex.compile(
    r"(?:^|[\s(])"
    r"(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun"
    r"|[Nn]os?|[Oo]p|[Vv]ols?|[Ff]igs?|[Cc]h|[Ss]ec|[Aa]rts?|[Aa]pt|pp?|ca?|b|d|est|ver|min|max|[Tt]el)"
    r"\.$"
)
"""An abbreviation if a number follows: "Nov. 5"; elsewhere it may end a sentence."""
_ABBREVIATION_CHARACTERS = 12
"""How far before the end of a sentence an abbreviation can begin."""


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Where the sentences between two positions of a text end, blanks after them included; not the end of the last.

    Example:
        list(sentence_ends("It opened on Jan. 5. It closed.", 0, 31))  # [21]
    """
    sentence_start = start
    for mark in _END.finditer(text, start, end):
        # With the blank before it, the first word of a sentence is a whole word too.
        window_start = max(sentence_start - 1, mark.start() - _ABBREVIATION_CHARACTERS, 0)
        if _ABBREVIATION.search(text, window_start, mark.start()):
            continue
        if text[mark.end()].isdigit() and _BEFORE_NUMBER.search(text, window_start, mark.start()):
            continue
        yield mark.end()
        sentence_start = mark.end()
