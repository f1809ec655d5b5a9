"""Two runs side by side: the page as a file and in a headless Chromium, and its Markdown block."""

import re
from pathlib import Path
from typing import Any

import pytest

from crag.commands.compare import main
from tests.evaluation.report.conftest import complaints
from tests.evaluation.report.example import HOSTILE, record, trace, write_run
from tests.evaluation.report.test_page import Parsed, check_nothing_else_runs


def two_runs(folder: Path, questions: int = 24) -> list[str]:
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
    assert main([*two_runs(folder), "--html", str(path)]) == 0
    return path


def test_the_page_has_both_scores_what_the_difference_is_and_a_markdown_block(page: Path) -> None:
    parsed = Parsed(page.read_text(encoding="utf-8"))
    check_nothing_else_runs(parsed)

    for part in (
        "A: x +0.04 [+0.00, +0.12] / B: x, changed +0.92",
        "B scores 0.875 more than A on 24 common questions [+0.625, +1.000], p <0.0001: more than chance.",
        "missing to right (23)",
        "right to wrong (1)",
        "expected: gold 1 · A: A said 1",
    ):
        assert part in parsed.text

    block = parsed.whole.partition("Copy the Markdown")[2]
    lines = block[block.index("**B scores") :].splitlines()
    assert lines[2] == "| | A | B | B - A | 95 % interval | p |"
    assert lines[4].startswith("| score | +0.042 | +0.917 | +0.875 | [")
    assert "24 of 24 questions flipped: 23 became right, 1 were right before." in lines
    assert "Changed: `set` from `-` to `a=|1`." in lines


def test_axe_has_no_complaint(browser: Any, axe: str, page: Path) -> None:
    browser.get(page.as_uri())
    browser.find_element("css selector", "details.flip summary").click()
    assert complaints(browser, axe) == []


@pytest.mark.parametrize(("verdict", "is_scored"), [("correct", True), ("unscored", False)])
def test_runs_with_the_same_verdicts_are_called_equal_or_unscored(
    tmp_path: Path, verdict: str, is_scored: bool
) -> None:
    folder = write_run(tmp_path / "run", [record(0, verdict), record(1, verdict)], [])
    assert main([str(folder)] * 2 + ["--html", str(tmp_path / "page.html")]) == 0
    text = Parsed((tmp_path / "page.html").read_text(encoding="utf-8")).text
    assert "No verdict differs." in text
    assert ("No question is scored in both runs." in text) != is_scored
    assert ("B scores as much as A on 2 common questions" in text) == is_scored


def test_a_flipped_question_opens_with_both_traces_and_the_markdown_is_copied(browser: Any, page: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.expected_conditions import presence_of_element_located
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(page.as_uri())

    for place in (0, 20):
        details = browser.find_elements("css selector", "details.flip")[place]
        number = re.match(r"\d+", details.text)
        assert number
        details.find_element("css selector", "summary").click()
        second = (By.CSS_SELECTOR, f"[data-place='{place}'] .side:nth-child(2) .summary")
        WebDriverWait(browser, 10).until(presence_of_element_located(second))
        a, b = (side.text for side in details.find_elements("css selector", ".side"))
        assert (f"in A {number[0]}" in a, f"in B {number[0]}" in b) == (True, True)

    browser.execute_script("navigator.clipboard.writeText = async (text) => { window.copied = text; };")
    browser.find_element("id", "copy-markdown").click()
    assert browser.execute_script("return window.copied").startswith("**B scores")
    assert browser.title.startswith("A: x +0.04"), "no text of the run was executed"
    assert browser.get_log("browser") == []
