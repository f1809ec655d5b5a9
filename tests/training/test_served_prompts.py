"""What an adapter is tuned on is what it will be asked, token by token: for every adapter that a preset names.

The sample's questions, with their pages, are asked twice: as the preset serves them, and as the recipe of the adapter
asks them for the labels. The recipe knows only the preset that the adapter is made for.
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
from crag.settings import available_presets, load_settings, quoted_override
from crag.training.adapters import BASE_PRESETS
from crag.training.api_pairs.pairs import CallPair
from crag.training.files import TrainingExample, read_examples
from crag.training.lora.model import tokenize
from tests.engines.llm.tiny_models import build_tiny_llama
from tests.golden import answered, sample
from tests.training.calibrate.synthetic import row, write_run

MADE_FOR = {"submission": "submission_transformers"}
"""Folder of adapters -> the preset that docs/training.md makes them for, if it has another name."""


class Use(NamedTuple):
    """An adapter of a preset, the step of the trace that it works in, and the folder of its configuration."""

    preset: str
    step: str
    adapter: str
    folder: str

    @property
    def base(self) -> str:
        return MADE_FOR.get(self.folder, self.folder)


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
def traces_of(preset: str, graph: str | None, *changes: str) -> list[dict[str, Any]]:
    """The way of the sample through the preset."""
    traces = answered(preset, graph, *changes)
    return [trace.to_dict() | {"occurrence": 0, "batch": 0, "attempt": 1} for trace in traces]


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
    questions = folder / "questions.jsonl"
    for file in (questions, folder / "pairs.jsonl", folder / "kg_writer.jsonl"):
        file.touch()

    options = ["--base-preset", use.base, "--set", "device=cpu", "--dry-run"]
    options += ["--config", "cpu"] if use.folder == "cpu" else []
    files = ["--questions", str(questions), "--pages", str(questions)]
    folders = ["--work", str(folder / "work"), "--out", str(folder / "out"), f"WRITER_WORK={folder}"]
    capfd.readouterr()
    assert train_adapter([use.adapter, *options, *files, *folders]) == 0

    lines = capfd.readouterr().out.replace("\\\n", " ").splitlines()
    commands = [shlex.split(line.partition(" -m crag ")[2]) for line in lines if " -m crag " in line]
    return {name if name == "evaluate" else f"{name} {rest[0]}": rest for name, *rest in commands}


def value_of(option: str, command: list[str]) -> str:
    return command[command.index(option) + 1]


def traces_for_labels(command: list[str], graph: str) -> list[dict[str, Any]]:
    """The way of the sample through the recipe's run of the preset."""
    changes = [command[index + 1] for index, word in enumerate(command) if word == "--set"]
    return traces_of(value_of("--preset", command), graph, *map(quoted_override, changes))


def learnt_from(use: Use, graph: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> list[TrainingExample]:
    """What the adapter's recipe makes of the sample."""
    commands = commands_of(use, folder, capfd)
    prompts = commands["train prompts"][1:]
    (folder / "work").mkdir()

    if use.step == "calls":
        write_pairs_of_sample(Path(value_of("--pairs", prompts)))
    else:
        run = write_run(folder / "basic_answers", records_of_sample(), traces_for_labels(commands["evaluate"], graph))
        answerer = ["--answerer", "graph"] if "graph" in commands["train labels"] else []
        assert label_run(["--run", str(run), *answerer, "--out", value_of("--labels", prompts)]) == 0

    assert make_prompts(prompts) == 0
    return read_examples(Path(value_of("--out", prompts)))


def write_pairs_of_sample(path: Path) -> None:
    pairs = [
        CallPair(query=case["query"], query_time="", domain=Domain(case["domain"]), calls=("None",), split=0)
        for case in sample()
    ]
    path.write_text("".join(f"{pair.model_dump_json()}\n" for pair in pairs), encoding="utf-8")


def records_of_sample() -> list[dict[str, Any]]:
    """Of a run that abstains from every question."""
    records = []
    for case in sample():
        fields = {name: case[name] for name in ("query", "answer", "domain")}
        records.append(row(case["interaction_id"], "i don't know", "missing", **fields))
    return records


@pytest.mark.parametrize("use", list(uses()), ids=lambda use: f"{use.preset}-{use.adapter}")
def test_what_is_learnt_is_what_is_served(
    use: Use, graph: str, tmp_path: Path, tokenizer_folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tokenizer = ChatTokenizer(tokenizer_folder)
    exact_turns = reads_the_question_alone(use)

    def served_with(address: str | None) -> set[tuple[int, ...]]:
        prompts = [trace["prompts"] for trace in traces_of(use.preset, address)]
        requests = [request_of(shown[use.step], exact_turns=exact_turns) for shown in prompts if use.step in shown]
        return {tuple(tokenizer.prompt_tokens(request)) for request in requests}

    learnt = {
        tuple(example.prompt)
        for example in tokenize(tokenizer_folder, learnt_from(use, graph, tmp_path, capfd), 100_000).kept
    }
    # Pages answer all questions of task 1, and in tasks 2 and 3 those that the graph leaves open
    served = served_with(None if use.step == "answer" else graph)
    assert len(served) > 3
    assert learnt == served
    assert served_with(graph) <= learnt


WITHHOLDING = """
extends = "submission_transformers"

[[answering.gates]]
gate = "class"
field = "domain"
classes = ["movie", "finance", "music", "sports", "open"]

[[answering.gates]]
gate = "score"
score = "top_passage"
minimum = 0.999

[answering.refine]
"""


@pytest.mark.parametrize("adapter", ["kg_answerer", "web_answerer"])
def test_what_withholds_answers_withholds_no_label(
    adapter: str, graph: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    preset = tmp_path / "strict.toml"
    preset.write_text(WITHHOLDING, encoding="utf-8")
    step = "answer" if adapter == "web_answerer" else "graph_answer"

    def prompts_for_labels(base: str, folder: Path) -> list[Any]:
        folder.mkdir()
        command = commands_of(Use(base, step, adapter, base), folder, capfd)["evaluate"]
        return [trace["prompts"].get(step) for trace in traces_for_labels(command, graph)]

    strict = prompts_for_labels(str(preset), tmp_path / "strict")
    assert any(strict)
    assert strict == prompts_for_labels("submission_transformers", tmp_path / "shipped")


def test_every_adapter_that_a_preset_names_has_a_recipe() -> None:
    recipes = {("cpu", "kg_writer")} | {(preset, name) for name, preset in BASE_PRESETS.items()}
    recipes |= {("db3_task23", "web_answerer")} | {("submission", name) for name in BASE_PRESETS}
    assert {(use.folder, use.adapter) for use in uses()} == recipes
    for name, base_preset in BASE_PRESETS.items():
        assert name in load_settings(base_preset, []).language_model.adapters
