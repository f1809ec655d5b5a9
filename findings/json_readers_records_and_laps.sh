#!/usr/bin/env bash
# DuckDB 2.0.1, Polars 2.1.0, PyArrow 26.0.1: eleven wins, four draws and a defeat are the first of April 2011.
#
# Guessed before the run: only strings in ISO form become dates, in DuckDB alone; of keys that come first in row 301,
# Polars says something, or it keeps them.
# Seen: DuckDB makes dates of strings with two hyphens: the records 11-4-1 and 12-3-1 are 2011-04-01 and 2012-03-01, and
# what was written is gone. One record that is no date, 40-22-8, keeps the whole column as text, so that it depends on
# the other teams. Laps of 9:58 are times of the day, 09:58:00. Polars looks at the first hundred rows: a key that comes
# later is dropped without a word by read_ndjson and by DataFrame, and DataFrame cuts 2.5 to 2 where a hundred whole
# numbers stood before; read_ndjson makes an error of the same 2.5. PyArrow makes midnight of "2019-05-03", and a float
# of the number 18446744073709551615, which is another number then. pandas 3.1.1 keeps all of these, but "007" is 7.
# What it means: a league's table in JSON is read as a calendar, and rows of a knowledge graph lose the attribute that
# only some have. This project reads JSON with Python's own module, and keeps strings as they are.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "duckdb==2.0.1" "polars==2.1.0" "pyarrow==26.0.1" "pandas==3.1.1"
"$folder/venv/bin/python" - "$folder/rows.jsonl" <<'PYTHON'
import json
import sys
from datetime import date, datetime, time
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow.json

FILE = sys.argv[1]


def save(rows: list[dict]) -> list[dict]:
    Path(FILE).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return rows


def read(*values: object) -> tuple[list, list, list, list]:
    """A column as DuckDB, Polars, PyArrow and pandas read it."""
    save([{"value": value} for value in values])
    return (
        [row[0] for row in duckdb.sql(f"SELECT * FROM read_json('{FILE}')").fetchall()],
        polars.read_ndjson(FILE)["value"].to_list(),
        pyarrow.json.read_json(FILE)["value"].to_pylist(),
        pandas.read_json(FILE, lines=True)["value"].tolist(),
    )


# The values -> what DuckDB and PyArrow read; None: the values
SEEN = {
    ("11-4-1", "12-3-1"): ([date(2011, 4, 1), date(2012, 3, 1)], None),
    ("10-2-15", "9-3-12"): ([date(2010, 2, 15), date(2009, 3, 12)], None),
    ("11-4-1", "40-22-8"): (None, None),
    ("6-4", "3-1"): (None, None),
    ("9:58", "10:02"): ([time(9, 58), time(10, 2)], None),
    ("2019-05-03",): ([date(2019, 5, 3)], [datetime(2019, 5, 3)]),
    (2**64 - 1,): (None, [2.0**64]),
}
for values, (by_duckdb, by_pyarrow) in SEEN.items():
    seen = read(*values)
    assert seen[0] == (by_duckdb or list(values)), (values, seen[0])
    assert seen[2] == (by_pyarrow or list(values)), (values, seen[2])
    assert seen[1] == seen[3] == list(values), (values, seen[1], seen[3])
assert read("007") == (["007"], ["007"], ["007"], [7])

goals = [{"goals": number} for number in range(300)]
rows = save([*goals, {"goals": 1, "captain": "Ann"}])
assert polars.read_ndjson(FILE).columns == polars.DataFrame(rows).columns == ["goals"]
assert duckdb.sql(f"SELECT * FROM read_json('{FILE}')").columns == ["goals", "captain"]

rows = save([*goals, {"goals": 2.5}])
assert polars.DataFrame(rows)["goals"].to_list()[-2:] == [299, 2]
assert duckdb.sql(f"SELECT * FROM read_json('{FILE}')").fetchall()[-1] == (2.5,)
try:
    polars.read_ndjson(FILE)
except polars.exceptions.ComputeError as error:
    assert "cannot parse '2.5'" in str(error)
else:
    raise AssertionError("2.5 was read")

print("as described: 11-4-1 is 2011-04-01, and Polars drops what the first hundred rows do not have")
PYTHON
