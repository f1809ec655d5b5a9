import json
from collections import Counter
from pathlib import Path

import pytest

from agents.public_data.entity import verbalise
from agents.public_data.tables import INDEX, SHIPPED_TABLES, TableError, load_entities, read_index

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


def test_people_are_told_what_the_rows_are_to_them(tmp_path: Path) -> None:
    table = "t,d,y\nOne,Ann|Bo,1990\nTwo,ann,1995\n"
    entities = load_entities(write(tmp_path, table, year="y", inverse={"d": "film{s} directed"}))
    paragraphs = {entity.names[0]: verbalise(entity, 9) for entity in entities}
    assert paragraphs["One"] == "The t is One. The ds are Ann and Bo. The y is 1990."
    assert paragraphs["Ann"] == 'The name is Ann. The films directed are "One" (1990) and "Two" (1995).'


def test_aliases_are_names_but_are_not_told(tmp_path: Path) -> None:
    folder = write(tmp_path, "t,other\nAlphabet,Google\n", names=["t", "other"], hidden=["other"])
    [entity] = load_entities(folder)
    assert entity.names == ("Alphabet", "Google")
    assert verbalise(entity, 9) == "The t is Alphabet."


@pytest.mark.parametrize(
    ("table", "entry", "message"),
    [
        ("t\nx\n", {"domain": "sport"}, "domain"),
        ("t\nx\n", {"unknown": 1}, "unknown"),
        ("t\nx,y\n", {}, "row 2: more cells"),
        ("other\nx\n", {}, "t.csv: not a table of the layout"),
    ],
)
def test_a_folder_that_cannot_be_used_says_what_is_wrong(
    tmp_path: Path, table: str, entry: dict[str, object], message: str
) -> None:
    with pytest.raises(TableError, match=message):
        load_entities(write(tmp_path, table, **entry))


def test_a_missing_folder_and_a_missing_table_are_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"nowhere.*cannot be read"):
        load_entities(tmp_path / "nowhere")
    (write(tmp_path, "t\n") / "t.csv").unlink()
    with pytest.raises(TableError, match=r"t\.csv: cannot be read"):
        load_entities(tmp_path)
