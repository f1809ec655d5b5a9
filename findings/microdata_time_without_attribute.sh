#!/usr/bin/env bash
# extruct 0.18.0, microdata 0.8.0, microdata-node 2.0.0: <time itemprop="year">1931</time> has no value.
#
# Guessed before the run: extruct gives 1931, since HTML says that a <time> without the attribute has its text for a
# value; the small packages fail at rarer elements.
# Seen: in all three packages the value of such a <time> is the empty text, while the property is there. With the
# attribute they are right. The package microdata takes the text of <data> and <meter> in place of their `value` ("about
# three hundred" for 310), leaves relative links as they are, and knows no `itemref`: what stands elsewhere on the page
# is lost. extruct writes 10<sup>6</sup> as "10 6", which none of the others do. microdata-node makes a number of the
# value of <data>, so that the catalogue number 007 is 7.
# What it means: release dates of films and the days of matches come out empty, which a reader takes for unknown. This
# project reads the text of a page, not its microdata.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "extruct==0.18.0" "microdata==0.8.0"
npm install --silent --no-fund --no-audit --prefix "$folder" "microdata-node@2.0.0"
cat >"$folder/page.html" <<'HTML'
<!doctype html><title>x</title>
<div itemscope itemtype="http://schema.org/Movie" itemref="more">
<time itemprop="made">1931</time>
<time itemprop="shown" datetime="1932-03-05">last spring</time>
<data itemprop="length" value="310">about three hundred</data>
<data itemprop="code" value="007">seven</data>
<meter itemprop="rating" value="7.5" max="10">good</meter>
<a itemprop="url" href="/river">page</a>
<p itemprop="cost">10<sup>6</sup> dollars</p>
</div>
<p id="more">Made in <span itemprop="country">Peru</span></p>
HTML
"$folder/venv/bin/python" -W ignore - "$folder/page.html" <<'PYTHON'
import sys
from pathlib import Path

import extruct
import microdata

PAGE = Path(sys.argv[1]).read_text()
(film,) = extruct.extract(PAGE, "http://example.org/", syntaxes=["microdata"])["microdata"]
assert film["properties"] == {
    "made": "",
    "shown": "1932-03-05",
    "length": "310",
    "code": "007",
    "rating": "7.5",
    "url": "http://example.org/river",
    "cost": "10 6 dollars",
    "country": "Peru",
}, film

(item,) = microdata.get_items(PAGE)
values = {name: str(item.get(name)) for name in item.props}
assert values == {
    "made": "",
    "shown": "1932-03-05",
    "length": "about three hundred",
    "code": "seven",
    "rating": "good",
    "url": "/river",
    "cost": "106 dollars",
}, values
PYTHON
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import { readFileSync } from "node:fs";
import microdata from "microdata-node";

const { items } = microdata.toJson(readFileSync(process.argv[2], "utf8"), { base: "http://example.org/" });
assert.deepEqual(items[0].properties, {
  made: [""],
  shown: ["1932-03-05"],
  length: [310],
  code: [7],
  rating: [7.5],
  url: ["http://example.org/river"],
  cost: ["106 dollars"],
  country: ["Peru"],
});
console.log("as described: a <time> without the attribute has no value");
JAVASCRIPT
node "$folder/read.mjs" "$folder/page.html"
