#!/usr/bin/env bash
# avro 1.12.2, fastavro 1.13.1: 3.1 in a column with two decimals is 0.31.
#
# Guessed before the run: Apache's own package writes 3.1 as 3.10, or refuses a number with fewer decimals than the
# column; a union takes the first type that holds the number exactly.
# Seen: avro writes the digits of the number and drops its own scale: 3.1 is read back as 0.31, -0.5 as -0.05, 1E+3 as
# 0.01. The specification says that the number is the unscaled integer times ten to the power of minus the schema's
# scale, so the file holds another number; one with too many decimals is refused. fastavro writes all of these rightly.
# In the union of double and long it takes the double for every whole number: 5 is 5.0, and a key of sixteen digits is
# another key. Of a bare long it writes 2 for 2.7 without a word. avro takes the long, and refuses 2.7, but makes a
# float of three billion in a union of int, long and double.
# What it means: prices and lengths of a table are ten or a hundred times too small if they were written with fewer
# decimals than others, and only those. This project reads no Avro.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "avro==1.12.2" "fastavro==1.13.1"
"$folder/venv/bin/python" - <<'PYTHON'
import json
from decimal import Decimal
from io import BytesIO

import fastavro
from avro.errors import AvroException
from avro.io import BinaryDecoder, BinaryEncoder, DatumReader, DatumWriter
from avro.schema import parse

PRICE = {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}
BIG = 2**53 + 1


def by_avro(schema: object, value: object) -> object:
    """The value after a trip through bytes, or the name of the error."""
    parsed, written = parse(json.dumps(schema)), BytesIO()
    try:
        DatumWriter(parsed).write(value, BinaryEncoder(written))
    except AvroException as error:
        return type(error).__name__
    written.seek(0)
    return DatumReader(parsed).read(BinaryDecoder(written))


def by_fastavro(schema: object, value: object) -> object:
    written = BytesIO()
    fastavro.schemaless_writer(written, schema, value)
    written.seek(0)
    return fastavro.schemaless_reader(written, schema)


for number, seen in {"3.10": "3.10", "3.1": "0.31", "-0.5": "-0.05", "310": "3.10", "1E+3": "0.01"}.items():
    assert by_avro(PRICE, Decimal(number)) == Decimal(seen), (number, by_avro(PRICE, Decimal(number)))
    assert by_fastavro(PRICE, Decimal(number)) == Decimal(number), (number, by_fastavro(PRICE, Decimal(number)))
assert by_avro(PRICE, Decimal("2.255")) == "AvroOutOfScaleException"

for number, seen in {5: 5.0, BIG: 2.0**53}.items():
    assert (by_avro(["double", "long"], number), by_fastavro(["double", "long"], number)) == (number, seen), number
    assert isinstance(by_fastavro(["double", "long"], number), float)
assert by_fastavro("long", 2.7) == 2
assert by_avro("long", 2.7) == "AvroTypeException"
assert isinstance(by_avro(["int", "long", "double"], 3_000_000_000), float)
assert isinstance(by_fastavro(["int", "long", "double"], 3_000_000_000), int)

print("as described: 3.1 in a column with two decimals is 0.31")
PYTHON
