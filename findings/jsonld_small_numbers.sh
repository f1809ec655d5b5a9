#!/usr/bin/env bash
# jsonld 9.0.0: a tenth of a millionth is zero after its way from JSON-LD to RDF.
#
# Guessed before the run: 5.0 becomes the whole number 5; whole numbers of sixteen digits are rounded on the way back.
# Seen: a number that JavaScript prints without a point but with an exponent, as 1e-7, 5e-7 or 1e-9, is taken for whole,
# and toRDF writes "0" of the type integer; -1e-7 is "-0". 1.5e-7 is right, and so is 1e-6. On the way back, with
# useNativeTypes, a whole number that is too large is not rounded, but comes as a text without a type, and so do "05"
# and "+5", which XML Schema allows: the next reader sees words. PyLD 3.3.0, the same in Python, is right about all of
# these. 5.0 is a whole number in both, as the standard says.
# What it means: small rates and masses of a page's data (schema.org) are nothing in the graph, and keys are texts. This
# project reads no JSON-LD.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "PyLD==3.3.0"
npm install --silent --no-fund --no-audit --prefix "$folder" "jsonld@9.0.0"
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import jsonld from "jsonld";

const TYPES = "http://www.w3.org/2001/XMLSchema#";
const QUADS = { format: "application/n-quads" };

async function write(value) {
  const quads = await jsonld.toRDF({ "@id": "http://example.org/a", "http://example.org/is": value }, QUADS);
  return quads.match(/"(.*)"\^\^<.*#(.*)>/).slice(1);
}
assert.deepEqual(await write(1e-7), ["0", "integer"]);
assert.deepEqual(await write(-1e-7), ["-0", "integer"]);
assert.deepEqual(await write(5e-7), ["0", "integer"]);
assert.deepEqual(await write(1.5e-7), ["1.5E-7", "double"]);
assert.deepEqual(await write(1e-6), ["1.0E-6", "double"]);
assert.deepEqual(await write(5.0), ["5", "integer"]);

async function read(digits) {
  const quads = `<http://example.org/a> <http://example.org/is> "${digits}"^^<${TYPES}integer> .\n`;
  const [node] = await jsonld.fromRDF(quads, { ...QUADS, useNativeTypes: true });
  return node["http://example.org/is"][0];
}
assert.deepEqual(await read("5"), { "@value": 5 });
for (const digits of ["9007199254740993", "05", "+5"]) {
  assert.deepEqual(await read(digits), { "@value": digits });
}
JAVASCRIPT
node "$folder/read.mjs"
"$folder/venv/bin/python" - <<'PYTHON'
from pyld import jsonld

TYPES = "http://www.w3.org/2001/XMLSchema#"
IS = "http://example.org/is"


def write(value: float) -> str:
    return str(jsonld.to_rdf({"@id": "http://example.org/a", IS: value}, {"format": "application/n-quads"}))


assert f'"1.0E-7"^^<{TYPES}double>' in write(1e-7)
assert f'"5"^^<{TYPES}integer>' in write(5.0)
for digits, number in {"9007199254740993": 9007199254740993, "05": 5, "+5": 5}.items():
    quads = f'<http://example.org/a> <{IS}> "{digits}"^^<{TYPES}integer> .\n'
    assert jsonld.from_rdf(quads, {"useNativeTypes": True})[0][IS] == [{"@value": number}]

print("as described: a tenth of a millionth is zero")
PYTHON
