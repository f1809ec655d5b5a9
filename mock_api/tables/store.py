"""Tables that are too large for memory: a SQLite file of records, looked up one at a time.

The official graph has 13 million events of NBA games and a price for each minute of 6,000 shares. As JSON in memory
they would take tens of gigabytes; a question needs one game or one share.

    table `records`: key TEXT PRIMARY KEY, value BLOB (zlib of UTF-8 JSON); table `about`: name, value (JSON)
"""

import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

SUFFIX = ".records.sqlite"
"""``finance/finance_price.records.sqlite`` replaces ``finance/finance_price.json``."""

_LEVEL = 1
"""zlib's fastest level: five times smaller, and ten times faster than its best level."""


class StoreError(ValueError):
    """A file is not a store, or is damaged; the message says so without the file's name."""


class RecordStore(Mapping[str, Any]):
    """The records of a file, read on demand. Each look-up opens the file: there is nothing to close."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._asking("select name, value from about") as rows:
            self.about: dict[str, Any] = {name: json.loads(value) for name, value in rows}

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - what JSON holds
        with self._asking("select value from records where key = ?", key) as rows:
            for (value,) in rows:
                return json.loads(zlib.decompress(value))
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        with self._asking("select key from records order by rowid") as rows:
            yield from (key for (key,) in rows)

    def __len__(self) -> int:
        with self._asking("select count(*) from records") as rows:
            return int(next(rows)[0])

    @contextmanager
    def _asking(self, question: str, *values: str) -> Iterator[Iterator[tuple[Any, ...]]]:
        try:
            with closing(sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
                yield connection.execute(question, values)
        except (sqlite3.Error, zlib.error) as error:
            raise StoreError(f"not a store of records, or damaged ({error}): make it again") from error


@contextmanager
def writing(path: Path, about: Mapping[str, object]) -> Iterator[Callable[[str, object], None]]:
    """Give a function that puts a record by its key into a new store; `about` are facts about all records.

    The caller moves the store into place when it is complete.
    """
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode = off")
        connection.execute("pragma synchronous = off")
        connection.execute("create table records (key text primary key, value blob not null)")
        connection.execute("create table about (name text primary key, value text not null)")
        facts = [(name, json.dumps(value)) for name, value in about.items()]
        connection.executemany("insert into about values (?, ?)", facts)

        def put(key: str, value: object) -> None:
            content = zlib.compress(json.dumps(value, ensure_ascii=False).encode(), _LEVEL)
            connection.execute("insert or replace into records values (?, ?)", (key, content))

        yield put
        connection.commit()
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
