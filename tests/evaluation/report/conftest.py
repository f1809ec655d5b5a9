"""A headless Chromium."""

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1280,900"),
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Chrome"]:
    """A browser with an empty profile."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium of requirements/dev.txt is not installed")
    from selenium.webdriver.chrome.service import Service

    program, driver = (shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver"))
    if program is None or driver is None:
        pytest.skip("no Chromium with its driver on the PATH: apt-get install chromium chromium-driver")

    options = webdriver.ChromeOptions()
    options.binary_location = program
    profile: Path = tmp_path_factory.mktemp("chromium")
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)

    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(driver))
    yield started
    started.quit()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, which checks a page for accessibility."""
    # Not imported: only its script is wanted, which needs no Playwright
    package = find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        pytest.skip("axe-playwright-python is not installed: pip install -r requirements/dev.txt")
    return (Path(package.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def complaints(browser: "Chrome", axe: str) -> list[str]:
    """What axe-core finds on the page as it stands, each with the first element."""
    # As a debugger would: the page's policy lets no other script run
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
    found = browser.execute_async_script("axe.run().then(arguments[0])")
    return [f"{rule['impact']}: {rule['id']} {rule['nodes'][0]['html']}" for rule in found["violations"]]
