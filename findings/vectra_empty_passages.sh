#!/usr/bin/env bash
# vectra 0.12.3: beside one empty passage the nearest is not found; a year is in no list of years.
#
# Guessed before the run: a vector of zeros, which a static model gives an empty text, has similarity 0 or comes last;
# $in and $nin work for numbers and texts, as their types say.
# Seen: the similarity of zeros is not a number, and neither less nor more than another, so that sorting stops at it: of
# far, empty and near, asked for one, vectra gives far. Without the empty one it gives near. $in never holds for a
# number: a year is not in the list of itself. $nin never excludes one, and excludes texts that are only a part of a
# listed one: "New" is left out by "not in New York". Other comparisons are right.
# What it means: one blank page spoils every answer of its index, with scores that look well. Every passage of this
# project has words.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-fund --no-audit --prefix "$folder" "vectra@0.12.3"
cat >"$folder/search.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import { LocalIndex } from "vectra";

let number = 0;
const open = async (items) => {
  const index = new LocalIndex(`${process.argv[2]}/index${number++}`);
  await index.createIndex();
  for (const [id, vector, metadata = {}] of items) await index.insertItem({ id, vector, metadata });
  return index;
};
const nearest = async (items, count) => {
  const found = await (await open(items)).queryItems([1, 0], "", count);
  return found.map(({ item }) => item.id);
};

const FAR = ["far", [0, 1]];
const NEAR = ["near", [1, 0]];
const EMPTY = ["empty", [0, 0]];
assert.deepEqual(await nearest([FAR, NEAR], 1), ["near"]);
assert.deepEqual(await nearest([FAR, EMPTY, NEAR], 1), ["far"]);
assert.deepEqual(await nearest([FAR, EMPTY, NEAR], 3), ["far", "empty", "near"]);

const places = await open([
  ["old", [1, 0], { year: 1932, city: "New York" }],
  ["new", [1, 0], { year: 1950, city: "New" }],
]);
const SEEN = [
  [{ year: { $eq: 1932 } }, ["old"]],
  [{ year: { $lt: 1940 } }, ["old"]],
  [{ city: { $in: ["New York"] } }, ["old"]],
  [{ year: { $in: [1932, 1950] } }, []],
  [{ year: { $nin: [1932] } }, ["old", "new"]],
  [{ city: { $nin: ["New York"] } }, []],
];
for (const [filter, ids] of SEEN) {
  const found = await places.listItemsByMetadata(filter);
  assert.deepEqual(found.map(({ id }) => id), ids, JSON.stringify(filter));
}
console.log("as described: beside one empty passage the nearest is not found");
JAVASCRIPT
node "$folder/search.mjs" "$folder"
