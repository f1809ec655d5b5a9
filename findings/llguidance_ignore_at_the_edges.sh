#!/usr/bin/env bash
# llguidance 1.9.1 and Lark 1.2.2 read one grammar file as two languages: %ignore does not hold at the edges.
#
# Guessed before the run: %ignore " " lets blanks stand before, between and behind terminals, in both.
# Seen: Lark parses " ab!" and "ab! " and "ab !". llguidance accepts "ab !" alone: it refuses a blank before the first
# terminal and behind the last. With a line feed in the ignored set the final line feed is refused too.
# What it means: text that a constrained model wrote always parses, but the reverse does not hold: a string that the
# parser took (a stored example, say) may be impossible to generate, and "accepted" must not be tested with the matcher.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "lark==1.2.2" "llguidance==1.9.1"
"$folder/venv/bin/python" - <<'PYTHON'
from lark import Lark
from llguidance import LLMatcher, LLTokenizer

GRAMMAR = 'start: NAME "!"\nNAME: /[a-z]+/\n%ignore /[ \\n]/\n'


def lark_accepts(text: str) -> bool:
    Lark(GRAMMAR, parser="lalr").parse(text)
    return True


def matcher_accepts(text: str) -> bool:
    matcher = LLMatcher(LLTokenizer("byte"), LLMatcher.grammar_from_lark(GRAMMAR))
    tokens = list(text.encode())
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


for text in ("ab!", "ab !", " ab!", "ab! ", "ab!\n"):
    assert lark_accepts(text), text

assert [matcher_accepts(text) for text in ("ab!", "ab !")] == [True, True]
assert [matcher_accepts(text) for text in (" ab!", "ab! ", "ab!\n")] == [False, False, False]

print("as described: ignored characters at the beginning and the end are refused by llguidance only")
PYTHON
