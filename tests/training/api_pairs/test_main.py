"""The command: labelled questions in, the same with the entities of their calls out."""

import hashlib
import json
from pathlib import Path

import pytest

from crag.commands.train.api_pairs import main
from crag.graph.language import parse
from crag.graph.schema import Domain
from crag.graph.writing import load_bank
from crag.mock_api.tables import SHIPPED_GRAPH
from crag.training.api_pairs.entities import company_names, groups_of
from crag.training.api_pairs.pairs import BANK, REAL, read_pairs
from crag.training.files import CARD_FILE

QUESTIONS = Path(__file__).parent / "questions.jsonl"


def make(out: Path, *more: str) -> int:
    questions = [] if "--questions" in more else ["--questions", str(QUESTIONS)]
    return main(["--graph", str(SHIPPED_GRAPH), *questions, "--out", str(out), *more])


def test_questions_get_canonical_calls_and_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "pairs.jsonl"
    assert make(out) == 0

    film, won, *_, ski = read_pairs(out)
    assert (film.groups, film.answer, film.alt_ans) == (("the shawshank redemption",), "frank darabont", ("darabont",))
    assert (won.calls, won.groups) == (
        ('get_nba_on_date("Boston Celtics","2023-05-14")["result"]',),
        ("boston celtics",),
    )
    assert (ski.calls, ski.groups) == (("None",), ("how do i wax skis?",))
    assert "wrote 4 questions" in capsys.readouterr().out

    card = json.loads((tmp_path / "pairs" / CARD_FILE).read_text(encoding="utf-8"))
    assert card["metrics"]["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert card["metrics"]["domains"] == {"movie": 1, "sports": 3}
    assert "graph finance/company_name.dict" in card["data"]
    assert make(out, "--limit", "2") == 0
    assert len(read_pairs(out)) == 2


def test_a_writer_that_reads_no_examples_gets_real_questions_and_the_bank(tmp_path: Path) -> None:
    labels, out = tmp_path / "labels.jsonl", tmp_path / "pairs.jsonl"
    first = json.loads(QUESTIONS.read_text(encoding="utf-8").splitlines()[0])
    asked = {"query": "how long did the play run?", "query_time": first["query_time"], "domain": "movie", "split": 0}
    encyclopedia = asked | {"tables": "open", "calls": ['get_open("the play")["runs"]']}
    labels.write_text(f"{json.dumps(first | {'calls': ['None']})}\n{json.dumps(encyclopedia)}\n", encoding="utf-8")
    assert make(out, "--questions", str(QUESTIONS), "--questions", str(labels), "--bank", "--group-by", "calls") == 0

    film, won, *_, play = real = [pair for pair in read_pairs(out) if pair.source == REAL]
    assert len(real) == 5, "each question once, as the first file has it"
    assert film.groups == ("get_movie_person_crew | name",)
    assert won.groups == ("get_nba_on_date | result",)
    assert (play.domain, play.groups) == (Domain.OPEN, ("get_open | runs",)), "`tables` says whose the calls are"

    bank = [pair for pair in read_pairs(out) if pair.source == BANK]
    assert {(pair.query, pair.calls) for pair in bank} == {
        (example.question, tuple(example.calls.split("\n"))) for example in load_bank()
    }

    card = json.loads((tmp_path / "pairs" / CARD_FILE).read_text(encoding="utf-8"))
    assert [card["data"][f"questions {number}"]["name"] for number in (1, 2)] == [QUESTIONS.name, "labels.jsonl"]
    assert card["metrics"]["sources"] == {REAL: 5, BANK: len(bank)}


@pytest.fixture
def graphs(tmp_path: Path) -> Path:
    """A folder with half a graph, one that must be imported, and one that was imported in part."""
    (tmp_path / "half" / "movie").mkdir(parents=True)

    (tmp_path / "official" / "music").mkdir(parents=True)
    (tmp_path / "official" / "music" / "grammy_df.pickle").touch()

    (tmp_path / "imported" / "music").mkdir(parents=True)
    state = '{"tables": {}, "finished": true, "missing": ["sports/nba.sqlite"]}'
    (tmp_path / "imported" / "import.json").write_text(state)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere", "nowhere: no graph"),
        ("half", "half a graph: the folders finance, music, sports, open are missing"),
        ("official", "crag graph import {graphs}/official --out DIR"),
    ],
)
def test_a_graph_that_cannot_be_used_is_told_in_a_line(
    graphs: Path, capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    assert make(graphs / "out.jsonl", "--graph", str(graphs / name)) == 2
    reported = capsys.readouterr().err
    assert message.format(graphs=graphs) in reported
    assert reported.count("\n") == 1


def test_a_graph_that_was_imported_in_part_will_do(graphs: Path) -> None:
    assert make(graphs / "out.jsonl", "--graph", str(graphs / "imported")) == 0


def test_a_file_of_questions_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make(tmp_path / "out.jsonl", "--questions", "nowhere.jsonl") == 2
    assert "there is no such file; --questions names the file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"calls": ["get_moive()"]}, 'field "calls": unknown_table: movie'),
        ({"calls": 'get_person("jon")'}, """field "calls": Input should be a list, found 'get_person("jon")'"""),
        ({"calls": None}, 'field "calls": Input should be a list, found None'),
        ({"tables": "films"}, 'field "tables": expected movie, finance, music, sports, open, found'),
        ({"tables": ["movie"]}, 'field "tables": expected movie, finance, music, sports, open, found'),
        ({"alt_ans": 5}, 'field "alt_ans": expected a list of strings, found 5'),
        ({"calls": ["None"], "frame": "film"}, """field "frame": expected a JSON object, found 'film'"""),
        ({"calls": ["None"], "frame": {"entities": 5}}, 'field "frame.entities": expected a list, found 5'),
    ],
)
def test_a_wrong_field_is_told_with_its_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fields: dict[str, object], message: str
) -> None:
    questions = tmp_path / "questions.jsonl"
    row = json.loads(QUESTIONS.read_text(encoding="utf-8").splitlines()[0])
    questions.write_text(f"{json.dumps(row)}\n{json.dumps(row | fields)}\n", encoding="utf-8")

    assert make(tmp_path / "out.jsonl", "--questions", str(questions)) == 2
    reported = capsys.readouterr().err
    assert f"questions.jsonl, line 2, {message}" in reported
    assert reported.count("\n") == 1


def test_the_pairs_replace_no_file_that_they_are_made_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_bytes(QUESTIONS.read_bytes())
    assert make(questions, "--questions", str(questions)) == 2
    assert "this file is an input" in capsys.readouterr().err


def test_groups_are_spelled_alike() -> None:
    companies = company_names(SHIPPED_GRAPH)

    def groups(domain: Domain, calls: str) -> tuple[str, ...]:
        return groups_of(domain, parse(calls, domain), companies)

    for name in ("msft", "MSFT", "microsoft", "microsoft corporation"):
        assert groups(Domain.FINANCE, f'get_stock_eps("{name}")') == ("msft",)
    assert groups(Domain.SPORTS, 'get_nba_on_date("celtics","2022")["result"]') == ("boston celtics",)
    assert groups(Domain.SPORTS, 'get_soccer_last_game("man city")["date"]') == ("manchester city",)
    assert groups(Domain.MOVIE, 'get_movie_person_cast(None,["Brad Pitt","cher"])["len"]') == ("brad pitt", "cher")
    oscars = 'get_movie_person_oscar(None,None,[eq(year,"2012"),eq(category,"sound"),eq(winner,"true")])["film"]'
    assert groups(Domain.MOVIE, f'{oscars}\nget_movie(*)["year"]') == ("movie_person_oscar 2012 sound",)
    assert groups(Domain.MOVIE, "None") == ()
