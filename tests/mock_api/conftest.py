"""Servers of the hand-made graph and of the large one that does not ship with the project, and their client."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from crag.mock_api import serve
from tests.mock_api.small_graph import write_graph

KG_DATA = Path(__file__).parents[2] / "../shared/data/kg"


class Client:
    """Posts JSON to a server over one connection."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()

    def post(self, path: str, **body: object) -> requests.Response:
        return self.session.post(self.url + path, json=body, timeout=60)

    def ask(self, path: str, **body: object) -> Any:
        """The result of a call that succeeds."""
        response = self.post(path, **body)
        assert response.status_code == 200, response.text
        answer = response.json()
        assert set(answer) == {"result"}
        return answer["result"]


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A server of the graph in small_graph.py."""
    with serve(write_graph(tmp_path_factory.mktemp("small"))) as url:
        client = Client(url)
        yield client
        client.session.close()


@pytest.fixture(scope="session")
def real_graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The graph that was rebuilt from public answers of the official server."""
    archive = KG_DATA / "cragkg_json.tar.xz"
    if not archive.is_file():
        pytest.skip(f"{archive} is not there")
    root = tmp_path_factory.mktemp("real")
    shutil.unpack_archive(archive, root)
    (graph,) = root.iterdir()
    return graph


@pytest.fixture(scope="session")
def real(real_graph: Path) -> Iterator[Client]:
    """A server of that graph."""
    with serve(real_graph) as url:
        client = Client(url)
        yield client
        client.session.close()
