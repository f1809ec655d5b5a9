#!/usr/bin/env bash
# geopy 2.5.0, geo-coordinates-parser 1.7.4: half a degree is five minutes, and 40 26 46 N is 58 degrees north.
#
# Guessed before the run: geopy loses the minus of -0 30 0; geo-coordinates-parser is right about decimals and signs;
# lat-lon-parser loses the minus of -0 30.
# Seen: geo-coordinates-parser takes a decimal fraction of one or two digits for minutes: 51.5, -0.1 is 51.0833, 0.0167,
# and 51.51, -0.12 is 51.85, 0.2; with three digits it is right. It loses the minus of zero degrees in both forms, not
# an S. geopy, of degrees, minutes and seconds without signs, takes the last number of each side: 40 26 46 N 79 58 56 W
# is 58 N 56 W, 0 30 0 S is the equator, "51,5 0,1" is 0, 1, and the minus of -51.5 S makes it north. A letter in front
# is dropped: S 0 30, W 10 is 30 N 10 W. 181 degrees east are 179 west. Point.format of 51.99999999 is 51 59m 60s. None
# of it is an error. lat-lon-parser 1.3.1 is right about signs, and reads 1e2 as one degree and two minutes.
# What it means: a place is moved by miles or to another continent, and the distance to it is still a number. This
# project's judge reads degrees by its own rule; before this was found, it took 0.1° W for 0.1° E.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "geopy==2.5.0" "lat-lon-parser==1.3.1"
npm install --silent --no-fund --no-audit --prefix "$folder" "geo-coordinates-parser@1.7.4"
"$folder/venv/bin/python" - <<'PYTHON'
from geopy.point import Point
from lat_lon_parser import parse

READ = {
    "40°26'46\" N 79°58'56\" W": (40.4461, -79.9822),
    "40 26 46 N 79 58 56 W": (58, -56),
    "0 30 0 S, 10 0 0 W": (0, 0),
    "-0 30 0, 10 0 0": (0, 0),
    "S 0 30, W 10": (30, -10),
    "51,5 0,1": (0, 1),
    "51.5 S, 0 E": (-51.5, 0),
    "-51.5 S, 0 E": (51.5, 0),
    "51.5, 181": (51.5, -179),
    "51.5 N 0.1 W": (51.5, -0.1),
}
for text, place in READ.items():
    latitude, longitude, _ = Point(text)
    assert (round(latitude, 4), round(longitude, 4)) == place, (text, latitude, longitude)
assert Point(51.99999999, 0).format() == "51 59m 60s N, 0 0m 0s E"

assert (parse("-0 30"), parse("0° 30' S"), parse("S 51.5"), parse("51,5")) == (-0.5, -0.5, -51.5, 51.5)
assert round(parse("1e2"), 4) == 1.0333
PYTHON
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import { convert } from "geo-coordinates-parser";

const READ = {
  "51.5, -0.1": [51.0833, 0.0167],
  "51.5 N 0.1 W": [51.0833, -0.0167],
  "51.51, -0.12": [51.85, 0.2],
  "51.507, -0.127": [51.507, -0.127],
  "-0 30 0, 10 0 0": [0.5, 10],
  "0 30 0 S, 10 0 0 W": [-0.5, -10],
};
for (const [text, place] of Object.entries(READ)) {
  const { decimalLatitude, decimalLongitude } = convert(text, 4);
  assert.deepEqual([Number(decimalLatitude), Number(decimalLongitude)], place, text);
}
JAVASCRIPT
node "$folder/read.mjs"
echo "as described: half a degree is five minutes, and 40 26 46 N is 58 N"
