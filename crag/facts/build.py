"""Builds a folder of tables for a submission from the public files that db3 used (section 2.3).

Kaggle's "the-oscar-award" and "grammy-awards" (CSV), `movies_metadata.csv` and `credits.csv` of "The Movies Dataset"
(the films of MovieLens), and a JSON file of market capitalisation, earnings per share and P/E ratio by ticker.
"""

import ast
import csv
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from pydantic import BaseModel, TypeAdapter

from crag.core.files import write_json
from crag.facts.tables import (
    INDEX,
    INDEX_FORMAT,
    SEPARATOR,
    SHIPPED_TABLES,
    AwardTable,
    EntityTable,
    Row,
    TableDescription,
    TableError,
    read_index,
    read_json,
    read_rows,
)
from crag.text.matching import category_title, other_category_names

LEAD_ACTORS = 4

_SONGWRITERS = re.compile(r"(?P<writers>[^;]{0,200}), songwriters? \((?P<performer>[^()]{1,200})\)")
_GUEST = re.compile(r"\s{1,9}(?:featuring|feat\.|ft\.)\s+", re.IGNORECASE)
_ARTIST_SEPARATOR = re.compile(r"\s{0,9}(?:,|&|\bwith\b|\band\b)\s*", re.IGNORECASE)
_ORDINAL = re.compile(r"(\d{1,9})(?:st|nd|rd|th)")
_SONG = re.compile(r"MUSIC \(Song(?!.{0,200}Score)")
_FIELD_AND_KIND = re.compile(r"(?P<field>[A-Z ]{1,200}) \((?P<kind>[^()]{1,200})\)")
_FIELD_FIRST = {"DOCUMENTARY": "Documentary {}", "SHORT FILM": "{} Short Film", "SHORT SUBJECT": "{} Short Subject"}
_KIND_ALONE = frozenset({"WRITING", "MUSIC"})
_HONOUR = re.compile(r"To (?P<name>[^,.]+?)(?:,| for | in | whose |\.|$)")
_ROLE = re.compile(r"^(?:[\w ,/&-]+? by|[A-Z][\w /&-]*:)\s+")
_BETWEEN_NAMES = re.compile(r"(?:,?\s{1,9}and|\s{1,9}&|,(?!\s{1,9}(?i:[js]r)\.))\s+")
_NO_NAMES = {"", "producer", "producers"}
_FIGURES = re.compile(
    r"information of (?P<name>.{1,400})\((?P<ticker>[^()]{1,20})\): [^,]{1,40}capitalization is (?P<cap>[^,]{1,40}),"
    r"[^,]{1,40}\(eps\) is (?P<eps>[^,]{1,40}), [^,]{1,40}ratio is (?P<ratio>\S{1,40}?)\.?$"
)


class _Companies(BaseModel):
    ticker_info_map: dict[str, str]
    """Ticker -> a sentence with the figures."""


def build_oscars(source: Path, out: Path) -> int:
    """The Academy Awards; returns the number of rows. Raises TableError."""
    columns = ("year_film", "year_ceremony", "ceremony", "category", "name", "film", "winner")
    rows = [
        {
            "award": oscar_award(row["category"]),
            "ceremony": f"{_ordinal(int(row['ceremony']))} Academy Awards",
            "year": row["year_ceremony"],
            "work_year": row["year_film"],
            "work": row["film"],
            "winner": SEPARATOR.join(oscar_winners(row["name"])),
            "performer": "",
            "result": "won" if row["winner"] == "True" else "nominated",
        }
        for row in read_rows(source, columns)
    ]
    table = _award_table("oscars", "Academy Award", "", "the-oscar-award")
    names = {row["award"]: (*table.aliases.get(row["award"], ()), *other_category_names(row["award"])) for row in rows}
    aliases = {award: tuple(dict.fromkeys(others)) for award, others in sorted(names.items())}
    return _write(out, "oscars.csv", rows, table.model_copy(update={"aliases": aliases}))


def build_grammys(source: Path, out: Path) -> int:
    """The Grammy Awards; returns the number of rows. Raises TableError.

    The file marks every row as a winner, even in its last year, where it lists all nominees. There the first of more
    than two is the winner; two are a tie.
    """
    read = list(read_rows(source, ("year", "title", "category", "nominee", "artist", "workers")))
    known = {row["artist"].strip().lower() for row in read}
    awards = [(row["year"], row["category"]) for row in read]
    nominees, first = Counter(awards), dict(zip(reversed(awards), reversed(range(len(read))), strict=True))
    rows = [
        _grammy(row, known, won=nominees[award] <= 2 or first[award] == number)
        for number, (row, award) in enumerate(zip(read, awards, strict=True))
    ]
    return _write(out, "grammys.csv", rows, _award_table("grammys", "Grammy", " Award", "grammy-awards"))


def build_companies(source: Path, out: Path, as_of: str) -> int:
    """Figures of companies, as of `as_of`; returns the number of rows. Raises TableError."""
    sentences = read_json(source, TypeAdapter(_Companies)).ticker_info_map.values()
    rows = [
        {
            "name": match["name"],
            "ticker_symbol": match["ticker"].upper(),
            "market_capitalisation": _dollars(match["cap"]),
            "earnings_per_share": _number(match["eps"]),
            "price_to_earnings_ratio": _number(match["ratio"]),
            "date_of_the_figures": as_of,
        }
        for match in map(_FIGURES.search, sentences)
        if match
    ]
    table = EntityTable(
        layout="entities",
        domain="finance",
        label="companies' figures",
        source=f"{source.name}, figures as of {as_of or 'an unknown day'}",
        licence="as of the source",
        names=("name", "ticker_symbol"),
        companies=True,
    )
    return _write(out, "companies.csv", rows, table)


def build_films(source: Path, out: Path, credits_file: Path | None) -> int:
    """Films, with director and lead actors if the credits file is given; returns the number of rows.

    Raises TableError. The public file's broken rows (three) are left out.
    """
    people = {row["id"]: row for row in read_rows(credits_file, ("id", "cast", "crew"))} if credits_file else {}
    nobody = {"cast": "", "crew": ""}
    rows = [
        {
            "title": row["title"],
            "original_title": row["original_title"],
            "director": SEPARATOR.join(_names(people.get(row["id"], nobody)["crew"], job="Director")),
            "lead_actor": SEPARATOR.join(_names(people.get(row["id"], nobody)["cast"])[:LEAD_ACTORS]),
            "release_year": row["release_date"][:4],
            "release_date": row["release_date"],
            "original_language": row["original_language"],
            "genre": SEPARATOR.join(_names(row["genres"])),
            "runtime_in_minutes": row["runtime"].removesuffix(".0") if row["runtime"] != "0.0" else "",
            "budget": _dollars(row["budget"]),
            "revenue": _dollars(row["revenue"]),
        }
        for row in read_rows(source, ("id", "title", "original_title", "release_date", "original_language", "genres"))
        if row["title"] and row["id"].isdecimal()
    ]
    table = EntityTable(
        layout="entities",
        domain="movie",
        label="films of MovieLens",
        source="https://www.kaggle.com/datasets/rounakbanik/the-movies-dataset",
        licence="CC0-1.0",
        names=("title",),
        quoted=("title", "original_title"),
        year="release_year",
        inverse={"director": "film{s} directed", "lead_actor": "film{s} with a leading role"},
    )
    return _write(out, "films.csv", rows, table)


def _write(out: Path, file_name: str, rows: Sequence[Row], table: TableDescription) -> int:
    """Write the table and add it to the folder's index; a new folder starts with the shipped tables."""
    if not rows:
        raise TableError(f"{file_name}: the source has no row of the expected form")
    if not (out / INDEX).exists():  # the preset will read this folder instead of the shipped one
        shutil.copytree(SHIPPED_TABLES, out, ignore=shutil.ignore_patterns("*.md"), dirs_exist_ok=True)
    with (out / file_name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    index = {**read_index(out), file_name: table}
    write_json(out / INDEX, INDEX_FORMAT.dump_python(index, mode="json"), indent=2)
    return len(rows)


def _award_table(name: str, prize: str, won: str, source: str) -> AwardTable:
    """The shipped table's description with the labels of the full table; its words and aliases hold for both."""
    table = cast("AwardTable", read_index(SHIPPED_TABLES)[f"{name}.csv"])
    labels = {
        "label": f"{prize}{won}s",
        "source": f"https://www.kaggle.com/datasets/unanimad/{source}",
        "won": f"{prize}{won}{{s}} won",
        "nominated": f"{prize} nomination{{s}} that did not win",
    }
    return table.model_copy(update=labels)


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _artists(text: str, known: set[str]) -> list[str]:
    """Split the artists of a cell, guests too; "A & B" only if both are artists of their own."""
    artists: list[str] = []
    for artist in filter(None, _GUEST.split(re.sub(r"^\((.*)\)$", r"\1", text.strip()))):
        parts = [part for part in _ARTIST_SEPARATOR.split(artist) if part]
        artists += parts if all(part.lower() in known for part in parts) else [artist]
    return artists


def _grammy(row: Row, known: set[str], *, won: bool) -> dict[str, str]:
    """A row of the table. The artist is in its own cell, after the songwriters, or is the nominee."""
    number = _ORDINAL.match(row["title"])  # its year is that of the awarded music
    song = _SONGWRITERS.search(row["artist"]) or _SONGWRITERS.search(row["workers"])
    artists = [] if _SONGWRITERS.search(row["artist"]) else _artists(row["artist"], known)
    nominee_is_artist = not artists and not song and not row["workers"].strip()
    if nominee_is_artist:
        artists = [row["nominee"]]
    elif song and not artists:
        artists = [name for name in re.split(r",\s+|\s+&\s+", song["writers"].strip()) if name]
    return {
        "award": row["category"],
        "ceremony": row["title"].split("(")[0].strip(),
        "year": str(1958 + int(number[1]) if number and int(number[1]) > 2 else int(row["year"]) + 1),
        "work_year": row["year"],
        "work": "" if nominee_is_artist else row["nominee"],
        "winner": SEPARATOR.join(artists),
        "performer": SEPARATOR.join(_artists(song["performer"], known)) if song else "",
        "result": "won" if won else "nominated",
    }


def _number(text: str) -> str:
    try:
        float(text)
    except ValueError:
        return ""
    return text


def _dollars(text: str) -> str:
    """``1234567.5`` as ``$1,234,567.50``; empty for zero, which means unknown, and for other texts."""
    amount = float(_number(text) or 0)
    if amount <= 0 or amount == float("inf"):
        return ""
    return f"${amount:,.0f}" if amount.is_integer() else f"${amount:,.2f}"


def _names(cell: str, **wanted: str) -> list[str]:
    """Names of the objects with the wanted values, from a cell that holds a list of objects in Python's notation."""
    try:
        objects = ast.literal_eval(cell) if cell else []
        return [str(each["name"]) for each in objects if each.get("name") and wanted.items() <= each.items()]
    except (ValueError, SyntaxError, TypeError, AttributeError, MemoryError, RecursionError):
        return []


def oscar_award(category: str) -> str:
    """``ACTOR IN A LEADING ROLE`` as ``Best Actor``, ``DOCUMENTARY (Feature)`` as ``Best Documentary Feature``."""
    if "AWARD" in category.split("(", maxsplit=1)[0]:
        return _title_case(category)
    if title := category_title(category):
        return title
    if _SONG.match(category):
        return "Best Original Song"
    if match := _FIELD_AND_KIND.fullmatch(category):
        field, kind = match.groups()
        if field in _KIND_ALONE:
            category = kind if " " in kind else f"{field} {kind}"
        elif field in _FIELD_FIRST:
            return f"Best {_FIELD_FIRST[field].format(_title_case(kind).removesuffix(' Subject'))}"
        else:
            return f"Best {_title_case(field)} ({kind})"
    return f"Best {_title_case(category)}"


def oscar_winners(credit: str) -> list[str]:
    """The names in a credit such as ``Screenplay by A and B; Story by C`` or ``D and E, Producers``."""
    if honour := _HONOUR.match(credit):
        return [honour["name"]]
    parts = (_ROLE.sub("", part.strip()) for part in credit.split(";"))
    names = (name for part in parts for name in _BETWEEN_NAMES.split(part))
    return list(dict.fromkeys(name for name in names if name.lower() not in _NO_NAMES))


def _title_case(text: str) -> str:
    small = {"in", "a", "of", "the", "or", "for", "on", "from", "and"}
    words = [word if word in small else word[:1].upper() + word[1:] for word in text.lower().split(" ")]
    return re.sub(r"\((\w)", lambda match: match[0].upper(), " ".join(words))
