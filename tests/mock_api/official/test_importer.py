"""Official files -> tables: what is served from them is what the original tables give, and faults cost nothing."""

import bz2
import json
import pickle
import re
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crag.commands.graph.import_graph import main
from crag.mock_api import GraphError, load_tables
from crag.mock_api.answers import SportsAnswers
from crag.mock_api.official import importer
from crag.mock_api.official.importer import import_graph
from crag.mock_api.tables import OFFICIAL_FILES
from tests.mock_api.official.write_official import write_official
from tests.mock_api.small_graph import write_graph


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_graph(tmp_path_factory.mktemp("own"))
    minutes = {"ACM": {"2024-02-28 09:30:00 EST": {"Open": 1.5, "Volume": 3}}}
    (root / "finance/finance_detailed_price.json").write_text(json.dumps(minutes), encoding="utf-8")
    columns = root / "sports/nba_columns.json"  # SQLite would make a text of a number in a column of texts
    columns.write_text(columns.read_text(encoding="utf-8").replace('"pts_home", "TEXT"', '"pts_home", "REAL"'))
    return root


@pytest.fixture(scope="module")
def official(own: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_official(own, tmp_path_factory.mktemp("cragkg"))


@pytest.fixture
def files(official: Path, tmp_path: Path) -> Path:
    """A copy of the official files that a test may spoil."""
    return Path(shutil.copytree(official, tmp_path / "cragkg"))


def served(folder: Path, games: int) -> dict[str, Any]:
    """Every table of a graph; of the sports, whose tables lose columns that nobody asks for, the answers."""
    tables = load_tables(folder)
    parts = {name: value for name, value in vars(tables).items() if name not in {"matches", "nba_games"}}
    parts["plays"] = {game: [event[1:] for event in tables.plays[game]] for game in tables.plays}
    sports = SportsAnswers(tables)
    for row in tables.matches[:games]:
        parts[row["date"]] = sports.soccer_get_games_on_date(row["date"])
    for game in tables.nba_games[:games]:
        parts[game["game_date"][:10]] = sports.nba_get_games_on_date(game["game_date"][:10])
    stored = {name: dict(value) if isinstance(value, Mapping) else value for name, value in parts.items()}
    return dict(json.loads(json.dumps(stored), parse_constant=str))  # NaN as a text, which equals itself


def test_the_imported_graph_is_the_original(own: Path, official: Path, tmp_path: Path) -> None:
    import_graph(official, tmp_path / "graph")
    assert served(tmp_path / "graph", games=9) == served(own, games=9)


def test_the_large_rebuilt_graph_survives_the_round_trip(real_graph: Path, tmp_path: Path) -> None:
    import_graph(write_official(real_graph, tmp_path / "cragkg"), tmp_path / "graph")
    assert served(tmp_path / "graph", games=50) == served(real_graph, games=50)


def fails(files: Path, out: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    assert main([str(files), "--out", str(out), *more]) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ")
    assert message.count("\n") == 1
    return message


def test_after_a_fault_or_a_kill_the_same_command_goes_on(
    files: Path, official: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, name = tmp_path / "graph", "music/grammy_df.pickle"
    (files / name).write_bytes(b"cposix\nsystem\n(S'true'\ntR.")
    with monkeypatch.context() as killed:
        killed.setattr(sqlite3, "connect", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert main([str(files), "--out", str(out)]) == 130

    capsys.readouterr()
    assert "posix.system" in fails(files, out, capsys)

    with pytest.raises(GraphError, match=r"has not finished: crag graph import .* continues"):
        load_tables(out)

    shutil.copy(official / name, files / name)
    assert main([str(files), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^music/grammy_df.json +5 records$", printed, re.M)
    assert re.search(r"^finance/finance_price.json +is there already$", printed, re.M)
    assert load_tables(out).grammy_rows


def _sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def _other_table(path: Path) -> None:
    path.unlink()
    _sql(path, "create table other (a, b)")


def _view_without_end(path: Path) -> None:
    numbers = "with recursive n(i) as (select 1 union all select i + 1 from n) select i as game_date from n"
    _sql(path, "drop table game", f"create view game as {numbers}")


def _evil_share(path: Path) -> None:
    evil = b"cbuiltins\neval\n(S'1'\ntR.".hex()
    _sql(path, f"update unnamed set value = x'{evil}' where key = 'ACM'")  # noqa: S608 - made up here


def _bytes_in_a_game(path: Path) -> None:
    _sql(path, "update game set season_id = x'00ff'")


def _pickled(value: object) -> Any:
    return lambda path: path.write_bytes(pickle.dumps(value))


def _text(text: str) -> Any:
    return lambda path: path.write_text(text)


@pytest.mark.parametrize(
    ("name", "spoil", "complaint"),
    [
        ("sports/nba.sqlite", _text("version https://git-lfs"), "git lfs pull"),
        ("open/kg.1.jsonl.bz2", lambda path: path.write_bytes(path.read_bytes()[:-9]), "Compressed file ended"),
        ("open/kg.0.jsonl.bz2", lambda path: path.write_bytes(bz2.compress(b'["a", {}]\n["b"]\n')), "line 2: 1: Field"),
        ("open/kg.0.jsonl.bz2", lambda path: path.write_bytes(bz2.compress(b" " * (1 << 21))), "longer than any"),
        ("movie/movie_db.json", _text("{"), "Invalid JSON"),
        ("movie/movie_db.json", _text('{"a": 1}'), "a: Input should be"),
        ("finance/company_name.dict", _text("A,B\n1,2\n"), "columns Name and Symbol expected"),
        ("finance/finance_price.sqlite", _text("x" * 5000), "file is not a database"),
        ("finance/finance_info.sqlite", _evil_share, "the pickle asks for builtins.eval"),
        ("finance/finance_info.sqlite", _other_table, "it has no table unnamed"),
        ("music/song_dict_hot100.pickle", _pickled({"s": {"d": [1]}}), "record s: d: List"),
        ("music/grammy_df.pickle", _pickled({"a": {}}), "a list expected, found dict"),
        ("music/artist_dict_simplified.pickle", _pickled([{}]), "a dict expected"),
        ("music/grammy_df.pickle", _pickled([{"year": 1}]), "record 0: category: Field"),
        ("music/song_dict_simplified.pickle", _pickled({"song": {"number": 1 << 100_000}}), "cannot become a table"),
        ("sports/nba.sqlite", _view_without_end, "it has no table game"),
        ("sports/nba.sqlite", _bytes_in_a_game, "cannot become a table (Object of type bytes"),
        ("sports/soccer_team_match_stats.pkl", _text(""), "damaged pickle"),
    ],
)
def test_a_damaged_file_is_one_line_that_names_it(
    files: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    spoil: Any,
    complaint: str,
) -> None:
    monkeypatch.setattr(importer, "LONGEST_LINE", 1 << 20)
    spoil(files / name)
    message = fails(files, tmp_path / "graph", capsys)
    assert f"{files / name}" in message
    assert complaint in message
    assert not list((tmp_path / "graph").rglob("*.unfinished"))


def test_half_a_graph_is_imported_only_when_asked_for(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(files / "sports")
    (files / "open/kg.1.jsonl.bz2").unlink()
    message = fails(files, tmp_path / "graph", capsys)
    assert "3 of 19 official files are missing: open/kg.1.jsonl.bz2, sports/nba.sqlite, " in message
    assert "--partial" in message
    assert not (tmp_path / "graph").exists()
    assert main([str(files), "--out", str(tmp_path / "graph"), "--partial"]) == 0
    assert "their tables are empty: open/kg.1.jsonl.bz2" in capsys.readouterr().out
    counts = load_tables(tmp_path / "graph").records()
    assert (counts["open"], counts["sports"], counts["movie"]) == (0, 0, 4)


def test_wrong_folders_are_refused(files: Path, tmp_path: Path, own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "pass the folder mock_api/cragkg" in fails(tmp_path, tmp_path / "graph", capsys)
    assert "which no import made" in fails(files, own, capsys)


@pytest.mark.parametrize(
    ("table", "name"), [(table, name) for table, names in OFFICIAL_FILES.items() for name in names if name != table]
)
def test_official_files_that_were_not_imported_are_never_an_empty_table(
    own: Path, tmp_path: Path, table: str, name: str
) -> None:
    root = Path(shutil.copytree(own, tmp_path / "graph"))
    (root / table).unlink()
    (root / name).touch()
    with pytest.raises(GraphError, match=rf"holds {name}, .*: crag graph import {root} --out DIR"):
        load_tables(root)


def test_rows_that_no_answer_of_the_official_server_holds_are_left_out(files: Path, tmp_path: Path) -> None:
    _sql(files / "sports/nba.sqlite", "insert into game (game_id) values ('x')")
    import_graph(files, tmp_path / "graph")
    assert len(load_tables(tmp_path / "graph").nba_games) == 3
