#!/usr/bin/env bash
# chonkie 1.7.0: a chunk ends behind "It cost $1.", and 5 million begin the next.
#
# Nothing was guessed before the run.
# Seen: FastChunker takes every full stop for an end: "It cost $1." and "5 million". RecursiveChunker, measured in
# characters, cuts Smith into "Smi" and "th" though blanks are near. Measured in words, it drops the blanks between
# chunks and counts their places without them: the text from start_index to end_index is not the chunk's, from the
# second on, and one chunk is empty. SentenceChunker splits behind "Dr.".
# What it means: answers are cut in two, and links from a chunk to its place in the page point beside it. This project
# has its own splitter, which keeps numbers.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "chonkie==1.7.0"
"$folder/venv/bin/python" - <<'PYTHON'
import chonkie

TEXT = (
    "The East Bridge is 310 m long. It was built in 1932 by J. Smith. "
    "It cost $1.5 million, and 10,000 cars use it.  West Bridge is 520 m."
)


def texts(chunks: list[chonkie.Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


fast = texts(chonkie.FastChunker(chunk_size=40).chunk(TEXT))
assert fast[2:4] == [" It cost $1.", "5 million, and 10,000 cars use it."], fast

letters = texts(chonkie.RecursiveChunker(tokenizer="character", chunk_size=30).chunk(TEXT))
assert letters[2:4] == ["It was built in 1932 by J. Smi", "th. "], letters

words = chonkie.RecursiveChunker(tokenizer="word", chunk_size=4).chunk(TEXT)
begun = ["The East Bridge is", "310 m long. ", "It was built in", "1932 by J. Smith.", ""]
assert texts(words)[:5] == begun, texts(words)
places = [TEXT[chunk.start_index : chunk.end_index] for chunk in words]
assert places[:2] == ["The East Bridge is", " 310 m long."], places

doctor = "It was 3.1 km. Dr. Smith left at 5 p.m. and came."
assert texts(chonkie.SentenceChunker(tokenizer="character", chunk_size=20).chunk(doctor))[0] == "It was 3.1 km. Dr. "

print("as described: a chunk ends behind $1. of $1.5 million")
PYTHON
