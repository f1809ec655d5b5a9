#!/usr/bin/env bash
# lm-format-enforcer 0.11.3: a schema with oneOf lets only objects through, of any kind.
#
# Guessed before the first run: the bounds of numbers are dropped, and all else holds or is refused. Guessed before the
# second, after oneOf had allowed neither a number nor null: nothing can be written there.
# Seen: where a schema is {"oneOf": [integer, null]}, neither 5 nor null can be written; an object can, with any names
# and any values: {"x": []}. The whole answer as oneOf of a list and a string takes objects alone. A union that pydantic
# tells apart by a field (Field(discriminator=...)) is written as oneOf too: it takes {"kind": "z"}, which neither class
# allows, and {} without the required fields. The same alternatives as anyOf hold. Bounds are dropped: a year between
# 1900 and 2030 may be -5. Nothing is raised, though other schemas that are not known are refused by an exception.
# What it means: who asks a model for JSON that fits gets JSON that never fits, and blames the model: the enforcer has
# ruled out every right answer. Write anyOf. This project constrains by grammars of its own, through llguidance.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "lm-format-enforcer==0.11.3" "pydantic==2.14.3"
"$folder/venv/bin/python" - <<'PYTHON'
from typing import Literal

from lmformatenforcer import JsonSchemaParser
from pydantic import BaseModel, Field

INTEGER, NULL, STRING = {"type": "integer"}, {"type": "null"}, {"type": "string"}
LIST = {"type": "array", "items": STRING}


def in_field(schema: dict) -> dict:
    return {"type": "object", "properties": {"value": schema}, "required": ["value"]}


def can_write(schema: dict, text: str) -> bool:
    """Whether a text may be written, a character at a time, and may end there."""
    parser = JsonSchemaParser(schema)
    for character in text:
        if character not in parser.get_allowed_characters():
            return False
        parser = parser.add_character(character)
    return parser.can_end()


one_of, any_of = in_field({"oneOf": [INTEGER, NULL]}), in_field({"anyOf": [INTEGER, NULL]})
for right in ('{"value": 5}', '{"value": null}'):
    assert can_write(any_of, right) and not can_write(one_of, right), right
for wrong in ('{"value": {}}', '{"value": {"x": []}}'):
    assert can_write(one_of, wrong) and not can_write(any_of, wrong), wrong

assert [can_write({"oneOf": [LIST, STRING]}, text) for text in ('["a"]', '"a"', '{"x": 1}')] == [False, False, True]
assert [can_write({"anyOf": [LIST, STRING]}, text) for text in ('["a"]', '"a"', '{"x": 1}')] == [True, True, False]


class Film(BaseModel):
    kind: Literal["film"]
    year: int


class Song(BaseModel):
    kind: Literal["song"]
    seconds: int


class Told(BaseModel):
    answer: Film | Song = Field(discriminator="kind")


class Plain(BaseModel):
    answer: Film | Song


for wrong in ('{"answer": {"kind": "z"}}', '{"answer": {}}'):
    assert can_write(Told.model_json_schema(), wrong), wrong
    assert not can_write(Plain.model_json_schema(), wrong), wrong

assert can_write(in_field({"type": "integer", "minimum": 1900, "maximum": 2030}), '{"value": -5}')

try:
    can_write(in_field({"not": STRING}), '{"value": 5}')
except Exception as error:  # noqa: BLE001 (the package raises a bare Exception)
    assert "Unsupported" in str(error)
else:
    raise AssertionError("`not` was refused")

print("as described: oneOf lets objects of any kind through, and nothing else")
PYTHON
