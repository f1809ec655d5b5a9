"""Films, from the files of "The Movies Dataset"."""

import ast
from pathlib import Path

from crag.facts.converters.folder import dollars_or_empty, write_table
from crag.facts.tables import VALUE_SEPARATOR, EntityTable, Row, read_table_rows

LEAD_ACTORS = 4
"""The cast is in the order of the credits."""

_FILM_COLUMNS = (
    "id",
    "title",
    "original_title",
    "release_date",
    "original_language",
    "genres",
    "runtime",
    "budget",
    "revenue",
)
_NO_CREDITS = {"cast": "", "crew": ""}


def build_films(source: Path, out: Path, credits_file: Path | None) -> int:
    """Films, with director and lead actors if the credits file is given; returns the number of rows.

    Raises TableError. The public file's broken rows (three) are left out.
    """
    credits_by_id: dict[str, Row] = {}
    if credits_file:
        for row in read_table_rows(credits_file, ("id", "cast", "crew")):
            credits_by_id[row.cells["id"]] = row.cells

    rows: list[Row] = []
    for _, film in read_table_rows(source, _FILM_COLUMNS):
        is_whole = film["title"] and film["id"].isdecimal()
        if is_whole:
            film_credits = credits_by_id.get(film["id"], _NO_CREDITS)
            rows.append(_film_row(film, film_credits))

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
    return write_table(out, "films.csv", rows, table)


def _film_row(film: Row, film_credits: Row) -> Row:
    directors = _object_names(film_credits["crew"], job="Director")
    lead_actors = _object_names(film_credits["cast"])[:LEAD_ACTORS]

    # "95.0" becomes "95"; "0.0" stands for an unknown runtime.
    runtime = film["runtime"]
    return {
        "title": film["title"],
        "original_title": film["original_title"],
        "director": VALUE_SEPARATOR.join(directors),
        "lead_actor": VALUE_SEPARATOR.join(lead_actors),
        "release_year": film["release_date"][:4],
        "release_date": film["release_date"],
        "original_language": film["original_language"],
        "genre": VALUE_SEPARATOR.join(_object_names(film["genres"])),
        "runtime_in_minutes": runtime.removesuffix(".0") if runtime != "0.0" else "",
        "budget": dollars_or_empty(film["budget"]),
        "revenue": dollars_or_empty(film["revenue"]),
    }


def _object_names(cell: str, **values: str) -> list[str]:
    """Names of the objects with these values, from a cell that holds a list of objects in Python's notation."""
    if not cell:
        return []
    try:
        # Reads only literals, so that a cell of the file cannot run code.
        objects = ast.literal_eval(cell)
        matching = [item for item in objects if values.items() <= item.items()]
        return [str(item["name"]) for item in matching if item.get("name")]
    except (ValueError, SyntaxError, TypeError, AttributeError, MemoryError, RecursionError):
        return []
