"""A headless Chromium that talks to nobody, for whatever must see a page as people do."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

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


class NoBrowserError(RuntimeError):
    """There is no Chromium here; the message says how to get one."""


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
    """A browser with an empty profile, which is gone afterwards.

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
