#!/usr/bin/env bash
# wtf_wikipedia 10.4.2: a mass of 1.23 million kilograms is 1.23 kg, and five feet eleven are five feet.
#
# Guessed before the run: {{convert}} gives both values, and {{val}} and {{frac}} give what a reader of the article
# sees.
# Seen: {{convert|310|m|ft}} is 310 m, without the feet, which reads well; but the second unit of what was measured goes
# the same way: {{convert|5|ft|11|in|m}} is 5 ft, and {{convert|10|lb|4|oz}} 10 lb. {{val|1.23|e=6|u=kg}} is 1.23 kg,
# 5{{e|6}} is 5, 10<sup>6</sup> is 106, 2{{half}} is 2. A template that it does not know, as {{10^|6}} or {{nts|1234}},
# leaves nothing, and nothing marks the place. {{birth year and age|1950}} says the age of the day of the run, {{time
# ago|2019}} with fifteen decimals. Fractions ({{frac|3|1|2}}), dates and the cells that span rows of a table are right.
# What it means: sentences stay fluent and numbers are a million times too small, in articles about the sizes of things.
# It is the reader of Wikipedia's markup in JavaScript; this project reads the HTML of pages instead.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-fund --no-audit --prefix "$folder" "wtf_wikipedia@10.4.2"
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import wtf from "wtf_wikipedia";

const READ = {
  "It is {{convert|310|m|ft}} long.": "It is 310 m long.",
  "He is {{convert|5|ft|11|in|m}} tall.": "He is 5 ft tall.",
  "It weighed {{convert|10|lb|4|oz}}.": "It weighed 10 lb.",
  "Its mass is {{val|1.23|e=6|u=kg}}.": "Its mass is 1.23 kg.",
  "About 5{{e|6}} people live there.": "About 5 people live there.",
  "About 10<sup>6</sup> stars shine.": "About 106 stars shine.",
  "It is 2{{half}} m wide.": "It is 2 m wide.",
  "About {{10^|6}} and {{nts|1234}} cars.": "About and cars.",
  "It is {{frac|3|1|2}} inches thick.": "It is 3 1/2 inches thick.",
  "She was born on {{birth date|1990|5|3}}.": "She was born on May 3, 1990.",
};
for (const [written, read] of Object.entries(READ)) {
  assert.equal(wtf(written).text().replace(/\s+/g, " "), read, written);
}

const box = wtf("{{Infobox bridge|mass={{val|1.23|e=6|u=kg}}|height={{convert|5|ft|11|in}}}}").infobox();
assert.deepEqual(box.json(), { mass: { text: "1.23 kg" }, height: { text: "5 ft" } });

assert.match(wtf("{{birth year and age|1950}}").text(), /^1950 \(age \d+\)$/);
assert.match(wtf("{{time ago|2019}}").text(), /^\d+\.\d{10,} years ago$/);

const table = wtf("{|\n! Team !! Goals\n|-\n| rowspan=2 | Ann || 3\n|-\n| 5\n|}").tables()[0];
assert.deepEqual(table.keyValue(), [{ Team: "Ann", Goals: "3" }, { Team: "Ann", Goals: "5" }]);
console.log("as described: 1.23 million kilograms are 1.23 kg, and five feet eleven are five feet");
JAVASCRIPT
(cd "$folder" && node read.mjs)
