"""What an adapter is tuned on is what it will be asked, token by token: for every adapter that a preset names.

The golden cases are asked with each preset. Their traces then go through the commands of the adapter's recipe, which
know only the preset that adapters are made for.
"""

import functools
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from crag.commands.train.adapters import main as train_adapter
from crag.commands.train.labels import main as label_run
from crag.commands.train.prompts import main as make_prompts
from crag.engines.llm import GenerationRequest, Message
from crag.engines.llm.tokenizer import ChatTokenizer
from crag.graph.schema import Domain
from crag.settings import available_presets, load_settings
from crag.training.adapters import BASE_PRESETS
from crag.training.api_pairs import Pair
from crag.training.files import TrainingExample, read_examples
from crag.training.lora.model import tokenize
from tests.engines.llm.tiny_models import build_tiny_llama
from tests.golden import answered, sample
from tests.training.calibrate.synthetic import row, write_run


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


@pytest.fixture(scope="module")
def tokenizer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_llama(tmp_path_factory.mktemp("tiny") / "llama")


@functools.cache
def traces_of(preset: str, graph: str) -> list[dict[str, Any]]:
    """The way of the golden cases through the preset."""
    return [trace.to_dict() | {"occurrence": 0, "batch": 0, "attempt": 1} for trace in answered(preset, graph)]


def request_of(shown: object, *, exact_turns: bool) -> GenerationRequest:
    """A prompt as a trace holds it."""
    if isinstance(shown, str):
        return GenerationRequest(prompt=shown)
    assert isinstance(shown, list)
    turns = tuple(Message(turn["role"], turn["content"]) for turn in shown)
    return GenerationRequest(messages=turns, exact_turns=exact_turns)


def reads_the_question_alone(use: Use) -> bool:
    graph = load_settings(use.preset, []).knowledge_graph
    return use.step == "calls" and graph is not None and graph.writer.form == "question"


def commands_of(use: Use, folder: Path, capfd: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """The commands of the adapter's recipe, such as "train prompts", with their arguments."""
    asked = folder / "questions.jsonl"
    asked.touch()
    given = [use.adapter, "--config", use.config, "--questions", str(asked), "--pages", str(asked)]
    capfd.readouterr()
    assert train_adapter([*given, "--work", str(folder), "--set", "device=cpu", "--dry-run"]) == 0
    lines = capfd.readouterr().out.replace("\\\n", " ").splitlines()
    words = [shlex.split(line.partition(" -m crag ")[2]) for line in lines if " -m crag " in line]
    return {f"{verb} {name}": rest for verb, name, *rest in words}


def learnt_from(
    use: Use, traces: list[dict[str, Any]], folder: Path, capfd: pytest.CaptureFixture[str]
) -> list[TrainingExample]:
    """What the adapter's recipe makes of the golden cases."""
    commands, cases = commands_of(use, folder, capfd), {case["interaction_id"]: case for case in sample()}
    prompts = commands["train prompts"]
    if use.step == "calls":
        pairs = [
            Pair(query=case["query"], query_time="", domain=Domain(case["domain"]), calls=("None",), split=0)
            for case in cases.values()
        ]
        lines = "".join(f"{pair.model_dump_json()}\n" for pair in pairs)
        Path(prompts[prompts.index("--pairs") + 1]).write_text(lines, encoding="utf-8")
    else:
        records = [
            row(key, "i don't know", "missing", **{name: case[name] for name in ("query", "answer", "domain")})
            for key, case in cases.items()
        ]
        run = write_run(folder / "basic_answers", records, traces)
        answerer = ["--answerer", "graph"] if "graph" in commands["train labels"] else []
        assert label_run(["--run", str(run), *answerer, "--out", prompts[prompts.index("--labels") + 1]]) == 0
    assert make_prompts(prompts) == 0
    return read_examples(Path(prompts[prompts.index("--out") + 1]))


@pytest.mark.parametrize("use", list(uses()), ids=lambda use: f"{use.preset}-{use.adapter}")
def test_what_is_learnt_is_what_is_served(
    use: Use, graph: str, tmp_path: Path, tokenizer_folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    traces = traces_of(use.preset, graph)
    tokenizer = ChatTokenizer(tokenizer_folder)
    exact_turns = reads_the_question_alone(use)
    served = {
        tuple(tokenizer.prompt_tokens(request_of(trace["prompts"][use.step], exact_turns=exact_turns)))
        for trace in traces
        if use.step in trace["prompts"]
    }
    learnt = tokenize(tokenizer_folder, learnt_from(use, traces, tmp_path, capfd), 100_000).kept
    assert len(served) > 3
    assert {tuple(example.prompt) for example in learnt} == served


def test_every_adapter_that_a_preset_names_has_a_recipe() -> None:
    recipes = {("cpu", "kg_writer")} | {("db3", name) for name in BASE_PRESETS}
    assert {(use.config, use.adapter) for use in uses()} == recipes
    for name, base_preset in BASE_PRESETS.items():
        assert name in load_settings(base_preset, []).language_model.adapters
