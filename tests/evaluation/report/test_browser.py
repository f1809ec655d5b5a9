"""The report as people see it: in a headless Chromium."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("selenium", reason="selenium of requirements/dev.txt is not installed")

from selenium.webdriver import Chrome, Keys
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.ui import WebDriverWait

from crag.evaluation.report.run_page import write_report
from tests.evaluation.report.conftest import complaints
from tests.evaluation.report.example import HOSTILE, RECORDS, TRACES, record, trace, write_run

MANY = 150
"""More questions than the table draws at once."""


class Page:
    """The report in a browser."""

    def __init__(self, browser: Chrome, address: str) -> None:
        self.browser, self.address = browser, address
        self.run = browser.execute_script
        self.send = browser.execute_cdp_cmd

    def go(self, place: str) -> None:
        self.browser.get("about:blank")
        self.browser.get(self.address + place)

    def all(self, selector: str) -> list[Any]:
        return list(self.browser.find_elements("css selector", selector))

    def click(self, selector: str) -> None:
        self.browser.find_element("css selector", selector).click()

    def text(self, name: str) -> str:
        return str(self.browser.find_element("id", name).text)

    def is_shown(self, name: str) -> bool:
        return bool(self.browser.find_element("id", name).is_displayed())

    @property
    def rows(self) -> list[str]:
        return [row.text for row in self.all("button.open")]

    @property
    def focused(self) -> str:
        return str(self.browser.switch_to.active_element.text)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.browser.switch_to.active_element.send_keys(key)

    def until(self, holds: Callable[[], object]) -> None:
        WebDriverWait(self.browser, 60, poll_frequency=0.02).until(lambda _: holds())

    def until_at(self, place: str) -> None:
        self.until(lambda: self.run("return location.hash") == place)

    def until_listed(self, count: int) -> None:
        self.until(lambda: self.text("status") == f"{count} of {MANY} questions")

    def open(self, row: int) -> str:
        """The trace of a question of the table."""
        self.all("button.open")[row].click()
        return self.opened()

    def opened(self) -> str:
        self.until(lambda: self.all("#trace-body section.summary"))
        return self.text("trace-body")

    def show_on(self, width: int, **media: str) -> None:
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
        self.send("Emulation.setEmulatedMedia", {"features": features})
        metrics = {"width": width, "height": 740, "deviceScaleFactor": 1, "mobile": width < 500}
        self.send("Emulation.setDeviceMetricsOverride", metrics)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    more = range(len(RECORDS), MANY)
    records, traces = [*RECORDS, *map(record, more)], [*TRACES, *map(trace, more)]
    return write_report(write_run(tmp_path_factory.mktemp("run"), records, traces)).as_uri()


@pytest.fixture
def page(browser: Chrome, address: str) -> Iterator[Page]:
    """The questions of the report freshly opened, in whose console nothing may be at the end."""
    page = Page(browser, address)
    page.go("#questions")
    yield page
    page.send("Emulation.clearDeviceMetricsOverride", {})
    page.send("Emulation.setEmulatedMedia", {"features": []})
    assert browser.execute("getLog", {"type": "browser"})["value"] == []
    assert browser.title in {"", "about:blank"} or browser.title.startswith("own, CRAG task 1, +0."), "nothing ran"


def test_filters_slices_and_the_search_leave_only_the_questions_asked_for(page: Page) -> None:
    assert page.text("status") == f"{MANY} questions"

    for facet, value, listed in (("verdict", "missing", 2), ("gates", "expected score", 1)):
        Select(page.all(f"[data-facet={facet}]")[0]).select_by_value(value)
        page.until_listed(listed)

    assert page.rows == ["what is number 1?"]

    page.until_at("#verdict=missing&gates=expected+score")
    page.click("button[type=reset]")
    page.until_at("#questions")
    page.click(".tabs [href='#overview']")
    page.click("#slices [href='#domain=music']")
    page.until_listed(MANY // 2 - 1)
    page.all("#search")[0].send_keys("GOLD 77 answer")
    assert page.rows == ["what is number 77?"]


def test_a_click_on_a_column_sorts_by_it_and_another_click_turns_the_order(page: Page) -> None:
    for direction, first in (("ascending", 1), ("descending", 0)):
        page.click("[data-sort=probability]")
        assert page.rows[0] == f"what is number {first}?", "of equals the first asked"
        assert page.all("th:has([data-sort=probability])")[0].get_attribute("aria-sort") == direction


def test_more_rows_come_as_one_scrolls(page: Page) -> None:
    assert len(page.rows) < MANY
    page.until(lambda: page.run("scrollTo(0, document.body.scrollHeight)") or len(page.rows) == MANY)
    assert not page.is_shown("more")


def test_a_click_opens_a_trace_with_all_that_happened(page: Page) -> None:
    text = page.open(0)
    told = ["answer 0", "gold 0", "number: both say 3", "answered · web · the model answered", 'get_number("0")']
    told += [
        "It is gold 0.",
        "All numbers",
        "bm25 1.250",
        "cross encoder 3.500",
        "Generated 0",
        "Rest on 0.",
        "event of 0",
        "0.750",
        "the context holds the expected answer; so do passage 1 as the first and 100 % of the passages",
    ]

    assert [part for part in [*told, "its limit was 60 s"] if part not in text] == []
    assert "The prompt of 0" not in text, "folded away"

    next(summary for summary in page.all("summary") if summary.text == "Prompt").click()
    assert "The prompt of 0" in page.text("trace-body")

    marks = [(mark.get_attribute("class"), mark.text) for mark in page.all(".text mark")]
    assert marks == [("given", "answer 0"), ("gold", "gold 0")], "gold 00 is another number"

    page.click("#close")
    assert page.focused == "what is number 0?"

    page.until_at("#questions")
    page.browser.back()
    page.until(lambda: page.browser.current_url == "about:blank")  # closing is not a step that Back repeats


def test_all_of_it_by_keyboard(page: Page) -> None:
    page.run("document.querySelector('#columns th:last-child button').focus()")
    page.press(Keys.TAB, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert page.focused == "what is number 2?"
    assert page.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid", "the focus can be seen"

    page.press(Keys.ENTER)
    assert "set: of 3 items" in page.opened()

    page.press(Keys.ARROW_LEFT)
    page.until(lambda: page.text("trace-title") == "what is number 1?" and "withheld" in page.text("trace-body"))
    page.press(Keys.ESCAPE)
    page.until(lambda: not page.is_shown("trace"))
    assert page.focused == "what is number 1?", "back where the open question stands"

    page.press(Keys.END)
    assert page.focused == f"what is number {MANY - 1}?", "rows are drawn as they are needed"


def test_the_overview_is_first_and_back_goes_through_what_was_seen(page: Page) -> None:
    page.go("")
    assert (page.is_shown("overview"), page.is_shown("all-questions")) == (True, False)

    drawn = (
        "const width = (shape) => shape.getBoundingClientRect().width;"
        "return [...document.querySelectorAll('.scroll:last-child > .losses rect')].map((bar) =>"
        " width(bar) / width(bar.ownerSVGElement) - bar.getAttribute('width') / 100)"
    )
    assert page.run(drawn) == pytest.approx([0.0] * 2, abs=0.02), "a bar is as long as its number says"

    page.click(".tabs [href='#questions']")
    page.until(lambda: page.is_shown("all-questions") and not page.is_shown("overview"))
    page.open(2)
    page.click("#next")
    page.until_at("#question=id-3")
    page.browser.back()
    page.until(lambda: not page.is_shown("trace"))
    page.until_at("#questions")
    assert len(page.rows) > 3, "the table is as it was"

    page.browser.back()
    page.until(lambda: page.is_shown("overview"))


def test_a_trace_is_copied_as_json_and_as_a_link(page: Page) -> None:
    page.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    page.open(1)
    page.click("#copy-json")
    page.until(lambda: page.text("copied") == "The JSON is copied.")
    copied = json.loads(page.run("return window.copied"))
    assert copied == {"record": RECORDS[1], "trace": TRACES[1], "left_out": 0}
    page.click("#copy-link")
    page.until(lambda: "#question=id-1" in page.run("return window.copied"))
    page.go("#question=id-0%3A1")
    assert "of another shape" in page.opened()
    assert page.text("trace-title") == "asked again"


def test_a_person_marks_a_verdict_and_downloads_it(page: Page) -> None:
    page.run("URL.createObjectURL = (blob) => { blob.text().then((text) => { window.given = text; }); return '#'; }")
    page.open(0)
    Select(page.all("#own-verdict")[0]).select_by_value("incorrect")
    page.all("#own-note")[0].send_keys("said of another", Keys.ARROW_LEFT, "s")
    page.click("#next")
    page.until(lambda: page.text("trace-title") == "what is number 1?" and page.run("return state.entry !== null"))
    assert page.all("#own-note")[0].get_attribute("value") == ""

    page.all("#own-note")[0].send_keys("unsure")
    page.click("#close")
    assert page.text("download") == "Download 2 of your verdicts and notes"

    page.click("#download")
    page.until(lambda: page.run("return window.given"))
    first, second = map(json.loads, page.run("return window.given").splitlines())
    named = {"interaction_id": "id-0", "occurrence": 0, "query": "what is number 0?"}
    assert first == {**named, "verdict": "incorrect", "note": "said of anothesr"}
    assert (second["verdict"], second["note"]) == (RECORDS[1]["verdict"], "unsure")

    page.go("#question=id-0")
    page.opened()
    assert page.all("#own-note")[0].get_attribute("value") == "said of anothesr", "the browser keeps it"


def figures(page: Page) -> dict[str, str]:
    """The counters of the overview by name, as they stand in the page."""
    read = """return Object.fromEntries([...document.querySelectorAll("[data-count], [data-share]")]
      .map((node) => [node.dataset.count || node.dataset.share, node.textContent]))"""
    return dict(page.run(read))


def slice_cells(page: Page, label: str) -> list[str]:
    read = """return [...document.querySelectorAll(`#slices tr[data-label=${arguments[0]}] td`)]
      .map((cell) => cell.textContent)"""
    number, _, percent, score, *_ = page.run(read, label)
    return [number, percent, score]


def test_a_correction_changes_the_row_and_every_counter_at_once(page: Page) -> None:
    page.run("localStorage.clear()")
    page.go("#verdict=incorrect")
    page.until_listed(1)
    before, slice_before = figures(page), slice_cells(page, "movie")
    right, wrong = int(before["correct"]), int(before["incorrect"])
    scored = right + wrong + int(before["missing"])
    page.open(0)
    Select(page.all("#own-verdict")[0]).select_by_value("correct")

    after = figures(page)
    assert (after["correct"], after["incorrect"], after["n"]) == (str(right + 1), str(wrong - 1), before["n"])
    assert after["score"] == f"{(right + 1 - (wrong - 1)) / scored:+.3f}"
    assert after["accuracy"] == f"{100 * (right + 1) / scored:.1f} %"
    assert page.text("counted").startswith(f"Counted: {right + 1} right, ")

    movies, _, slice_score = slice_cells(page, "movie")
    assert float(slice_score) == pytest.approx(float(slice_before[2]) + 2 / int(movies), abs=0.001)

    row = page.run("return document.querySelector('#rows td.verdict').textContent")
    assert row == "right yours, judged wrong"

    options = [option.text for option in Select(page.all("[data-facet=verdict]")[0]).options]
    assert f"right ({right + 1})" in options
    assert "wrong (0)" in options

    page.click("#close")
    page.until_listed(0)
    page.go("")
    assert page.text("corrected").startswith("1 verdict is yours")
    assert not page.is_shown("conclusion"), "what was concluded was of other figures"
    assert figures(page) == after, "the browser keeps it"

    page.go("#question=id-2")
    page.opened()
    Select(page.all("#own-verdict")[0]).select_by_value("")
    assert figures(page) == before
    assert (page.is_shown("corrected"), slice_cells(page, "movie")) == (False, slice_before)


def test_questions_whose_answer_was_not_found_are_listed_and_counted(page: Page) -> None:
    page.go("")
    page.click("#retrieval [href='#answer_in_context=no']")
    page.until_listed(MANY - MANY // 3)
    before = page.run(
        "return document.querySelector('[data-field=answer_in_context][data-label=no] .score').textContent"
    )
    page.open(0)
    Select(page.all("#own-verdict")[0]).select_by_value("incorrect")
    after = page.run(
        "return document.querySelector('[data-field=answer_in_context][data-label=no] .score').textContent"
    )

    assert float(after) < float(before)
    assert "the context lacks the expected answer; no passage holds it" in page.text("trace-body")

    Select(page.all("#own-verdict")[0]).select_by_value("")


def test_a_verdict_for_an_unscored_question_is_counted(page: Page) -> None:
    before = figures(page)
    page.open(3)
    Select(page.all("#own-verdict")[0]).select_by_value("incorrect")
    after = figures(page)
    assert int(after["incorrect"]) == int(before["incorrect"]) + 1
    assert (before["n"], after["n"]) == (f"{MANY - 1} questions", f"{MANY} questions")
    Select(page.all("#own-verdict")[0]).select_by_value("")
    assert figures(page) == before


@pytest.mark.parametrize("width", [720, 760, 900, 1280])
def test_no_column_breaks_a_word(page: Page, width: int) -> None:
    page.show_on(width)
    broken = page.run("""return [...document.querySelectorAll("#rows .clamp")].flatMap((span) => {
      const text = span.firstChild, range = document.createRange();
      return text ? [...text.data.matchAll(/\\S+/g)].map((word) => {
        range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
        return range.getClientRects().length > 1 ? word[0] : "";
      }) : [];
    }).filter((word) => word && word.length < 12)""")
    assert broken == []


def test_hostile_texts_are_shown_and_nothing_else(page: Page) -> None:
    shown = page.open(3)
    assert page.text("trace-title") == " ".join(HOSTILE.replace("\u2028", " ").split())
    assert shown.count("<img src=x onerror=") >= 8
    assert page.all("img, a[href^=javascript]") == []


def test_a_phone_scrolls_in_one_direction_and_keeps_the_intervals(page: Page) -> None:
    page.show_on(360)
    page.browser.refresh()
    widths = "return [document.documentElement.scrollWidth, document.getElementById('trace').scrollWidth]"
    for number in (0, 3):
        page.open(number)
        assert page.run(widths) == [360, 360]
        page.click("#close")
    page.go("")
    assert page.run(widths)[0] == 360
    assert any(" to " in cell.text for cell in page.all(".slices td.interval") if cell.is_displayed())


def test_a_phone_shows_no_name_of_a_field_without_its_value(page: Page) -> None:
    page.show_on(360)
    shown = [cell for cell in page.all("#rows td") if cell.is_displayed()]
    assert shown
    assert all(cell.text.strip() for cell in shown)


def test_the_page_is_dark_where_the_system_is_dark(page: Page) -> None:
    brightness = (
        "return ['backgroundColor', 'color'].map((name) => getComputedStyle(document.body)[name]"
        ".match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0))"
    )
    page.show_on(1280, prefers_color_scheme="light")
    background, text = page.run(brightness)
    assert (background > 700, text < 150) == (True, True)
    page.show_on(1280, prefers_color_scheme="dark")
    background, text = page.run(brightness)
    assert (background < 100, text > 650) == (True, True)


def test_every_control_has_a_name(page: Page) -> None:
    """As a screen reader is told: by the browser's own tree of what is accessible."""
    page.open(0)
    tree = page.send("Accessibility.getFullAXTree", {})["nodes"]
    roles = {"button", "combobox", "searchbox", "dialog"}
    controls = [node for node in tree if node.get("role", {}).get("value") in roles]
    assert len(controls) > 5
    assert not [node for node in controls if not node.get("name", {}).get("value")]


PLACES = ("", "#questions", "#question=id-0", "#question=id-3", "#verdict=incorrect")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_has_no_complaint(page: Page, axe: str, width: int, scheme: str) -> None:
    for place in PLACES:
        page.go(place)
        page.show_on(width, prefers_color_scheme=scheme)
        if "question=" in place:
            page.opened()
        assert complaints(page.browser, axe) == [], place


def test_the_skip_link_leads_past_the_head_and_leaves_the_filters(page: Page) -> None:
    page.go("#verdict=missing")
    page.run("document.querySelector('.skip').focus()")
    page.press(Keys.ENTER)
    assert page.run("return document.activeElement.id") == "content"
    page.until_at("#verdict=missing")
