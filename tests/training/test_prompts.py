"""What adapters are tuned on: the agent's own prompts, filled from question/call pairs."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.answering import PROMPTS
from agents.common.contracts import I_DONT_KNOW, Fact
from agents.kg.trainable import Domain, load_bank, parse
from agents.llm import load_language_model
from agents.pipeline.case import facts_text
from agents.settings import KgWriterSettings, load_settings
from evaluation.signature import settings_hash
from training.api_pairs.labelled import bank_version
from training.api_pairs.pairs import Pair
from training.examples import TrainingExample, read_examples
from training.prompts import answer_examples, main, names_its_dates, right_answers, writer_examples
from training.run_card import CARD_FILE


def pair(query: str, calls: str, **fields: object) -> Pair:
    given = {"query_time": "02/28/2024, 07:51:13 PT", "source": "synthetic", "groups": (query,)} | fields
    return Pair(query=query, domain=Domain.MOVIE, program=parse(calls, Domain.MOVIE), **given)  # type: ignore[arg-type]


LENGTH = pair(
    "how long is heat?",
    'get_movie("heat")["length"]',
    facts=(Fact("The length of Heat is 170 minutes.", "knowledge graph"),),
    direct_answer="170",
)
BUDGET = pair(
    "what did ronin cost?",
    'get_movie("ronin")["budget"]',
    facts=(Fact("The budget of Ronin is 55 million dollars.", "knowledge graph"),),
    direct_answer="$55,000,000",
)
SETTINGS = load_settings("cpu_small")
BARE = KgWriterSettings(schema_in_prompt=False)
MODEL = load_language_model(load_settings("scripted").language_model)


def test_the_writer_learns_the_calls_after_the_agents_own_prompt() -> None:
    without, shown = writer_examples([replace(LENGTH, source="real")], BARE, None, shown=(0, 2))
    assert without.prompt == "Question: how long is heat?\nCalls:\n"
    assert without.completion == 'get_movie("heat")["length"]'
    assert without.groups == ("how long is heat?",)
    assert shown.prompt is not None
    assert shown.prompt.count("Question:") == 3
    assert shown.prompt.endswith("\n\nQuestion: how long is heat?\nCalls:\n")
    assert [example.prompt for example in writer_examples([LENGTH], BARE, None, shown=(0, 2))] == [without.prompt]


def test_no_question_is_shown_as_its_own_example() -> None:
    known = next(example for example in load_bank() if example.domain is Domain.MOVIE)
    (example,) = writer_examples([pair(known.question, known.calls, source="bank")], BARE, None, shown=(6,))
    assert example.prompt is not None
    assert example.prompt.count(known.question) == 1
    assert example.prompt.count("Question:") == 7


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
    calls = parse(f'get_stock_price("tbmc","{date}")["close"]', Domain.FINANCE)
    asked = replace(LENGTH, query=query, domain=Domain.FINANCE, program=calls)
    assert names_its_dates(asked) is named
    assert len(list(writer_examples([asked], BARE, None, shown=(0,)))) == named


def test_the_answerer_learns_from_its_own_facts_and_not_to_answer_from_others() -> None:
    examples = list(answer_examples([LENGTH, BUDGET], SETTINGS, MODEL, unhelpful_share=1.0))
    assert [example.completion for example in examples] == ["170", I_DONT_KNOW, "$55,000,000", I_DONT_KNOW]
    own, other, *_ = examples
    assert "170 minutes" in own.messages[-1].content
    assert "Ronin" in other.messages[-1].content
    assert other.answers == ("170",)
    assert other.query == "how long is heat?"
    graph = SETTINGS.knowledge_graph
    assert graph is not None
    assert own.messages == PROMPTS[graph.answer_prompt].render(
        token_limit=SETTINGS.answering.word_limit,
        query_time=LENGTH.query_time,
        context=facts_text(LENGTH.facts, MODEL, graph.max_fact_tokens),
        query=LENGTH.query,
    )


def test_facts_that_hold_the_answer_after_all_are_not_called_unhelpful() -> None:
    same = replace(BUDGET, query="what is heat's running time?", facts=LENGTH.facts, direct_answer="170")
    examples = list(answer_examples([LENGTH, same], SETTINGS, MODEL, unhelpful_share=1.0))
    assert I_DONT_KNOW not in {example.completion for example in examples}


def test_a_gold_answer_that_the_graph_contradicts_is_no_lesson() -> None:
    real = replace(LENGTH, source="real", answer="170 minutes", alt_ans=("2 hours 50 minutes",))
    assert right_answers(real) == ("170 minutes", "2 hours 50 minutes")
    assert right_answers(replace(real, direct_answer="90")) == ()
    assert right_answers(replace(real, direct_answer=None)) == ("170 minutes", "2 hours 50 minutes")
    assert right_answers(LENGTH) == ("170",)


def test_the_command_writes_examples_and_says_how_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("".join(f"{json.dumps(one.to_row())}\n" for one in (LENGTH, BUDGET)), encoding="utf-8")
    out = tmp_path / "examples.jsonl"
    assert main(["kg_writer", "--preset", "cpu_small", "--pairs", str(pairs), "--out", str(out), "--shown", "0"]) == 0
    assert {example.completion for example in read_examples(out)} == {"\n".join(LENGTH.calls), "\n".join(BUDGET.calls)}
    assert "wrote 2 examples" in capsys.readouterr().out
    assert main(["kg_answerer", "--preset", "scripted", "--pairs", str(pairs), "--out", str(out)]) == 0
    assert "170" in {example.completion for example in read_examples(out)}


def card_of(out: Path) -> dict[str, Any]:
    card: dict[str, Any] = json.loads((out.with_suffix("") / CARD_FILE).read_text(encoding="utf-8"))
    return card


def test_a_run_card_says_what_the_examples_were_made_from(tmp_path: Path) -> None:
    pairs, out = tmp_path / "pairs.jsonl", tmp_path / "writer.jsonl"
    real = replace(LENGTH, source="real")
    pairs.write_text("".join(f"{json.dumps(one.to_row())}\n" for one in (real, BUDGET)), encoding="utf-8")
    command = ["kg_writer", "--preset", "scripted", "--pairs", str(pairs), "--out", str(out), "--seed", "4"]
    assert main(command) == 0
    card, examples = card_of(out), out.read_bytes()
    assert card["data"]["pairs"]["sha256"] == hashlib.sha256(pairs.read_bytes()).hexdigest()
    assert card["settings"] == {
        "task": "kg_writer",
        "seed": 4,
        "preset": f"scripted@{settings_hash(load_settings('scripted', []))}",
        "set": [],
        "made_up": None,
        "shown": [6],
        "bank": bank_version(),
    }
    digest = hashlib.sha256(examples).hexdigest()
    assert card["metrics"] == {
        "examples": 2,
        "sources": {"real": 1, "synthetic": 1},
        "sha256": digest,
        "split": "0",
        "rows_of_other_splits": {},
    }
    assert main(command) == 0
    again = card_of(out)
    assert all(again[part] == card[part] for part in ("data", "settings", "metrics"))
    changed = ["--set", "answering.word_limit=31", "--made-up", "0"]
    assert main(["kg_answerer", *command[1:], *changed]) == 0
    chosen = card_of(out)["settings"]
    assert chosen["set"] == ["answering.word_limit=31"]
    assert chosen["preset"] != card["settings"]["preset"]
    assert (chosen["made_up"], "shown" in chosen) == (0, False)


def label(completion: str, **changes: object) -> dict[str, Any]:
    """A row of training.labels, which was asked with another prompt than the preset's."""
    row = TrainingExample(
        completion, prompt="asked otherwise", groups=("q",), query="which city?", answers=(completion,)
    ).to_row()
    return row | {"query_time": "02/28/2024, 07:51:13 PT", "context": "<doc>Paris.</doc>", **changes}


@pytest.mark.parametrize(("task", "prompt"), [("web_answerer", "reader"), ("kg_answerer", "facts")])
def test_labels_are_asked_anew_in_the_words_of_the_preset(tmp_path: Path, task: str, prompt: str) -> None:
    labels, out = tmp_path / "labels.jsonl", tmp_path / "web.jsonl"
    labels.write_text(json.dumps(label("paris")), encoding="utf-8")
    assert main([task, "--preset", "cpu_small", "--labels", str(labels), "--out", str(out)]) == 0
    (example,) = read_examples(out)
    assert example.messages == PROMPTS[prompt].render(
        token_limit=SETTINGS.answering.word_limit,
        query_time="02/28/2024, 07:51:13 PT",
        context="<doc>Paris.</doc>",
        query="which city?",
    )


def test_a_run_card_of_labels(tmp_path: Path) -> None:
    labels, out = tmp_path / "labels.jsonl", tmp_path / "web.jsonl"
    labels.write_text("".join(f"{json.dumps(label(said))}\n" for said in ("paris", I_DONT_KNOW, I_DONT_KNOW)), "utf-8")
    command = ["web_answerer", "--preset", "cpu_small", "--labels", str(labels), "--out", str(out)]
    assert main([*command, "--abstaining", "1"]) == 0
    assert len(read_examples(out)) == 3, "as db3: all of them"
    assert main([*command, "--abstaining", "0.5"]) == 0
    card = card_of(out)
    assert card["data"]["labels"]["sha256"] == hashlib.sha256(labels.read_bytes()).hexdigest()
    preset = f"cpu_small@{settings_hash(SETTINGS)}"
    assert card["settings"] == {"task": "web_answerer", "seed": 0, "abstaining": 0.5, "preset": preset, "set": []}
    assert card["metrics"]["examples"] == 2


@pytest.mark.parametrize(
    ("arguments", "reported"), [(["--shown", "two"], "--shown"), (["--preset", "nowhere"], "nowhere")]
)
def test_a_wrong_argument_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], reported: str
) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(f"{json.dumps(LENGTH.to_row())}\n", encoding="utf-8")
    usual = ["kg_writer", "--preset", "cpu_small", "--pairs", str(pairs), "--out", str(tmp_path / "x.jsonl")]
    assert main([*usual, *arguments]) == 1
    assert reported in capsys.readouterr().err


def test_preferences_are_right_over_abstaining_over_wrong(tmp_path: Path) -> None:
    def judged(completion: str, said: str, verdict: str) -> str:
        row = TrainingExample(completion, prompt="passages", groups=("q",)).to_row()
        return json.dumps(row | {"basic_answer": said, "verdict": verdict})

    labels = tmp_path / "labels.jsonl"
    rows = [
        judged("paris", "lyon", "incorrect"),
        judged(I_DONT_KNOW, "rome", "incorrect"),
        judged("oslo", "oslo", "correct"),
    ]
    labels.write_text("\n".join(rows), encoding="utf-8")
    out = tmp_path / "preferences.jsonl"
    assert main(["preferences", "--labels", str(labels), "--out", str(out)]) == 0
    pairs = {(example.completion, example.rejected) for example in read_examples(out)}
    assert pairs == {("paris", I_DONT_KNOW), ("paris", "lyon"), (I_DONT_KNOW, "rome"), ("oslo", I_DONT_KNOW)}


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"domain": None}, 'field "domain": Input should be'),
        ({"groups": "kite"}, 'field "groups": Input should be a valid tuple'),
        ({"facts": [{"text": "f"}]}, 'field "facts.0.source": Field required'),
        ({"calls": ["get_moive()"]}, 'field "calls": '),
    ],
)
def test_a_row_that_is_no_pair_is_named_with_its_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], reported: str
) -> None:
    pairs = tmp_path / "pairs.jsonl"
    rows = [LENGTH.to_row(), LENGTH.to_row() | change]
    pairs.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    command = ["kg_writer", "--preset", "scripted", "--pairs", str(pairs), "--out", str(tmp_path / "out.jsonl")]
    assert main(command) == 1
    assert f"{pairs}, line 2: {reported}" in capsys.readouterr().err


@pytest.mark.parametrize(("task", "field"), [("web_answerer", "context"), ("preferences", "basic_answer")])
def test_labels_of_an_older_version_are_refused_with_their_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], task: str, field: str
) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text(json.dumps(label("paris", context=None)), encoding="utf-8")
    assert main([task, "--preset", "cpu_small", "--labels", str(labels), "--out", str(tmp_path / "web.jsonl")]) == 1
    assert f'labels.jsonl, line 1: field "{field}" must be a text, found None' in capsys.readouterr().err
