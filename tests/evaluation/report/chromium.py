"""A headless Chromium for the tests of HTML pages."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

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


@contextmanager
def chromium() -> Iterator[Chrome]:
    """A browser with an empty profile, which is deleted afterwards; without a browser the test is skipped."""
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome", "chrome")]
    browser, driver = next(filter(None, found), None), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("no Chromium with its driver on the PATH: apt-get install chromium chromium-driver")
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        options = ChromeOptions()
        options.binary_location = browser
        for flag in (*_FLAGS, f"--user-data-dir={profile}", "--window-size=1280,900"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        started = Chrome(options=options, service=Service(driver))
        try:
            yield started
        finally:
            started.quit()
