#!/usr/bin/env bash
# python-igraph 1.0.0, rustworkx 0.18.1, NetworkX 3.6.1: a text that is missing is the text "None" after saving.
#
# Guessed before the run: whole numbers come back from GraphML as whole numbers. About what is missing nothing was
# guessed.
# Seen: igraph saves a missing text as the four letters None, in GraphML and in GML, so that whoever reads the file sees
# a name; an empty text stays empty. Numbers come back as floats with fifteen digits, without a warning: the key
# 9007199254740993 is 9007199254740990, and so is 9007199254740991. NetworkX names the type of each attribute in the
# file (long), and igraph reads its numbers as floats too. A flag that a node does not have is read as False. rustworkx
# reads no file of NetworkX that has a flag: it is "True" there, where XML says "true".
# What it means: entities of a graph get the name None, keys of sixteen digits, as posts and accounts have them, point
# at nothing, and "not known" becomes "no". Pickled graphs of igraph keep all of it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "igraph==1.0.0" "rustworkx==0.18.1" "networkx==3.6.1" "numpy==2.4.6"
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import math
import sys
import warnings

import igraph
import networkx
import rustworkx

FOLDER = sys.argv[1]
KEY, NEXT_KEY = 2**53 + 1, 2**53 + 3


def save_and_read(graph: igraph.Graph, kind: str) -> igraph.Graph:
    graph.save(f"{FOLDER}/saved.{kind}", format=kind)
    return igraph.Graph.Read(f"{FOLDER}/saved.{kind}", format=kind)


films = igraph.Graph(n=3)
films.vs["title"] = ["Dune", None, ""]
films.vs["year"] = [2021, None, 1984]
films.vs["key"] = [KEY, NEXT_KEY, KEY - 2]

with warnings.catch_warnings():
    warnings.simplefilter("error")
    for kind in ("graphml", "gml"):
        nodes = save_and_read(films, kind).vs
        assert nodes["title"] == ["Dune", "None", ""], (kind, nodes["title"])
        first, missing, last = nodes["year"]
        assert (first, last) == (2021, 1984) and isinstance(first, float) and math.isnan(missing), nodes["year"]
        assert nodes["key"] == [9_007_199_254_740_990, 9_007_199_254_741_000, 9_007_199_254_740_990], nodes["key"]
pickled = save_and_read(films, "pickle").vs
assert pickled["title"] == films.vs["title"] and pickled["key"] == films.vs["key"]

PLAIN, FLAGGED = f"{FOLDER}/plain.graphml", f"{FOLDER}/flagged.graphml"
graph = networkx.Graph()
graph.add_node("a", year=1999)
graph.add_node("b")
networkx.write_graphml(graph, PLAIN)
graph.nodes["a"]["is_film"] = True
networkx.write_graphml(graph, FLAGGED)

nodes = igraph.Graph.Read_GraphML(FLAGGED).vs
assert nodes["is_film"] == [True, False]
assert nodes["year"][0] == 1999 and isinstance(nodes["year"][0], float) and math.isnan(nodes["year"][1])

(read,) = rustworkx.read_graphml(PLAIN)
assert [node.get("year") for node in read.nodes()] == [1999, None]
try:
    rustworkx.read_graphml(FLAGGED)
except Exception as error:  # its own type is Exception itself
    assert "was not `true` or `false`" in str(error), error
else:
    raise AssertionError("a flag of NetworkX was read")

print('as described: a missing text is "None", and keys of sixteen digits are rounded')
PYTHON
