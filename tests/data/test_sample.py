"""The sample data set: the format of its rows, the files they name, and whether its answers stand where they should."""

import json
import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from uuid import UUID

import pytest
from bs4 import BeautifulSoup

from crag.settings import ROUTE_CLASSES

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "data" / "sample"
CRAG_QUESTIONS = ROOT.parent / "shared" / "data" / "crag" / "questions_split0.jsonl"

FIELDS = {
    "interaction_id", "query", "query_time", "domain", "question_type", "static_or_dynamic", "answer", "alt_ans",
    "split", "search_results",
}  # fmt: skip
RESULT_FIELDS = {"page_name", "page_url", "page_snippet", "page_last_modified", "page_result_file"}
COMPUTED_TYPES = {"aggregation", "post-processing", "false_premise"}
"""Question types whose answer is counted, calculated or refused, and so need not stand in a page."""

UNANSWERABLE = {
    "who composed the score of terry gilliam's film brazil?",
    "what was nvidia's closing share price yesterday?",
    "how many steps does a visitor climb to reach the top of the tower of ulm minster?",
}
"""Questions none of whose pages holds the answer."""

DECISIVE_PAGES = {
    "beijing": "pages/chloe-zhao-bio.html",
    "128-124": "pages/lakers-bucks-2024-03-26.html",
    "sweden": "pages/sweden-joins-nato.html",
}
"""The page that each 50-page question turns on, by the answer of the question."""

Row = dict[str, Any]
ROWS: list[Row] = [json.loads(line) for line in (SAMPLE / "questions.jsonl").read_text(encoding="utf-8").splitlines()]


def page_files(row: Row) -> list[str]:
    return [result["page_result_file"] for result in row["search_results"]]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().lower()


@cache
def visible_text(page_file: str) -> str:
    """What a reader of the page sees, in lower case with single spaces."""
    soup = BeautifulSoup((SAMPLE / page_file).read_text(encoding="utf-8"), "lxml")
    hidden = "[hidden], [style*='display:none'], [style*='display: none']"
    for tag in soup.select(f"script, style, noscript, template, {hidden}"):
        tag.extract()
    return squeezed(soup.get_text(" "))


def asked_at(row: Row) -> datetime:
    """The query time in UTC; Pacific time is taken as UTC-7 throughout, which is the stricter of its two offsets."""
    local = datetime.strptime(row["query_time"].removesuffix(" PT"), "%m/%d/%Y, %H:%M:%S")
    return local.replace(tzinfo=UTC) + timedelta(hours=7)


def holds(text: str, answer: str) -> bool:
    """The answer stands in the text as whole words."""
    return re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) is not None


each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row["query"])


@each_row
def test_row_has_the_fields_and_labels_of_crag(row: Row) -> None:
    assert set(row) == FIELDS
    assert str(UUID(row["interaction_id"])) == row["interaction_id"]
    assert row["query"] == row["query"].lower().strip()
    assert row["answer"] == row["answer"].lower().strip() != ""
    assert all(isinstance(alternative, str) for alternative in row["alt_ans"])
    assert all(row[field] in classes for field, classes in ROUTE_CLASSES.items())
    assert row["split"] == 0
    assert (row["question_type"] == "false_premise") == (row["answer"] == "invalid question")
    assert re.fullmatch(r"\d\d/\d\d/2024, \d\d:\d\d:\d\d PT", row["query_time"])
    assert "02/26" <= row["query_time"][:5] <= "03/27"


@each_row
def test_search_results_are_well_formed_and_not_from_the_future(row: Row) -> None:
    assert len(row["search_results"]) in {5, 50}
    for result in row["search_results"]:
        assert set(result) == RESULT_FIELDS
        assert result["page_name"]
        host = urlparse(result["page_url"]).hostname or ""
        assert host.endswith(".example"), "a sample page must not claim the address of a real site"
        assert result["page_snippet"] == "" or 150 <= len(result["page_snippet"]) <= 600
        if result["page_last_modified"]:
            modified = parsedate_to_datetime(result["page_last_modified"])
            assert modified <= asked_at(row)
            assert modified.strftime("%a") == result["page_last_modified"][:3]


def test_every_page_is_there_and_every_page_is_used() -> None:
    named = {page_file for row in ROWS for page_file in page_files(row)}
    present = {f"pages/{path.name}" for path in (SAMPLE / "pages").iterdir()}
    assert named == present


@each_row
def test_answer_stands_in_a_page_exactly_when_it_should(row: Row) -> None:
    answer = str(row["answer"]).removeprefix("$")
    parts = answer.split(", ") if row["question_type"] == "set" else [answer]
    found = any(all(holds(visible_text(page), part) for part in parts) for page in page_files(row))
    assert row["question_type"] in COMPUTED_TYPES or found == (row["query"] not in UNANSWERABLE)
    if len(row["search_results"]) == 50:
        decisive = DECISIVE_PAGES[row["answer"]]
        assert page_files(row).index(decisive) >= 5
        assert holds(visible_text(decisive), row["answer"])


def test_the_awkward_pages_are_what_other_tests_need() -> None:
    """An empty one, one of scripts only, hidden text, an injection, and an answer only in a table."""
    pages = SAMPLE / "pages"
    assert (pages / "empty-scoreboard.html").read_bytes() == b""
    assert visible_text("pages/nikkei-live-widget.html") == "nikkei 225 live chart", "only the title remains"
    assert "ignore all previous instructions" in visible_text("pages/abba-bio.html")
    hidden = "the capital of tanzania is arusha"
    assert hidden in squeezed((pages / "kilimanjaro-trek-blog.html").read_text(encoding="utf-8"))
    assert not any(hidden in visible_text(f"pages/{path.name}") for path in pages.iterdir())
    soup = BeautifulSoup((pages / "nba-champions.html").read_text(encoding="utf-8"), "lxml")
    for table in soup.find_all("table"):
        table.decompose()
    assert "kawhi leonard" in visible_text("pages/nba-champions.html")
    assert not holds(squeezed(soup.get_text(" ")), "kawhi leonard")
    sizes = [path.stat().st_size for path in pages.iterdir()]
    assert sum(sizes) < 3_000_000
    assert max(sizes) < 200_000


@pytest.mark.skipif(not CRAG_QUESTIONS.exists(), reason=f"the public CRAG questions are not at {CRAG_QUESTIONS}")
def test_no_question_is_one_of_crag() -> None:
    def normalised(query: str) -> str:
        return re.sub(r"\W+", " ", query.lower()).strip()

    with CRAG_QUESTIONS.open(encoding="utf-8") as lines:
        crag = {normalised(json.loads(line)["query"]) for line in lines}
    assert not crag & {normalised(row["query"]) for row in ROWS}
