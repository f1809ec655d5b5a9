#!/usr/bin/env bash
# langchain-text-splitters 1.1.3, llama-index-core 0.14.25: bold words and links leave their sentence.
#
# Guessed before the run, of LlamaIndex: "<p>The bridge is <b>310</b> m long" stays whole, and 310 comes a second time.
# LangChain's HTML splitters were run to look at headings; before the second run: the two that were new keep sentences.
# Seen: HTMLHeaderTextSplitter takes every element out of its sentence: "The bridge is m long and opened in .", and
# behind it, as lines of their own, 310 and 1932. "Won 3 of 5 games, lost 2" with bold numbers is "Won of games, lost ."
# and "3", "5", "2"; "Not <em>never</em> sold" is "Not sold." A heading loses its words in italics, in the metadata
# too. HTMLSemanticPreservingSplitter puts the words before the sentence; HTMLSectionSplitter keeps them in it.
# LlamaIndex's HTMLNodeParser makes a node of its own of what is bold, and keeps links, each on a line of its own. No
# error, no warning.
# What it means: pages set the very values in bold and the names in links that questions ask for. Passages that these
# make hold the number without its subject, or the subject without its number, and neither retrieval nor a model can
# join them again. This project keeps inline elements in their sentence.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "langchain-text-splitters==1.1.3" "llama-index-core==0.14.25" "beautifulsoup4==4.15.0" "lxml==6.1.3"
"$folder/venv/bin/python" - <<'PYTHON'
import warnings

from langchain_text_splitters import HTMLHeaderTextSplitter, HTMLSectionSplitter, HTMLSemanticPreservingSplitter
from llama_index.core import Document
from llama_index.core.node_parser import HTMLNodeParser

# HTMLSemanticPreservingSplitter says that it may change
warnings.simplefilter("ignore")

HEADINGS = [("h1", "heading")]
SENTENCE = '<p>The bridge is <b>310</b> m long and opened in <a href="x">1932</a>.</p>'


def page(body: str) -> str:
    return f"<html><body>{body}</body></html>"


def read_by_headers(body: str) -> list[str]:
    """The lines of the text, without those of the heading."""
    passages = HTMLHeaderTextSplitter(HEADINGS).split_text(page(body))
    return [line.strip() for line in passages[-1].page_content.split("\n")]


heading = "<h1>Bridge</h1>"
assert read_by_headers(heading + SENTENCE) == ["The bridge is m long and opened in .", "310", "1932"]

games = "<p>Won <b>3</b> of <b>5</b> games, lost <b>2</b>.</p>"
assert read_by_headers(heading + games) == ["Won of games, lost .", "3", "5", "2"]
assert read_by_headers(f"{heading}<p>Not <em>never</em> sold.</p>") == ["Not sold.", "never"]

passages = HTMLHeaderTextSplitter(HEADINGS).split_text(page("<h1>The <i>Titanic</i> film</h1><p>It is long.</p>"))
assert {passage.metadata["heading"] for passage in passages} == {"The film"}, passages

(passage,) = HTMLSemanticPreservingSplitter(HEADINGS).split_text(page(heading + SENTENCE))
assert passage.page_content == "310 1932 The bridge is m long and opened in .", passage

(passage,) = HTMLSectionSplitter(HEADINGS).split_text(page(heading + SENTENCE))
in_order = " ".join(passage.page_content.split())
assert in_order == "Bridge The bridge is 310 m long and opened in 1932 .", passage

nodes = HTMLNodeParser().get_nodes_from_documents([Document(text=page(SENTENCE))])
assert [node.text for node in nodes] == ["The bridge is\nm long and opened in\n1932\n.", "310"], nodes

print("as described: bold words and links are cut out of their sentence")
PYTHON
