"""What a person sees on a page stands in its text, and the benchmark tells a right reading from a wrong one."""

import json
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from crag.benchmarks.readers import project_readers
from crag.benchmarks.reading import (
    MARKED_FACTS,
    MarkedFact,
    MarkedPage,
    ReadPage,
    holds_fact,
    read_marked_pages,
    read_pages,
    reading_figures,
    tokens_of,
)
from crag.commands.bench.reading import main
from crag.core.files import DatasetError
from crag.settings import load_settings

PAGE = "<h1>Pier</h1><p>The pier is 3<b>–</b>4 m wide.</p><nav><a>Home</a></nav>"


@cache
def marked_pages() -> list[MarkedPage]:
    return read_marked_pages(MARKED_FACTS)


@cache
def pages_of_the_default_reader() -> list[ReadPage]:
    settings = load_settings("cpu", []).web.extract
    return read_pages(marked_pages(), project_readers(settings)[settings.method])


@pytest.mark.parametrize(
    ("fact", "text", "is_held"),
    [
        (("3–1",), "Varnes won 3 - 1.", True),
        (("3–1",), "Varnes won 31.", False),
        (("−12 degrees",), "it was 12 degrees", False),
        (("48,312",), "it has 48,312 [1] inhabitants", True),
        (("48,312",), "it has 48,3121 inhabitants", False),
        (("10^6",), "about 10⁶ litres", True),
        (("10^6",), "about 106 litres", False),
        (("Lost property",), "Lost propertyCall the office", False),
        (("Year", "1998"), "Year: 1998", True),
        (("2018", "C", "Senna Brook"), "Year: 2018 | Class: C | Winner: Senna Brook", True),
        (("2018", "C"), f"2018 A {'word ' * 12} C", False),
        (("C", "2018"), "Year: 2018 | Class: C", False),
    ],
)
def test_a_fact_is_held_if_its_words_and_signs_stand_together(fact: MarkedFact, text: str, is_held: bool) -> None:
    assert holds_fact(tokens_of(text), fact) == is_held


def test_losses_and_boilerplate_are_counted_over_all_pages() -> None:
    facts = {"heading": [("Pier",)], "number": [("3–4 m",), ("5 m",)]}
    read = read_pages([MarkedPage("pier.html", PAGE, facts, [("Home",)])] * 2, lambda html: "Pier 3–4 m Home")
    figures = reading_figures(read)
    assert read[0].lost == {"heading": [], "number": [("5 m",)]}
    assert read[0].slipped_in == [("Home",)]
    assert figures.recall == pytest.approx(2 / 3)
    assert figures.recall_by_kind == {"heading": 1.0, "number": 0.5}
    assert figures.boilerplate == 1.0
    assert figures.words == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('["data/pier.html"]\nhaeding = ["Pier"]', "pier.html: unknown kind 'haeding'"),
        ("[[", "not valid TOML"),
    ],
)
def test_a_file_of_marks_that_cannot_be_used_is_named(tmp_path: Path, content: str, message: str) -> None:
    facts = tmp_path / "facts.toml"
    facts.write_text(content, encoding="utf-8")
    with pytest.raises(DatasetError, match=message):
        read_marked_pages(facts)


def test_the_command_prints_readers_and_losses_and_writes_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/pier.html").write_text(PAGE, encoding="utf-8")
    facts = tmp_path / "reading" / "facts.toml"
    facts.parent.mkdir()
    facts.write_text('["pages/pier.html"]\nheading = ["Pier", "Harbour"]\nboilerplate = ["Home"]', encoding="utf-8")

    options = ["--facts", str(facts), "--lost", "beautifulsoup", "--json", str(tmp_path / "figures.json")]
    assert main(options) == 0
    printed = capsys.readouterr().out
    assert "| beautifulsoup | 0.500 |" in printed
    assert "pages/pier.html: lost heading: Harbour\npages/pier.html: slipped in: Home" in printed
    assert json.loads((tmp_path / "figures.json").read_text())["beautifulsoup"]["boilerplate"] == 1.0

    assert main(["--facts", str(facts), "--lost", "lynx"]) == 2
    refused = capsys.readouterr()
    assert "--lost lynx: no such reader" in refused.err
    assert not refused.out, "it is refused before the pages are read"


@pytest.mark.parametrize("page", marked_pages(), ids=lambda page: page.name)
def test_each_mark_stands_on_its_page(page: MarkedPage) -> None:
    soup = BeautifulSoup(page.html, "html.parser")
    for quotation in soup("q"):  # a browser adds the marks
        quotation.insert(0, '"')
        quotation.append('"')
    texts = [tokens_of(soup.get_text(separator)) for separator in ("", " ")]
    marks = [*page.boilerplate, *(fact for facts in page.facts.values() for fact in facts)]
    # A raised number is written with "^" only by a reader.
    cells = [cell for mark in marks for cell in mark if "^" not in cell]
    assert [cell for cell in cells if not any(holds_fact(text, (cell,)) for text in texts)] == []


def test_the_default_reader_loses_hardly_anything_that_a_person_sees() -> None:
    figures = reading_figures(pages_of_the_default_reader())
    assert figures.recall >= 0.97
    assert min(figures.recall_by_kind.values()) >= 0.94
    assert figures.boilerplate <= 0.15
