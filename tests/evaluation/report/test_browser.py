"""The report as people see it: in a headless Chromium."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

selenium = pytest.importorskip("selenium", reason="selenium of requirements-dev.txt is not installed")

from selenium.webdriver import Chrome, Keys  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.remote.webelement import WebElement  # noqa: E402
from selenium.webdriver.support.select import Select  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

from evaluation.report import write_report  # noqa: E402
from tests.evaluation.report.chromium import chromium  # noqa: E402
from tests.evaluation.report.example import HOSTILE, RECORDS, TRACES, record, trace, write_run  # noqa: E402

MANY = 150
"""More questions than the table draws at once."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with chromium() as driver:
        yield driver


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    more = range(len(RECORDS), MANY)
    folder = write_run(
        tmp_path_factory.mktemp("run"),
        [*RECORDS, *(record(number) for number in more)],
        [*TRACES, *(trace(number) for number in more)],
    )
    return write_report(folder).as_uri()


@pytest.fixture
def page(browser: Chrome, address: str) -> Iterator[Chrome]:
    """The questions of the report freshly opened, in whose console nothing may be at the end."""
    browser.get("about:blank")
    browser.get(f"{address}#questions")
    yield browser
    assert browser.execute("getLog", {"type": "browser"})["value"] == []
    assert browser.title.startswith("own, CRAG task 1, +0."), "no text of the run was executed"


def rows(page: Chrome) -> list[WebElement]:
    return page.find_elements(By.CSS_SELECTOR, "button.open")


def reported(page: Chrome, element: str) -> str:
    return page.find_element(By.ID, element).text


def focused(page: Chrome) -> str:
    return page.switch_to.active_element.text


def opened(page: Chrome) -> str:
    """The text of the opened trace, once it is there."""
    WebDriverWait(page, 20).until(lambda driver: driver.find_elements(By.CSS_SELECTOR, "#trace-body section.summary"))
    return reported(page, "trace-body")


def choose(page: Chrome, facet: str, value: str) -> None:
    Select(page.find_element(By.CSS_SELECTOR, f"[data-facet={facet}]")).select_by_value(value)


def hash_of(page: Chrome) -> str:
    return str(page.execute_script("return location.hash"))


def test_filters_and_search(page: Chrome) -> None:
    assert reported(page, "status") == f"{MANY} questions"
    choose(page, "verdict", "missing")
    WebDriverWait(page, 5).until(lambda driver: reported(driver, "status") == f"2 of {MANY} questions")
    assert [row.text for row in rows(page)] == ["what is number 1?", "what is number 5?"]
    choose(page, "gates", "expected score")
    WebDriverWait(page, 5).until(lambda driver: reported(driver, "status") == f"1 of {MANY} questions")
    assert hash_of(page) == "#verdict=missing&gates=expected+score"
    page.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    WebDriverWait(page, 5).until(lambda driver: reported(driver, "status") == f"{MANY} questions")
    assert hash_of(page) == "#questions"
    page.find_element(By.CSS_SELECTOR, ".tabs [href='#overview']").click()
    page.find_element(By.CSS_SELECTOR, "#slices [href='#domain=music']").click()
    WebDriverWait(page, 5).until(lambda driver: reported(driver, "status") == f"{MANY // 2 - 1} of {MANY} questions")
    page.find_element(By.ID, "search").send_keys("GOLD 77 answer")
    assert [row.text for row in rows(page)] == ["what is number 77?"]


def test_order(page: Chrome) -> None:
    head = page.find_element(By.CSS_SELECTOR, "[data-sort=probability]")
    head.click()
    assert rows(page)[0].text == "what is number 1?"
    assert head.find_element(By.XPATH, "..").get_attribute("aria-sort") == "ascending"
    head.click()
    assert rows(page)[0].text == "what is number 0?", "of equals the first asked"
    assert head.find_element(By.XPATH, "..").get_attribute("aria-sort") == "descending"


def test_more_rows_come_as_one_scrolls(page: Chrome) -> None:
    assert len(rows(page)) < MANY

    def all_drawn(driver: Chrome) -> bool:
        driver.execute_script("window.scrollTo(0, document.body.scrollHeight)")
        return len(rows(driver)) == MANY

    WebDriverWait(page, 10).until(all_drawn)
    assert not page.find_element(By.ID, "more").is_displayed()


def test_a_click_opens_a_trace_with_all_that_happened(page: Chrome) -> None:
    rows(page)[0].click()
    text = opened(page)
    for expected in (
        "answer 0",
        "gold 0",
        "number: both say 3",
        "answered · web · the model answered",
        'get_number("0")',
        "It is gold 0.",
        "All numbers",
        "bm25 1.250",
        "cross encoder 3.500",
        "Generated 0",
        "event of 0",
        "0.750",
        "its limit was 60 s",
    ):
        assert expected in text
    assert "The prompt of 0" not in text, "folded away"
    page.find_element(By.XPATH, "//summary[.='Prompt']").click()
    assert "The prompt of 0" in reported(page, "trace-body")
    marks = [(mark.get_attribute("class"), mark.text) for mark in page.find_elements(By.CSS_SELECTOR, ".text mark")]
    assert marks == [("given", "answer 0"), ("gold", "gold 0")], "gold 00 is another number"
    page.find_element(By.ID, "close").click()
    assert focused(page) == "what is number 0?"
    WebDriverWait(page, 5).until(lambda driver: hash_of(driver) == "#questions")


def test_all_of_it_by_keyboard(page: Chrome) -> None:
    page.execute_script("document.querySelector('#columns th:last-child button').focus()")
    page.switch_to.active_element.send_keys(Keys.TAB)
    assert focused(page) == "what is number 0?"
    page.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    page.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert focused(page) == "what is number 2?"
    outline = page.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid", "the focus can be seen"
    page.switch_to.active_element.send_keys(Keys.ENTER)
    assert "set: of 3 items" in opened(page)
    page.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    WebDriverWait(page, 5).until(lambda driver: reported(driver, "trace-title") == "what is number 1?")
    WebDriverWait(page, 5).until(lambda driver: "withheld" in reported(driver, "trace-body"))
    page.switch_to.active_element.send_keys(Keys.ESCAPE)
    WebDriverWait(page, 5).until(lambda driver: not driver.find_element(By.ID, "trace").is_displayed())
    assert focused(page) == "what is number 1?", "back where the open question stands"
    page.switch_to.active_element.send_keys(Keys.END)
    assert focused(page) == f"what is number {MANY - 1}?", "rows are drawn as they are needed"


def is_shown(page: Chrome, element: str) -> bool:
    return page.find_element(By.ID, element).is_displayed()


def test_the_overview_is_first_and_back_goes_through_what_was_seen(page: Chrome, address: str) -> None:
    page.get("about:blank")
    page.get(address)
    assert (is_shown(page, "overview"), is_shown(page, "all-questions")) == (True, False)
    page.find_element(By.CSS_SELECTOR, ".tabs [href='#questions']").click()
    WebDriverWait(page, 5).until(lambda driver: is_shown(driver, "all-questions"))
    assert not is_shown(page, "overview")
    rows(page)[2].click()
    opened(page)
    page.find_element(By.ID, "next").click()
    WebDriverWait(page, 5).until(lambda driver: hash_of(driver) == "#question=id-3")
    page.back()
    WebDriverWait(page, 5).until(lambda driver: not is_shown(driver, "trace"))
    assert hash_of(page) == "#questions"
    assert len(rows(page)) > 3, "the table is as it was"
    page.back()
    WebDriverWait(page, 5).until(lambda driver: is_shown(driver, "overview"))


def test_closing_is_not_a_step_that_back_repeats(page: Chrome, address: str) -> None:
    rows(page)[0].click()
    opened(page)
    page.find_element(By.ID, "close").click()
    WebDriverWait(page, 5).until(lambda driver: hash_of(driver) == "#questions")
    page.back()
    WebDriverWait(page, 5).until(lambda driver: driver.current_url == "about:blank")
    page.get(address)


def test_a_linked_filter_is_in_view(page: Chrome, address: str) -> None:
    page.get("about:blank")
    page.get(f"{address}#verdict=incorrect")
    WebDriverWait(page, 5).until(lambda driver: reported(driver, "status") == f"1 of {MANY} questions")
    top = page.execute_script("return document.getElementById('filters').getBoundingClientRect().top")
    assert 0 <= top < 400
    page.find_element(By.CSS_SELECTOR, ".tabs [href='#overview']").click()
    page.execute_script("document.querySelector('#gates a.filter').click()")
    WebDriverWait(page, 5).until(lambda driver: [row.text for row in rows(driver)] == ["what is number 1?"])
    top = page.execute_script("return document.getElementById('filters').getBoundingClientRect().top")
    assert 0 <= top < 400


def test_a_link_opens_its_question(page: Chrome, address: str) -> None:
    page.get("about:blank")
    page.get(f"{address}#question=id-0%3A1")
    assert "of another shape" in opened(page)
    assert reported(page, "trace-title") == "asked again"
    page.execute_script("location.hash = '#question=id-120'")
    WebDriverWait(page, 5).until(lambda driver: reported(driver, "trace-title") == "what is number 120?")
    page.find_element(By.ID, "close").click()
    WebDriverWait(page, 5).until(lambda driver: focused(driver) == "what is number 120?")


def test_a_trace_as_json(page: Chrome) -> None:
    page.execute_script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    rows(page)[1].click()
    opened(page)
    page.find_element(By.ID, "copy-json").click()
    WebDriverWait(page, 5).until(lambda driver: reported(driver, "copied") == "The JSON is copied.")
    copied = json.loads(page.execute_script("return window.copied"))
    assert copied == {"record": RECORDS[1], "trace": TRACES[1], "left_out": 0}
    page.find_element(By.ID, "copy-link").click()
    WebDriverWait(page, 5).until(lambda driver: "#question=id-1" in driver.execute_script("return window.copied"))


def test_hostile_texts_are_shown_and_nothing_else(page: Chrome) -> None:
    rows(page)[3].click()
    shown = " ".join(opened(page).split())
    assert reported(page, "trace-title") == " ".join(HOSTILE.replace("\u2028", " ").split())
    assert shown.count("<img src=x onerror=") >= 8
    assert page.find_elements(By.CSS_SELECTOR, "img") == []
    assert page.find_elements(By.CSS_SELECTOR, "a[href^=javascript]") == []


def shown_on(page: Chrome, width: int, **media: str) -> None:
    features = [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    metrics: dict[str, Any] = {"width": width, "height": 740, "deviceScaleFactor": 1, "mobile": width < 500}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


@pytest.fixture
def phone(page: Chrome) -> Iterator[Chrome]:
    shown_on(page, 360)
    page.refresh()
    yield page
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_phone_scrolls_in_one_direction(phone: Chrome) -> None:
    widths = "return [document.documentElement.scrollWidth, document.getElementById('trace').scrollWidth]"
    assert phone.execute_script(widths)[0] == 360
    for number in (0, 3):
        rows(phone)[number].click()
        opened(phone)
        assert phone.execute_script(widths) == [360, 360]
        phone.find_element(By.ID, "close").click()


def test_slices_keep_their_intervals_on_a_phone(phone: Chrome, address: str) -> None:
    phone.get("about:blank")
    phone.get(address)
    cells = [cell for cell in phone.find_elements(By.CSS_SELECTOR, ".slices td.interval") if cell.is_displayed()]
    assert any(" to " in cell.text for cell in cells)
    assert phone.execute_script("return document.documentElement.scrollWidth") == 360


def test_dark_where_the_system_is_dark(page: Chrome) -> None:
    brightness = (
        "return ['backgroundColor', 'color'].map((name) => getComputedStyle(document.body)[name]"
        ".match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0))"
    )
    shown_on(page, 1280, prefers_color_scheme="light")
    background, text = page.execute_script(brightness)
    assert (background > 700, text < 150) == (True, True)
    shown_on(page, 1280, prefers_color_scheme="dark")
    background, text = page.execute_script(brightness)
    assert (background < 100, text > 650) == (True, True)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_every_control_has_a_name(page: Chrome) -> None:
    """As a screen reader is reported: by the browser's own tree of what is accessible."""
    rows(page)[0].click()
    opened(page)
    tree = page.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    controls = [
        node for node in tree if node.get("role", {}).get("value") in {"button", "combobox", "searchbox", "dialog"}
    ]
    assert len(controls) > 5
    assert not [node for node in controls if not node.get("name", {}).get("value")]
