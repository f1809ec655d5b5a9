"""Counting tokens without a tokenizer: a bound that is never too low for English under Llama's tokenizers.

Context that is cut too early costs a little recall; context that is longer than the server's window costs the answer.
The parts of the bound, each the worst case that these vocabularies show:

* digits: one token each (Llama-2 splits numbers into digits);
* characters beyond ASCII: one token per UTF-8 byte (byte fallback, byte-level BPE);
* capitals next to each other: one token each (ticker symbols, acronyms);
* other ASCII letters: one token for every two of a word, rounded up (English averages four to five);
* every other ASCII character: one token; a blank in front of a word is free, because it is part of the word's token.
"""

import re

_PIECE = re.compile(r"(?P<word>[A-Z]?[a-z]+)|(?P<space> (?=[A-Za-z]))|(?P<other>.)", re.DOTALL)


def bound_tokens(text: str) -> int:
    """At least as many as a Llama tokenizer makes of English text, typically 1.5 to 2.5 times as many."""
    # One more for the token that Llama-2 puts in front of a text that does not begin with a space.
    return sum(map(_cost, _PIECE.finditer(text))) + bool(text)


def truncate_to_bound(text: str, max_tokens: int) -> str:
    """The longest beginning that ends between two words or characters and whose bound is at most `max_tokens`."""
    spent = 1
    for piece in _PIECE.finditer(text):
        spent += _cost(piece)
        if spent > max_tokens:
            # A blank was free only as part of the word that does not fit any more.
            beginning = text[: piece.start()]
            return beginning.removesuffix(" ") if piece[0][0].isalpha() else beginning
    return text if max_tokens > 0 else ""


def _cost(piece: re.Match[str]) -> int:
    if piece["word"]:
        return (len(piece["word"]) + 1) // 2
    if piece["space"]:
        return 0
    return len(piece["other"].encode("utf-8", "surrogatepass"))
