"""Readers of the graph that ships with the project, for the tests that look at its tables without a server."""

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
GRAPH = ROOT / "mock_api" / "graph"

Record = dict[str, Any]


@cache
def table(name: str) -> Any:
    return json.loads((GRAPH / name).read_text(encoding="utf-8"))


def movies() -> dict[str, Record]:
    found: dict[str, Record] = table("movie/movie_db.json")
    return found


def persons() -> dict[str, Record]:
    found: dict[str, Record] = table("movie/person_db.json")
    return found


@cache
def entities() -> dict[str, Record]:
    lines = (GRAPH / "open/kg.jsonl").read_text(encoding="utf-8").splitlines()
    return dict(json.loads(line) for line in lines)


@cache
def tickers() -> dict[str, str]:
    with (GRAPH / "finance/company_name.dict").open(encoding="utf-8", newline="") as lines:
        return {row["Symbol"]: row["Name"] for row in csv.DictReader(lines)}
