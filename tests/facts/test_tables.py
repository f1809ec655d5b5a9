"""Folders of tables: what is read from them, what is refused, and the paragraphs that entities give."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from crag.facts.entities import Entity, load_entities
from crag.facts.paragraphs import write_paragraph
from crag.facts.tables import INDEX, SHIPPED_TABLES, TableError, read_index

ENTRY = {"layout": "entities", "domain": "movie", "label": "films", "source": "-", "licence": "CC0-1.0", "names": ["t"]}


def write(folder: Path, table: str, **entry: object) -> Path:
    (folder / "t.csv").write_text(table, encoding="utf-8")
    (folder / INDEX).write_text(json.dumps({"t.csv": ENTRY | entry}), encoding="utf-8")
    return folder


def test_the_shipped_tables_name_source_and_licence_and_cover_what_they_claim() -> None:
    index = read_index(SHIPPED_TABLES)
    assert {path.name for path in SHIPPED_TABLES.glob("*.csv")} == set(index)
    assert all(table.source and table.licence == "CC0-1.0" for table in index.values())
    entities = load_entities()
    best_pictures = [entity for entity in entities if entity.names[0] == "Best Picture"]
    assert [entity.years[0] for entity in best_pictures] == list(range(1990, 2025))
    domains = Counter(entity.domain for entity in entities)
    assert min(domains["movie"], domains["music"], domains["finance"]) >= 60


@pytest.mark.parametrize(
    ("table", "entry", "message"),
    [
        ("t\nx\n", {"domain": "sport"}, "domain"),
        ("t\nx\n", {"unknown": 1}, "unknown"),
        ("t\nx,y\n", {}, "line 2: 2 cells, but the header has 1 column"),
        ("other\nx\n", {}, "t.csv: not a table of the layout"),
    ],
)
def test_a_folder_that_cannot_be_used_says_what_is_wrong(
    tmp_path: Path, table: str, entry: dict[str, object], message: str
) -> None:
    with pytest.raises(TableError, match=message):
        load_entities(write(tmp_path, table, **entry))


def test_a_header_may_have_other_capitals_and_a_cell_may_be_long(tmp_path: Path) -> None:
    (entity,) = load_entities(write(tmp_path, f"Title , PLOT\nRain Man, {'x' * 140_000}\n", names=["title"]))
    assert entity.names == ("Rain Man",)
    assert max(len(value) for values in entity.attributes.values() for value in values) == 140_000


def test_a_table_in_another_encoding_names_the_line_and_the_remedy(tmp_path: Path) -> None:
    folder = write(tmp_path, "t\nRain Man\n")
    (folder / "t.csv").write_bytes("t\nRain Man\nAmélie\n".encode("latin-1"))
    with pytest.raises(TableError, match=r"t\.csv, line 3: not UTF-8 text \(byte 0xe9\); save it as UTF-8"):
        load_entities(folder)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"nowhere.*cannot be read"):
        load_entities(tmp_path / "nowhere")


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    (write(tmp_path, "t\n") / "t.csv").unlink()
    with pytest.raises(TableError, match=r"t\.csv: cannot be read"):
        load_entities(tmp_path)


def entity_with(attributes: Mapping[str, Sequence[str]]) -> Entity:
    return Entity(("x",), "movie", "films", attributes)


def test_the_paragraph_reads_as_in_the_paper() -> None:
    people = {"director{s}": ["Barry Levinson"], "lead actor{s}": ["Dustin Hoffman", "Tom Cruise"]}
    film = entity_with({"title{s}": ['"Rain Man"'], **people, "budget{s}": [], "release year{s}": ["1988"]})
    assert write_paragraph(film, 10) == (
        'The title is "Rain Man". The director is Barry Levinson. '
        "The lead actors are Dustin Hoffman and Tom Cruise. The release year is 1988."
    )


def test_a_long_list_is_cut_and_its_length_reported() -> None:
    films = entity_with({"film{s} directed": [f"F{n}" for n in range(7)]})
    assert write_paragraph(films, 3) == "The films directed are F0, F1, F2 and 4 more (7 in all)."
    assert write_paragraph(films, 7).endswith("F5 and F6 (7 in all).")


def test_what_happened_in_the_year_of_the_question_survives_the_cut() -> None:
    awards = entity_with({"award{s} won": [f"Best {n} ({2000 + n})" for n in range(9)]})
    assert write_paragraph(awards, 1, years=(2007,)).startswith("The awards won are Best 7 (2007) and 8 more")
