"""The SQLite file of an index: files, their pages, the words of pieces of pages, and the vectors of these.

SQLite was taken because a change is there whole or not at all, also when a process is killed, several processes may use
the file, and texts, words and vectors cannot contradict each other. docs/own_data.md compares it with other libraries.
"""

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crag.asking.documents import Document, FileReading
from crag.asking.index.files import FoundFile

FORMAT = 3
"""Of the tables below; an index of another format is made again."""
WAIT_SECONDS = 60.0
"""How long a change waits for another process that reads or writes."""
MEMORY = ":memory:"
"""SQLite's name for an index that is not kept."""

_COMPRESSION = 1
"""zlib's fastest level: texts become half as large, at 100 MB a second."""

# Texts are bytes, since not every name of a file is Unicode.
_TABLES = """
    CREATE TABLE places (place BLOB NOT NULL);
    CREATE TABLE files (
        id INTEGER PRIMARY KEY,
        path BLOB UNIQUE NOT NULL,
        location BLOB NOT NULL,  -- as it was written when the file was read
        stamp TEXT NOT NULL,     -- "": read it again at the next start
        digest TEXT NOT NULL,
        notes BLOB NOT NULL      -- one in a line
    );
    CREATE TABLE pages (
        id INTEGER PRIMARY KEY,
        file INTEGER NOT NULL,
        title BLOB NOT NULL,
        part BLOB NOT NULL,
        html BLOB NOT NULL,      -- compressed, as the text
        text BLOB NOT NULL,
        is_cut INTEGER NOT NULL DEFAULT 0  -- whether its pieces are in the tables below
    );
    CREATE INDEX pages_of_file ON pages (file);
    CREATE INDEX uncut_pages ON pages (id) WHERE NOT is_cut;
    CREATE TABLE pieces (
        id INTEGER PRIMARY KEY,
        page INTEGER NOT NULL,
        start INTEGER NOT NULL,
        stop INTEGER NOT NULL,
        vector BLOB              -- float16; NULL: not encoded
    );
    CREATE INDEX pieces_of_page ON pieces (page);
    CREATE INDEX pieces_without_vector ON pieces (id) WHERE vector IS NULL;
    CREATE VIRTUAL TABLE words USING fts5 (title, body);  -- a row has the number of its piece
    INSERT INTO words (words, rank) VALUES ('rank', 'bm25(2.0, 1.0)');  -- a word of the title counts twice
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
"""


class FileState(NamedTuple):
    """What the index knows of a file."""

    stamp: str
    digest: str


class Piece(NamedTuple):
    """A piece of a page: its place in the text, and its words and those of the title, for the search."""

    start: int
    stop: int
    title_words: str
    words: str


class WordMatch(NamedTuple):
    """The numbers of a piece with words of a question and of its page, and its BM25: higher is better."""

    piece: int
    page: int
    score: float


class PieceVectors(NamedTuple):
    """The vectors of all pieces that have one: numbers of pieces, ascending, and of their pages, and a row for each."""

    pieces: NDArray[np.int64]
    pages: NDArray[np.int64]
    vectors: NDArray[np.float16]


class IndexStore:
    """The tables of an index, in a file or in memory.

    All methods raise sqlite3.Error. A `sqlite3.OperationalError` is one of the disk or of access, any other
    `sqlite3.DatabaseError`, `zlib.error` and `UnicodeDecodeError` one of damage.
    """

    def __init__(self, file: Path | None, places: Sequence[str] = ()) -> None:
        self._connection = sqlite3.connect(file or MEMORY, timeout=WAIT_SECONDS, isolation_level=None)
        # Otherwise damaged text would be an error of access.
        self._connection.text_factory = bytes.decode
        ((version,),) = self._connection.execute("PRAGMA user_version")
        if version not in {0, FORMAT}:
            self.close()
            raise sqlite3.DatabaseError(f"format {version} instead of {FORMAT}")
        if version == 0:
            # One transaction: a process that is killed here leaves an empty file.
            self._connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {FORMAT}; COMMIT;")
            self._connection.executemany("INSERT INTO places VALUES (?)", [(_encode(place),) for place in places])

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._connection.close()

    @contextmanager
    def changes(self) -> Iterator[None]:
        """Changes that are kept together, or, after an error, not at all."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _select(self, types: tuple[type, ...], query: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query. Raises sqlite3.DatabaseError: a value has another type, which damage alone can make."""
        for row in self._connection.execute(query, values):
            if tuple(map(type, row)) != types:
                raise sqlite3.DatabaseError("a value has another type than its column")
            yield row

    # --- files --------------------------------------------------------------------------------------------------------

    def read_states(self) -> dict[str, FileState]:
        """What is known of each file, by path."""
        rows = self._select((bytes, str, str), "SELECT path, stamp, digest FROM files")
        return {_decode(path): FileState(stamp, digest) for path, stamp, digest in rows}

    def read_notes(self) -> dict[str, tuple[str, list[str]]]:
        """By path, the location at reading and the notes of each file that has any."""
        query = "SELECT path, location, notes FROM files WHERE notes != x''"
        rows = self._select((bytes, bytes, bytes), query)
        return {_decode(path): (_decode(location), _decode(notes).split("\n")) for path, location, notes in rows}

    def delete_files(self, paths: Iterable[str]) -> None:
        """Forget files with their pages."""
        for path in paths:
            for (number,) in list(self._select((int,), "SELECT id FROM files WHERE path = ?", (_encode(path),))):
                self._delete_pages(number)
                self._connection.execute("DELETE FROM files WHERE id = ?", (number,))

    def _delete_pages(self, file: int) -> None:
        of_file = "SELECT id FROM pages WHERE file = ?"
        self._connection.execute(
            f"DELETE FROM words WHERE rowid IN (SELECT id FROM pieces WHERE page IN ({of_file}))",  # noqa: S608
            (file,),
        )
        self._connection.execute(f"DELETE FROM pieces WHERE page IN ({of_file})", (file,))  # noqa: S608 - a constant
        self._connection.execute("DELETE FROM pages WHERE file = ?", (file,))

    def restamp_file(self, path: str, stamp: str) -> None:
        """Give a file that has changed in its times alone its new stamp."""
        self._connection.execute("UPDATE files SET stamp = ? WHERE path = ?", (stamp, _encode(path)))

    def replace_file(self, file: FoundFile, stamp: str, digest: str, reading: FileReading) -> None:
        """Keep what was read of a file instead of what was known of it."""
        self.delete_files([file.path])
        notes = "\n".join(" ".join(note.split()) for note in reading.notes)
        row = (_encode(file.path), _encode(file.location), stamp, digest, _encode(notes))
        cursor = self._connection.execute(
            "INSERT INTO files (path, location, stamp, digest, notes) VALUES (?, ?, ?, ?, ?)", row
        )
        for document in reading.documents:
            names = (_encode(document.title), _encode(document.part))
            page = (cursor.lastrowid, *names, _pack(document.html), _pack(document.text))
            self._connection.execute("INSERT INTO pages (file, title, part, html, text) VALUES (?, ?, ?, ?, ?)", page)

    # --- pages --------------------------------------------------------------------------------------------------------

    def count_pages(self) -> int:
        """The number of pages with text."""
        ((count,),) = self._connection.execute("SELECT count(*) FROM pages")
        return int(count)

    def read_page(self, number: int) -> tuple[str, Document] | None:
        """The path of a page's file, and the page with the location at reading; None if it is gone."""
        query = """
            SELECT path, location, title, html, text, part
            FROM pages JOIN files ON files.id = pages.file WHERE pages.id = ?
        """
        row = next(self._select(_PAGE_TYPES, query, (number,)), None)
        return None if row is None else _unpack_page(row)

    def read_pages(self) -> Iterator[tuple[str, Document]]:
        """All pages as `read_page` gives them."""
        query = """
            SELECT path, location, title, html, text, part
            FROM pages JOIN files ON files.id = pages.file ORDER BY pages.id
        """
        yield from map(_unpack_page, self._select(_PAGE_TYPES, query))

    # --- pieces -------------------------------------------------------------------------------------------------------

    def count_uncut_pages(self) -> int:
        """The number of pages whose pieces are not in the index."""
        ((count,),) = self._connection.execute("SELECT count(*) FROM pages WHERE NOT is_cut")
        return int(count)

    def read_uncut_pages(self, limit: int) -> list[tuple[int, str, str]]:
        """Number, title and text of pages whose pieces are not in the index."""
        query = "SELECT id, title, text FROM pages WHERE NOT is_cut ORDER BY id LIMIT ?"
        rows = self._select((int, bytes, bytes), query, (limit,))
        return [(number, _decode(title), _unpack(text)) for number, title, text in rows]

    def add_pieces(self, page: int, pieces: Iterable[Piece]) -> None:
        """Keep all pieces of a page, unless another process has done so."""
        cursor = self._connection.execute("UPDATE pages SET is_cut = 1 WHERE id = ? AND NOT is_cut", (page,))
        if not cursor.rowcount:
            return  # another process was faster
        for piece in pieces:
            row = (page, piece.start, piece.stop)
            number = self._connection.execute("INSERT INTO pieces (page, start, stop) VALUES (?, ?, ?)", row).lastrowid
            words = (number, piece.title_words, piece.words)
            self._connection.execute("INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)", words)

    def count_pieces(self) -> tuple[int, int]:
        """The number of pieces, and of those without a vector."""
        query = "SELECT (SELECT count(*) FROM pieces), (SELECT count(*) FROM pieces WHERE vector IS NULL)"
        ((pieces, without_vector),) = self._connection.execute(query)
        return int(pieces), int(without_vector)

    def read_unencoded_pieces(self, limit: int) -> list[tuple[int, str, str]]:
        """Number, title and text of pieces without a vector."""
        query = """
            SELECT pieces.id, title, text, start, stop
            FROM pieces JOIN pages ON pages.id = pieces.page WHERE vector IS NULL ORDER BY pieces.id LIMIT ?
        """
        rows = self._select((int, bytes, bytes, int, int), query, (limit,))
        return [(number, _decode(title), _unpack(text)[start:stop]) for number, title, text, start, stop in rows]

    def add_vectors(self, numbers: Sequence[int], vectors: NDArray[np.float16]) -> None:
        """Keep the vectors of pieces."""
        rows = [(vector.tobytes(), number) for number, vector in zip(numbers, vectors, strict=True)]
        self._connection.executemany("UPDATE pieces SET vector = ? WHERE id = ?", rows)

    def read_vectors(self) -> PieceVectors:
        """All vectors. Raises sqlite3.DatabaseError: they are damaged."""
        query = "SELECT id, page, vector FROM pieces WHERE vector IS NOT NULL ORDER BY id"
        rows = list(self._select((int, int, bytes), query))
        dimensions = len(rows[0][2]) // 2 if rows else 1
        values = np.frombuffer(b"".join(vector for _, _, vector in rows), dtype=np.float16)
        if values.size != len(rows) * dimensions:
            raise sqlite3.DatabaseError("the vectors are not of one length")
        return PieceVectors(
            np.array([number for number, _, _ in rows], dtype=np.int64),
            np.array([page for _, page, _ in rows], dtype=np.int64),
            values.reshape(len(rows), dimensions),
        )

    # --- search -------------------------------------------------------------------------------------------------------

    def is_known_word(self, word: str) -> bool:
        """Whether any piece has the word."""
        return self._connection.execute("SELECT 1 FROM vocabulary WHERE term = ?", (word,)).fetchone() is not None

    def find_pieces(self, expression: str, limit: int) -> list[WordMatch]:
        """The best pieces by BM25 for an expression of FTS5."""
        # The limit first: a join of all pieces with a word of the question would take longer.
        query = """
            WITH best AS (SELECT rowid AS piece, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?)
            SELECT piece, page, -best.rank FROM best JOIN pieces ON pieces.id = best.piece ORDER BY best.rank
        """
        return [WordMatch(*row) for row in self._select((int, int, float), query, (expression, limit))]

    def read_span(self, piece: int) -> tuple[int, int]:
        """Start and end of a piece in its page's text; (0, 0) if it is gone."""
        rows = self._select((int, int), "SELECT start, stop FROM pieces WHERE id = ?", (piece,))
        start, stop = next(rows, (0, 0))
        return start, stop


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decode(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def _pack(text: str) -> bytes:
    return zlib.compress(_encode(text), _COMPRESSION)


def _unpack(content: bytes) -> str:
    return _decode(zlib.decompress(content))


_PAGE_TYPES = (bytes,) * 6


def _unpack_page(row: tuple[bytes, ...]) -> tuple[str, Document]:
    path, location, title, html, text, part = row
    return _decode(path), Document(_decode(location), _decode(title), _unpack(html), _unpack(text), _decode(part))
