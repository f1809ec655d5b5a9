"""The pair maker over a graph that was imported from official files: it samples from what the original tables hold."""

from pathlib import Path

import pytest

from mock_api.official.importer import import_graph
from tests.mock_api.official.write_official import write_official
from training.api_pairs.__main__ import main
from training.api_pairs.graph import OWN_GRAPH, Graph
from training.api_pairs.pairs import read_pairs

pytest.importorskip("pandas", reason="pandas (which trl brings) writes the frames of the official files")

SEEN = ("films", "persons", "oscars", "companies", "prices", "prices_now", "dividends", "artists", "songs", "charts")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graphs")
    assert not import_graph(write_official(OWN_GRAPH, folder / "cragkg"), folder / "tables").faults
    return folder / "tables"


def test_an_imported_graph_knows_what_the_original_knows(imported: Path) -> None:
    graph, original = Graph(imported), Graph(OWN_GRAPH)
    assert all(getattr(graph, name) == getattr(original, name) for name in SEEN)
    assert dict(graph.articles) == dict(original.articles)
    assert len(graph.nba_games) == len(original.nba_games)
    assert len(graph.soccer_games) == len(original.soccer_games)


def test_pairs_are_made_of_it(imported: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    assert main(["--graph", str(imported), "--no-real", "--count", "12", "--out", str(out)]) == 0
    sampled = [pair for pair in read_pairs(out) if pair.source == "synthetic"]
    assert sampled
    assert all(pair.values for pair in sampled)
