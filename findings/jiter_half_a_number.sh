#!/usr/bin/env bash
# jiter 0.19.0, partial-json-parser 0.2.1.1.post7, partial-json 0.1.7: of a streamed 1932.5 first 19, then nothing.
#
# Guessed before the run: readers of JSON that is still coming leave out a number at the end of the text, as more digits
# may follow; jiter, which documents that it drops a text cut in the middle, drops such a number too.
# Seen: all three give it: after {"length": 19 the length is 19. jiter and partial-json take it back at the point: the
# key is there, gone, and there again. jiter drops a cut text, so that of all values only the numbers are half ones. The
# other two give "t" as true and "n" as None. partial-json-parser may be told to leave out numbers; a list then loses
# its last one even when a blank behind it shows that it ended.
# What it means: a program that acts on the first length that it sees acts on a wrong one, and the end of a broken
# answer looks whole. This project reads an object only when it is complete.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "jiter==0.19.0" "partial-json-parser==0.2.1.1.post7"
npm install --silent --no-fund --no-audit --prefix "$folder" "partial-json@0.1.7"
"$folder/venv/bin/python" - <<'PYTHON'
import jiter
from partial_json_parser import Allow, loads

# The text so far, and what jiter and partial-json-parser read
SEEN = {
    '{"length": 1': ({"length": 1}, {"length": 1}),
    '{"length": 19': ({"length": 19}, {"length": 19}),
    '{"length": 1932': ({"length": 1932}, {"length": 1932}),
    '{"length": 1932.': ({}, {"length": 1932}),
    '{"length": 1932.5': ({"length": 1932.5}, {"length": 1932.5}),
    '{"name": "Ea': ({}, {"name": "Ea"}),
    '{"open": t': ({}, {"open": True}),
    '{"length": n': ({}, {"length": None}),
    "[1, 19": ([1, 19], [1, 19]),
}
for text, seen in SEEN.items():
    read = jiter.from_json(text.encode(), partial_mode=True), loads(text)
    assert read == seen, (text, read)

without_numbers = Allow.ALL & ~Allow.NUM
assert loads("[1, 19", without_numbers) == [1] == loads("[1, 19 ", without_numbers)
PYTHON
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import { parse } from "partial-json";

const SEEN = [
  ['{"length": 19', { length: 19 }],
  ['{"length": 1932.', {}],
  ['{"length": 1932.5', { length: 1932.5 }],
  ['{"open": t', { open: true }],
];
for (const [text, seen] of SEEN) assert.deepEqual(parse(text), seen, text);
console.log("as described: of a streamed 1932.5 first 19, then nothing");
JAVASCRIPT
node "$folder/read.mjs"
