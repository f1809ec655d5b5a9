#!/usr/bin/env bash
# NetworkX 3.6.1: an edge that says where its fact is from loses that when it is written as JSON or GML.
#
# Guessed before the run: JSON of node_link_data() and GML drop an edge's `source`, Cytoscape's JSON too, GEXF refuses
# it, GraphML keeps it. Of a node, JSON drops the `id`, GML the `label`, and Cytoscape's JSON the `name`.
# Seen: JSON, GML and GraphML as guessed. Cytoscape's JSON does not drop the edge's `source`, it puts the name of the
# node there: the page "en.wikipedia.org" comes back as "Toy Story". GEXF keeps `source` and drops an edge's `type`. The
# other names that a format wants for itself go too: `target` and, of edges between two nodes that may have several,
# `key`; a node's `id` in node_link_data(), its `id` and `label` in GML; in Cytoscape's JSON
# its `value` becomes its name, and its `name` stays. No error, no warning.
# What it means: `source` is the natural name for the page or the data set behind a fact. The graph that is read again
# answers as before and can no longer say from where, or names an entity as its own witness. Write GraphML, or choose
# other names: node_link_data(graph, source="_from", target="_to"). This project's graph has its own format.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "networkx==3.6.1"
"$folder/venv/bin/python" - <<'PYTHON'
import io

import networkx as nx


def by_json(graph: nx.MultiDiGraph) -> nx.MultiDiGraph:
    return nx.node_link_graph(nx.node_link_data(graph))


def by_json_with_other_names(graph: nx.MultiDiGraph) -> nx.MultiDiGraph:
    names = {"source": "_from", "target": "_to"}
    return nx.node_link_graph(nx.node_link_data(graph, **names), **names)


def by_cytoscape(graph: nx.MultiDiGraph) -> nx.MultiDiGraph:
    return nx.cytoscape_graph(nx.cytoscape_data(graph))


def by_gml(graph: nx.MultiDiGraph) -> nx.MultiDiGraph:
    return nx.parse_gml("\n".join(nx.generate_gml(graph)))


def by_graphml(graph: nx.MultiDiGraph) -> nx.MultiDiGraph:
    return nx.parse_graphml("\n".join(nx.generate_graphml(graph)), force_multigraph=True)


def by_gexf(graph: nx.MultiDiGraph) -> nx.MultiDiGraph:
    written = io.BytesIO()
    nx.write_gexf(graph, written)
    written.seek(0)
    return nx.read_gexf(written)


def of_edge(trip, name: str) -> object:
    """What comes back of an attribute of an edge that was "en.wikipedia.org"; None if the attribute is gone."""
    graph = nx.MultiDiGraph()
    graph.add_edges_from([("Toy Story", "Pixar", {name: "en.wikipedia.org"})])
    ((_, _, attributes),) = trip(graph).edges(data=True)
    return attributes.get(name)


def of_node(trip, name: str) -> object:
    """What comes back of an attribute of a node that was "tt0114709"; None if the attribute is gone."""
    graph = nx.MultiDiGraph()
    graph.add_node("Toy Story")
    graph.nodes["Toy Story"][name] = "tt0114709"
    graph.add_edge("Toy Story", "Pixar")
    return trip(graph).nodes["Toy Story"].get(name)


KEPT = "en.wikipedia.org"
SEEN = {
    by_json: {"source": None, "target": None, "key": None, "type": KEPT},
    by_cytoscape: {"source": "Toy Story", "target": "Pixar", "type": KEPT},
    by_gml: {"source": None, "target": None, "key": None, "type": KEPT},
    by_gexf: {"source": KEPT, "target": KEPT, "key": None, "type": None},
    by_graphml: {"source": KEPT, "target": KEPT, "key": KEPT, "type": KEPT},
    by_json_with_other_names: {"source": KEPT, "target": KEPT, "key": None, "type": KEPT},
}
for trip, attributes in SEEN.items():
    for name, value in attributes.items():
        assert of_edge(trip, name) == value, (trip.__name__, name, of_edge(trip, name))

assert [of_node(by_json, name) for name in ("id", "label", "value")] == [None, "tt0114709", "tt0114709"]
assert [of_node(by_gml, name) for name in ("id", "label", "value")] == [None, None, "tt0114709"]
assert [of_node(by_cytoscape, name) for name in ("id", "label", "value")] == ["tt0114709", "tt0114709", "Toy Story"]
assert [of_node(by_graphml, name) for name in ("id", "label", "value")] == ["tt0114709"] * 3

print("as described: the source of an edge is lost as JSON and GML, and becomes a node's name in Cytoscape's JSON")
PYTHON
