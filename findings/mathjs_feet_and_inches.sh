#!/usr/bin/env bash
# mathjs 15.2.0, js-quantities 1.8.0: five feet eleven are an area, and eight fluid ounces a volume of femtolitres.
#
# Guessed before the run: mathjs multiplies 5 ft by 11 in; js-quantities refuses that; its degC is a difference.
# Seen: two units side by side are a product in mathjs: 5 ft 11 in are 660 square inches, 5 lb 3 oz 240 square ounces, 1
# hour 30 minutes 1800 square minutes. js-quantities does the same for 6 ft 1 in, and refuses 5 ft 11 in. "8 fl oz" is
# femtolitres times ounces to it, 20 degC are 20 degK, and 20 degC to tempF is -423.67; its tempC is what a thermometer
# shows. In mathjs 5 min is an error, since min is the least of several numbers; 6.5 h to min too. 20 degC == 68 degF is
# false, though 20 degC to degF prints 68 degF. 5 in 3 is 15 inches, 1990-1995 is -5, 3:5 a list.
# What it means: heights, times and volumes come out as products, with a unit that looks right. This project reads feet
# and inches by its own tables.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-fund --no-audit --prefix "$folder" "mathjs@15.2.0" "js-quantities@1.8.0"
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import Qty from "js-quantities";
import { evaluate, format } from "mathjs";

const RESULTS = {
  "5 ft + 11 in to cm": "180.34 cm",
  "5 ft 11 in": "660 in^2",
  "5 lb 3 oz": "240 oz^2",
  "1 hour 30 minutes": "1800 minutes^2",
  "20 degC to degF": "68 degF",
  "20 degC == 68 degF": "false",
  "5 in 3": "15 in",
  "1990-1995": "-5",
  "3:5": "[3, 4, 5]",
  "5 minutes to s": "300 s",
};
for (const [sum, result] of Object.entries(RESULTS)) {
  assert.equal(format(evaluate(sum), { precision: 6 }), result, sum);
}
for (const sum of ["5 min", "6.5 h to min"]) {
  assert.throws(() => evaluate(sum), /Unexpected type of argument/, sum);
}

assert.deepEqual(Qty("6 ft 1 in").toBase().units(), "m2");
assert.throws(() => Qty("5 ft 11 in"), /Unit not recognized/);
assert.equal(Qty("8 fl oz").toBase().units(), "m3*kg");
assert.equal(Qty("20 degC").toBase().toString(), "20 degK");
assert.equal(Qty("20 degC").to("tempF").toPrec(0.01).toString(), "-423.67 tempF");
assert.equal(Qty("20 tempC").to("tempF").toPrec(0.01).toString(), "68 tempF");
console.log("as described: five feet eleven are an area");
JAVASCRIPT
node "$folder/read.mjs"
