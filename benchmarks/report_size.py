"""How large report.html is, and how soon it can be used, for a run of the size of CRAG's public data.

    python -m benchmarks.report_size RUN [--questions N] [--together K] [--output DIR]

The questions of the finished run in the folder RUN are repeated under new ids until there are N. `--together` puts the
passages, facts and prompts of K questions into each trace, so that a small model's short traces become as long as those
of a large one. The times are Chromium's own, from the start of navigation: until the first rows stand in the table and
its filters work ("table"), until the whole file is read ("load"); "trace" is from a click until a trace is shown.
"empty" is "load" of a page with nothing in it, which shows how busy the machine was.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from agents.files import json_line
from benchmarks.browser import NoBrowserError, chromium
from evaluation.datasets import DatasetError
from evaluation.report.measured import FinishedRun, read_run
from evaluation.report.page import render
from evaluation.results import summarise
from evaluation.store import REPORT, StoreError, row_key

QUESTIONS = 2706
"""Rows of both public splits of CRAG's task 1 and 2 together."""
REPEATS = 5
LARGEST = 15_000_000
SLOWEST = 3.0

_LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


class OpeningTimes(NamedTuple):
    """Seconds until the table works, until the file is read, and until a clicked question's trace is shown."""

    table: float
    load: float
    trace: float


def enlarged(run: FinishedRun, questions: int, together: int) -> FinishedRun:
    """The run with its questions repeated up to `questions`, `together` of its traces in each."""
    records, traces = [], {}
    size = len(run.records)
    for number in range(questions):
        record = {**run.records[number % size], "interaction_id": f"{number:08x}-repeated", "occurrence": 0}
        records.append(record)
        parts = [run.trace(run.records[(number + offset) % size]) for offset in range(together)]
        traces[row_key(record)] = _joined(parts)
    return FinishedRun(summarise(records, [], run.signature), records, traces)


def _joined(traces: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    joined = dict(traces[0])
    for number, trace in enumerate(traces[1:], start=2):
        for field in ("passages", "facts", "calls"):
            joined[field] = [*joined.get(field, ()), *trace.get(field, ())]
        for field in ("prompts", "generations"):
            more = {f"{name} {number}": value for name, value in trace.get(field, {}).items()}
            joined[field] = {**joined.get(field, {}), **more}
    return joined


def load_seconds(page: Path) -> float:
    """Open the page in a fresh browser."""
    with chromium() as browser:
        browser.get(page.resolve().as_uri())
        return float(browser.execute_script(f"return {_LOADED}")) / 1000


def opening_times(page: Path) -> OpeningTimes:
    """Open the page in a fresh browser and open its first question."""
    with chromium() as browser:
        browser.get(page.resolve().as_uri())
        table, load = browser.execute_script(
            f"return [performance.getEntriesByName('report-ready')[0].startTime, {_LOADED}]"
        )
        started = time.monotonic()
        browser.find_element(By.CSS_SELECTOR, "button.open").click()
        WebDriverWait(browser, 10, poll_frequency=0.02).until(
            lambda driver: driver.find_elements(By.CSS_SELECTOR, "#trace-body section")
        )
        return OpeningTimes(table / 1000, load / 1000, time.monotonic() - started)


def measure(run: FinishedRun, folder: Path) -> bool:
    """Write and open the report; whether it keeps to its limits."""
    plain = sum(len(json_line(dict(trace))) for trace in run.traces.values())
    started = time.monotonic()
    page = folder / REPORT
    page.write_text(render(run), encoding="utf-8")
    writing, size = time.monotonic() - started, page.stat().st_size
    times = [opening_times(page) for _ in range(REPEATS)]
    print(f"{len(run.records)} questions, traces {plain / 1e6:.1f} MB as JSON lines")
    print(f"report.html {size / 1e6:.1f} MB (limit {LARGEST / 1e6:.0f}), written in {writing:.1f} s")
    empty = folder / "empty.html"
    empty.write_text("<!DOCTYPE html><title>empty</title>", encoding="utf-8")
    nothing = [load_seconds(empty) for _ in range(REPEATS)]
    print(f"empty  {median(nothing):.2f} s, worst of {REPEATS} {max(nothing):.2f} s")
    slowest = 0.0
    for name, limit in (("table", SLOWEST), ("load", SLOWEST), ("trace", None)):
        seconds = [getattr(one, name) for one in times]
        print(
            f"{name:6} {median(seconds):.2f} s, worst of {REPEATS} {max(seconds):.2f} s"
            + (f" (limit {limit:g})" if limit else "")
        )
        slowest = max(slowest, max(seconds) if limit else 0.0)
    return size < LARGEST and slowest < SLOWEST


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print. Exit code: 0 within the limits, 1 not, 2 no run or no browser."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.report_size", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("run", metavar="RUN", type=Path, help="the folder of a finished run with traces")
    parser.add_argument("--questions", metavar="N", type=int, default=QUESTIONS, help="default: %(default)s")
    parser.add_argument("--together", metavar="K", type=int, default=1, help="traces in one (default: %(default)s)")
    parser.add_argument("--output", metavar="DIR", type=Path, help="keep the report there")
    options = parser.parse_args(arguments)
    try:
        run = enlarged(read_run(options.run), options.questions, options.together)
        with tempfile.TemporaryDirectory() as beside:
            folder = options.output or Path(beside)
            folder.mkdir(parents=True, exist_ok=True)
            return 0 if measure(run, folder) else 1
    except (StoreError, DatasetError, NoBrowserError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
