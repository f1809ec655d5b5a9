#!/usr/bin/env bash
# tabletojson 4.1.15: under a head that spans two columns, the second number is the year.
#
# Nothing was guessed before the run.
# Seen: the package makes an object of each row of an HTML table. A head across two columns ("Size") counts as one: the
# row 5, 6, 1999 is Size 5, Year 6, and 2: 1999. A cell across two columns fills one, so that the year behind it is a
# length. A <th> at the head of a row becomes the name of the first column for that row: {"East": 310, "Length": 1932}.
# In a table with its heads at the left the first head is gone. The rows of a table inside a cell come as rows of the
# outer one too. 310 with a mark of a note is 3105, 10<sup>6</sup> 106, a line break glues "Eastold". Cells across two
# rows are right, and hidden ones are read.
# What it means: numbers stand under the wrong heads, and each object looks complete. This project keeps the spans of
# tables.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-fund --no-audit --prefix "$folder" "tabletojson@4.1.15"
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import { tabletojson } from "tabletojson";

const rows = (html) => tabletojson.convert(`<table>${html}</table>`)[0];
const bridges = (html) =>
  rows(`<thead><tr><th>Bridge</th><th>Length</th><th>Year</th></tr></thead><tbody>${html}</tbody>`);
const EAST = { Bridge: "East", Length: "310", Year: "1932" };
const ROW = "<tr><td>East</td><td>310</td><td>1932</td></tr>";
assert.deepEqual(bridges(ROW), [EAST]);

const size = "<tr><th colspan=2>Size</th><th>Year</th></tr>";
assert.deepEqual(rows(`${size}<tr><td>5</td><td>6</td><td>1999</td></tr>`), [{ Size: "5", Year: "6", 2: "1999" }]);
const wide = "<tr><td colspan=2>unknown</td><td>1932</td></tr>";
assert.deepEqual(bridges(wide), [{ Bridge: "unknown", Length: "1932" }]);

assert.deepEqual(bridges(ROW.replace("<td>East</td>", "<th>East</th>")), [{ East: "310", Length: "1932" }]);
const atLeft = "<tr><th>Bridge</th><td>East</td></tr><tr><th>Length</th><td>310</td></tr>";
assert.deepEqual(rows(atLeft), [{ Length: "East" }, { Length: "310" }]);

const inner = "<table><tr><td>in</td><td>ner</td></tr></table>";
assert.deepEqual(bridges(ROW + `<tr><td>West</td><td>520</td><td>${inner}</td></tr>`).length, 3);

assert.deepEqual(bridges(ROW.replace("310", "310<sup>5</sup>"))[0].Length, "3105");
assert.deepEqual(bridges(ROW.replace("310", "10<sup>6</sup>"))[0].Length, "106");
assert.deepEqual(bridges(ROW.replace("East", "East<br>old"))[0].Bridge, "Eastold");
assert.deepEqual(bridges(ROW.replace("<td>1932", "<td hidden>1932")), [EAST]);
const tall = ROW.replace("<td>East", "<td rowspan=2>East") + "<tr><td>315</td><td>1960</td></tr>";
assert.deepEqual(bridges(tall), [EAST, { Bridge: "East", Length: "315", Year: "1960" }]);
console.log("as described: under a head of two columns the second number is the year");
JAVASCRIPT
node "$folder/read.mjs"
