"""How much of what a person sees on a page a way of reading it returns: recall of facts that were marked by hand.

`data/reading/facts.toml` names for each page what a person sees in the article and beside it, by kinds, and the
boilerplate that does not belong into a text. The marks come from looking at the page, never from a reader's output.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from time import process_time

from crag.core.files import DatasetError, parse_toml
from crag.evaluation.datasets import DEFAULT_DATASET

MARKED_FACTS = DEFAULT_DATASET.parents[1] / "reading/facts.toml"
"""Beside the shipped sample, some of whose pages are marked too."""
KINDS = ("heading", "paragraph", "list", "box", "caption", "date", "table row", "number")
"""Kinds of facts. A "number" has a sign, a unit, an exponent or a footnote mark; a "box" stands beside the article."""
BOILERPLATE = "boilerplate"
"""The key of texts that should not be read: menus, cookie notes, footers, related links, and what the page hides."""
MAX_GAP = 12
"""Words and signs between two cells of a row: there may be the column's header, but not the cells of other rows."""

Reader = Callable[[str], str]
"""Makes the text of a page from its HTML."""

MarkedFact = tuple[str, ...]
"""A text, or the cells of a table's row in their order."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_DASH = re.compile("[\u2010-\u2015\u2212]")
_RAISED_DIGITS = re.compile("[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+")
_PLAIN_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


# --- whether a text holds a fact --------------------------------------------------------------------------------------


def tokens_of(text: str) -> str:
    """The words and signs of a text with a blank around each, so that only whole words are found in it.

    All dashes are one sign and all quotes are plain, since both read the same; a raised digit is written with "^".

    >>> tokens_of("3–1 (10⁶)")
    ' 3 - 1 ( 10 ^ 6 ) '
    """
    text = unicodedata.normalize("NFC", text)
    text = _DASH.sub("-", text).translate(_PLAIN_QUOTES)
    text = _RAISED_DIGITS.sub(lambda digits: "^" + unicodedata.normalize("NFKC", digits[0]), text)
    return f" {' '.join(_TOKEN.findall(text))} "


def holds_fact(tokens: str, fact: MarkedFact) -> bool:
    """Whether the tokens of a text (see `tokens_of`) hold all cells of a fact in their order and near each other."""
    patterns = [re.escape(tokens_of(cell).strip()) for cell in fact]
    gap = rf" (?:\S+ ){{0,{MAX_GAP}}}?"
    return re.search(f" {gap.join(patterns)} ", tokens) is not None


# --- pages with marks -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MarkedPage:
    """A page and what a person marked on it."""

    name: str
    """Its path below the folder `data`."""
    html: str
    facts: Mapping[str, Sequence[MarkedFact]]
    """By kind."""
    boilerplate: Sequence[MarkedFact]


def read_marked_pages(path: Path) -> list[MarkedPage]:
    """The marked pages of a TOML file; their paths are relative to the folder above that of the file.

    Raises DatasetError: the file is not readable, or names a kind of facts that is not in `KINDS`.
    """
    try:
        tables = parse_toml(path.read_bytes())
    except ValueError as error:
        raise DatasetError(f"{path}: not valid TOML ({error})") from None

    pages: list[MarkedPage] = []
    for name, marks in tables.items():
        unknown_kinds = marks.keys() - {*KINDS, BOILERPLATE}
        if unknown_kinds:
            raise DatasetError(f"{path}: {name}: unknown kind {min(unknown_kinds)!r}")

        html = (path.parents[1] / name).read_text(encoding="utf-8")
        facts = {kind: list(map(_cells, marks[kind])) for kind in KINDS if kind in marks}
        boilerplate = list(map(_cells, marks.get(BOILERPLATE, ())))
        pages.append(MarkedPage(name, html, facts, boilerplate))
    return pages


def _cells(value: str | list[str]) -> MarkedFact:
    return (value,) if isinstance(value, str) else tuple(value)


# --- the measurement --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReadPage:
    """What a reader returned of a page."""

    page: MarkedPage
    lost: Mapping[str, Sequence[MarkedFact]]
    """The facts, by kind, that the text does not hold."""
    slipped_in: Sequence[MarkedFact]
    """The boilerplate that it holds."""
    words: int
    seconds: float
    """Of one core: unlike those of a clock they do not depend on what else runs."""


def read_pages(pages: Sequence[MarkedPage], reader: Reader) -> list[ReadPage]:
    """Read each page once and look for its facts."""
    # Loading the parsers must not count as seconds of the first page
    reader("<p>warm up</p>")

    read: list[ReadPage] = []
    for page in pages:
        began = process_time()
        text = reader(page.html)
        seconds = process_time() - began

        tokens = tokens_of(text)
        lost: dict[str, list[MarkedFact]] = {}
        for kind, facts in page.facts.items():
            lost[kind] = [fact for fact in facts if not holds_fact(tokens, fact)]
        slipped_in = [mark for mark in page.boilerplate if holds_fact(tokens, mark)]
        read.append(ReadPage(page, lost, slipped_in, len(text.split()), seconds))
    return read


@dataclass(frozen=True)
class ReadingFigures:
    """The figures of a reader over all pages. Shares are between 0 and 1."""

    recall: float
    """Of all facts."""
    recall_by_kind: Mapping[str, float]
    boilerplate: float
    """The share of boilerplate that slips in."""
    words: float
    """Of a page, on average."""
    median_seconds: float
    """Of a page."""
    total_seconds: float


def reading_figures(read: Sequence[ReadPage]) -> ReadingFigures:
    """Sum up what a reader returned."""
    marked = dict.fromkeys(KINDS, 0)
    lost = dict.fromkeys(KINDS, 0)
    for result in read:
        for kind, facts in result.page.facts.items():
            marked[kind] += len(facts)
            lost[kind] += len(result.lost[kind])

    all_marked = sum(marked.values())
    all_lost = sum(lost.values())
    recall_by_kind = {kind: (marked[kind] - lost[kind]) / marked[kind] for kind in KINDS if marked[kind]}

    boilerplate = sum(len(result.page.boilerplate) for result in read)
    slipped_in = sum(len(result.slipped_in) for result in read)
    seconds = [result.seconds for result in read]
    return ReadingFigures(
        recall=_share(all_marked - all_lost, all_marked),
        recall_by_kind=recall_by_kind,
        boilerplate=_share(slipped_in, boilerplate),
        words=fmean(result.words for result in read),
        median_seconds=median(seconds),
        total_seconds=sum(seconds),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
