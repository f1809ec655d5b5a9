"""What adapters are tuned on: the agent's own prompts, filled from question/call pairs."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from crag.answering import PROMPTS
from crag.answering.prompts import PromptInputs
from crag.commands.train.prompts import main
from crag.core.contracts import I_DONT_KNOW, Query
from crag.core.deadline import Deadline
from crag.engines.llm import Generation, GenerationRequest, Message
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.evaluation.signature import settings_hash
from crag.graph.schema import Domain
from crag.graph.writing import CallRequest, CallWriter, load_bank
from crag.settings import KgWriterSettings, ScriptedEngine, load_settings
from crag.training.api_pairs.pairs import CallPair, bank_version
from crag.training.files import CARD_FILE, TrainingExample, read_examples
from crag.training.prompts import names_its_dates, writer_examples


def pair(query: str, calls: str, **fields: object) -> CallPair:
    given = {"query_time": "02/28/2024, 07:51:13 PT", "groups": (query,)} | fields
    return CallPair.model_validate(given | {"query": query, "domain": Domain.MOVIE, "calls": (calls,)})


LENGTH = pair("how long is heat?", 'get_movie("heat")["length"]')
BUDGET = pair("what did ronin cost?", 'get_movie("ronin")["budget"]')
SETTINGS = load_settings("cpu")
NO_EXAMPLES = KgWriterSettings(schema_in_prompt=False, examples=0)
TWO_EXAMPLES = KgWriterSettings(schema_in_prompt=False, examples=2)


def test_the_writer_learns_the_calls_after_the_agents_own_prompt() -> None:
    (without,) = writer_examples([LENGTH], NO_EXAMPLES, None)
    (shown,) = writer_examples([LENGTH], TWO_EXAMPLES, None)
    assert without.prompt == "Question: how long is heat?\nCalls:\n"
    assert without.completion == 'get_movie("heat")["length"]'
    assert without.groups == ("how long is heat?",)
    assert shown.prompt is not None
    assert shown.prompt.count("Question:") == 3
    assert shown.prompt.endswith("\n\nQuestion: how long is heat?\nCalls:\n")


def test_a_writer_that_reads_the_question_alone_learns_domain_and_calls_in_lower_case() -> None:
    price = 'get_stock_price("KR","2024-02-28",None,eq(High,"Up 5"))["Close"]'
    computed = pair("What did Kroger  close at?", price).model_copy(update={"domain": Domain.FINANCE})
    nothing = pair("why?", "None").model_copy(update={"domain": Domain.OPEN})
    first, second = writer_examples([computed, nothing], KgWriterSettings(form="question"), None)
    assert (first.messages, first.prompt) == ((Message("user", "What did Kroger close at?"),), None)
    assert first.exact_turns
    assert first.completion == 'finance\nget_stock_price("kr","2024-02-28",None,eq(high,"up 5"))["close"]'
    assert second.completion == "open\nNone"


def test_what_a_tuned_writer_learns_is_what_it_is_asked() -> None:
    asked: list[GenerationRequest] = []

    class Recorder(ScriptedLanguageModel):
        def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
            asked.extend(requests)
            return super().generate(requests, deadline)

    settings = KgWriterSettings(form="question", repair=False)
    writer = CallWriter(settings, Recorder(ScriptedEngine(engine="scripted")), None)
    writer.write([CallRequest(LENGTH.query), CallRequest(BUDGET.query, domain=Domain.MOVIE)], Deadline(10))
    learnt = [example.request for example in writer_examples([LENGTH, BUDGET], settings, None)]
    assert [(request.messages, request.exact_turns) for request in asked] == [
        (request.messages, request.exact_turns) for request in learnt
    ]
    rows = [TrainingExample("movie\nNone", messages=request.messages, exact_turns=True).to_row() for request in learnt]
    assert all(row["exact_turns"] for row in rows), "the file keeps it"


def test_no_question_is_shown_as_its_own_example() -> None:
    known = next(example for example in load_bank() if example.domain is Domain.MOVIE)
    (example,) = writer_examples([pair(known.question, known.calls)], TWO_EXAMPLES, None)
    assert example.prompt is not None
    assert example.prompt.count(known.question) == 1
    assert example.prompt.count("Question:") == 3


@pytest.mark.parametrize(
    ("query", "date", "named"),
    [
        ("what did it close at on 2024-02-28?", "2024-02-28", True),
        ("what did it close at on february 28, 2024?", "2024-02-28", True),
        ("what did it close at on the last trading day of 2023?", "2023-12-29", False),
        ("what did it close at yesterday?", "2024-02-27", False),
        ("what did it close at yesterday?", "yesterday", True),
    ],
)
def test_calls_with_dates_that_somebody_computed_are_not_taught(query: str, date: str, named: bool) -> None:
    calls = f'get_stock_price("tbmc","{date}")["close"]'
    asked = LENGTH.model_copy(update={"query": query, "domain": Domain.FINANCE, "calls": (calls,)})
    assert names_its_dates(asked) is named
    assert len(list(writer_examples([asked], NO_EXAMPLES, None))) == named


def card_of(out: Path) -> dict[str, Any]:
    card: dict[str, Any] = json.loads((out.with_suffix("") / CARD_FILE).read_text(encoding="utf-8"))
    return card


def test_the_command_writes_examples_with_a_card_of_what_they_were_made_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs, out = tmp_path / "pairs.jsonl", tmp_path / "writer.jsonl"
    pairs.write_text("".join(f"{pair.model_dump_json()}\n" for pair in (LENGTH, BUDGET)), encoding="utf-8")
    command = ["kg_writer", "--preset", "scripted", "--pairs", str(pairs), "--out", str(out)]

    assert main(command) == 0
    assert {example.completion for example in read_examples(out)} == {"\n".join(LENGTH.calls), "\n".join(BUDGET.calls)}
    assert "wrote 2 examples" in capsys.readouterr().out

    card = card_of(out)
    assert card["data"]["pairs"]["sha256"] == hashlib.sha256(pairs.read_bytes()).hexdigest()

    preset = f"scripted@{settings_hash(load_settings('scripted', []))}"
    assert card["settings"] == {"task": "kg_writer", "preset": preset, "bank": bank_version()}
    assert card["metrics"] == {
        "examples": 2,
        "sources": {"real": 2},
        "sha256": hashlib.sha256(out.read_bytes()).hexdigest(),
        "split": "0",
        "rows_of_other_splits": {},
    }

    assert main([*command, "--set", "knowledge_graph.writer.examples=1"]) == 0
    assert card_of(out)["settings"]["preset"] != preset


def label(completion: str, **changes: object) -> dict[str, Any]:
    """A row of crag.training.labels, which was asked with another prompt than the preset's."""
    row = TrainingExample(
        completion, prompt="asked otherwise", groups=("q",), query="which city?", answers=(completion,)
    ).to_row()
    return row | {"query_time": "02/28/2024, 07:51:13 PT", "context": "<doc>Paris.</doc>", **changes}


@pytest.mark.parametrize(("task", "prompt"), [("web_answerer", "reader"), ("kg_answerer", "facts")])
def test_labels_are_asked_anew_in_the_words_of_the_preset(tmp_path: Path, task: str, prompt: str) -> None:
    labels, out = tmp_path / "labels.jsonl", tmp_path / "web.jsonl"
    labels.write_text(json.dumps(label("paris")), encoding="utf-8")
    assert main([task, "--preset", "cpu", "--labels", str(labels), "--out", str(out)]) == 0
    (example,) = read_examples(out)
    query = Query("", "which city?", "02/28/2024, 07:51:13 PT", None, ())
    inputs = PromptInputs(query, "<doc>Paris.</doc>")
    assert example.messages == PROMPTS[prompt].render(inputs, SETTINGS.answering.word_limit)


def test_the_share_of_abstentions_is_limited_and_in_the_card(tmp_path: Path) -> None:
    labels, out = tmp_path / "labels.jsonl", tmp_path / "web.jsonl"
    labels.write_text("".join(f"{json.dumps(label(said))}\n" for said in ("paris", I_DONT_KNOW, I_DONT_KNOW)), "utf-8")
    command = ["web_answerer", "--preset", "cpu", "--labels", str(labels), "--out", str(out)]
    assert main([*command, "--abstaining", "1"]) == 0
    assert len(read_examples(out)) == 3, "as db3: all of them"

    assert main([*command, "--abstaining", "0.5"]) == 0
    card = card_of(out)
    assert card["data"]["labels"]["sha256"] == hashlib.sha256(labels.read_bytes()).hexdigest()
    preset = f"cpu@{settings_hash(SETTINGS)}"
    assert card["settings"] == {"task": "web_answerer", "abstaining": 0.5, "preset": preset}
    assert card["metrics"]["examples"] == 2


def test_labels_of_an_older_version_and_unknown_presets_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text(json.dumps(label("paris", context=None)), encoding="utf-8")
    command = ["web_answerer", "--labels", str(labels), "--out", str(tmp_path / "web.jsonl"), "--preset"]
    assert main([*command, "cpu"]) == 2
    assert 'labels.jsonl, line 1, field "context": Input should be' in capsys.readouterr().err
    assert main([*command, "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
