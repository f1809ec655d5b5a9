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
from mock_api.official.importer import LOCK_FILE, import_graph
from mock_api.tables import OFFICIAL_FILES
from mock_api.tables.__main__ import main
from mock_api.tables.store import StoreWriter
from tests.mock_api.official.write_official import write_official, write_sqlitedict
from tests.mock_api.small_graph import write_graph

pytest.importorskip("pandas", reason="pandas (which trl brings) writes the frames of the official files")


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


@pytest.fixture(scope="module")
def imported(official: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("imported") / "graph"
    assert not import_graph(official, out, quiet=True).faults
    return out


@pytest.fixture
def files(official: Path, tmp_path: Path) -> Path:
    """A copy of the official files that a test may spoil."""
    return Path(shutil.copytree(official, tmp_path / "cragkg"))


def served(folder: Path, games: bool) -> dict[str, Any]:
    """Every table of a graph; of the sports, whose tables lose columns that nobody asks for, the answers."""
    tables = load_tables(folder)
    found = {name: value for name, value in vars(tables).items() if name not in {"matches", "nba_games"}}
    found["plays"] = {game: [event[1:] for event in tables.plays[game]] for game in tables.plays}
    sports = SportsAnswers(tables)
    for row in tables.matches if games else tables.matches[:50]:
        found[row["date"]] = sports.soccer_get_games_on_date(row["date"])
    for game in tables.nba_games if games else tables.nba_games[:50]:
        found[game["game_date"][:10]] = sports.nba_get_games_on_date(game["game_date"][:10])
    stored = {name: dict(value) if isinstance(value, Mapping) else value for name, value in found.items()}
    return dict(json.loads(json.dumps(stored), parse_constant=str))  # NaN as a text, which equals itself


def test_the_imported_graph_is_the_original(own: Path, imported: Path) -> None:
    assert served(imported, games=True) == served(own, games=True)


def test_the_large_rebuilt_graph_survives_the_round_trip(real_graph: Path, tmp_path: Path) -> None:
    out = tmp_path / "graph"
    assert not import_graph(write_official(real_graph, tmp_path / "cragkg"), out, quiet=True).faults
    assert served(out, games=False) == served(real_graph, games=False)


def test_the_command_says_what_it_made_and_that_it_is_done_already(
    official: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["import", str(official), "--out", str(tmp_path / "graph"), "--quiet"]
    assert main(arguments) == 0
    assert "movie/movie_db.json" in capsys.readouterr().out
    assert main(arguments) == 0
    assert "done already: 20 tables" in capsys.readouterr().out


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    return said


def fails(files: Path, out: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    assert main(["import", str(files), "--out", str(out), "--quiet", *more]) == 1
    return one_line(capsys)


def test_a_fault_in_one_file_costs_its_table_and_the_same_command_mends_it(
    files: Path, official: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "graph"
    name = "music/grammy_df.pickle"
    (files / name).write_bytes(b"cposix\nsystem\n(S'true'\ntR.")
    said = fails(files, out, capsys)
    assert name in said
    assert "posix.system" in said
    assert len([path for path in out.rglob("*.*") if path.is_file() and path.parent != out]) == 19
    with pytest.raises(GraphError, match=r"has not finished: python -m mock_api\.tables import .* continues"):
        load_tables(out)
    shutil.copy(official / name, files / name)
    report = import_graph(files, out, quiet=True)
    assert (list(report.made), len(report.kept)) == (["music/grammy_df.json"], 19)
    assert load_tables(out).grammy_rows


def test_a_changed_file_is_imported_again_and_a_spoiled_one_leaves_the_table_as_it_was(
    files: Path, tmp_path: Path
) -> None:
    out = tmp_path / "graph"
    import_graph(files, out, quiet=True)
    name = "finance/finance_marketcap.sqlite"
    write_sqlitedict(files / name, {"ACM": 13.5})
    assert list(import_graph(files, out, quiet=True).made) == ["finance/finance_marketcap.json"]
    assert load_tables(out).market_values == {"ACM": 13.5}
    (files / name).write_bytes(b"spoiled")
    assert len(import_graph(files, out, quiet=True).faults) == 1
    assert json.loads((out / "finance/finance_marketcap.json").read_text()) == {"ACM": 13.5}


def test_a_killed_import_goes_on(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "graph"
    with monkeypatch.context() as killed:
        put = StoreWriter.put

        def die(self: StoreWriter, key: str, value: object) -> None:
            put(self, key, value)
            raise KeyboardInterrupt

        killed.setattr(StoreWriter, "put", die)
        with pytest.raises(KeyboardInterrupt):
            import_graph(files, out, quiet=True)
    with pytest.raises(GraphError, match="has not finished"):
        load_tables(out)
    report = import_graph(files, out, quiet=True)
    assert len(report.kept) > 5
    assert "finance/finance_price.json" in report.made
    load_tables(out)


def _spoil_share(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        evil = b"cbuiltins\neval\n(S'1'\ntR."
        connection.execute("update unnamed set value = ? where key = 'ACM'", (evil,))


def _other_table(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table other (a, b)")


def _number_without_end(path: Path) -> None:
    path.write_bytes(pickle.dumps({"song": {"number": 1 << 100_000}}))


def _view_without_end(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("drop table game")
        connection.execute(
            "create view game as with recursive n(i) as (select 1 union all select i + 1 from n) "
            "select i as rowid, i as game_date, i as team_name_home, i as team_name_away from n"
        )


def _bytes_in_a_game(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update game set season_id = x'00ff'")


@pytest.mark.parametrize(
    ("name", "spoil", "complaint"),
    [
        ("sports/nba.sqlite", lambda path: path.write_text("version https://git-lfs"), "git lfs pull"),
        ("open/kg.1.jsonl.bz2", lambda path: path.write_bytes(path.read_bytes()[:-9]), "damaged after line"),
        ("open/kg.0.jsonl.bz2", lambda path: path.write_bytes(bz2.compress(b'["a", {}]\n["b"]\n')), "line 2: 1: Field"),
        ("movie/movie_db.json", lambda path: path.write_text("{"), "Invalid JSON"),
        ("movie/movie_db.json", lambda path: path.write_text('{"a": 1}'), "a: Input should be"),
        ("finance/company_name.dict", lambda path: path.write_text("A,B\n1,2\n"), "columns Name and Symbol expected"),
        ("finance/finance_price.sqlite", lambda path: path.write_bytes(b"x" * 5000), "not a SQLite file, or damaged"),
        ("finance/finance_info.sqlite", _spoil_share, "key ACM: the pickle asks for builtins.eval"),
        ("finance/finance_info.sqlite", _other_table, "one table of key and value expected, found other"),
        ("music/song_dict_hot100.pickle", lambda p: p.write_bytes(pickle.dumps({"s": {"d": [1]}})), "key s: d: List"),
        ("music/grammy_df.pickle", lambda path: path.write_bytes(pickle.dumps("text")), "a data frame expected"),
        ("music/grammy_df.pickle", lambda p: p.write_bytes(pickle.dumps({"a": {}})), "frame expected, found dict"),
        ("music/artist_dict_simplified.pickle", lambda p: p.write_bytes(pickle.dumps([{}])), "a dictionary expected"),
        ("music/grammy_df.pickle", lambda p: p.write_bytes(pickle.dumps([{"year": 1}])), "row 0: category: Field"),
        ("music/song_dict_simplified.pickle", _number_without_end, "a value that no table can hold (Exceeds the limit"),
        ("sports/nba.sqlite", _other_table, "it has no table game"),
        ("sports/nba.sqlite", _view_without_end, "it has no table game"),
        ("sports/nba.sqlite", _bytes_in_a_game, "a value that no table can hold (Object of type bytes"),
        ("sports/soccer_team_match_stats.pkl", lambda p: p.write_bytes(pickle.dumps({"a": {}})), "frame expected"),
        ("sports/soccer_team_match_stats.pkl", lambda path: path.write_bytes(b""), "damaged pickle"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_one_line_that_names_it(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, spoil: Any, complaint: str
) -> None:
    spoil(files / name)
    said = fails(files, tmp_path / "graph", capsys)
    assert f"{files / name}" in said
    assert complaint in said
    assert not list((tmp_path / "graph").rglob("*.unfinished"))


def test_a_line_without_end_is_not_held_in_memory(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few bytes of bz2 can stand for gigabytes."""
    monkeypatch.setattr("mock_api.official.jobs._LONGEST_LINE", 1 << 20)
    (files / "open/kg.0.jsonl.bz2").write_bytes(bz2.compress(b'["a", null]\n' + b" " * (1 << 20)))
    assert "line 2: longer than any article" in fails(files, tmp_path / "graph", capsys)


def test_half_a_graph_is_imported_only_when_asked_for(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(files / "sports")
    (files / "open/kg.1.jsonl.bz2").unlink()
    said = fails(files, tmp_path / "graph", capsys)
    assert "3 of 19 official files are missing: open/kg.1.jsonl.bz2, sports/nba.sqlite, " in said
    assert "--partial" in said
    assert not (tmp_path / "graph").exists()
    said = fails(files, tmp_path / "graph", capsys, "--partial")
    assert "open/kg.1.jsonl.bz2 is missing; its other half is not imported alone" in said
    (files / "open/kg.0.jsonl.bz2").unlink()
    assert main(["import", str(files), "--out", str(tmp_path / "graph"), "--quiet", "--partial"]) == 0
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
    (tmp_path / "file").touch()
    assert "is a file" in fails(files, tmp_path / "file", capsys)
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
    with closing(sqlite3.connect(files / "sports/nba.sqlite")) as connection, connection:
        connection.execute("insert into game (game_id) values ('x')")
    made = import_graph(files, tmp_path / "graph", quiet=True).made
    assert made["sports/nba_game.json"].left_out == {"games without a date or a team": 1}
    load_tables(tmp_path / "graph")
