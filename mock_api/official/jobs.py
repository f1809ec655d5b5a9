"""Which official file becomes which table, and how: JSON, JSON lines, CSV and pickles here, SQLite beside."""

import bz2
import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from mock_api.official.pickles import PickleFaultError, Plainer, read_pickle
from mock_api.official.sqlite_files import by_share, nba, stored_by_share
from mock_api.official.work import ImportFaultError, Job, Made, Work, checked, counted, write_list, write_object
from mock_api.tables import ChartEntry, ChartWeek, GrammyRow, Record, SoccerMatch

_LONGEST_LINE = 1 << 28
"""Bytes of an article: far more than any has. Without a bound, a few bytes of bz2 could ask for all memory."""


def _articles(work: Work) -> Made:
    """Pieces of JSON lines in bz2 -> one file of JSON lines."""
    shape = TypeAdapter(tuple[str, Record | None])
    records = 0
    with work.targets[0].open("wb") as target:
        for path in work.sources:
            size = path.stat().st_size
            with path.open("rb") as packed, bz2.open(packed, "rb") as lines, work.bar(size, "B") as bar:
                number = 0
                try:
                    for number, line in enumerate(iter(lambda: lines.readline(_LONGEST_LINE), b""), start=1):
                        if len(line) == _LONGEST_LINE:
                            raise ImportFaultError(f"{path}, line {number}: no article is so long: fetch it again")
                        if line.strip():
                            checked(shape, line, path, f"line {number}", is_json=True)
                            target.write(line.rstrip(b"\r\n") + b"\n")
                            records += 1
                        if number % 500 == 0:
                            bar.update(packed.tell() - bar.n)
                except (OSError, EOFError) as error:
                    raise ImportFaultError(f"{path}: damaged after line {number} ({error}): fetch it again") from None
    return Made(records, work.left_out)


def _copied(work: Work) -> Made:
    """A JSON table of records, which is in our form already."""
    path = work.sources[0]
    content = path.read_bytes()
    records = checked(TypeAdapter(dict[str, Record]), content, path, "", is_json=True)
    work.targets[0].write_bytes(content)
    return Made(len(records), work.left_out)


def _listings(work: Work) -> Made:
    """The CSV of company names; a row without a name or a ticker, which no question can reach, is left out."""
    path = work.sources[0]
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines)
            if not {"Name", "Symbol"} <= set(reader.fieldnames or ()):
                raise ImportFaultError(f"{path}: columns Name and Symbol expected, found {reader.fieldnames}")
            rows = [(row["Name"], row["Symbol"]) for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ImportFaultError(f"{path}: no CSV in UTF-8 ({error}): fetch it again") from None
    whole = [(" ".join(name.splitlines()), ticker) for name, ticker in rows if name and ticker]
    work.left_out["rows without name or ticker"] += len(rows) - len(whole)
    with work.targets[0].open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target)
        writer.writerows([("", "Name", "Symbol"), *((number, *row) for number, row in enumerate(whole))])
    return Made(len(whole), +work.left_out)


def _of_pickle(shape: TypeAdapter[Any]) -> Callable[[Work], Made]:
    """A pickle of a dictionary -> a JSON object."""

    def make(work: Work) -> Made:
        path = work.sources[0]
        found: dict[str, Any] = _plain_pickle(path, dict)
        with work.bar(len(found), "record") as bar:
            items = ((key, checked(shape, one, path, f"key {key}")) for key, one in counted(found.items(), bar))
            return Made(write_object(work.targets[0], items), work.left_out)

    return make


def _of_frame(shape: TypeAdapter[Any]) -> Callable[[Work], Made]:
    """A pickle of a frame -> a JSON list of its rows."""

    def make(work: Work) -> Made:
        path = work.sources[0]
        found: list[Any] = _plain_pickle(path, list)
        with work.bar(len(found), "record") as bar:
            rows = (checked(shape, row, path, f"row {number}") for number, row in enumerate(counted(found, bar)))
            return Made(write_list(work.targets[0], rows), work.left_out)

    return make


def _plain_pickle(path: Path, kind: type) -> Any:  # noqa: ANN401 - of that kind
    size = path.stat().st_size
    try:
        with path.open("rb") as stream:
            found = Plainer(size)(read_pickle(stream))
    except PickleFaultError as error:
        raise ImportFaultError(f"{path}: {error}") from None
    if not isinstance(found, kind):
        due = "a data frame" if kind is list else "a dictionary"
        raise ImportFaultError(f"{path}: {due} expected, found {type(found).__name__}")
    return found


def _matches(work: Work) -> Made:
    """The frame of soccer matches -> rows; one without a date is in no answer of the official server."""
    path = work.sources[0]
    shape = TypeAdapter(SoccerMatch)
    found: list[Any] = _plain_pickle(path, list)
    rows = [row for row in found if isinstance(row, dict) and row.get("date") is not None]
    work.left_out["rows without a date"] += len(found) - len(rows)
    dated = ({**row, "date": str(row["date"])[:10], "season": _text(row.get("season"))} for row in rows)
    whole = (checked(shape, row, path, f"row {number}") for number, row in enumerate(dated))
    return Made(write_list(work.targets[0], whole), +work.left_out)


def _text(value: object) -> object:
    return str(value) if isinstance(value, int | float) else value


STORED = frozenset(
    {"finance/finance_price.json", "finance/finance_detailed_price.json", "sports/nba_play_by_play.json"}
)
"""Tables that become stores on disk."""

_ANYTHING = TypeAdapter[Any](dict[str, Any])
JOBS = (
    *(Job((f"movie/{name}.json",), (f"movie/{name}.json",), _copied) for name in ("year_db", "person_db", "movie_db")),
    Job(("open/kg.0.jsonl.bz2", "open/kg.1.jsonl.bz2"), ("open/kg.jsonl",), _articles),
    Job(("finance/company_name.dict",), ("finance/company_name.dict",), _listings),
    *(
        Job((f"finance/finance_{name}.sqlite",), (f"finance/finance_{name}.json",), make)
        for name, make in (
            ("marketcap", by_share(TypeAdapter(float | None))),
            ("dividend", by_share(_ANYTHING)),
            ("info", by_share(_ANYTHING)),
            ("price", stored_by_share),
            ("detailed_price", stored_by_share),
        )
    ),
    Job(("music/grammy_df.pickle",), ("music/grammy_df.json",), _of_frame(TypeAdapter(GrammyRow))),
    *(
        Job((f"music/{name}.pickle",), (f"music/{name}.json",), _of_pickle(shape))
        for name, shape in (
            ("rank_dict_hot100", TypeAdapter(list[ChartEntry])),
            ("song_dict_hot100", TypeAdapter(dict[str, ChartWeek])),
            ("artist_work_dict", TypeAdapter(list[str])),
            ("artist_dict_simplified", _ANYTHING),
            ("song_dict_simplified", _ANYTHING),
        )
    ),
    Job(("sports/soccer_team_match_stats.pkl",), ("sports/soccer_team_match_stats.json",), _matches),
    Job(
        ("sports/nba.sqlite",),
        ("sports/nba_game.json", "sports/nba_columns.json", "sports/nba_play_by_play.json"),
        nba,
    ),
)
"""The small before the large, so that what is wrong shows early."""
