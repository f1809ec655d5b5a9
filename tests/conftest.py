"""How the property tests draw, and what a run says about skipped tests.

They draw alike in every run, so that a build fails for what changed in the code alone.

`python -m pytest --hypothesis-profile search` looks for new counter-examples instead: 2,000 random ones for each test.
"""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from crag.mock_api import serve
from tests import skipped

pytest_plugins = ["pytester"]

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=2000, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def index_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Indexes of pages are kept apart from those of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CRAG_INDEX_DIR", str(tmp_path_factory.mktemp("index")))
        yield


@pytest.fixture(scope="session")
def graph() -> Iterator[str]:
    """The shipped knowledge graph, served once for all presets that ask one."""
    with serve() as address:
        yield address


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the files that run real models: they take longest, and last they would keep one process alone."""
    longest = {item.path for item in items if item.get_closest_marker("models")}
    items.sort(key=lambda item: item.path not in longest)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Say after all other summaries what would make the skipped tests run."""
    yield
    reports = terminalreporter.stats.get("skipped", [])
    reported = skipped.lines(report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple))
    if reported:
        terminalreporter.section("what would make the skipped tests run")
        for line in reported:
            terminalreporter.line(line)
