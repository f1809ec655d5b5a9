import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.llm.base import GenerationRequest, end_before_stop, refuse_unknown_adapter


@pytest.mark.parametrize(
    ("text", "stop", "left"),
    [
        ("Paris.\nBecause", ["\n"], "Paris."),
        ("a b c", ["c", "b"], "a "),  # the first in the text wins, not the first in the list
        ("Question: x", ["Question:"], ""),
        ("no stop here", ["\n", "###"], "no stop here"),
        ("aaa", ["aa", "aaa"], ""),
        ("anything", [], "anything"),
        ("anything", [""], "anything"),
        ("any. thing", ["", "."], "any"),
        ("Stop", ["stop"], "Stop"),
        ("a.*b", [".*"], "a"),  # plain text, no pattern
        ("", ["x"], ""),
    ],
)
def test_text_ends_before_the_first_stop_string(text: str, stop: list[str], left: str) -> None:
    assert end_before_stop(text, stop) == left


@given(st.text("ab\n", max_size=20), st.lists(st.text("ab\n", max_size=3), max_size=4))
def test_what_is_left_is_the_longest_beginning_without_a_stop_string(text: str, stop: list[str]) -> None:
    found = end_before_stop(text, stop)
    strings = [string for string in stop if string]
    assert text.startswith(found)
    assert not any(string in found for string in strings)
    assert found == text or any(text.startswith(string, len(found)) for string in strings)
    assert end_before_stop(found, stop) == found


@pytest.mark.parametrize("adapter", [None, "judge"])
def test_the_base_model_and_known_adapters_are_not_refused(adapter: str | None) -> None:
    assert refuse_unknown_adapter(GenerationRequest(prompt="x", adapter=adapter), {"judge": "folder"}) is None


def test_an_unknown_adapter_fails_and_the_known_ones_are_listed_in_order() -> None:
    refused = refuse_unknown_adapter(GenerationRequest(prompt="x", adapter="jugde"), {"writer", "judge"})
    assert refused is not None
    assert refused.finish_reason == "error"
    assert refused.error == "there is no adapter 'jugde'; adapters of this engine: judge, writer"
    assert (refused.text, refused.completion_tokens, refused.mean_log_probability) == ("", 0, None)


@pytest.mark.parametrize("adapter", ["judge", ""])
def test_an_engine_without_adapters_says_so(adapter: str) -> None:
    refused = refuse_unknown_adapter(GenerationRequest(prompt="x", adapter=adapter), ())
    assert refused is not None
    assert str(refused.error).endswith("adapters of this engine: none")
