"""The starter kit's agent reads sentences of the pages and what the graph says about the entities it extracted."""

import json

import pytest

from crag.benchmarks.starter_kit import StarterKit
from crag.settings import KG_VARIABLE, OVERRIDES_VARIABLE, PRESET_VARIABLE
from crag.weights.manifest import WeightsMissingError
from tests.pipeline.asking import batch_of, page
from tests.toml_text import toml_table

FILM, RELEASED = "Titanic", "release_date of Titanic: 1997"


@pytest.mark.models
@pytest.mark.parametrize(
    ("domain", "entities", "answers"),
    [
        ("movie", {"movie": FILM, "movie_aspect": "release_date"}, ["from the graph", "from the graph"]),
        ("finance", {}, ["from the page", "i don't know"]),
    ],
)
def test_pages_and_graph_reach_the_model(
    graph: str, monkeypatch: pytest.MonkeyPatch, domain: str, entities: dict[str, str], answers: list[str]
) -> None:
    extracted = "Here it is: " + json.dumps({"domain": domain, **entities})
    replies = {RELEASED: "from the graph", "It sank in 1912.": "from the page", "References:": "I don't know."}
    replies |= {"Question: when": extracted}
    monkeypatch.setenv(PRESET_VARIABLE, "scripted")
    monkeypatch.setenv(OVERRIDES_VARIABLE, f"language_model.replies = {toml_table(replies)}")
    monkeypatch.setenv(KG_VARIABLE, graph)

    try:
        kit = StarterKit()
    except WeightsMissingError as error:
        pytest.skip(str(error))

    batch = batch_of(["when did titanic come out?"] * 2, [])
    batch["search_results"] = [[page("<p>The ship was large. It sank in 1912.</p>")], []]
    assert kit.get_batch_size() >= 1
    assert kit.batch_generate_answer(batch) == answers
