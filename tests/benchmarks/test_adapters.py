"""Base against tuned model: what is asked, how it goes on, what the texts earn, and how sure the difference is."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.llm import Message
from benchmarks import adapters
from benchmarks.adapters import Floats, figures
from tests.agents.llm.tiny_models import build_adapter, build_tiny_llama
from tests.benchmarks.conftest import WEB, scripted_preset
from training.examples import TrainingExample, write_examples
from training.folds import Fold, is_tested

ANSWERS = {"who flew?": "bo peep", "who lost?": "cy dee", "who sang?": "ann lee", "who won?": "dan only"}
REPLIES = """
"who flew?" = "Answer: Bo Peep"
"who lost?" = "Bo Peep"
"who sang?" = "The references do not mention it."
"""


def example(query: str, *, completion: str = "", source: str = "web") -> TrainingExample:
    answer, messages = ANSWERS[query], (Message("user", f"Question: {query}"),)
    return TrainingExample(completion or answer, messages, None, (query,), source, None, query, (answer,))


EXAMPLES = [example(query) for query in ANSWERS]


class Bench:
    """A folder with examples; `ask` gives the rows that it saved."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "examples.jsonl"
        write_examples(self.data, EXAMPLES)

    def ask(self, name: str, replies: str, *arguments: str, adapter: str = "none", code: int = 0) -> list[Any]:
        path = self.folder / name
        files = ["--examples", str(self.data), "--save", str(path)]
        chosen = [] if "--preset" in arguments else ["--preset", str(scripted_preset(self.folder, replies))]
        assert adapters.main(["ask", *files, "--adapter", adapter, *chosen, *arguments]) == code
        return list(map(json.loads, path.read_text(encoding="utf-8").splitlines())) if path.is_file() else []

    def compare(self, base: str, *tuned: str, code: int = 0) -> dict[str, Any]:
        report = self.folder / "report.json"
        files = ["--base", str(self.folder / base), "--tuned", *(str(self.folder / name) for name in tuned)]
        assert adapters.main(["compare", *files, "--report", str(report)]) == code
        found: dict[str, Any] = {} if code else json.loads(report.read_text(encoding="utf-8"))
        return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# --- asking -----------------------------------------------------------------------------------------------------------


def test_a_row_holds_what_was_asked_for_and_what_was_said(bench: Bench) -> None:
    labelled = EXAMPLES[0].to_row() | {"domain": "movie", "note": "not a label"}
    unasked = TrainingExample("no question of its own", prompt="once upon a time").to_row()
    bench.data.write_text("".join(json.dumps(row) + "\n" for row in (labelled, unasked)), encoding="utf-8")
    (row,) = bench.ask("out.jsonl", REPLIES, "--max-new-tokens", "2")
    expected: dict[str, Any] = {"query": "who flew?", "groups": ["who flew?"], "source": "web", "domain": "movie"}
    expected |= {"answers": ["bo peep"], "completion": "bo peep", "said": "Answer: Bo", "finish_reason": "length"}
    expected |= {"run": {"preset": "script", "adapter": "none", "max_new_tokens": 2}, "error": None}
    assert row == expected | {name: row[name] for name in ("prompt_hash", "seconds")}


def test_the_folds_ask_each_question_once(bench: Bench) -> None:
    halves = [[row["query"] for row in bench.ask(f"{n}.jsonl", "", "--fold", f"{n}/2")] for n in (1, 2)]
    for number, asked in enumerate(halves, start=1):
        assert asked == [each.query for each in EXAMPLES if is_tested(each.groups, Fold(number, 2))] != []
    assert len(bench.ask("all.jsonl", "", "--fold", "all")) == len(halves[0] + halves[1]) == 4


def test_an_interrupted_run_goes_on_and_a_torn_line_is_asked_again(bench: Bench) -> None:
    whole = bench.ask("out.jsonl", REPLIES)
    kept = json.dumps(whole[0] | {"said": "said before"})
    (bench.folder / "out.jsonl").write_text(f'{kept}\n{{"query": "who sa', encoding="utf-8")
    rows = bench.ask("out.jsonl", REPLIES, "--resume")
    assert [row["said"] for row in rows] == ["said before", *(row["said"] for row in whole[1:])]


def test_a_file_of_another_run_is_left_alone(bench: Bench) -> None:
    before = bench.ask("out.jsonl", REPLIES)
    bench.ask("out.jsonl", REPLIES, code=2)  # without --resume
    for other in ("--max-new-tokens 7", "--limit 2", "--adapter tuned", "--preset scripted", "--set batch_size=2"):
        assert bench.ask("out.jsonl", REPLIES, "--resume", *other.split(), code=2) == before
    bench.data.write_text(bench.data.read_text(encoding="utf-8").replace("Question:", "Q:"), encoding="utf-8")
    assert bench.ask("out.jsonl", REPLIES, "--resume", code=2) == before, "other prompts for the same questions"


def test_a_folder_is_an_adapter_of_the_real_engine(bench: Bench) -> None:
    """The same as when the settings name it; and without it the base model speaks."""
    model = build_tiny_llama(bench.folder / "llama")
    tuned = build_adapter(bench.folder / "run.fold0", model, seed=1)
    engine = f'engine = "transformers", model = "{model}", dtype = "float32", device = "cpu"'
    names = f'adapters = {{ named = "{tuned}", absent = "nowhere" }}'
    path = bench.folder / "preset.toml"
    path.write_text(f'description = "own"\nlanguage_model = {{ {engine}, {names} }}\n{WEB}', encoding="utf-8")
    base, named, folder = (
        [row["said"] for row in bench.ask(f"{place}.jsonl", "", "--preset", str(path), adapter=adapter)]
        for place, adapter in enumerate(("none", "named", str(tuned)))
    )
    assert named == folder != base
    bench.ask("other.jsonl", "", "--preset", str(path), adapter="absent", code=2)


# --- comparing --------------------------------------------------------------------------------------------------------


def test_texts_are_decided_as_the_agent_does_and_judged(bench: Bench) -> None:
    """Base: one right, one wrong, two that do not know; tuned: two right, and the wrong answer withdrawn."""
    bench.ask("base.jsonl", REPLIES)
    bench.ask("tuned.jsonl", '"who flew?" = "bo peep"\n"who sang?" = "Ann Lee."\n')
    found = bench.compare("base.jsonl", "tuned.jsonl")["all"]
    shares = ("accuracy", "hallucination", "missing", "score")
    assert [found["base"][share] for share in shares] == [0.25, 0.25, 0.5, 0.0]
    assert [found["tuned"][share] for share in shares] == [0.5, 0.0, 0.5, 0.5]
    assert [found["label"][share] for share in shares] == [1.0, 0.0, 0.0, 1.0]
    assert [found["tuned_less_base"][share]["difference"] for share in shares] == [0.25, -0.25, 0.0, 0.5]
    assert found["hallucination"]["ratio"] == 0
    assert found["hallucination"]["tuned_less_half_of_base"]["difference"] == -0.125


def test_the_label_of_a_question_without_evidence_earns_nothing(bench: Bench) -> None:
    write_examples(bench.data, [EXAMPLES[0], example("who lost?", completion="i don't know", source="graph")])
    bench.ask("base.jsonl", REPLIES)
    facts = bench.compare("base.jsonl", "base.jsonl")
    assert facts["all"]["label"]["score"] == 0.5
    assert {label: own["base"]["score"] for label, own in facts["by"]["source"].items()} == {"graph": -1.0, "web": 1.0}
    assert facts["by"]["domain"] == {}


def test_what_failed_or_was_asked_of_one_model_only_is_reported(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.ask("base.jsonl", REPLIES)
    broken = scripted_preset(bench.folder, REPLIES, 'fault = "error"\nfault_after = 3\n')
    bench.ask("tuned.jsonl", "", "--preset", str(broken), adapter="tuned")
    assert bench.compare("base.jsonl", "tuned.jsonl")["all"]["tuned"]["missing"] == 0.5
    assert "note: 1 tuned failed" in capsys.readouterr().out
    bench.ask("some.jsonl", REPLIES, "--limit", "3")
    for fold in ("1", "2"):
        bench.ask(f"{fold}.jsonl", REPLIES, "--fold", f"{fold}/2")
    facts = bench.compare("some.jsonl", "1.jsonl", "2.jsonl")["all"]
    assert facts["questions"] == 3, "folds are put together"
    assert facts["tuned_less_base"]["score"] == {"difference": 0.0, "ci": [0.0, 0.0]}
    assert "note: 1 asked of one model only" in capsys.readouterr().out


def test_a_question_with_two_sets_of_passages_is_two_pairs_of_one_group(bench: Bench) -> None:
    text = bench.data.read_text(encoding="utf-8")
    bench.data.write_text(text + text.replace("Question:", "With other passages:"), encoding="utf-8")
    bench.ask("base.jsonl", REPLIES)
    bench.ask("tuned.jsonl", REPLIES + '"who won?" = "nobody"\n')
    facts = bench.compare("base.jsonl", "tuned.jsonl")
    assert (facts["all"]["questions"], facts["all"]["groups"]) == (8, 4)
    assert facts["all"]["tuned_less_base"]["score"]["difference"] == -0.25
    assert facts["notes"]["asked with another prompt"] == 0


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"query": "who else?"}, "nothing to compare"),
        ({"said": None}, 'line 1: field "said": Input should be a valid string'),
    ],
)
def test_files_that_cannot_be_compared_are_named(
    bench: Bench, capsys: pytest.CaptureFixture[str], change: dict[str, Any], complaint: str
) -> None:
    text = "".join(json.dumps({**row, **change}) + "\n" for row in bench.ask("base.jsonl", REPLIES))
    (bench.folder / "tuned.jsonl").write_text(text, encoding="utf-8")
    bench.compare("base.jsonl", "tuned.jsonl", code=2)
    assert complaint in capsys.readouterr().err


def test_hallucination_at_most_half_is_reported_from_luck() -> None:
    """400 questions: from 40 % wrong to 10 % is surely less than half; of ten questions nobody can tell."""

    def rewards(n: int) -> dict[str, Floats]:
        wrong = {"base": n * 4 // 10, "tuned": n // 10, "label": 0}
        return {name: np.repeat([-1.0, 1.0], [count, n - count]) for name, count in wrong.items()}

    many, few = (figures(rewards(n), [str(k) for k in range(n)]) for n in (400, 10))
    assert many["hallucination"]["ratio"] == few["hallucination"]["ratio"] == 0.25
    assert many["hallucination"]["tuned_less_half_of_base"]["ci"][1] < 0
    assert few["hallucination"]["tuned_less_half_of_base"]["ci"][1] >= 0
    # The normal interval of a paired mean whose values are 0 (70 %) and 2 (30 %).
    around = 1.96 * 2 * (0.3 * 0.7 / 400) ** 0.5
    score = many["tuned_less_base"]["score"]
    assert score["difference"] == pytest.approx(0.6)
    assert score["ci"] == pytest.approx([0.6 - around, 0.6 + around], abs=0.015)
