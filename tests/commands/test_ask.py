"""`crag ask` and `Asker`: answers from the user's own pages with their evidence, and the messages for bad input."""

import gzip
import io
import itertools
import json
import os
import socketserver
import threading
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from crag import Asker
from crag.__main__ import main
from crag.asking import documents, sources
from crag.core.files import UserError
from crag.settings import ExtractSettings, SettingsError
from tests.asking.pdf_files import build_pdf, text_at

QUESTION = "who directed rain man?"
CHANGES = ['language_model.replies={"who directed" = "Barry Levinson"}']
SCRIPTED = ["--preset", "scripted", "--set", *CHANGES]
PAGE = "<html><head><title>Rain  Man</title></head><body><p>A film. Its director is Barry Levinson.</p></body></html>"
PRINTED_ANSWER = 'Barry Levinson\n    "Its director is Barry Levinson."\n    Rain Man, {}\n'


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "rain.html"
    path.write_text(PAGE, encoding="utf-8")
    return str(path)


def test_an_answer_names_its_sentence_and_page(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "--pages", page, QUESTION, *SCRIPTED]) == 0
    printed = capsys.readouterr()
    assert printed.out == PRINTED_ANSWER.format(page)
    assert printed.err.startswith("loading the models of preset scripted")


def test_the_environment_changes_the_preset_as_for_an_evaluation(
    page: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_SETTINGS", CHANGES[0])
    assert main(["ask", "--pages", page, QUESTION, "--preset", "scripted"]) == 0
    assert capsys.readouterr().out == PRINTED_ANSWER.format(page)


def test_why_shows_the_way_to_the_answer(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", QUESTION, "--pages", page, "--why", "--time", "03/05/2024, 23:18:31 PT", *SCRIPTED]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "question   who directed rain man?  (03/05/2024, 23:18:31 PT)"
    assert "graph      not queried" in lines
    assert any(line.startswith("pages      1 read, ") for line in lines)
    assert any("Rain Man: A film. Its director is Barry Levinson." in line for line in lines)
    assert "candidates 'Barry Levinson' from the pages" in lines
    assert lines[lines.index("answer     Barry Levinson") + 1] == 'evidence   "Its director is Barry Levinson."'
    assert lines[-1] == "because    the model answered"


def test_pages_are_files_folders_and_addresses_of_any_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own" / "below").mkdir(parents=True)
    (tmp_path / "own" / "below" / "notes.txt").write_text("Rain Man is by Barry Levinson.\nIt is long.", "utf-16")
    (tmp_path / "own" / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (tmp_path / "own" / "broken.pdf").write_bytes(b"%PDF-1.4\nnothing")
    (tmp_path / "own" / "empty.html").write_text("<html></html>", encoding="utf-8")
    (tmp_path / "film.pdf").write_bytes(build_pdf(text_at(72, 720, "Its director was Barry Levinson.")))

    with HTTPServer() as server:
        server.expect_request("/rain").respond_with_data(PAGE, content_type="text/html")
        files = ["--pages", str(tmp_path / "own"), "--pages", str(tmp_path / "film.pdf")]
        addresses = ["--pages", server.url_for("/rain"), "--pages", server.url_for("/gone")]
        assert main(["ask", *files, *addresses, QUESTION, "--json", *SCRIPTED]) == 0
        printed = capsys.readouterr()

    trace = json.loads(printed.out)
    texts = " ".join(passage["text"] for passage in trace["passages"])
    assert trace["pages_read"] == 3
    assert all(text in texts for text in ("Rain Man is by Barry Levinson.", "director was Barry", "director is Barry"))

    *skipped, _ = printed.err.splitlines()
    skipped = sorted(line.removeprefix("skipped: ").removeprefix(str(tmp_path)) for line in skipped)
    assert [line.partition(": ")[2].partition(":")[0] for line in skipped] == [
        "the PDF cannot be read",
        "there is no text in it",
        "it is a picture; recognise its text first (ocrmypdf IN OUT.pdf)",
        "status 500",
    ]


def test_a_sentence_of_a_pdf_is_cited_with_its_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "films.pdf"
    first = text_at(72, 720, "Films of the year 1988, and who made them.")
    second = text_at(72, 720, "Rain Man is a film about two brothers. Its direc-", "tor is Barry Levinson.")
    path.write_bytes(build_pdf(first, second, info="/Title (Films)"))

    assert main(["ask", "--pages", str(path), QUESTION, *SCRIPTED]) == 0
    source = f"Films, {path}, page 2"
    assert capsys.readouterr().out == f'Barry Levinson\n    "Its director is Barry Levinson."\n    {source}\n'

    with Asker("scripted", changes=CHANGES) as asker:
        assert asker.ask(QUESTION, pages=[path]).source == source


def test_the_header_of_a_reply_declares_its_encoding(capsys: pytest.CaptureFixture[str]) -> None:
    text = page_in_utf_8("Film Łódź 1 ma reżysera.")
    with HTTPServer() as server:
        content_type = "text/html; charset=iso-8859-2"
        server.expect_request("/film").respond_with_data(text.encode("iso8859_2"), content_type=content_type)
        assert main(["inspect", "pages", server.url_for("/film")]) == 0
    assert capsys.readouterr().out == "Film Łódź 1 ma reżysera.\n"


def page_in_utf_8(text: str) -> str:
    """A page that says so itself, whatever its server declares."""
    return f'<html><head><meta charset="utf-8"></head><body><p>{text}</p></body></html>'


class SlowServer(socketserver.ThreadingTCPServer):
    """Sends a head without an end, a byte at a time, until the test is over."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), SlowHead)
        self.is_over = threading.Event()


class SlowHead(socketserver.BaseRequestHandler):
    server: SlowServer

    def handle(self) -> None:
        with suppress(OSError):
            for byte in itertools.chain(b"HTTP/1.1 200 OK\r\nX: ", itertools.repeat(ord("x"))):
                self.request.sendall(bytes([byte]))
                if self.server.is_over.wait(0.1):
                    return


def assert_skipped_in_one_line(place: str) -> None:
    messages: list[str] = []
    assert documents.read_documents(place, ExtractSettings(), messages.append) == []
    (message,) = messages
    assert message.startswith(f"skipped: {place}: ")
    assert "\n" not in message


def test_a_file_without_an_end_is_left_out_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "READING_SECONDS", 3.0)
    os.mkfifo(tmp_path / "fifo")
    for place in (str(tmp_path / "fifo"), "/dev/zero"):
        assert_skipped_in_one_line(place)
    with pytest.raises(UserError, match="no readable page: /dev/zero"), Asker("scripted") as asker:
        asker.ask(QUESTION, pages=["/dev/zero"])


@pytest.mark.parametrize("target", ["http://[::1", "http://127.0.0.1/\xff", "file:///etc"])
def test_a_redirect_to_no_web_address_is_left_out_in_one_line(target: str) -> None:
    with HTTPServer() as server:
        server.expect_request("/").respond_with_response(Response(status=302, headers={"Location": target}))
        assert_skipped_in_one_line(server.url_for("/"))


@pytest.mark.parametrize(
    ("block", "headers"),
    [
        pytest.param(b"<p>" + b"x" * 100_000, {}, id="plain"),
        pytest.param(gzip.compress(bytes(10_000_000)), {"Content-Encoding": "gzip"}, id="packed"),
    ],
)
def test_a_reply_without_an_end_is_left_out_in_one_line(
    monkeypatch: pytest.MonkeyPatch, block: bytes, headers: dict[str, str]
) -> None:
    monkeypatch.setattr(sources, "READING_SECONDS", 3.0)
    with HTTPServer(threaded=True) as server:
        server.expect_request("/").respond_with_response(Response(itertools.repeat(block), headers=headers))
        assert_skipped_in_one_line(server.url_for("/"))


def test_a_server_that_sends_its_head_forever_is_left_out_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "READING_SECONDS", 3.0)
    with SlowServer() as slow:
        threading.Thread(target=slow.serve_forever, daemon=True).start()
        assert_skipped_in_one_line(f"http://127.0.0.1:{slow.server_address[1]}/")
        slow.is_over.set()
        slow.shutdown()


def test_of_many_pages_the_best_are_read(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"{number}.txt").write_text(f"Film {number} is by director number {number}.", encoding="utf-8")
    (tmp_path / "z.txt").write_text("Prose. " * 2000 + "Rain Man is by Barry Levinson.", encoding="utf-8")
    with Asker("scripted", changes=CHANGES) as asker:
        answer = asker.ask(QUESTION, pages=[tmp_path])
    assert (answer.text, answer.sentence) == ("Barry Levinson", "Rain Man is by Barry Levinson.")
    assert answer.source == f"z, {tmp_path / 'z.txt'}"


def test_a_page_of_the_user_may_repeat_the_question(tmp_path: Path) -> None:
    page = tmp_path / "answers.txt"
    page.write_text("So who directed the film rain man? It was Barry Levinson.", encoding="utf-8")
    with Asker("scripted", changes=[*CHANGES, "web.largest_question_share=0.8"]) as asker:
        answer = asker.ask("who directed the film rain man?", pages=[page])
    assert answer.text == "Barry Levinson"


def test_many_questions_from_a_file_or_typed(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = f"{QUESTION}\n\nwho directed jaws?\n"
    (tmp_path / "questions.txt").write_text(typed, encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    for more in (["--file", str(tmp_path / "questions.txt")], []):
        assert main(["ask", "--pages", page, *more, *SCRIPTED]) == 0
        said = capsys.readouterr()
        assert said.out.count("    Barry Levinson\n") == 2
        assert said.out.startswith(f"{QUESTION}\n    Barry Levinson\n")
        assert said.err.count("loading") == 1


def test_a_file_with_fields_gives_the_questions_their_times_and_names(
    page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "questions.csv"
    rows = [f"{QUESTION},2024-03-06T07:18:31Z,x,first", f"{QUESTION},,,"]
    file.write_text("\n".join(["Query, Query Time,answer,interaction_id", *rows]), encoding="utf-8")
    command = ["ask", "--file", str(file), "--pages", page, "--json", *SCRIPTED]

    assert main(command) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["query"] == second["query"] == QUESTION
    assert first["query_time"] == "03/05/2024, 23:18:31 PT" != second["query_time"]
    assert (first["interaction_id"], second["interaction_id"]) == ("first", "asked")

    assert main([*command, "--time", "2020-02-29"]) == 0
    times = [json.loads(line)["query_time"] for line in capsys.readouterr().out.splitlines()]
    assert times == ["02/29/2020, 00:00:00 PT"] * 2

    file.write_text("query,query_time\nwho?,noon\n", encoding="utf-8")
    assert main(command) == 2
    assert "questions.csv, line 2, field \"query_time\": 'noon' is not a time" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("a.txt", "who?\nwo ist Köln?\n".encode("latin-1"), "line 2: not UTF-8 text (byte 0xf6); save it as UTF-8"),
        ("a.csv", b"query,query_time\n,2024-03-05\n", 'line 2, field "query": missing or null; the row has query_time'),
        ("a.json", b'[{"query": "who?"}]', "line 1: expected a JSON object"),
    ],
)
def test_a_file_without_readable_questions_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, fault: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main(["ask", "--file", str(tmp_path / name), *SCRIPTED]) == 2
    assert f"{name}, {fault}" in capsys.readouterr().err


def test_what_is_withheld_is_told_with_its_probability(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    unsure = ["--set", 'answering.confidence={model="cpu", threshold=0.999}']
    assert main(["ask", QUESTION, "--pages", page, *SCRIPTED, *unsure]) == 0
    first, second, third, fourth, _ = capsys.readouterr().out.splitlines()
    assert first == "i don't know"
    assert second.startswith("    not sure enough (0.")
    assert second.endswith("): Barry Levinson")
    assert third.startswith("    withheld by expected score (P(correct) is 0.")
    assert third.endswith(", not above 0.999)")
    assert fourth == '    "Its director is Barry Levinson."'

    assert main(["ask", QUESTION, "--pages", page, "--why", *SCRIPTED, *unsure]) == 0
    assert 'evidence   "Its director is Barry Levinson."' in capsys.readouterr().out


def test_the_answer_in_python_has_what_is_withheld_and_its_probability(page: str) -> None:
    unsure = 'answering.confidence={model="cpu", threshold=0.999}'
    with Asker("scripted", changes=[*CHANGES, unsure]) as asker:
        answer = asker.ask(QUESTION, pages=[page], at="2024-03-05T23:18:31-08:00")
    assert (answer.text, answer.withheld, answer.source) == ("i don't know", "Barry Levinson", f"Rain Man, {page}")
    assert 0 < (answer.probability or 0) < 0.999
    assert answer.trace.query_time == "03/05/2024, 23:18:31 PT"


def test_the_threshold_of_the_command_line_decides(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    confidence = 'answering.confidence={model="cpu", log_odds_on_chosen_pages=-9.0}'
    command = ["ask", QUESTION, "--pages", page, *SCRIPTED, "--set"]

    assert main([*command, confidence, "--json"]) == 0
    withheld = json.loads(capsys.readouterr().out)
    assert (withheld["text"], withheld["withheld"]) == ("i don't know", "Barry Levinson")
    assert withheld["withheld_by"].endswith(", not above 0.5)")

    assert main([*command, confidence, "--threshold", "0", "--json"]) == 0
    given = json.loads(capsys.readouterr().out)
    assert (given["text"], given["withheld"], given["withheld_by"]) == ("Barry Levinson", None, None)
    assert given["sentence"] == "Its director is Barry Levinson."
    assert 0 < given["probability"] < 1
    assert main([*command, confidence, "--threshold", "0"]) == 0
    assert f"Barry Levinson\n    P(correct): {given['probability']:.2f}\n" in capsys.readouterr().out

    assert main(["ask", QUESTION, "--pages", page, *SCRIPTED, "--threshold", "0.3"]) == 2
    assert "threshold: preset scripted has no model of P(correct)" in capsys.readouterr().err


def test_several_places_follow_one_option(page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.txt").write_text("Jaws is by Steven Spielberg.", encoding="utf-8")
    places = [page, str(tmp_path / "other.txt")]

    for words in (
        ["--pages", *places, QUESTION],
        [QUESTION, "--pages", *places],
        ["--pages", *places, *SCRIPTED, QUESTION],
    ):
        assert main(["ask", *words, "--json", *SCRIPTED]) == 0
        assert json.loads(capsys.readouterr().out)["pages_read"] == 2

    for misspelt in ("nowhere.txt", "my notes.txt"):
        assert main(["ask", "--pages", *places, misspelt, *SCRIPTED]) == 2
        assert f"{misspelt}: no such file, folder or http address" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [(["--pages", "PAGE", ""], "the question is empty"), (["--pages", "", QUESTION], "a path of the pages is empty")],
)
def test_an_empty_word_is_not_the_working_folder(
    page: str, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", *(word.replace("PAGE", page) for word in words), *SCRIPTED]) == 2
    assert capsys.readouterr().err == f"error: {message}\n"


@pytest.mark.parametrize("several", [False, True])
def test_pages_are_a_path_or_a_list(page: str, *, several: bool) -> None:
    with Asker("scripted", changes=CHANGES) as asker:
        for place in (page, Path(page)):
            assert asker.ask(QUESTION, pages=[place] if several else place).source == f"Rain Man, {page}"
        with pytest.raises(UserError, match="ask_all takes a list of questions"):
            next(asker.ask_all(QUESTION, page))
        assert len(list(asker.ask_all((question for question in [QUESTION]), page))) == 1


def test_the_word_behind_mock_kg_may_be_the_question(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["ask", *SCRIPTED, "--json", "--mock-kg", "who directed rain man?"]) == 0
    assert json.loads(capsys.readouterr().out)["query"] == "who directed rain man?"
    assert main(["ask", *SCRIPTED, "--mock-kg", str(tmp_path / "nowhere")]) == 2
    assert "nowhere: no such directory" in capsys.readouterr().err


def test_an_unknown_preset_of_the_environment_says_where_it_comes_from(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setenv("CRAG_PRESET", "nobody")
    assert main(["ask", QUESTION, "--pages", page]) == 2
    assert "error: there is no preset 'nobody' (of $CRAG_PRESET); shipped presets: " in capsys.readouterr().err


def test_questions_without_pages_and_graph_are_warned_of_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CRAG_MOCK_API_URL", raising=False)
    with Asker("scripted", changes=CHANGES) as asker:
        asker.ask(QUESTION)
        asker.ask(QUESTION)
    warning = "no pages and no knowledge graph are given: hardly any question can be answered\n"
    assert capsys.readouterr().err == warning


def test_values_of_other_types_are_told_before_models_are_loaded(page: str) -> None:
    missing: Any = None
    no_question: Any = float("nan")  # as of an empty cell
    no_time: Any = date(2024, 3, 5)
    asker = Asker("scripted", changes=CHANGES)

    for questions, at, fault in (
        ([QUESTION, missing], None, "a question is empty or no text: None"),
        ([no_question], None, "a question is empty or no text: nan"),
        ([QUESTION], no_time, r"at: datetime.date\(2024, 3, 5\) is no datetime"),
    ):
        with pytest.raises(UserError, match=fault):
            next(asker.ask_all(questions, page, at))
    for places in (5, b"reports/", [page, None]):
        with pytest.raises(UserError, match="pages: expected a path, a URL or a list of them, found "):
            asker.ask(QUESTION, places)  # type: ignore[arg-type]

    with pytest.raises(UserError, match="changes takes a list"):
        Asker("scripted", changes="answering.word_limit=30")


@pytest.mark.parametrize(("concurrency", "batch_size"), [(1, 1), (8, 2)])
def test_a_server_is_asked_as_many_questions_as_it_answers_at_a_time(
    page: str, monkeypatch: pytest.MonkeyPatch, concurrency: int, batch_size: int
) -> None:
    monkeypatch.delenv("CRAG_LLM_URL", raising=False)
    reply = {"choices": [{"message": {"role": "assistant", "content": "Barry Levinson"}, "finish_reason": "stop"}]}
    with HTTPServer(threaded=True) as server:
        server.expect_request("/v1/models").respond_with_json({"data": [{"id": "m"}]})
        server.expect_request("/v1/chat/completions").respond_with_json(reply)
        url = server.url_for("/v1")
        engine = f'language_model={{engine="openai", model="m", base_url="{url}", concurrency={concurrency}}}'
        with Asker("scripted", changes=[engine]) as asker:
            answers = list(asker.ask_all([QUESTION, "who made rain man?"], page))
    assert [answer.text for answer in answers] == ["Barry Levinson"] * 2
    assert [answer.trace.batch_size for answer in answers] == [batch_size] * 2


def test_a_sheet_is_cited_by_its_title(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.title = "Films of 1988"
    for row in (["film", "director"], ["Rain Man", "Barry Levinson"], ["Beetlejuice", "Tim Burton"]):
        sheet.append(row)
    workbook.save(tmp_path / "films.xlsx")
    with Asker("scripted", changes=CHANGES) as asker:
        answer = asker.ask(QUESTION, pages=tmp_path)
    assert answer.sentence == "film: Rain Man | director: Barry Levinson"
    assert answer.source == f"films, {tmp_path / 'films.xlsx'}, sheet Films of 1988"


def test_without_page_and_graph_the_shipped_graph_is_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_MOCK_API_URL", "")
    assert "asking the small graph that is shipped" in ask_shipped_graph(capsys)


def test_a_graph_of_the_command_line_wins_over_any_address_of_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_MOCK_API_URL", "foo")
    assert "asking the small graph" not in ask_shipped_graph(capsys, "--mock-kg")


def ask_shipped_graph(capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """Ask the graph a question; what is said on standard error."""
    call = 'language_model.replies={"Calls:" = \'get_movie("titanic")["revenue"]\'}'
    graph = ["--set", 'knowledge_graph.source_policy="graph_first"', "--set", call]
    graph += ["--set", "knowledge_graph.direct_answers=true"]
    assert main(["ask", "what did titanic earn?", "--json", "--preset", "scripted", *graph, *more]) == 0
    said = capsys.readouterr()
    trace = json.loads(said.out)
    assert trace["graph_state"] == "found"
    assert trace["evidence"]["source"] == 'knowledge graph: get_movie("titanic")["revenue"]'
    assert trace["answer"]["text"] in trace["evidence"]["sentence"]
    return said.err


def test_an_asker_refuses_a_graph_without_an_address_before_it_reads_pages_or_loads_models() -> None:
    with pytest.raises(SettingsError, match="kg_url: 'foo' is not an address such as http://"):
        Asker("scripted", kg_url="foo")


def test_a_dead_graph_is_told(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", QUESTION, "--pages", page, "--kg-url", "http://127.0.0.1:9", *SCRIPTED]) == 0
    warning = "warning: the knowledge graph at http://127.0.0.1:9 gives no results (connection refused)"
    assert capsys.readouterr().err.startswith(warning)
    assert os.environ.get("CRAG_MOCK_API_URL") != "http://127.0.0.1:9", "the next run here asks its own graph"
