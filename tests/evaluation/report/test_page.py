"""The page of a run as a file."""

import base64
import errno
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from crag.commands.evaluate import main as evaluate
from crag.commands.report import main
from crag.evaluation.report.run_page import write_report
from crag.evaluation.signature import settings_hash
from crag.settings import load_settings
from tests.evaluation.report.example import HOSTILE, record, trace, write_run
from tests.test_local_evaluation import arguments, dataset

SCRIPTED = f"scripted@{settings_hash(load_settings('scripted', []))}"
SCORED = {"preset": "x@1"}


class Parsed(HTMLParser):
    """Tags with their attributes, the texts of script and style elements, and all other text on one line."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[str] = []
        self.whole = ""
        self._inside = ""
        self.feed(page)
        self.text = " ".join(self.whole.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside in {"script", "style"}:
            self.raw.append(data)
        else:
            self.whole += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    @property
    def data(self) -> Any:
        """What the page's script reads."""
        return json.loads(next(text for text in self.raw if text.startswith("{")), parse_constant=pytest.fail)


def check_nothing_else_runs(page: Parsed) -> None:
    """Nothing is loaded, and only our script and style may run."""
    addresses = [value for _, attributes in page.tags for name, value in attributes.items() if name in {"src", "href"}]
    assert all(value == "data:," or (value or "").startswith("#") for value in addresses)
    policy = next(a["content"] or "" for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy

    allowed = set(re.findall(r"sha256-([^']+)", policy))
    hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in page.raw}
    assert len(allowed) == 2
    assert allowed <= hashes

    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on") or name == "style"]
    assert not [tag for tag, _ in page.tags if tag == "img"]


def page_of(folder: Path, **options: Any) -> Parsed:
    return Parsed(write_report(write_run(folder, **options)).read_text(encoding="utf-8"))


def test_a_run_may_be_hostile_in_every_field(tmp_path: Path) -> None:
    gate = {"name": HOSTILE, "reason": HOSTILE, "answer": HOSTILE, "withheld": HOSTILE, "withheld_verdict": "correct"}
    fields = ("interaction_id", "query", "prediction", "answer", "reason", "domain", "question_type", "error")
    hostile = {**dict.fromkeys(fields, HOSTILE), "gates": [gate], "lost": "fault"}
    rows = [record(n, "incorrect", **hostile, occurrence=n) for n in range(2)]
    traces = [trace(0, interaction_id=HOSTILE, seconds={HOSTILE: 2.0})]
    signature = {**dict.fromkeys(("preset", "set", "agent", "data", "judge", HOSTILE), HOSTILE), "kg": "no"}

    page = page_of(tmp_path, records=rows, traces=traces, signature=signature)
    check_nothing_else_runs(page)
    assert sum(tag == "script" for tag, _ in page.tags) == 3


def test_a_nan_in_a_trace_becomes_null_in_the_page(tmp_path: Path) -> None:
    likely = {"text": "answer 0", "source": "web", "features": {"margin": float("nan")}, "probability": float("nan")}
    page = page_of(tmp_path, traces=[trace(0, candidates=[likely])])
    block = next(text for text in page.raw if re.fullmatch(r"[\w+/=]{100,}", text))
    json.loads(zlib.decompress(base64.b64decode(block)), parse_constant=pytest.fail)
    assert page.data["rows"][0]["probability"] is None


def test_lost_answers_are_reported_at_the_head_and_can_be_listed(tmp_path: Path) -> None:
    page = page_of(tmp_path, records=[record(0, "missing", lost="clock"), record(1, "missing", lost="graph")])
    head = page.text.partition("Overview")[0]
    assert "2 answers lost: 1 to the clock, 1 to a knowledge graph that did not reply." in head
    links = [tag["href"] for name, tag in page.tags if name == "a" and "lost=" in (tag["href"] or "")]
    assert links == ["#lost=clock", "#lost=graph"]
    assert "lost to: clock · expected: gold 0" in page.text, "among the points"
    assert {"field": "lost", "title": "lost to"} in page.data["facets"]
    assert [row["lost"] for row in page.data["rows"]] == ["clock", "graph"]


def test_hedged_abstentions_are_reported_at_the_head_and_can_be_listed(tmp_path: Path) -> None:
    reason = "hedged abstention: the prediction says that it cannot tell"
    page = page_of(tmp_path, records=[record(0, "incorrect", reason=reason), record(1, "correct")])
    head = page.text.partition("Overview")[0]
    assert '1 answer hedges ("I\'m not sure") and counts as incorrect' in head
    links = [tag["href"] for name, tag in page.tags if name == "a" and "judged_by=" in (tag["href"] or "")]
    assert "#judged_by=hedged+abstention" in links
    assert "hedges" not in page_of(tmp_path / "none", records=[record(0, "correct")]).text


UNLABELLED: dict[str, Any] = {"domain": None, "question_type": None, "static_or_dynamic": None}
ODD = {**trace(0), "candidates": 3, "seconds": [], "answer": "x", "route": 1, "gates": {}, "context": 5}


def scored(right: int, wrong: int) -> dict[str, Any]:
    verdicts = ["correct"] * right + ["incorrect"] * wrong
    return {"records": [record(n, verdict, batch_size=1) for n, verdict in enumerate(verdicts)], "traces": []}


@pytest.mark.parametrize(
    ("options", "present"),
    [
        (
            {},
            [
                *("preset own@0123", "data few.jsonl@4567", "judge rules@1", "Score over abstention thresholds"),
                "Of 5 questions, 2 were answered right and 1 wrong, and 2 stayed without an answer: too few",
                "1 batch ran over the time limit. The real evaluator would have failed this whole submission.",
                "1 more question could not be scored",
                "preset:own@0123|data:few.jsonl@4567|judge:rules@1|seconds_per_query:30",
                "Left out: 1 question with an unjudged candidate and 3 questions without P(correct).",
                "This run did not count them.",
            ],
        ),
        (
            {"records": [], "traces": [], "signature": {"preset": SCRIPTED}},
            ["Questions (0)", "scripted, CRAG task 1, nothing scored", "No question of this run could be scored."],
        ),
        (
            {"records": [record(0, **UNLABELLED, lost=None), record(1, **UNLABELLED, lost=None)], "traces": []},
            ["The traces have no P(correct)", "The agent left no traces", "None was lost", "carry no labels"],
        ),
        (
            {"records": [record(0), record(1)], "traces": [ODD], "signature": {}},
            ["have no P(correct)", "have no stage times.", "No gate closed in this run.", "This run has no signature."],
        ),
        (scored(10, 0), ["10 were answered right and 0 wrong", "better than always being silent"]),
        (scored(0, 10), ["0 were answered right and 10 wrong", "worse than always being silent"]),
        (scored(5, 5), ["cannot tell this score from always being silent"]),
        (
            {**scored(12, 0), "signature": {"preset": "a/b.toml@1", "set": "a=1", "kg": "yes", "data": "task_3@1"}},
            ["b, changed, CRAG task 3, +1.00 [+1.00, +1.00]"],
        ),
    ],
    ids=["numbers", "no question", "no traces", "other shape", "better", "worse", "equal", "title"],
)
def test_the_page_says_what_the_run_has_and_what_it_lacks(
    tmp_path: Path, options: dict[str, Any], present: list[str]
) -> None:
    text = page_of(tmp_path, **options).text
    assert [part for part in present if part not in text] == []


def test_the_surest_wrong_answers_come_first_with_links_to_them(tmp_path: Path) -> None:
    wrong = [record(n, "incorrect", batch_size=1, domain="movie" if n else "music") for n in range(4)]
    sure = [trace(n, candidates=[{"text": "x", "probability": n / 10}]) for n in range(4)]
    page = page_of(tmp_path, records=wrong, traces=sure)
    points = page.text.partition("Where the points went")[2].partition("By slice")[0]
    assert re.findall(r"P\(correct\) ([\d.]+)", points) == ["0.30", "0.20", "0.10", "0.00"]
    links = {tag.get("href") for name, tag in page.tags if name == "a"}
    assert {"#domain=movie&verdict=incorrect", "#question=id-3", "#verdict=incorrect"} <= links


def test_a_long_run_says_what_it_leaves_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crag.evaluation.report.packing.PACKED_LIMIT", 0)
    text = page_of(tmp_path, traces=[trace(0, context="word " * 2000)]).text
    assert "keeps 80 characters of each text" in text
    assert " of 6 questions long texts are cut" in text


def test_the_command_writes_to_out_and_says_why_it_cannot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = write_run(tmp_path / "run"), tmp_path / "new/folder/other.html"
    assert main([str(folder), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert out.is_file()
    assert not (folder / "report.html").exists()
    assert main([str(folder), "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"error: {tmp_path}: cannot be written: it is a folder\n"
    assert main([str(tmp_path / "nowhere")]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_a_run_ends_with_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Here of an agent with traces of its own; an agent that cannot answer costs an older run nothing."""
    options, report = arguments(tmp_path, dataset(tmp_path), "TracingAgent"), tmp_path / "out/report.html"
    assert evaluate(options) == 0
    assert f"report     {report}\n" in capsys.readouterr().out
    text = report.read_text(encoding="utf-8")
    assert "TracingAgent, CRAG task 1" in text
    assert f"crag evaluate --dataset {tmp_path}" in text, "its origin"
    assert evaluate([*arguments(tmp_path, dataset(tmp_path), "NoMethodAgent"), "--overwrite"]) == 2
    assert report.read_text(encoding="utf-8") == text


def test_a_report_that_cannot_be_written_does_not_cost_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("crag.evaluation.report.page.write_whole", full)
    assert evaluate(arguments(tmp_path, dataset(tmp_path))) == 0
    reported = capsys.readouterr()
    assert "no report: " in reported.err
    assert "No space left on device" in reported.err
    assert "all questions" in reported.out
