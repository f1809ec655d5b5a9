"""The Grammy Awards, from Kaggle's "grammy-awards"."""

import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from crag.facts.converters.folder import full_award_table, read_whole_number, write_table
from crag.facts.tables import VALUE_SEPARATOR, Row, read_table_rows

FIRST_CEREMONY = 1959
_MOST_TIED_WINNERS = 2

_ORDINAL = re.compile(r"(\d{1,9})(?:st|nd|rd|th)")
_GRAMMY_COLUMNS = ("year", "title", "category", "nominee", "artist", "workers")
_IN_BRACKETS = re.compile(r"^\((.*)\)$")
_SONGWRITERS = re.compile(
    r"""
    (?P<writers>[^;]{0,200}),    # not the credits before a semicolon
    \ songwriters?
    \ \((?P<performer>[^()]{1,200})\)
    """,
    re.VERBOSE,
)
_BETWEEN_WRITERS = re.compile(r",\s+|\s{1,9}&\s+")
_GUEST = re.compile(r"\s{1,9}(?:featuring|feat\.|ft\.)\s+", re.IGNORECASE)
_ARTIST_SEPARATOR = re.compile(r"\s{0,9}(?:,|&|\bwith\b|\band\b)\s*", re.IGNORECASE)


def build_grammys(source: Path, out: Path) -> int:
    """The Grammy Awards; returns the number of rows. Raises TableError.

    The file marks every row as a winner, even in its last year, where it lists all nominees. There the first of more
    than two is the winner; two are a tie.
    """
    source_rows: list[Row] = []
    for numbered_row in read_table_rows(source, _GRAMMY_COLUMNS):
        read_whole_number(source, numbered_row, "year")  # raises, while the line is known
        source_rows.append(numbered_row.cells)

    artists = {row["artist"].strip().lower() for row in source_rows}
    nominee_counts = Counter((row["year"], row["category"]) for row in source_rows)

    rows: list[Row] = []
    awards_with_winner: set[tuple[str, str]] = set()
    for row in source_rows:
        award = (row["year"], row["category"])
        is_first = award not in awards_with_winner
        is_tie = nominee_counts[award] <= _MOST_TIED_WINNERS
        awards_with_winner.add(award)
        rows.append(_award_row(row, artists, won=is_first or is_tie))

    table = full_award_table("grammys", "Grammy", " Award", "grammy-awards")
    return write_table(out, "grammys.csv", rows, table)


def _award_row(row: Row, all_artists: Collection[str], *, won: bool) -> Row:
    """A row of the table. The artist is in its own cell, after the songwriters, or is the nominee."""
    song_in_artist_cell = _SONGWRITERS.search(row["artist"])
    song = song_in_artist_cell or _SONGWRITERS.search(row["workers"])

    artists = [] if song_in_artist_cell else _split_artists(row["artist"], all_artists)
    nominee_is_artist = not artists and not song and not row["workers"].strip()
    if nominee_is_artist:
        artists = [row["nominee"]]
    elif song and not artists:
        writers = _BETWEEN_WRITERS.split(song["writers"].strip())
        artists = [name for name in writers if name]

    performers = _split_artists(song["performer"], all_artists) if song else []
    return {
        "award": row["category"],
        "ceremony": row["title"].split("(")[0].strip(),
        "year": str(_ceremony_year(row)),
        "work_year": row["year"],
        "work": "" if nominee_is_artist else row["nominee"],
        "winner": VALUE_SEPARATOR.join(artists),
        "performer": VALUE_SEPARATOR.join(performers),
        "result": "won" if won else "nominated",
    }


def _ceremony_year(row: Row) -> int:
    """The year of the ceremony; the file's year is that of the awarded music."""
    ordinal = _ORDINAL.match(row["title"])
    number = int(ordinal[1]) if ordinal else 0
    if number > 2:  # the first two ceremonies were in one year
        return FIRST_CEREMONY - 1 + number
    return int(row["year"]) + 1


def _split_artists(cell: str, all_artists: Collection[str]) -> list[str]:
    """Split the artists of a cell, guests too; "A & B" only if both are artists of the file."""
    without_brackets = _IN_BRACKETS.sub(r"\1", cell.strip())
    artists: list[str] = []
    for artist in _GUEST.split(without_brackets):
        if not artist:
            continue
        parts = [part for part in _ARTIST_SEPARATOR.split(artist) if part]
        if all(part.lower() in all_artists for part in parts):
            artists += parts
        else:
            artists.append(artist)
    return artists
