"""What an adapter is tuned on is what it will be asked, token by token: for every adapter that a preset names."""

import functools
import json
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agents.crag_agent import CragAgent
from agents.kg.schema import Domain
from agents.llm import GenerationRequest, Message
from agents.llm.tokenizer import ChatTokenizer
from agents.settings import available_presets, load_settings
from mock_api import serve
from tests.agents.llm.tiny_models import build_tiny_llama
from tests.training.calibrate.synthetic import row, write_run
from training.adapters import BASE_PRESETS
from training.adapters import main as train_adapter
from training.api_pairs import Pair
from training.files import TrainingExample, read_examples
from training.labels.__main__ import main as label_run
from training.lora.model import tokenize
from training.prompts import main as make_prompts

QUERY, TIME = "who directed the godfather?", "03/05/2024, 23:18:31 PT"
ANSWER, CALLS = "francis ford coppola", 'get_movie_person_crew("the godfather",None,eq(job,"Director"))["name"]'
PAGE = "The zebra pages say that The Godfather was directed by Francis Ford Coppola."
REPLIES = {"knowledge graph:": "i don't know", "zebra": ANSWER, "godfather": CALLS}
"""Part of a prompt -> reply: the graph's answerer, the answerer of pages, the writer of calls."""
WITHOUT_WEIGHTS = [
    "dense_encoder=none", "cross_encoder=none", "web.rerank=none", "answering.gates=[]",
    'web.pages.method="search_order"', "router=none",
    'web.retrieve=[{method="bm25", top_k=5}]', "public_data=none",
    "answering.confidence=none", "knowledge_graph.graph_only_domains=[]", "knowledge_graph.direct_answers=false",
    "knowledge_graph.derived_answers=false",
]  # fmt: skip
"""Changes that leave every prompt as it is: how pages are searched, and that all three models are asked."""


class Use(NamedTuple):
    """An adapter of a preset, the step of the trace that it works in, and the folder of its configuration."""

    preset: str
    step: str
    adapter: str
    config: str


def uses() -> Iterator[Use]:
    """All of all shipped presets, by the places that name them."""
    for name in available_presets():
        settings = load_settings(name, [])
        graph = settings.knowledge_graph
        places = {"answer": settings.answering.adapter}
        places |= {"calls": graph.writer.adapter, "graph_answer": graph.answer_adapter} if graph else {}
        for step, adapter in places.items():
            if adapter is not None:
                folder = Path(settings.language_model.adapters[adapter])
                yield Use(name, step, adapter, folder.parent.name)


def changes_of(preset: str) -> list[str]:
    adapters = json.dumps(load_settings(preset, []).language_model.adapters).replace('":', '"=')
    table = ", ".join(f"{json.dumps(part)}={json.dumps(reply)}" for part, reply in REPLIES.items())
    engine = f'language_model={{engine="scripted", adapters={adapters}, replies={{{table}}}}}'
    without_graph = load_settings(preset, []).knowledge_graph is None
    return [engine, *(c for c in WITHOUT_WEIGHTS if not (without_graph and c.startswith("knowledge_graph")))]


@pytest.fixture(scope="module")
def tokenizer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_llama(tmp_path_factory.mktemp("tiny") / "llama")


@pytest.fixture(scope="module", autouse=True)
def graph() -> Iterator[None]:
    with serve() as address, pytest.MonkeyPatch.context() as environment:
        environment.setenv("CRAG_MOCK_API_URL", address)
        yield


@functools.cache
def trace_of(preset: str, *changes: str) -> dict[str, Any]:
    """The way of the question through an agent of these settings."""
    agent = CragAgent.from_settings(load_settings(preset, changes))
    agent.warm_up()
    page = {"page_name": "p", "page_url": "http://p", "page_snippet": "", "page_last_modified": ""}
    batch: dict[str, list[object]] = {
        "interaction_id": ["a"],
        "query": [QUERY],
        "search_results": [[page | {"page_result": f"<p>{PAGE}</p>"}]],
        "query_time": [TIME],
    }
    try:
        _, (trace,) = agent.answer_batch(batch)
    finally:
        agent.close()
    return trace.to_dict()


def request_of(shown: object) -> GenerationRequest:
    """A prompt as a trace holds it."""
    if isinstance(shown, str):
        return GenerationRequest(prompt=shown)
    assert isinstance(shown, list)
    return GenerationRequest(messages=tuple(Message(turn["role"], turn["content"]) for turn in shown))


def steps_of(use: Use, folder: Path, capfd: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The commands of the adapter's recipe."""
    asked = folder / "questions.jsonl"
    asked.touch()
    given = [use.adapter, "--base-preset", use.preset, "--questions", str(asked), "--pages", str(asked)]
    capfd.readouterr()
    assert train_adapter([*given, "--work", str(folder), "--set", "device=cpu", "--dry-run"]) == 0
    lines = capfd.readouterr().out.replace("\\\n", " ").splitlines()
    return [shlex.split(line.partition(" -m ")[2]) for line in lines if " -m " in line]


def trained_on(use: Use, folder: Path, changes: list[str], capfd: pytest.CaptureFixture[str]) -> list[TrainingExample]:
    """What the adapter's recipe makes of the question, from a run of the recipe's own settings."""
    made = {command: rest for command, *rest in steps_of(use, folder, capfd)}
    prompts = made["training.prompts"]
    if "--pairs" in prompts:
        pair = Pair(query=QUERY, query_time=TIME, domain=Domain.MOVIE, calls=(CALLS,), answer=ANSWER, split=0)
        Path(prompts[prompts.index("--pairs") + 1]).write_text(pair.model_dump_json(), encoding="utf-8")
    else:
        sets = [change for option, change in pairwise(made["local_evaluation"]) if option == "--set"]
        dropped = ("knowledge_graph=", "public_data", "web.", "device")
        trace = trace_of(use.preset, *changes, *(change for change in sets if not change.startswith(dropped)))
        place = {"occurrence": 0, "batch": 0, "attempt": 1}
        record = row("a", "i don't know", "missing", query=QUERY, answer=ANSWER, domain="movie")
        run = write_run(folder / "basic_answers", [record], [trace | place])
        answerer = ["--answerer", "graph"] if "graph" in made["training.labels"] else []
        labels = prompts[prompts.index("--labels") + 1]
        assert label_run(["--run", str(run), *answerer, "--out", labels]) == 0
    sets = [part for change in changes for part in ("--set", change)]
    assert make_prompts([*prompts, *sets]) == 0
    return read_examples(Path(prompts[prompts.index("--out") + 1]))


@pytest.mark.parametrize("use", list(uses()), ids=lambda use: f"{use.preset}-{use.adapter}")
def test_what_is_learnt_is_what_is_served(
    use: Use, tmp_path: Path, tokenizer_folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    changes = changes_of(use.preset)
    served = request_of(trace_of(use.preset, *changes)["prompts"][use.step])
    expected = ChatTokenizer(tokenizer_folder).prompt_tokens(served)
    learnt = tokenize(tokenizer_folder, trained_on(use, tmp_path, changes, capfd), 100_000).kept
    assert {tuple(example.prompt) for example in learnt} == {tuple(expected)}


def test_every_adapter_that_a_preset_names_has_a_recipe() -> None:
    assert {(use.config, use.adapter) for use in uses()} == {("db3", name) for name in BASE_PRESETS}
    for name, base_preset in BASE_PRESETS.items():
        assert name in load_settings(base_preset, []).language_model.adapters
