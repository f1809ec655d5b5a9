#!/usr/bin/env bash
# grand-cypher 1.2.0: AND binds no closer than OR, a missing number is zero in a mean, and a - b means both ways.
#
# Guessed before the run: comparisons with what is missing are false, and sorting is right.
# Seen: in Cypher, AND comes before OR. "year = 1950 OR year = 1932 AND length = 300" loses the bridge of 1950, as if OR
# stood in brackets; the other way round, AND first, it is kept. The mean of 100, 200, 300 and a missing length is 150,
# their count 4; Cypher says 200 and 3. A missing year is unlike 1932 (<>), and equal to null; under NOT it is neither.
# Of (a)-[r]-(b), an edge in either direction, only pairs with edges in both directions are found. COUNT of nothing is
# no row, where Cypher has 0.
# What it means: the package runs Cypher, a language of graph databases, on NetworkX; written from its manual, a query
# gets another answer, without a word. Brackets around each AND help. This project has its own language of queries.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "grand-cypher==1.2.0" "networkx==3.6.1"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import networkx
from grandcypher import GrandCypher

BRIDGES = {
    "East": {"year": 1932, "length": 300},
    "West": {"year": 1950},
    "North": {"year": 1932, "length": 100},
    "South": {"length": 200},
}
graph = networkx.DiGraph()
for name, values in BRIDGES.items():
    graph.add_node(name, name=name, **values)
graph.add_edges_from([("East", "West"), ("West", "East"), ("West", "North")])


def ask(query: str) -> list[tuple[object, ...]]:
    """The rows of an answer."""
    return list(zip(*GrandCypher(graph).run(query).values(), strict=True))


def names(condition: str) -> list[str]:
    return sorted(str(name) for (name,) in ask(f"MATCH (n) WHERE {condition} RETURN n.name"))


assert names("n.year = 1950 OR n.year = 1932 AND n.length = 300") == ["East"]
assert names("n.year = 1932 AND n.length = 300 OR n.year = 1950") == ["East", "West"]
assert names("n.year = 1950 OR (n.year = 1932 AND n.length = 300)") == ["East", "West"]

assert ask("MATCH (n) RETURN AVG(n.length)") == [(150,)]
assert ask("MATCH (n) RETURN COUNT(n.length)") == [(4,)]
assert ask("MATCH (n) WHERE n.year = 1800 RETURN COUNT(n)") == []

assert names("n.year <> 1932") == ["South", "West"]
assert names("n.year = null") == ["South"]
assert names("NOT n.year = 1932") == ["West"]
assert names("n.length < 150") == ["North"]

both_ways = [("East", "West"), ("West", "East")]
assert sorted(ask("MATCH (a)-[r]->(b) RETURN a.name, b.name")) == [*both_ways, ("West", "North")]
assert sorted(ask("MATCH (a)-[r]-(b) RETURN a.name, b.name")) == both_ways

print("as described: OR is read before AND, and a missing length is zero in the mean")
PYTHON
