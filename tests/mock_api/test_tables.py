from pathlib import Path

import pytest

from crag.mock_api import GraphError, load_tables
from tests.mock_api.small_graph import write_graph


def test_a_missing_table_is_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "movie").mkdir()
    (tmp_path / "movie/year_db.json").write_text("{}")
    assert set(load_tables(tmp_path).records().values()) == {0}


def test_a_byte_order_mark_does_no_harm_in_any_file(tmp_path: Path) -> None:
    plain = load_tables(write_graph(tmp_path)).records()
    files = [path for path in tmp_path.rglob("*") if path.suffix in {".json", ".jsonl", ".dict"}]
    assert {path.suffix for path in files} == {".json", ".jsonl", ".dict"}
    for path in files:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_tables(tmp_path).records() == plain


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("movie/movie_db.json", '{"a": {"id": 1},}', "Invalid JSON: .* line 1 column"),
        ("movie/person_db.json", '{"jo": [1]}', "jo: Input should be an object"),
        ("open/kg.jsonl", '["a", {}]\n["b"]\n', "line 2: 1: Field required"),
        ("open/kg.jsonl", '["a", {}]\n["b", {"c": \n', "line 2: Invalid JSON"),
        ("finance/company_name.dict", "Name,Ticker\nA,B\n", "line 1: columns Name and Symbol expected"),
        ("finance/company_name.dict", b"\xff", "not a CSV in UTF-8"),
        ("music/song_dict_hot100.json", '{"s": {"2024-02-28": ["1"]}}', "s.2024-02-28: .* at least 7 items"),
        ("music/grammy_df.json", '[{"year": "x"}]', "0.year: Input should be a valid integer"),
        ("sports/nba_game.json", '[{"game_date": "2024-01-01"}]', "0.team_name_home: Field required"),
        ("sports/nba_columns.json", "[]", "missing or empty, but nba_game.json needs it"),
        ("sports/nba_play_by_play.json", '{"columns": ["a"], "rows": [["b"]]}', "columns: no game_id among them"),
        (
            "sports/nba_play_by_play.json",
            '{"columns": ["game_id"], "rows": [["b", 2]]}',
            "rows.0: 2 values for 1 columns",
        ),
    ],
)
def test_the_error_names_the_file_the_place_and_the_fault(
    tmp_path: Path, name: str, content: str | bytes, complaint: str
) -> None:
    path = write_graph(tmp_path) / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(GraphError, match=f"{name}: {complaint}"):
        load_tables(tmp_path)


def test_a_directory_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="holds no table"):
        load_tables(tmp_path)
    with pytest.raises(GraphError, match="nowhere: no such directory"):
        load_tables(tmp_path / "nowhere")
    (tmp_path / "movie/movie_db.json").mkdir(parents=True)
    with pytest.raises(GraphError, match=r"movie_db\.json: Is a directory"):
        load_tables(tmp_path)
