"""The data of the table of questions."""

import json
from pathlib import Path
from typing import Any

from evaluation.report.questions import table_data
from evaluation.report.run_folder import read_run
from tests.evaluation.report.example import record, write_run


def data_of(folder: Path, **options: Any) -> dict[str, Any]:
    return table_data(read_run(write_run(folder, **options)))


def test_rows(tmp_path: Path) -> None:
    rows = data_of(tmp_path)["rows"]
    assert [row["place"] for row in rows] == list(range(6))
    assert [row["id"] for row in rows] == ["id-0", "id-1", "id-2", "id-3", "id-0:1", "id-5"], "each is found by its own"
    assert [row["probability"] for row in rows] == [0.75, 0.1, None, 0.5, None, None]
    assert [row["gates"] for row in rows[:2]] == [["(none)"], ["expected score"]]
    assert [row["judged_by"] for row in rows[:4]] == ["number", "official", "set", "(none)"]
    assert [row["source"] for row in rows[:5:4]] == ["web", "(none)"]
    json.dumps(rows)


def test_facets_are_what_tells_questions_apart(tmp_path: Path) -> None:
    facets = [facet["field"] for facet in data_of(tmp_path / "a")["facets"]]
    assert facets == ["verdict", "domain", "gates", "judged_by", "source"], "all are simple and static"
    records = [record(0, popularity="head"), record(1)]
    rows = data_of(tmp_path / "b", records=records, traces=[])
    assert {"field": "popularity", "title": "popularity"} in rows["facets"]
    assert [row["popularity"] for row in rows["rows"]] == ["head", "(none)"]
