"""The Academy Awards, from Kaggle's "the-oscar-award"."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from crag.core.csv_files import CsvRow
from crag.facts.converters.folder import full_award_table, read_whole_number, write_table
from crag.facts.tables import VALUE_SEPARATOR, Row, read_table_rows
from crag.text.list_counts import show_count
from crag.text.matching import category_title, other_category_names

_OSCAR_COLUMNS = ("year_film", "year_ceremony", "ceremony", "category", "name", "film", "winner")

_TRUE = frozenset({"true", "1", "yes"})
"""How tables write that a nominee won; spreadsheets turn True into TRUE."""

# --- categories -------------------------------------------------------------------------------------------------------
_SONG = re.compile(r"\AMUSIC \(Song(?!.*Score)")
_FIELD_AND_KIND = re.compile(r"(?P<field>[A-Z ]{1,200}) \((?P<kind>[^()]{1,200})\)")
_FIELD_FIRST = {"DOCUMENTARY": "Documentary {}", "SHORT FILM": "{} Short Film", "SHORT SUBJECT": "{} Short Subject"}
_FIELDS_WITHOUT_MEANING = frozenset({"WRITING", "MUSIC"})
"""The kind names the award alone: "WRITING (Adapted Screenplay)"."""
_AFTER_BRACKET = re.compile(r"\((\w)")
_SMALL_WORDS = frozenset({"in", "a", "of", "the", "or", "for", "on", "from", "and"})

# --- credits ----------------------------------------------------------------------------------------------------------
_NAME = r"(?:[A-Z][\w.'’-]{0,40}|and|of|the)"
_HONOUR = re.compile(
    rf"""
    To\ (?P<name>[^,.]+?) (?:,|\ for\ |\ in\ |\ whose\ |\.|$)
  | (?P<praised>{_NAME}(?:\ {_NAME}){{1,12}}) (?:\ for\ (?:his|her|its|their|having|the\ [a-z]) | \ -\ [a-z])
    """,
    re.VERBOSE,
)
"""The credit of an honorary award: "To Jane Doe, for her work", "Jane Doe for the creation of ..."."""
_AND = re.compile(r"\s{1,9}and\s{1,9}")
_COMPOSERS = re.compile(r"\s{0,9}\((?P<credit>[\w ]{0,40}\b(?:Score|Music) by [^()]{1,200})\)")
"""A credit of its own in brackets: "head of department (Score by Jim Roe)"."""
_AROUND = re.compile(r"(?P<before>\A|;|,|\band)(?P<blanks>\s{0,9})\((?P<name>[^()]{1,400})\)(?=\s{0,9}(?:,|;|\Z))")
"""Brackets around a whole credit: "(Jane Doe), (Jim Roe)"."""
_ASIDE = re.compile(r"\s{0,9}\([^()]{0,300}\)(?=\s{0,9}(?:,|;|\.|-|and\b|\Z))")
"""What stands behind a name: its studio, or another name."""
_ROLE = re.compile(
    r"""
    ^(?: and(?=\ [A-Z])           # of "A, Sound Director; and B"
       | [\w\ ,/&-]+?\ by        # "Screenplay by"
       | [A-Z][\w\ /&-]*:        # "Production Design:"
    )\s+
    """,
    re.VERBOSE,
)
_BETWEEN_NAMES = re.compile(
    r"""
    (?: ,?\s{1,9}and
      | \s{1,9}&
      | ,(?!\s{1,9}(?i:[js]r)\.) # not the comma of "Jim Roe, Jr."
    )\s+
    """,
    re.VERBOSE,
)
_NO_NAME = re.compile(
    r"""
    (?: (?:executive|associate|assistant|supervising|line|co)[ -]? )?
    (?: producers? | (?:sound|musical?|art|technical)?\ ?directors? | head\ of\ department | department\ head
      | supervisors? | editors? )\.?
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A job beside a name: "Jane Doe, Producer", "Jim Roe, head of department"."""


def build_oscars(source: Path, out: Path) -> int:
    """The Academy Awards; returns the number of rows. Raises TableError."""
    rows = [_award_row(source, row) for row in read_table_rows(source, _OSCAR_COLUMNS)]
    table = full_award_table("oscars", "Academy Award", "", "the-oscar-award")
    aliases = _all_aliases(rows, table.aliases)
    with_aliases = table.model_copy(update={"aliases": aliases})
    return write_table(out, "oscars.csv", rows, with_aliases)


def _award_row(source: Path, row: CsvRow) -> Row:
    ceremony = read_whole_number(source, row, "ceremony")
    cells = row.cells
    return {
        "award": oscar_award(cells["category"]),
        "ceremony": f"{show_count(ceremony, 'ordinal')} Academy Awards",
        "year": str(read_whole_number(source, row, "year_ceremony")),
        "work_year": str(read_whole_number(source, row, "year_film")),
        "work": cells["film"],
        "winner": VALUE_SEPARATOR.join(oscar_winners(cells["name"])),
        "performer": "",
        "result": "won" if cells["winner"].casefold() in _TRUE else "nominated",
    }


def _all_aliases(rows: Sequence[Row], shipped: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The shipped and the Academy's other names of each award in the rows."""
    aliases: dict[str, tuple[str, ...]] = {}
    for award in sorted({row["award"] for row in rows}):
        names = (*shipped.get(award, ()), *other_category_names(award))
        aliases[award] = tuple(dict.fromkeys(names))
    return aliases


def oscar_award(category: str) -> str:
    """``ACTOR IN A LEADING ROLE`` as ``Best Actor``, ``DOCUMENTARY (Feature)`` as ``Best Documentary Feature``."""
    # An honorary award has a name of its own, without "Best".
    if "AWARD" in category.split("(", maxsplit=1)[0]:
        return _title_case(category)

    title = category_title(category)
    if title:
        return title
    if _SONG.match(category):
        return "Best Original Song"

    match = _FIELD_AND_KIND.fullmatch(category)
    if match is None:
        return f"Best {_title_case(category)}"
    return f"Best {_field_and_kind(match['field'], match['kind'])}"


def _field_and_kind(field: str, kind: str) -> str:
    """A category with a division, in the order of people: "SHORT FILM (Animated)" as "Animated Short Film"."""
    if field in _FIELDS_WITHOUT_MEANING:
        return _title_case(kind if " " in kind else f"{field} {kind}")
    if field in _FIELD_FIRST:
        return _FIELD_FIRST[field].format(_title_case(kind).removesuffix(" Subject"))
    return f"{_title_case(field)} ({kind})"


def oscar_winners(credit: str) -> list[str]:
    """The names in a credit such as ``Screenplay by A and B; Story by C`` or ``D and E, Producers``.

    >>> oscar_winners("Production Design: Jane Doe; Set Decoration: Jim Roe")
    ['Jane Doe', 'Jim Roe']
    """
    without_brackets = _AROUND.sub(r"\g<before>\g<blanks>\g<name>", credit.strip())
    with_composers = _COMPOSERS.sub(r";\g<credit>", without_brackets)
    text = _ASIDE.sub("", with_composers)

    honour = _HONOUR.match(text)
    if honour:
        return _honoured(honour["name"] or honour["praised"])

    names: dict[str, None] = {}
    for part in text.split(";"):
        without_role = _ROLE.sub("", part.strip())
        for name in _BETWEEN_NAMES.split(without_role):
            if name and not _NO_NAME.fullmatch(name):
                names[name] = None
    return list(names)


def _honoured(names: str) -> list[str]:
    """The people of an honorary award; "The Society of Motion Picture and Television Engineers" is one."""
    people = _AND.split(names)
    is_one = names.casefold().startswith("the ") or any(" " not in person for person in people)
    return [names] if is_one else people


def _title_case(text: str) -> str:
    """``ACTOR IN A LEADING ROLE`` as ``Actor in a Leading Role``."""
    title = " ".join(map(_capitalise, text.lower().split(" ")))
    return _AFTER_BRACKET.sub(lambda match: match[0].upper(), title)


def _capitalise(word: str) -> str:
    if word in _SMALL_WORDS:
        return word
    return word[:1].upper() + word[1:]
