#!/usr/bin/env bash
# fetch-event-stream 0.1.6, @microsoft/fetch-event-source 2.0.1, parse-sse 0.1.0, sseclient-py 1.9.0: spaces are lost.
#
# Guessed before the run: all clients of server-sent events drop one space behind "data:", as the standard says, and
# keep a second one; they differ in what they do when the stream ends in the middle.
# Seen: fetch-event-stream drops all spaces and tabs there. A model's text that comes in pieces as plain text (" is", "
# 310") is read as "is310", and indented JSON or code loses its indentation. fetch-event-source, like it, makes nothing
# of two empty lines of data, which are a line break, and forgets the number of the last event, which holds for those
# behind it. parse-sse and sseclient-py give an event that the stream's end cut off, which the standard drops: of a year
# that comes in one piece, half. httpx-sse 0.4.3 is right in all of these.
# What it means: a cut answer looks like a whole one, and words grow together. This project asks for whole answers, and
# reads the streams of servers that only stream by its own rules.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "sseclient-py==1.9.0" "httpx-sse==0.4.3" "httpx==0.28.1"
npm install --silent --no-fund --no-audit --prefix "$folder" \
    "fetch-event-stream@0.1.6" "@microsoft/fetch-event-source@2.0.1" "parse-sse@0.1.0"
"$folder/venv/bin/python" - <<'PYTHON'
from io import BytesIO

import httpx
from httpx_sse import EventSource
from sseclient import SSEClient


def by_sseclient(stream: bytes) -> list[str]:
    return [event.data for event in SSEClient(BytesIO(stream)).events()]


def by_httpx(stream: bytes) -> list[str]:
    response = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=stream)
    return [event.data for event in EventSource(response).iter_sse()]


SEEN = {
    b"data: is\n\ndata:  310\n\n": (["is", " 310"], ["is", " 310"]),
    b"data:\ndata:\n\n": (["\n"], ["\n"]),
    b"data: in\n\ndata: 19": (["in", "19"], ["in"]),
}
for stream, (seen, right) in SEEN.items():
    assert (by_sseclient(stream), by_httpx(stream)) == (seen, right), (by_sseclient(stream), by_httpx(stream))
PYTHON
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import microsoft from "@microsoft/fetch-event-source/lib/cjs/parse.js";
import { events } from "fetch-event-stream";
import { parseServerSentEvents } from "parse-sse";

const all = async (stream) => {
  const read = [];
  for await (const event of stream) read.push(event);
  return read;
};
const response = (text) => new Response(text, { headers: { "Content-Type": "text/event-stream" } });
const byMicrosoft = (text) => {
  const read = [];
  const take = microsoft.getLines(microsoft.getMessages(() => {}, () => {}, (event) => read.push(event)));
  take(new TextEncoder().encode(text));
  return read;
};

// The stream, and the data that fetch-event-stream, fetch-event-source and parse-sse read
const SEEN = [
  ["data: is\n\ndata: 310\n\n", ["is", "310"], ["is", "310"], ["is", "310"]],
  ["data: is\n\ndata:  310\n\n", ["is", "310"], ["is", " 310"], ["is", " 310"]],
  ["data: {\ndata:   1\ndata: }\n\n", ["{\n1\n}"], ["{\n  1\n}"], ["{\n  1\n}"]],
  ["data:\ndata:\n\n", [""], [""], ["\n"]],
  ["data: in\n\ndata: 19", ["in"], ["in"], ["in", "19"]],
];
for (const [text, ...seen] of SEEN) {
  const read = [await all(events(response(text))), byMicrosoft(text), await all(parseServerSentEvents(response(text)))];
  assert.deepEqual(read.map((list) => list.map(({ data }) => data)), seen, text);
}
const numbered = "id: 7\ndata: a\n\ndata: b\n\n";
assert.deepEqual(byMicrosoft(numbered).map(({ id }) => id), ["7", ""]);
assert.deepEqual((await all(events(response(numbered)))).map(({ id }) => id), [7, undefined]);
assert.deepEqual((await all(parseServerSentEvents(response(numbered)))).map((event) => event.lastEventId), ["7", "7"]);
console.log("as described: a token's own space is lost, and a cut event is given");
JAVASCRIPT
node "$folder/read.mjs"
