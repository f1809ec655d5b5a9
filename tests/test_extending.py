"""docs/extending.md is run as it stands: each of its parts does what the page says."""

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from crag.core.contracts import I_DONT_KNOW, Answer, Trace
from crag.pipeline.agent import CragAgent
from crag.settings import Settings, load_settings
from tests.pipeline.asking import ask, page

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
QUESTION = "what is the capital of kenya?"


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    file = tmp_path_factory.mktemp("extending") / "examples.py"
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file.write_text("\n".join(code), encoding="utf-8")
    found = importlib.util.spec_from_file_location("extending_examples", file)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def settings(replies: Mapping[str, str], *changes: str) -> Settings:
    table = ", ".join(f'"{part}" = "{reply}"' for part, reply in replies.items())
    return load_settings("scripted", [f"language_model.replies = {{ {table} }}", "web.extract.workers = 0", *changes])


def asked(agent: CragAgent, *texts: str) -> tuple[Answer, Trace]:
    pages = [page(f"<p>{text}</p>", number, name="") for number, text in enumerate(texts)]
    agent.warm_up()
    try:
        return ask(agent, QUESTION, *pages)
    finally:
        agent.close()


def test_another_reranker(examples: ModuleType) -> None:
    encoder = "cross_encoder = {engine='onnx', model='ms-marco-minilm-l-12-v2', max_tokens=160, batch_size=1}"
    own = settings({}, encoder, "web.rerank = {top_k=2}")
    _, trace = asked(examples.with_reranker(own), "The capital of a bank is its money.", "What is the capital of peru?")
    assert [passage.scores["cross_encoder"] for passage in trace.passages] == [5.0, 4.0]


def test_another_check(examples: ModuleType) -> None:
    long = "it is the large and green city of Nairobi"
    answer, trace = asked(examples.with_check(settings({QUESTION: long})), "Nairobi is large.")
    assert answer.text == I_DONT_KNOW
    assert [(firing.name, firing.withheld) for firing in trace.gates] == [("short answers", long)]
    assert asked(examples.with_check(settings({QUESTION: "Nairobi"})), "Nairobi is large.")[0].text == "Nairobi"


def test_another_source(examples: ModuleType) -> None:
    _, trace = asked(examples.with_source(settings({})), "Kenya is a country.")
    assert '<doc source="table of capitals">The capital of kenya is Nairobi.</doc>' in trace.context
    assert "Kenya is a country." in trace.context
