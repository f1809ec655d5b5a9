"""Replies that Meta recorded from the official server, asked again of the graph that was rebuilt from such replies.

That graph holds fewer names than the official one, so that searches find others: of those the common ones are compared.
"""

import ast
import inspect
import json
from typing import Any

import pytest

from crag.mock_api.answers import build_answers
from crag.mock_api.tables import load_tables
from tests.mock_api.conftest import KG_DATA, Client

RECORDED = KG_DATA / "example_call_responses.json"
ANSWERS = build_answers(load_tables())
PATHS = {path.strip("/").replace("/", "_"): path for path in ANSWERS}

OTHER_NAMES = {"movie_get_person_info", "movie_get_movie_info", "music_search_artist_entity_by_name"}
"""Searches whose best ten are others in a smaller graph."""

ANY_ORDER = {"open_search_entity_by_name", "music_get_members"}
"""Equal scores in an order that the sort happens to give; members of a set."""


def recorded() -> list[Any]:
    if not RECORDED.is_file():
        reason = f"{RECORDED} is not there"
        return [pytest.param({}, marks=pytest.mark.skip(reason=reason), id="recorded")]
    return [pytest.param(call, id=call["endpoint"]) for call in json.loads(RECORDED.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("call", recorded())
def test_a_recorded_reply_comes_again(real: Client, call: dict[str, Any]) -> None:
    path = PATHS[call["endpoint"]]
    fields = inspect.signature(ANSWERS[path]).parameters
    served = real.ask(path, **dict(zip(fields, call["args"], strict=False)))
    expected = (call["response"] if call["parsed"] else cut_short(call["response"]))["result"]

    if call["endpoint"] in OTHER_NAMES:
        assert len(served) == len(expected) == 10
        assert shared(served, expected) == shared(expected, served) != []
    elif call["endpoint"] in ANY_ORDER:
        assert sorted(served) == sorted(expected)
    elif call["endpoint"] == "movie_get_year_info":  # the graph knows more films of the year than the server did
        assert served["oscar_awards"] == expected["oscar_awards"]
        assert set(served["movie_list"]) > set(expected["movie_list"])
    elif not call["parsed"]:
        assert served.items() >= expected.items()
    else:
        assert served == expected


def test_there_are_40_of_them_and_no_endpoint_is_missing() -> None:
    if not RECORDED.is_file():
        pytest.skip(f"{RECORDED} is not there")
    calls = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert len(calls) == 40
    assert {call["endpoint"] for call in calls} == set(PATHS)


def shared(some: list[Any], others: list[Any]) -> list[Any]:
    """The answers of a search that another answer holds too: names, or records with their ids."""
    identity = {item if isinstance(item, str) else item["id"] for item in others}
    found = [item for item in some if (item if isinstance(item, str) else item["id"]) in identity]
    return sorted(found, key=str)


def cut_short(text: str) -> Any:
    """A reply that was printed, and cut with dots, as Python text."""
    return ast.literal_eval(text.replace("...}}", "}}"))
