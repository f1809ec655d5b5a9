"""Two runs side by side: the page as a file and in a headless Chromium, the Markdown block, the picture."""

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from evaluation.compare import main
from tests.evaluation.report.example import HOSTILE, record, trace, write_run
from tests.evaluation.report.test_page import Parsed

QUESTIONS = 24


def two_runs(folder: Path, questions: int = QUESTIONS) -> list[str]:
    """B is right where A is silent on every question but the first, which it loses; its texts are hostile."""
    numbers = range(questions)
    a = [record(n, "missing" if n else "correct", prediction=f"A said {n}", query=f"{n} {HOSTILE}") for n in numbers]
    b = [record(n, "correct" if n else "incorrect", prediction=HOSTILE, query=f"{n} {HOSTILE}") for n in numbers]
    write_run(folder / "a", a, [trace(n, events=[f"in A {n}"]) for n in numbers], {"preset": "x@1", "data": HOSTILE})
    write_run(folder / "b", b, [trace(n, events=[f"in B {n}"]) for n in numbers], {"preset": "x@1", "set": "a=|1"})
    return [str(folder / "a"), str(folder / "b")]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    path = folder / "new" / "page.html"
    assert main([*two_runs(folder), "--no-flips", "--html", str(path)]) == 0
    return path


def test_the_page_says_both_scores_and_what_the_difference_is(page: Path) -> None:
    text = " ".join(Parsed(page.read_text(encoding="utf-8")).text.split())
    assert "A: x +0.04 [+0.00, +0.12] / B: x, changed +0.92" in text
    assert "B scores 0.875 more than A on 24 common questions [+0.625, +1.000], p <0.0001: more than chance." in text
    assert "missing to right (23)" in text
    assert "right to wrong (1)" in text
    assert "expected: gold 1 · A: A said 1" in text


def test_the_markdown_block_is_a_table(page: Path) -> None:
    block = Parsed(page.read_text(encoding="utf-8")).text.partition("PNG")[2]
    lines = block[block.index("**B scores") :].splitlines()
    assert lines[2] == "| | A | B | B - A | 95 % interval | p |"
    assert lines[4].startswith("| score | +0.042 | +0.917 | +0.875 | [")
    assert "24 of 24 questions flipped: 23 became right, 1 were right before." in lines
    assert "Changed: `set` from `None` to `a=|1`." in lines
    assert "![A and B](page.svg)" in lines


def test_the_picture_has_the_size_of_previews_and_is_well_formed(page: Path) -> None:
    sheet = ET.parse(page.with_suffix(".svg")).getroot()  # noqa: S314 - our own file
    assert (sheet.get("width"), sheet.get("height")) == ("1200", "630")
    texts = [element.text for element in sheet.iter("{http://www.w3.org/2000/svg}text")]
    assert "+0.875" in texts
    assert "B: x, changed" in texts


def test_nothing_is_loaded_and_no_text_becomes_markup(page: Path) -> None:
    parsed = Parsed(page.read_text(encoding="utf-8"))
    addresses = [value or "" for _, given in parsed.tags for name, value in given.items() if name in {"src", "href"}]
    assert all(re.match("data:|#", address) for address in addresses)
    assert [given.get("id") for tag, given in parsed.tags if tag == "img"] == ["picture"]


def test_a_few_questions_have_no_interval_and_a_run_may_have_no_traces(tmp_path: Path) -> None:
    folders = two_runs(tmp_path, 8)
    (tmp_path / "b/traces.jsonl").unlink()
    assert main([*folders, "--html", str(tmp_path / "page.html")]) == 0
    text = Parsed((tmp_path / "page.html").read_text(encoding="utf-8")).text
    assert "more than A on 8 common questions, p " in text
    assert "–" in text


def test_equal_runs_and_runs_without_a_score(tmp_path: Path) -> None:
    for name, verdict in (("one", "correct"), ("two", "unscored")):
        write_run(tmp_path / name, [record(0, verdict), record(1, verdict)], [])
        assert main([str(tmp_path / name)] * 2 + ["--html", str(tmp_path / "page.html")]) == 0
        text = Parsed((tmp_path / "page.html").read_text(encoding="utf-8")).text
        assert "No verdict differs." in text
        assert ("No question is scored in both runs." in text) == (name == "two")


def test_a_page_that_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = two_runs(tmp_path)
    (tmp_path / "page.svg").mkdir()
    assert main([*folders, "--html", str(tmp_path / "page.html")]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path / 'page.svg'}: cannot be written: ")
    assert main([*folders, "--html", str(tmp_path)]) == 2


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    pytest.importorskip("selenium", reason="selenium of requirements-dev.txt is not installed")
    from tests.evaluation.report.chromium import chromium

    with chromium() as driver:
        yield driver


def test_a_flipped_question_opens_with_both_traces(browser: Any, page: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.expected_conditions import presence_of_element_located
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(page.as_uri())
    for place in (0, 20):
        details = browser.find_elements("css selector", "details.flip")[place]
        query = details.text
        browser.execute_script("arguments[0].open = true", details)
        found = (By.CSS_SELECTOR, f"[data-place='{place}'] .side:nth-child(2) .summary")
        WebDriverWait(browser, 10).until(presence_of_element_located(found))
        number = re.match(r"\d+", query)
        assert number
        a, b = (side.text for side in details.find_elements("css selector", ".side"))
        assert (f"in A {number[0]}" in a, f"in B {number[0]}" in b) == (True, True)
    assert browser.title.startswith("A: x +0.04"), "no text of the run was executed"
    assert browser.execute_cdp_cmd("Log.enable", {}) == {}
    assert browser.get_log("browser") == []


def test_the_picture_is_saved_as_png_and_the_markdown_is_copied(browser: Any, page: Path) -> None:
    browser.get(page.as_uri())
    browser.execute_script(
        "navigator.clipboard.writeText = async (text) => { window.copied = text; };"
        "HTMLAnchorElement.prototype.click = function () { window.saved = this.href; };"
    )
    browser.find_element("id", "copy-markdown").click()
    assert browser.execute_script("return window.copied").startswith("**B scores")
    browser.find_element("id", "save-picture").click()
    kind, _, content = browser.execute_script("return window.saved").partition(",")
    assert kind == "data:image/png;base64"
    png = base64.b64decode(content)
    assert [int.from_bytes(png[start : start + 4]) for start in (16, 20)] == [1200, 630]


def test_a_phone_scrolls_in_one_direction(browser: Any, page: Path) -> None:
    metrics = {"width": 400, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(page.as_uri())
    assert browser.execute_script("return document.documentElement.scrollWidth") == 400
    cells = browser.find_elements("css selector", ".compared td.interval")
    assert all(cell.is_displayed() for cell in cells)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
