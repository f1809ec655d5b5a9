"""Official files -> tables: what is served from them is what the original tables give, and faults cost nothing."""

import bz2
import json
import pickle
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from mock_api import GraphError, load_tables
from mock_api.answers import SportsAnswers
from mock_api.official import convert
from mock_api.official.importer import LOCK_FILE, import_graph
from mock_api.tables import OFFICIAL_FILES
from mock_api.tables.__main__ import main
from mock_api.tables.store import StoreWriter
from tests.mock_api.official.write_official import write_official, write_sqlitedict
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
    assert not import_graph(official, tmp_path / "graph").faults
    assert served(tmp_path / "graph", games=9) == served(own, games=9)


def test_the_large_rebuilt_graph_survives_the_round_trip(real_graph: Path, tmp_path: Path) -> None:
    assert not import_graph(write_official(real_graph, tmp_path / "cragkg"), tmp_path / "graph").faults
    assert served(tmp_path / "graph", games=50) == served(real_graph, games=50)


def fails(files: Path, out: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    assert main(["import", str(files), "--out", str(out), *more]) == 1
    message = capsys.readouterr().err
    assert message.startswith("error: ")
    assert message.count("\n") == 1
    return message


def test_a_fault_in_one_file_costs_its_table_and_the_same_command_mends_it(
    files: Path, official: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, name = tmp_path / "graph", "music/grammy_df.pickle"
    (files / name).write_bytes(b"cposix\nsystem\n(S'true'\ntR.")
    message = fails(files, out, capsys)
    assert name in message
    assert "posix.system" in message
    assert len([path for path in out.rglob("*.*") if path.is_file() and path.parent != out]) == 19
    with pytest.raises(GraphError, match=r"has not finished: python -m mock_api\.tables import .* continues"):
        load_tables(out)
    shutil.copy(official / name, files / name)
    again = ["import", str(files), "--out", str(out)]
    assert main(again) == 0
    printed = capsys.readouterr().out
    assert "music/grammy_df.json" in printed
    assert "done already: 19 tables" in printed
    assert load_tables(out).grammy_rows


def test_a_changed_file_is_imported_again_and_a_spoiled_one_leaves_the_table_as_it_was(
    files: Path, tmp_path: Path
) -> None:
    out, name = tmp_path / "graph", "finance/finance_marketcap.sqlite"
    import_graph(files, out)
    write_sqlitedict(files / name, {"ACM": 13.5})
    assert list(import_graph(files, out).made) == ["finance/finance_marketcap.json"]
    (files / name).write_bytes(b"spoiled")
    assert len(import_graph(files, out).faults) == 1
    assert json.loads((out / "finance/finance_marketcap.json").read_text()) == {"ACM": 13.5}


def test_a_killed_import_goes_on(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "graph"
    with monkeypatch.context() as killed:
        killed.setattr(StoreWriter, "put", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            import_graph(files, out)
    with pytest.raises(GraphError, match="has not finished"):
        load_tables(out)
    report = import_graph(files, out)
    assert len(report.kept) > 5
    assert "finance/finance_price.json" in report.made
    load_tables(out)


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
        ("open/kg.1.jsonl.bz2", lambda path: path.write_bytes(path.read_bytes()[:-9]), "damaged after line"),
        ("open/kg.0.jsonl.bz2", lambda path: path.write_bytes(bz2.compress(b'["a", {}]\n["b"]\n')), "line 2: 1: Field"),
        ("open/kg.0.jsonl.bz2", lambda path: path.write_bytes(bz2.compress(b" " * (1 << 21))), "longer than any"),
        ("movie/movie_db.json", _text("{"), "Invalid JSON"),
        ("movie/movie_db.json", _text('{"a": 1}'), "a: Input should be"),
        ("finance/company_name.dict", _text("A,B\n1,2\n"), "columns Name and Symbol expected"),
        ("finance/finance_price.sqlite", _text("x" * 5000), "not a SQLite file, or damaged"),
        ("finance/finance_info.sqlite", _evil_share, "key ACM: the pickle asks for builtins.eval"),
        ("finance/finance_info.sqlite", _other_table, "no such table: unnamed"),
        ("music/song_dict_hot100.pickle", _pickled({"s": {"d": [1]}}), "key s: d: List"),
        ("music/grammy_df.pickle", _pickled({"a": {}}), "a data frame expected, found dict"),
        ("music/artist_dict_simplified.pickle", _pickled([{}]), "a dictionary expected"),
        ("music/grammy_df.pickle", _pickled([{"year": 1}]), "row 0: category: Field"),
        ("music/song_dict_simplified.pickle", _pickled({"song": {"number": 1 << 100_000}}), "no table can hold"),
        ("sports/nba.sqlite", _view_without_end, "it has no table game"),
        ("sports/nba.sqlite", _bytes_in_a_game, "a value that no table can hold (Object of type bytes"),
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
    monkeypatch.setattr(convert, "LONGEST_LINE", 1 << 20)
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
    message = fails(files, tmp_path / "graph", capsys, "--partial")
    assert "open/kg.1.jsonl.bz2 is missing; its other half is not imported alone" in message
    (files / "open/kg.0.jsonl.bz2").unlink()
    assert main(["import", str(files), "--out", str(tmp_path / "graph"), "--partial"]) == 0
    assert "missing, so empty: open/kg.0.jsonl.bz2" in capsys.readouterr().out
    counts = load_tables(tmp_path / "graph").records()
    assert (counts["open"], counts["sports"], counts["movie"]) == (0, 0, 4)


def test_a_wrong_folder_is_reported_with_the_right_one(
    files: Path, tmp_path: Path, own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "graph"
    assert f"pass {files}" in fails(tmp_path, out, capsys)
    assert f"pass {files}" in fails(files / "music", out, capsys)
    assert "pass the folder cragkg" in fails(own, out, capsys)
    assert "no such folder" in fails(tmp_path / "nowhere", out, capsys)
    assert "is the folder of the official files" in fails(files, files, capsys)
    assert "which no import made" in fails(files, own, capsys)
    out.mkdir()
    with FileLock(out / LOCK_FILE):
        assert "another process imports into it" in fails(files, out, capsys)
    with pytest.raises(GraphError, match=rf"the official files are in {files}"):
        load_tables(files.parent)


@pytest.mark.parametrize("name", [name for name, table in OFFICIAL_FILES.items() if name != table])
def test_official_files_that_were_not_imported_are_never_an_empty_table(own: Path, tmp_path: Path, name: str) -> None:
    root = Path(shutil.copytree(own, tmp_path / "graph"))
    (root / OFFICIAL_FILES[name]).unlink()
    (root / name).touch()
    with pytest.raises(GraphError, match=rf"holds {name}, .*: python -m mock_api\.tables import {root} --out DIR"):
        load_tables(root)


def test_rows_that_no_answer_of_the_official_server_holds_are_left_out_and_counted(files: Path, tmp_path: Path) -> None:
    _sql(files / "sports/nba.sqlite", "insert into game (game_id) values ('x')")
    made = import_graph(files, tmp_path / "graph").made
    assert made["sports/nba_game.json"].left_out == {"games without a date or a team": 1}
