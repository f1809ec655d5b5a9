"""Measure the size of report.html and its opening time, for a run as large as CRAG's public data.

    python -m benchmarks.report_size RUN [--questions N] [--output DIR]

The questions of the finished run in the folder RUN are repeated under new ids until there are N. The times are
Chromium's own, from the start of navigation: until the first rows are in the table and its filters work ("table"),
until the whole file is loaded ("load"); "trace" is from a click until a trace is shown. "empty" is "load" of an empty
page, which shows how busy the machine was.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from agents.common.console import end_with
from agents.common.files import json_line
from benchmarks.common import exit_code
from evaluation.report.measured import FinishedRun, read_run
from evaluation.report.page import render
from evaluation.results import summarise
from evaluation.store import REPORT, row_key
from training.command import CommandError, parser_of

QUESTIONS = 2706
"""Rows of both public splits of CRAG's task 1 and 2 together."""
REPEATS = 5
LARGEST = 15_000_000
SLOWEST = 3.0

_LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class NoBrowserError(CommandError):
    """Chromium is missing; the message says how to get it."""


def find_chromium() -> tuple[str, str]:
    """The paths of the browser and of its driver.

    Raises:
        NoBrowserError: one of them is not on the PATH.
    """
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome", "chrome")]
    browser, driver = next(filter(None, found), None), shutil.which("chromedriver")
    if browser is None or driver is None:
        raise NoBrowserError("no Chromium with its driver on the PATH: apt-get install chromium chromium-driver")
    return browser, driver


@contextmanager
def chromium(width: int = 1280, height: int = 900) -> Iterator[Chrome]:
    """A browser with an empty profile, which is deleted afterwards.

    Raises:
        NoBrowserError: there is none.
    """
    browser, driver = find_chromium()
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        options = ChromeOptions()
        options.binary_location = browser
        for flag in (*_FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        started = Chrome(options=options, service=Service(driver))
        try:
            yield started
        finally:
            started.quit()


def enlarged(run: FinishedRun, questions: int) -> FinishedRun:
    """The run with its questions repeated up to this number."""
    records, traces = [], {}
    for number in range(questions):
        original = run.records[number % len(run.records)]
        record = {**original, "interaction_id": f"{number:08x}-repeated", "occurrence": 0}
        records.append(record)
        traces[row_key(record)] = run.trace(original)
    return FinishedRun(summarise(records, [], run.signature), records, traces)


def load_seconds(page: Path) -> float:
    """Open the page in a fresh browser."""
    with chromium() as browser:
        browser.get(page.resolve().as_uri())
        return float(browser.execute_script(f"return {_LOADED}")) / 1000


def opening_times(page: Path) -> dict[str, float]:
    """Seconds from opening the page to a working table and to its end, and from a click to the trace."""
    with chromium() as browser:
        browser.get(page.resolve().as_uri())
        table, load = browser.execute_script(
            f"return [performance.getEntriesByName('report-ready')[0].startTime, {_LOADED}]"
        )
        browser.find_element(By.CSS_SELECTOR, "[href='#questions']:not(.skip)").click()
        started = time.monotonic()
        browser.find_element(By.CSS_SELECTOR, "button.open").click()
        WebDriverWait(browser, 10, poll_frequency=0.02).until(
            lambda driver: driver.find_elements(By.CSS_SELECTOR, "#trace-body section")
        )
        return {"table": table / 1000, "load": load / 1000, "trace": time.monotonic() - started}


def measure(run: FinishedRun, folder: Path) -> bool:
    """Write and open the report; return whether it is within its limits."""
    plain = sum(len(json_line(dict(trace))) for trace in run.traces.values())
    started = time.monotonic()
    page = folder / REPORT
    page.write_text(render(run), encoding="utf-8")
    writing, size = time.monotonic() - started, page.stat().st_size
    empty = folder / "empty.html"
    empty.write_text("<!DOCTYPE html><title>empty</title>", encoding="utf-8")
    times = [{"empty": load_seconds(empty), **opening_times(page)} for _ in range(REPEATS)]
    print(f"{len(run.records)} questions, traces {plain / 1e6:.1f} MB as JSON lines")
    print(f"report.html {size / 1e6:.1f} MB (limit {LARGEST / 1e6:.0f}), written in {writing:.1f} s")
    worst = {name: max(one[name] for one in times) for name in times[0]}
    limited = ("table", "load")
    for name, slowest in worst.items():
        limit = f" (limit {SLOWEST:g})" if name in limited else ""
        print(f"{name:6} {median(one[name] for one in times):.2f} s, worst of {REPEATS} {slowest:.2f} s{limit}")
    return size < LARGEST and all(worst[name] < SLOWEST for name in limited)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print. Exit code: 0 within the limits, 1 not, 2 no run or no browser."""
    parser = parser_of("benchmarks.report_size", __doc__)
    parser.add_argument("run", metavar="RUN", type=Path, help="the folder of a finished run with traces")
    parser.add_argument("--questions", metavar="N", type=int, default=QUESTIONS, help="default: %(default)s")
    parser.add_argument("--output", metavar="DIR", type=Path, help="keep the report there")
    options = parser.parse_args(arguments)
    return exit_code(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    run = enlarged(read_run(options.run), options.questions)
    with tempfile.TemporaryDirectory() as beside:
        folder = options.output or Path(beside)
        folder.mkdir(parents=True, exist_ok=True)
        return 0 if measure(run, folder) else 1


if __name__ == "__main__":
    end_with(main)
