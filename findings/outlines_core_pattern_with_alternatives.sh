#!/usr/bin/env bash
# outlines-core 0.2.14: a JSON Schema `pattern` with alternatives makes a grammar that lets only broken JSON through.
#
# Guessed before the run: the alternatives stand inside the quotation marks, so "yes|no" allows "yes" and "no"; the
# bounds of a number are kept, or raise an error.
# Seen: the quotation marks belong to the outer alternatives. Of {"type": "string", "pattern": "yes|no"} comes the
# expression ("yes|no"), which is `"yes` or `no"`, and a generation ends with one of these two: neither is JSON. Of
# "^yes$|^no$" only the outermost anchors are taken off, which ends in an error that does not name the pattern. With
# brackets, "^(yes|no)$", it is as meant. `minimum` and `maximum` of a number are dropped silently, and so is a
# `pattern` beside `maxLength`.
# What it means: an answer that may be a year or "unknown" ([0-9]{4}|unknown) cannot be read back, whatever the model
# says, and a confidence between 0 and 1 can be 7. The schema is valid, so a validator in the tests finds no fault with
# it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "outlines-core==0.2.14"
"$folder/venv/bin/python" - <<'PYTHON'
import json
import re

from outlines_core import Guide, Index, Vocabulary
from outlines_core.json_schema import build_regex_from_schema

CHARACTERS = sorted('"yesno')
TOKENS = {character: [number] for number, character in enumerate(CHARACTERS)}
END = len(CHARACTERS)


def expression(**schema: object) -> str:
    return build_regex_from_schema(json.dumps(schema))


def generated(index: Index, written: tuple[int, ...] = ()) -> set[str]:
    """All texts that a generation under this index can end with."""
    guide = Guide(index)
    for token in written:
        guide.advance(token)
    texts = set()
    if guide.is_finished():
        texts.add("".join(CHARACTERS[token] for token in written))
    for token in guide.get_tokens():
        if token != END:
            texts |= generated(index, (*written, token))
    return texts


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


vocabulary = Vocabulary(END, TOKENS)
broken = generated(Index(expression(type="string", pattern="yes|no"), vocabulary))
assert broken == {'"yes', 'no"'}, broken
assert not any(is_json(text) for text in broken)

bracketed = generated(Index(expression(type="string", pattern="^(yes|no)$"), vocabulary))
assert bracketed == {'"yes"', '"no"'}, bracketed

try:
    Index(expression(type="string", pattern="^yes$|^no$"), vocabulary)
except ValueError as error:
    assert "pattern" not in str(error), error
else:
    raise AssertionError("changed: inner anchors are understood")

year = expression(type="string", pattern="[0-9]{4}|unknown")
assert re.fullmatch(year, '"2019') and not re.fullmatch(year, '"2019"')

bounded = expression(type="number", minimum=0, maximum=1)
assert bounded == expression(type="number")
assert re.fullmatch(bounded, "7")
assert expression(type="string", pattern="[0-9]+", maxLength=4) == expression(type="string", maxLength=4)

print("as described: alternatives of a pattern tear the quotation marks apart, and bounds are dropped")
PYTHON
