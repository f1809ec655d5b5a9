"""A client of the mock API, as short as the tests want it."""

from typing import Any, NamedTuple

import requests


class Reply(NamedTuple):
    status: int
    media_type: str
    text: str


class Client:
    """Posts JSON to a server over one connection."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()

    def post(self, path: str, **body: object) -> Reply:
        response = self.session.post(self.url + path, json=body, timeout=10)
        return Reply(response.status_code, response.headers["content-type"].split(";")[0], response.text)

    def ask(self, path: str, **body: object) -> Any:
        """The result of a call that succeeds."""
        response = self.session.post(self.url + path, json=body, timeout=10)
        assert response.status_code == 200, response.text
        answer = response.json()
        assert set(answer) == {"result"}
        return answer["result"]
