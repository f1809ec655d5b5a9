#!/usr/bin/env bash
# llguidance 1.9.1 and Lark 1.2.2: a lazy quantifier inside a terminal shortens what Lark reads, not what is generated.
#
# Guessed before the run: /ab??/ means the same in both, because one grammar syntax is promised.
# Seen: Lark matches a terminal as Python's re does, takes "a" from "ab" and then fails at "b". llguidance accepts
# "ab" as well as "a": as a language of whole strings, laziness changes nothing.
# What it means: with a lazy terminal a constrained model can write a program that the parser of the same file refuses.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "lark==1.2.2" "llguidance==1.9.1"
"$folder/venv/bin/python" - <<'PYTHON'
from lark import Lark
from lark.exceptions import UnexpectedInput
from llguidance import LLMatcher, LLTokenizer

GRAMMAR = "start: A\nA: /ab??/\n"


def lark_accepts(text: str) -> bool:
    try:
        Lark(GRAMMAR, parser="lalr").parse(text)
    except UnexpectedInput:
        return False
    return True


def matcher_accepts(text: str) -> bool:
    matcher = LLMatcher(LLTokenizer("byte"), LLMatcher.grammar_from_lark(GRAMMAR))
    tokens = list(text.encode())
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


assert (lark_accepts("a"), lark_accepts("ab")) == (True, False)
assert (matcher_accepts("a"), matcher_accepts("ab")) == (True, True)

print("as described: the lazy terminal accepts more in llguidance than in Lark")
PYTHON
