#!/usr/bin/env bash
# fastparquet 2026.9.0, PyArrow 26.0.1: the day of 1066-10-14 is in the year 2235, and a film's list of roles is None.
#
# Guessed before the run: fastparquet refuses nested lists and days before 1677, which the nanoseconds of pandas do not
# reach, or gives them as objects.
# Seen: PyArrow writes the files, and reads each back as it was. fastparquet makes nanoseconds of days without a look at
# their range: 14 October 1066 is 22 November 2235, and 15 March 44 in November 1797. Moments of the same years are
# right. A list of lists or of records is None in every row, and of a mapping to lists only the keys are left. A time of
# the day is a bare whole number, in thousandths or millionths of a second. Decimals become floats with sixteen digits.
# No warning comes.
# What it means: dates of a history lie in the future, and cast lists are empty, which looks like gaps in the data. This
# project reads no Parquet.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "fastparquet==2026.9.0" "pyarrow==26.0.1" "pandas==3.1.1"
"$folder/venv/bin/python" -W error::UserWarning -W error::RuntimeWarning - "$folder/table.parquet" <<'PYTHON'
import sys
from datetime import date, datetime, time
from decimal import Decimal

import fastparquet
import pyarrow as pa
from pyarrow import parquet

FILE = sys.argv[1]


def read(value: object, kind: pa.DataType) -> object:
    """What fastparquet reads of a table with one value."""
    parquet.write_table(pa.table({"x": pa.array([value], kind)}), FILE)
    assert parquet.read_table(FILE)["x"].to_pylist() == [value]
    frame = fastparquet.ParquetFile(FILE).to_pandas()
    (seen,) = frame["x"].tolist()
    return seen


assert read(date(1932, 3, 5), pa.date32()).date() == date(1932, 3, 5)
for day, seen in {date(1066, 10, 14): date(2235, 11, 22), date(44, 3, 15): date(1797, 11, 11)}.items():
    found = read(day, pa.date32()).date()
    assert found == seen, (day, found)
assert read(datetime(1066, 10, 14), pa.timestamp("us")) == datetime(1066, 10, 14)

assert read([1, 2], pa.list_(pa.int64())) == [1, 2]
assert read([[1], [2, 3]], pa.list_(pa.list_(pa.int64()))) is None
roles = pa.list_(pa.struct([("actor", pa.string()), ("role", pa.string())]))
assert read([{"actor": "Ann", "role": "Cook"}], roles) is None
assert read([("Ann", [1931, 1932])], pa.map_(pa.string(), pa.list_(pa.int64()))) == ["Ann"]

assert read(time(9, 58), pa.time32("ms")) == 35_880_000
assert read(time(9, 58), pa.time64("us")) == 35_880_000_000
assert read(Decimal("12345678901234567.89"), pa.decimal128(20, 2)) == 12345678901234568.0

print("as described: 1066 is 2235, and lists of records are None")
PYTHON
