"""Facts of the shipped tables for questions, and folders of tables that a preset brings along."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from crag.commands.data.tables import main
from crag.core.deadline import Deadline
from crag.facts import ShippedPublicData
from crag.facts.link import Link
from crag.facts.shipped import choose_entities
from crag.settings import PRESETS, LinkSettings, PublicDataSettings, load_settings
from tests.facts.fakes import SOON, CountedModel, entity, query

SPANS = PublicDataSettings(method="spans")


def test_questions_get_the_paragraphs_of_what_they_are_about() -> None:
    data = ShippedPublicData(SPANS, CountedModel({}), None)
    data.warm_up()
    asked = [
        query("who directed pulp fiction?"),
        query("how high is the moon?"),
        query("who won best actress in 1996?"),
    ]
    film, nothing, award = data.facts(asked, [None] * len(asked), Deadline(SOON))
    assert film[0].text.startswith('The title is "Pulp Fiction". The director is Quentin Tarantino.')
    assert film[0].source == "public data: films"
    assert nothing == ()
    assert ["held in 1996" in fact.text for fact in award] == [True, False]
    assert "Susan Sarandon" in award[0].text


def test_a_preset_names_its_own_tables(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("band,town\nThe Foo Bars,Leeds\n", encoding="utf-8")
    entry = {"layout": "entities", "domain": "music", "label": "bands", "source": "me", "licence": "CC0-1.0"}
    (tmp_path / "tables.json").write_text(json.dumps({"own.csv": entry | {"names": ["band"]}}), encoding="utf-8")
    data = ShippedPublicData(PublicDataSettings(tables=str(tmp_path), method="spans"), CountedModel({}), None)
    [facts] = data.facts([query("where are the foo bars from?")], [None], Deadline(SOON))
    assert [(fact.text, fact.source) for fact in facts] == [
        ("The band is The Foo Bars. The town is Leeds.", "public data: bands")
    ]


def links(*years: int, score: float = 1.0, table: str = "films") -> list[Link]:
    return [Link(entity("X", "movie", year, table=table), score) for year in years]


def test_namesakes_come_newest_first_and_a_year_in_the_question_chooses() -> None:
    remakes = [links(1937, 1976, 2018)]
    assert [own.years for own in choose_entities(remakes, (), 2)] == [(2018,), (1976,)]
    assert [own.years for own in choose_entities(remakes, (1937,), 4)] == [(1937,)]
    assert len(choose_entities(remakes, (1999,), 4)) == 3  # a year that is no film's is about something else


def test_settings_ask_for_the_encoder_that_similarity_needs() -> None:
    settings = load_settings(PRESETS / "cpu.toml")
    links = {"movie": LinkSettings(level="similarity")}
    data = settings.model_dump() | {"public_data": PublicDataSettings(links=links).model_dump()}  # type: ignore[arg-type]
    assert type(settings).model_validate(data).public_data is not None
    web = {"chunk": {"method": "words"}, "retrieve": [{"method": "bm25", "top_k": 3}], "pages": {"method": "bm25"}}
    with pytest.raises(ValidationError, match=r"public_data\.links is similarity"):
        type(settings).model_validate(data | {"dense_encoder": None, "web": web})


def test_build_makes_a_folder_of_tables_that_a_preset_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "oscars.csv", tmp_path / "tables"
    source.write_text(
        "year_film,year_ceremony,ceremony,category,name,film,winner\n1970,1971,43,DIRECTING,Jane Doe,Deep,True\n"
    )
    assert main(["--oscars", str(source), "--out", str(out)]) == 0
    assert "1 row of oscars" in capsys.readouterr().out
    data = ShippedPublicData(PublicDataSettings(tables=str(out), method="spans"), CountedModel({}), None)
    [facts] = data.facts([query("which movie did jane doe direct?")], [None], Deadline(SOON))
    assert "Deep" in facts[0].text


def test_a_build_of_nothing_is_an_error_of_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("error: nothing to build")
