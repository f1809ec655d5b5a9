"""The page as a file."""

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

from agents.settings import load_settings
from crag.evaluate import main as evaluate
from evaluation.report import write_report
from evaluation.report.__main__ import main
from evaluation.report.page import script_json
from evaluation.signature import settings_hash
from tests.evaluation.report.example import HOSTILE, record, trace, write_run
from tests.test_local_evaluation import arguments, dataset


class Parsed(HTMLParser):
    """Tags with their attributes, and the texts of script and style elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[str] = []
        self.text = ""
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside in {"script", "style"}:
            self.raw.append(data)
        else:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


def page_of(folder: Path, **options: Any) -> str:
    return write_report(write_run(folder, **options)).read_text(encoding="utf-8")


def test_nothing_is_loaded_and_only_our_script_and_style_may_run(tmp_path: Path) -> None:
    page = Parsed(page_of(tmp_path))
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


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    page = Parsed(page_of(tmp_path))
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert sum(tag == "script" for tag, _ in page.tags) == 3, "the data, our script, one block"
    assert HOSTILE.replace("\u2028", "") in page.text.replace("\u2028", ""), "its domain is a slice's label"
    data = json.loads(next(text for text in page.raw if text.startswith('{"rows"')))
    assert data["rows"][3]["query"] == HOSTILE


def test_numbers_that_json_does_not_have(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json({"probability": float("nan")})
    likely = {"text": "answer 0", "source": "web", "features": {"margin": float("nan")}, "probability": float("nan")}
    page = Parsed(page_of(tmp_path, traces=[trace(0, candidates=[likely])]))
    block = next(text for text in page.raw if re.fullmatch(r"[\w+/=]{100,}", text))
    for text in (
        next(text for text in page.raw if text.startswith('{"rows"')),
        zlib.decompress(base64.b64decode(block)),
    ):
        json.loads(text, parse_constant=pytest.fail)


def test_lost_answers_are_reported_at_the_head_and_can_be_listed(tmp_path: Path) -> None:
    rows = [record(0, "missing", lost="clock"), record(1, "missing", lost="graph")]
    page = Parsed(page_of(tmp_path, records=rows))
    assert (
        "2 answers lost: 1 to the clock, 1 to a knowledge graph that did not reply." in page.text.partition("Score")[0]
    )
    links = [tag["href"] for name, tag in page.tags if name == "a" and "lost=" in (tag["href"] or "")]
    assert links == ["#lost=clock", "#lost=graph"]
    assert "lost to: clock · expected: gold 0" in page.text, "among the points"
    data = json.loads(next(text for text in page.raw if text.startswith('{"rows"')))
    assert {"field": "lost", "title": "lost to"} in data["facets"]
    assert [row["lost"] for row in data["rows"]] == ["clock", "graph"]


def test_a_run_of_no_question_has_a_report(tmp_path: Path) -> None:
    settings = load_settings("scripted", [])
    signature = {"preset": f"scripted@{settings_hash(settings)}"}
    text = Parsed(page_of(tmp_path, records=[], traces=[], signature=signature)).text
    assert "Questions (0)" in text
    assert "scripted, CRAG task 1, nothing scored" in text
    assert "No question of this run could be scored." in text


def test_nothing_scored_is_no_score_of_0(tmp_path: Path) -> None:
    text = Parsed(page_of(tmp_path, records=[record(0, "unscored", domain=None, batch_size=1)])).text
    headline = text.partition("By slice")[0]
    assert "nothing scored" in headline
    assert "+0.000" not in headline
    assert "right 0%" not in headline, "no bar of nothing either"


def test_numbers_of_the_run_are_reported(tmp_path: Path) -> None:
    text = " ".join(Parsed(page_of(tmp_path)).text.split())
    assert "own, CRAG task 1, +0.20" in text
    assert all(part in text for part in ("preset own@0123", "data few.jsonl@4567", "judge rules@1"))
    assert "Of 5 questions, 2 were answered right and 1 wrong, and 2 stayed without an answer: too few" in text
    assert "1 batch ran over the time limit. The real evaluator would have failed this whole submission." in text
    assert "1 more question could not be scored" in text
    assert "preset:own@0123|data:few.jsonl@4567|judge:rules@1|seconds_per_query:30" in text
    assert "Score over abstention thresholds" in text
    assert "Left out: 1 question with an unjudged candidate and 3 questions without P(correct)." in text


@pytest.mark.parametrize(
    "traces", [[], [{**trace(0), "candidates": 3, "seconds": [], "answer": "x", "route": 1, "gates": {}, "context": 5}]]
)
def test_a_run_without_traces_or_with_others_still_has_a_report(tmp_path: Path, traces: list[dict[str, Any]]) -> None:
    records = [record(0, domain=None, question_type=None, static_or_dynamic=None), record(1, domain=None)]
    text = Parsed(page_of(tmp_path, records=records, traces=traces, signature={})).text
    assert "The traces have no P(correct)" in text
    assert "The traces have no stage times." in text
    assert "No gate closed in this run." in text
    assert "This run has no signature." in text
    assert ("The agent left no traces" in text) == (not traces)


@pytest.mark.parametrize(
    ("signature", "verdicts", "title"),
    [
        ({"preset": "cpu@1", "kg": "mock:shipped"}, ["correct"] * 12, "cpu, CRAG task 2, +1.00 [+1.00, +1.00]"),
        ({"preset": "cpu@1", "kg": "no", "set": "a=1"}, ["incorrect"] * 9, "cpu, changed, CRAG task 1, -1.00"),
        ({"preset": "a/b.toml@1", "kg": "yes", "data": "crag_task_3_dev@1"}, [], "b, CRAG task 3, nothing scored"),
        ({"agent": "my.own:Agent", "preset": None}, ["missing"], "Agent, CRAG task 1, +0.00"),
        ({"preset": "<b>@1"}, ["missing"], "&lt;b&gt;, CRAG task 1, +0.00"),
    ],
)
def test_the_title_says_what_came_of_what(
    tmp_path: Path, signature: dict[str, Any], verdicts: list[str], title: str
) -> None:
    records = [record(n, verdict, batch_size=1) for n, verdict in enumerate(verdicts)]
    page = page_of(tmp_path, records=records, traces=[], signature=signature)
    assert f"<title>{title}</title>" in page
    assert f"<h1>{title}</h1>" in page


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        (10, 0, "better than always being silent"),
        (0, 10, "worse than always being silent"),
        (5, 5, "cannot tell this score from always being silent"),
        (5, 0, "too few to say more"),
    ],
)
def test_the_sentence_compares_with_silence(tmp_path: Path, right: int, wrong: int, said: str) -> None:
    verdicts = ["correct"] * right + ["incorrect"] * wrong
    records = [record(n, verdict, batch_size=1) for n, verdict in enumerate(verdicts)]
    text = Parsed(page_of(tmp_path, records=records, traces=[])).text
    assert f"Of {right + wrong} questions, {right} were answered right and {wrong} wrong" in text
    assert said in text


def test_the_ruler_names_the_published_systems_of_the_task_and_their_other_questions(tmp_path: Path) -> None:
    rows = [record(n, batch_size=1) for n in range(12)]
    text = Parsed(page_of(tmp_path, records=rows, traces=[], signature={"preset": "x@1", "kg": "yes"})).text
    ruler = text.partition("On a ruler")[2].partition("By slice")[0]
    places = [
        ruler.index(name) for name in ("starter kit", "always silent", "NEC", "db3, first in task 2", "this run: x")
    ]
    assert places == sorted(places)
    assert "task 1" not in ruler
    assert "The published figures are of other questions and another judge" in ruler


def test_where_the_points_went(tmp_path: Path) -> None:
    wrong = [record(n, "incorrect", batch_size=1, domain="movie" if n else "music") for n in range(4)]
    sure = [trace(n, candidates=[{"text": "x", "probability": n / 10}]) for n in range(4)]
    page = Parsed(page_of(tmp_path, records=wrong, traces=sure))
    points = page.text.partition("Where the points went")[2].partition("By slice")[0]
    assert re.findall(r"P\(correct\) ([\d.]+)", points) == ["0.30", "0.20", "0.10", "0.00"]
    assert "This run did not count them." in points
    page_without_losses = page_of(tmp_path / "counted", records=[record(0, batch_size=1, lost=None)], traces=[])
    assert "None was lost" in page_without_losses
    links = {tag.get("href") for name, tag in page.tags if name == "a"}
    assert {"#domain=movie&verdict=incorrect", "#question=id-3", "#verdict=incorrect"} <= links


def test_intervals_of_fewer_than_ten_questions_are_a_dash(tmp_path: Path) -> None:
    rows = [record(n, batch_size=1, domain="movie" if n else "music") for n in range(11)]
    cells = page_of(tmp_path, records=rows, traces=[]).partition('id="slices"')[2]
    intervals = re.findall('<td class="interval">(.*?)</td>', cells)
    assert intervals[:2] == ["+1.00 to +1.00", "–"]


def test_a_stage_over_its_budget_is_marked(tmp_path: Path) -> None:
    signature = {"preset": f"scripted@{settings_hash(load_settings('scripted', []))}"}
    slow = [trace(n, seconds={"generate": 55.0}) for n in range(2)]
    page = page_of(tmp_path, records=[record(0), record(1)], traces=slow, signature=signature)
    assert '<td class="over"><strong class="negative">1 of 1</strong></td>' in page


def test_a_long_run_says_what_it_leaves_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.report.packing.PACKED_LIMIT", 0)
    text = Parsed(page_of(tmp_path, traces=[trace(0, context="word " * 2000)])).text
    assert "keeps 1,500 characters of text per question" in text
    assert "in 1 of 6 questions the longest texts are cut" in text


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = write_run(tmp_path / "run"), tmp_path / "new/folder/other.html"
    assert main([str(folder), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert out.is_file()
    assert not (folder / "report.html").exists()
    assert main([str(folder), "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"error: {tmp_path}: cannot be written: it is a folder\n"
    assert main([str(tmp_path / "nowhere")]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert not (tmp_path / "nowhere").exists()


def test_a_run_ends_with_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Here of an agent with traces of its own; a run that is thrown away takes its report along."""
    options, report = arguments(tmp_path, dataset(tmp_path), "TracingAgent"), tmp_path / "out/report.html"
    assert evaluate(options) == 0
    assert f"report     {report}\n" in capsys.readouterr().out
    text = report.read_text(encoding="utf-8")
    assert "say word3" in text
    assert "TracingAgent, CRAG task 1" in text
    assert f"python local_evaluation.py --dataset {tmp_path}" in text, "its origin"
    assert evaluate([*arguments(tmp_path, dataset(tmp_path), "NoMethodAgent"), "--overwrite"]) == 2
    assert not report.exists()


def test_a_report_that_cannot_be_written_does_not_cost_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("evaluation.report.page.write_whole", full)
    assert evaluate(arguments(tmp_path, dataset(tmp_path))) == 0
    reported = capsys.readouterr()
    assert "no report: " in reported.err
    assert "No space left on device" in reported.err
    assert "all questions" in reported.out
