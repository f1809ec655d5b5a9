"""Every form in which CRAG question files are passed round is read to the same rows; bad ones say what is bad where."""

import bz2
import gc
import json
import os
import re
import resource
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crag.core.files import DatasetError, write_rows
from crag.evaluation.cut_files import dataset_files
from crag.evaluation.datasets import count_rows, read_records, read_rows

PAGE = {
    "page_name": "Name",
    "page_url": "https://example.org/1",
    "page_snippet": "Snippet",
    "page_result": "<p>Text</p>",
    "page_last_modified": "",
}


def row(number: int, **more: Any) -> dict[str, Any]:
    return {
        "interaction_id": f"id{number}",
        "query": f"question {number}?",
        "query_time": "03/05/2024, 23:18:31 PT",
        "answer": f"answer {number}",
        "alt_ans": [],
        "search_results": [PAGE],
        **more,
    }


ROWS = [row(number) for number in range(7)]


def lines(rows: list[Any]) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in rows).encode()


def paged(name: str) -> bytes:
    return lines([row(1, search_results=[{"page_result_file": name}])])


def cut(path: Path, content: bytes, names: list[str]) -> None:
    size = -(-len(content) // len(names))
    for number, name in enumerate(names):
        (path / name).write_bytes(content[number * size : (number + 1) * size])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.jsonl", lines(ROWS)),
        ("q.jsonl", lines(ROWS).replace(b"\n", b"\r\n\n")),
        ("q.jsonl", b"\xef\xbb\xbf" + lines(ROWS)),
        ("q.jsonl.bz2", bz2.compress(lines(ROWS))),
        ("q.jsonl.bz2", bz2.compress(lines(ROWS[:3])) + bz2.compress(lines(ROWS[3:]))),
    ],
    ids=["jsonl", "crlf", "bom", "bz2", "bz2-streams"],
)
def test_every_form_gives_the_same_rows(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert list(read_rows(tmp_path / name)) == ROWS
    assert count_rows(tmp_path / name) == len(ROWS)
    assert count_rows(tmp_path / name, 3) == 3


@pytest.mark.parametrize("numbers", [range(1, 5), range(4), range(1, 13)], ids=["from-1", "from-0", "ten-after-nine"])
@pytest.mark.parametrize("asked", ["first part", "stem"])
def test_numbered_parts_are_joined_in_order(tmp_path: Path, numbers: range, asked: str) -> None:
    names = [f"crag.jsonl.bz2.part{number}" for number in numbers]
    cut(tmp_path, bz2.compress(lines(ROWS)), names)
    (tmp_path / "other.jsonl.bz2.part1").write_bytes(b"not ours")
    path = tmp_path / (names[0] if asked == "first part" else "crag.jsonl.bz2")
    assert list(read_rows(path)) == ROWS
    assert [file.name for file in dataset_files(path)] == names

    (tmp_path / names[-1]).unlink()
    with pytest.raises(DatasetError, match="a part is missing"):
        list(read_rows(path))

    cut(tmp_path, b"x" * 99, names)
    (tmp_path / names[1]).unlink()
    with pytest.raises(DatasetError, match="parts are missing; found"):
        read_rows(tmp_path / "crag.jsonl.bz2")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"alt_ans": ["a", "b"]}, ["a", "b"]),
        ({"alternative_answers": "[]"}, []),
        ({"alternative_answers": '["a"]'}, ["a"]),
        ({"alternative_answers": ["a"]}, ["a"]),
        ({"alt_ans": ""}, []),
        ({"alt_ans": None}, []),
        ({"alt_ans": [0]}, ["0"]),
        ({}, []),
    ],
)
def test_alternative_answers_have_one_shape(tmp_path: Path, found: dict[str, Any], expected: list[str]) -> None:
    plain = {"interaction_id": "x", "query": "q", **found}
    (tmp_path / "q.jsonl").write_bytes(lines([plain]))
    (read,) = read_rows(tmp_path / "q.jsonl")
    assert read == {"interaction_id": "x", "query": "q", "alt_ans": expected}


@pytest.mark.parametrize("name", ["../secret.html", "/etc/hostname", "link.html", "pages/../../secret.html"])
def test_a_page_file_may_not_leave_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (tmp_path / "secret.html").write_text("secret", encoding="utf-8")
    (folder / "link.html").symlink_to(tmp_path / "secret.html")
    (folder / "q.jsonl").write_bytes(lines([row(0, search_results=[{"page_result_file": name}])]))
    with pytest.raises(DatasetError, match=r'q\.jsonl, line 1, field "search_results\[0\]\.page_result_file".*leaves'):
        list(read_rows(folder / "q.jsonl"))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b'{"interaction_id": "x"', r"line 2: not valid JSON"),
        (b'"text"', r"line 2: expected a JSON object, found 'text'"),
        (b"[1]", r"line 2: expected a JSON object, found \[1\]; write one object a line"),
        (b'{\n "query": "who?"\n}', r"line 2: not valid JSON \(write each object in one line"),
        ('{"query": "é"}'.encode("utf-16"), r"line 2: not UTF-8 text \(UTF-16 text, save it as UTF-8"),
        (lines([row(1, query=None)]), r'line 2, field "query": missing or null'),
        (lines([row(1, query=" \u200b")]), r'line 2, field "query": expected a question, found'),
        (b'{"question": "who?", "gold": "x"}', 'line 2, field "query": missing or null; the row has question, gold'),
        (lines([row(1, domain=["movie"])]), r'line 2, field "domain": expected a string, found \[\'movie\'\]'),
        (lines([row(1, alt_ans="no list")]), r'line 2, field "alt_ans": expected a list of strings'),
        (lines([row(1, alt_ans="[" * 5000)]), r'line 2, field "alt_ans": expected a list of strings'),
        (lines([row(1, alt_ans=[{}])]), r'line 2, field "alt_ans": expected a list of strings'),
        (lines([row(1, search_results="html")]), r'line 2, field "search_results": expected a list'),
        (lines([row(1, search_results=["html"])]), r'line 2, field "search_results\[0\]": expected a JSON object'),
        (
            lines([row(1, search_results=[PAGE, {**PAGE, "page_name": 3}])]),
            r'line 2, field "search_results\[1\]\.page_name": expected a string, found 3',
        ),
        (paged("none.html"), r"line 2.*'none\.html' cannot be read"),
        (paged("a\0b"), r"line 2.*embedded null byte"),
        (paged("pipe"), r"line 2.*it is not a file"),
        (paged("loop"), r"line 2.*cannot be read"),
        (b'{"split": ' + b"9" * 5000 + b"}", r"line 2: not valid JSON \(Exceeds the limit"),
        (b'{"query": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", r"line 2: JSON nested too deeply"),
    ],
)
def test_a_bad_or_hostile_row_names_file_line_and_field(tmp_path: Path, bad: bytes, message: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "q.jsonl").write_bytes(lines([row(0)]) + bad.strip() + b"\n")
    rows = read_rows(tmp_path / "q.jsonl")
    assert next(rows) == row(0), "the rows before it are given"
    with pytest.raises(DatasetError, match=r"q\.jsonl, " + message) as error:
        next(rows)
    assert "\n" not in str(error.value)
    with pytest.raises(DatasetError, match=message):
        count_rows(tmp_path / "q.jsonl")
    assert count_rows(tmp_path / "q.jsonl", 1) == 1


@pytest.mark.parametrize("read", [read_rows, read_records])
@pytest.mark.parametrize(("name", "content"), [("q.jsonl", b""), ("q.jsonl", b"\n \n"), ("q.csv", b"query,answer\n")])
def test_a_file_without_rows_is_an_error(
    tmp_path: Path, name: str, content: bytes, read: Callable[[Path], Iterator[object]]
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DatasetError, match=rf"{name}: it has no rows"):
        list(read(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("q.jsonl.gz", "unpack it first"), ("Q.XLSX", "save it as CSV"), ("q.parquet", "write it as JSON lines")],
)
def test_a_kind_of_file_that_is_not_read_is_told_with_what_helps(tmp_path: Path, name: str, remedy: str) -> None:
    (tmp_path / name).write_bytes(b"\x1f\x8b")
    with pytest.raises(DatasetError, match=f"{name}: files of this kind are not read; {remedy}"):
        read_rows(tmp_path / name)


def test_a_file_that_is_not_what_its_name_says_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl.bz2").write_bytes(b"not bz2")
    with pytest.raises(DatasetError, match=r"q\.jsonl\.bz2: cannot be read"):
        list(read_rows(tmp_path / "q.jsonl.bz2"))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none.jsonl", "there is no such file"),
        ("none/none.jsonl", "there is no such file"),
        ("none.jsonl.bz2.part1", "there is no such file"),
        ("pipe.jsonl", "a pipe is not read, because questions are read more than once: write them to a file"),
        (".", "is a folder, not a file"),
        ("q.tar.bz2.part1", "an archive is not read; `crag data fetch` unpacks"),
    ],
)
def test_a_wrong_path_is_reported_at_once(tmp_path: Path, name: str, reason: str) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "q.tar.bz2.part1").touch()
    with pytest.raises(DatasetError, match=f"{re.escape(str(tmp_path / name))}: {reason}"):
        read_rows(tmp_path / name)


def test_rows_behind_the_limit_are_not_even_read(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_bytes(lines(ROWS[:2]) + b"not JSON, but never reached\n")
    assert list(read_rows(tmp_path / "q.jsonl", limit=2)) == ROWS[:2]
    assert list(read_rows(tmp_path / "q.jsonl", limit=0)) == []


def test_rows_are_not_held_together(tmp_path: Path) -> None:
    big = row(0, search_results=[{**PAGE, "page_result": "x" * 1_000_000}])
    write_rows(tmp_path / "q.jsonl.bz2", (big for _ in range(30)))
    gc.collect()
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_rows(tmp_path / "q.jsonl.bz2")) == 30
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12_000_000, "thirty rows of 1 MB were read within the memory of a few"


def test_gigabytes_in_one_line_are_refused_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl.bz2"
    path.write_bytes(bz2.compress(b" " * 50_000_000) * 20)
    assert path.stat().st_size < 2000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for read in (count_rows, lambda file: list(read_rows(file))):
        with pytest.raises(DatasetError, match=r"line 1: longer than 256,000,000 bytes"):
            read(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 700_000  # kilobytes


def test_a_query_alone_is_a_row_and_csv_is_read(tmp_path: Path) -> None:
    # Null, as a table's export writes it, is as good as no field
    nothing = dict.fromkeys(["answer", "interaction_id", "query_time", "search_results"])
    (tmp_path / "q.jsonl").write_bytes(lines([{"query": "q 1"}, {"query": "q 1", **nothing}]))
    first, second = read_rows(tmp_path / "q.jsonl")
    assert first == {"query": "q 1", "interaction_id": "line 1", "alt_ans": []}
    assert second == {**first, "interaction_id": "line 2"}
    table = '\ufeffquery,answer,alt_ans,domain\n"who, then?",Ann,"[""Anna""]",\n\n"two\nlines",,,movie\n'
    for name, content in (("q.csv", table.encode()), ("q.csv.bz2", bz2.compress(table.encode()))):
        (tmp_path / name).write_bytes(content)
        assert count_rows(tmp_path / name) == 2
        assert list(read_rows(tmp_path / name)) == [
            {"query": "who, then?", "answer": "Ann", "interaction_id": "line 2", "alt_ans": ["Anna"]},
            {"query": "two\nlines", "domain": "movie", "interaction_id": "line 5", "alt_ans": []},
        ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"question,answer\nq,a\n", r'q.csv, line 1: the header has no column "query", only question, answer'),
        (b"", r"only nothing"),
        (b'query\n"open\n', r"q.csv, line 2: not CSV in UTF-8 \(unexpected end"),
        (b'query\n"a\nb"\nK\xf6ln\n', r"q.csv, line 4: not UTF-8 text \(byte 0xf6\); save it as UTF-8"),
    ],
)
def test_a_csv_without_a_query_column_or_with_damage_is_an_error_with_its_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "q.csv").write_bytes(content)
    with pytest.raises(DatasetError, match=message):
        list(read_rows(tmp_path / "q.csv"))


def test_fields_with_other_capitals_are_read_and_ignored_columns_are_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.csv").write_text("Query, Answer,Alt Ans,Notes, Predictions,\nwho?, Ann,,x,y,z\n", encoding="utf-8")
    (tmp_path / "q.tsv").write_text("query\tANSWER \nwho?\tAnn\n", encoding="utf-8")
    (tmp_path / "q.jsonl").write_bytes(lines([{"Query": "who?", " answer": "Ann"}]))
    for name in ("q.csv", "q.tsv", "q.jsonl", "q.csv"):
        (read,) = read_rows(tmp_path / name)
        assert (read["query"], read["answer"], read["alt_ans"]) == ("who?", "Ann", [])
        assert count_rows(tmp_path / name) == 1
    assert (
        capsys.readouterr().err
        == f"{tmp_path / 'q.csv'}: columns that are ignored: Notes, Predictions, column 6 without a name\n"
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.csv", b"query,anwser\nq,a\n", "line 1: unknown column 'anwser': did you mean \"answer\"?"),
        ("q.csv", b"query,answer,qeury_time\nq,a,\n", "unknown column 'qeury_time': did you mean \"query_time\"?"),
        ("q.jsonl", lines([row(0), {"query": "q", "anwser": "a"}]), "line 2: unknown field 'anwser': did you mean"),
        ("q.jsonl", lines([{**row(0), "Answer": "b"}]), "line 1: the field \"answer\" occurs twice, once as 'Answer'"),
    ],
)
def test_a_misspelt_field_is_no_lost_answer(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DatasetError, match=re.escape(message)):
        list(read_rows(tmp_path / name))


def test_a_time_of_any_form_gets_the_form_of_crag_and_another_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("query,Query Time\nq,2024-03-06T07:18:31Z\nq,\nq,noon\n", encoding="utf-8")
    rows = read_rows(tmp_path / "q.csv")
    assert next(rows)["query_time"] == "03/05/2024, 23:18:31 PT"
    assert "query_time" not in next(rows)
    message = (
        r"q\.csv, line 4, field \"query_time\": 'noon' is not a time such as \"03/05/2024, 23:18:31 PT\", \"2024-03-05T"
    )
    with pytest.raises(DatasetError, match=message):
        next(rows)
