"""The index of many pages: it follows the files, survives faults, and finds what a question names."""

import multiprocessing
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from crag.asking.documents import FileReading, read_files
from crag.asking.index import clear_indexes, index_folder, list_indexes, open_index
from crag.asking.index import kept as kept_module
from crag.asking.index import update as update_module
from crag.asking.index.building import FEW_PAGES
from crag.asking.index.files import FoundFile, digest_file
from crag.asking.index.pages import PageIndex
from crag.core.deadline import Deadline
from crag.core.files import DatasetError
from crag.engines.encoders import Vectors
from crag.settings import Settings, load_settings
from crag.web import ExtractionPool, page_text

MANY = FEW_PAGES + 10


class Topics:
    """An encoder to which "brewery" and "beer" mean the same; counts what it encodes."""

    def __init__(self) -> None:
        self.encoded = 0

    def warm_up(self) -> None:
        pass

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return np.array([self._encode(text) for text in texts], dtype=np.float32)

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        self.encoded += len(texts)
        "".join(texts).encode("utf-8")  # as tokenizers do
        return self.encode_queries(texts), len(texts)

    def _encode(self, text: str) -> list[float]:
        return [1.0, 0.0] if "beer" in text or "brewery" in text else [0.0, 1.0]


@pytest.fixture(autouse=True)
def own_index_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CRAG_INDEX_DIR", str(tmp_path / "index"))
    return tmp_path / "index"


@pytest.fixture
def settings() -> Settings:
    return load_settings("scripted", ["web.extract.workers=0"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Many files, each of which names the director of a club of its own."""
    folder = tmp_path / "clubs"
    folder.mkdir()
    for number in range(MANY):
        text = f"The club of street {number} has a director. Director {number} founded nothing."
        (folder / f"{number:03}.txt").write_text(text, encoding="utf-8")
    (folder / "larkfield.txt").write_text("Larkfield rowing club was founded by Mabel Okafor.", encoding="utf-8")
    return folder


def first_text(index: PageIndex, question: str) -> str:
    results = index.search(question)
    return results[0]["page_snippet"] if results else ""


def opened(folder: Path, settings: Settings, encoder: Topics | None = None) -> tuple[PageIndex, list[str]]:
    said: list[str] = []
    return open_index([str(folder)], settings, encoder, said.append), said


@pytest.fixture
def files_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all files that are read."""
    names: list[str] = []

    def count(locations: Sequence[str], pool: ExtractionPool) -> list[FileReading]:
        names.extend(Path(location).name for location in locations)
        return read_files(locations, pool)

    monkeypatch.setattr(update_module, "read_files", count)
    return names


def test_the_names_of_a_question_decide_among_many_pages(folder: Path, settings: Settings) -> None:
    index, _ = opened(folder, settings)
    results = index.search("who founded the rowing club of larkfield?")
    assert results[0]["page_snippet"] == "Larkfield rowing club was founded by Mabel Okafor."
    assert len(results) == settings.web.pages.keep
    assert "Mabel Okafor" in page_text(results[0]["page_result"], settings.web.extract)


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("AC/DC", "acdc"),
        ("Jay-Z", "jay z"),
        ("Spider Man", "spiderman"),
        ("Spiderman", "spider man"),
        ("Grüneck", "gruneck"),
        ("Grüneck", "grueneck"),
        ("Grueneck", "grüneck"),
    ],
)
def test_a_name_may_be_typed_in_another_spelling(folder: Path, settings: Settings, written: str, typed: str) -> None:
    text = f"It was {written}, they say."
    (folder / "name.txt").write_text(text, encoding="utf-8")
    index, _ = opened(folder, settings)
    assert first_text(index, f"what is {typed}?") == text


def test_meaning_finds_what_no_word_of_the_question_finds(folder: Path, settings: Settings) -> None:
    (folder / "drinks.txt").write_text("They make beer in Pilsen.", encoding="utf-8")
    index, _ = opened(folder, settings, Topics())
    assert first_text(index, "where is a brewery?") == "They make beer in Pilsen."
    assert index.vector_bytes == (MANY + 2) * 2 * 2  # two dimensions of two bytes


def test_a_name_that_one_page_alone_has_outweighs_a_little_more_meaning(folder: Path, settings: Settings) -> None:
    """However few pages have a word of the question, the others have none of it."""

    class Beers(Topics):
        def _encode(self, text: str) -> list[float]:
            return [0.9, 0.4] if "Larkfield" in text else super()._encode(text)

    (folder / "drinks.txt").write_text("They make beer in Pilsen.", encoding="utf-8")
    index, _ = opened(folder, settings, Beers())
    assert first_text(index, "where is the brewery of larkfield?").startswith("Larkfield rowing club")


def test_only_what_changed_is_read_and_encoded_again(folder: Path, settings: Settings, files_read: list[str]) -> None:
    opened(folder, settings, Topics())[0].close()
    files_read.clear()

    (folder / "001.txt").write_text("Brackwater harbour was dug by Ines Falkner.", encoding="utf-8")
    (folder / "new.txt").write_text("Quillon bridge was built by Tomas Reuel.", encoding="utf-8")
    (folder / "larkfield.txt").unlink()
    os.utime(folder / "002.txt", (1, 1))
    encoder = Topics()
    index, _ = opened(folder, settings, encoder)

    assert sorted(files_read) == ["001.txt", "new.txt"]
    assert encoder.encoded == 2
    assert first_text(index, "who dug brackwater harbour?").startswith("Brackwater")
    assert first_text(index, "who built quillon bridge?").startswith("Quillon")
    assert "Larkfield" not in first_text(index, "who founded the rowing club of larkfield?")


def test_an_index_of_few_pages_gives_what_reading_them_gives(folder: Path, settings: Settings, tmp_path: Path) -> None:
    for path in sorted(folder.iterdir())[12:]:
        path.unlink()
    index, said = opened(folder, settings)
    assert [len(index.search("who is director 3?")), said, list_indexes()] == [12, [], []]
    assert first_text(index, "who is director 3?").startswith("The club of street 3 ")


def test_what_is_left_out_is_told_at_each_start(folder: Path, settings: Settings) -> None:
    (folder / "scan.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    first, second = (opened(folder, settings)[1] for _ in range(2))
    told = [line for line in first if "scan.png" in line]
    assert len(told) == 1
    assert [line for line in second if "scan.png" in line] == told


def test_a_link_written_otherwise_has_the_same_index(
    folder: Path, settings: Settings, files_read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(folder, settings)[0].close()
    files_read.clear()
    for place, written, address in [
        (folder.parent, "clubs", "clubs/larkfield.txt"),
        (folder, ".", "larkfield.txt"),
    ]:
        monkeypatch.chdir(place)
        index, _ = opened(Path(written), settings)
        assert files_read == []
        assert index.search("who founded the rowing club of larkfield?")[0]["page_url"] == address


@pytest.mark.parametrize("damage", [b"no database at all" * 100, b"SQLite format 3\x00" + bytes(5000)])
def test_a_damaged_index_is_made_again(folder: Path, settings: Settings, damage: bytes) -> None:
    opened(folder, settings)[0].close()
    (kept,) = list_indexes()
    kept.file.write_bytes(damage)
    index, said = opened(folder, settings)
    assert len([line for line in said if "damaged; it is made again" in line]) == 1
    assert first_text(index, "who founded larkfield rowing club?").startswith("Larkfield")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE files SET path = id",
        "UPDATE pages SET title = 'x'",
        "UPDATE pages SET text = ''",
        "DROP TABLE files",
        "DROP TABLE pieces",
    ],
)
def test_an_index_whose_values_or_tables_are_damaged_is_made_again(
    folder: Path, settings: Settings, change: str
) -> None:
    opened(folder, settings)[0].close()
    (kept,) = list_indexes()
    with closing(sqlite3.connect(kept.file)) as connection:
        connection.execute(change)
        connection.commit()
    index, said = opened(folder, settings)
    assert first_text(index, "who founded larkfield rowing club?").startswith("Larkfield")
    assert [line for line in said if not line.endswith("it is made again")] == []
    assert len(said) == 1


def test_a_file_whose_name_is_no_unicode_is_found(folder: Path, settings: Settings) -> None:
    name = os.fsdecode(b"quill\xff.txt")
    (folder / name).write_text("Quillon bridge was built by Tomas Reuel.", encoding="utf-8")
    opened(folder, settings, Topics())[0].close()
    index, _ = opened(folder, settings, Topics())
    assert index.search("who built quillon bridge?")[0]["page_url"] == str(folder / name)
    assert {index.places for index in list_indexes()} == {(str(folder),)}


def test_damage_below_an_open_index_costs_no_answer(folder: Path, settings: Settings) -> None:
    index, said = opened(folder, settings)
    (kept,) = list_indexes()
    content = bytearray(kept.file.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    # The counter of changes: otherwise SQLite answers from its memory.
    content[24:28] = content[92:96] = b"\x00\x00\xff\xff"
    kept.file.write_bytes(content)
    assert first_text(index, "who founded larkfield rowing club?").startswith("Larkfield")
    assert len([line for line in said if "made again" in line]) == 1


def test_without_a_folder_for_it_there_is_no_index(
    folder: Path, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("CRAG_INDEX_DIR", str(tmp_path / "file" / "index"))
    index, said = opened(folder, settings)
    assert len([line for line in said if "no index can be kept" in line]) == 1
    assert first_text(index, "who founded larkfield rowing club?").startswith("Larkfield")


def test_a_full_disk_costs_the_index_alone(folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "long.txt").write_text(" ".join(f"word{number}" for number in range(50_000)), encoding="utf-8")
    connect = sqlite3.connect

    def small_disk(name: object, *arguments: object, **options: object) -> sqlite3.Connection:
        connection = connect(name, *arguments, **options)  # type: ignore[call-overload]
        if isinstance(name, Path):
            connection.execute("PRAGMA max_page_count = 30")
        return connection  # type: ignore[no-any-return]

    monkeypatch.setattr(sqlite3, "connect", small_disk)
    index, said = opened(folder, settings)
    assert len([line for line in said if "disk is full" in line]) == 1
    assert first_text(index, "who founded larkfield rowing club?").startswith("Larkfield")


def test_a_folder_that_has_gone_is_an_error_and_its_index_stays(folder: Path, settings: Settings) -> None:
    opened(folder, settings)[0].close()
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(DatasetError, match="no such file, folder or http address"):
        opened(folder, settings)
    assert len(list_indexes()) == 1


def test_a_killed_build_goes_on_where_it_was(
    folder: Path, settings: Settings, files_read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(file: FoundFile) -> str:
        if Path(file.path).name == "030.txt":
            raise KeyboardInterrupt
        return digest_file(file)

    with monkeypatch.context() as patch:
        patch.setattr(update_module, "FILES_AT_A_TIME", 10)
        patch.setattr(update_module, "digest_file", stop)
        with pytest.raises(KeyboardInterrupt):
            opened(folder, settings)

    read_first = set(files_read)
    assert len(read_first) == 30
    files_read.clear()
    index, _ = opened(folder, settings)
    assert index.page_count == MANY + 1
    assert read_first.isdisjoint(files_read)


def _build(folder: Path, index: Path) -> None:
    os.environ["CRAG_INDEX_DIR"] = str(index)
    opened(folder, load_settings("scripted", ["web.extract.workers=0"]), Topics())[0].close()


def test_two_processes_may_build_the_same_index(folder: Path, settings: Settings, own_index_folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_build, args=(folder, own_index_folder)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0]

    encoder = Topics()
    index, said = opened(folder, settings, encoder)
    assert (index.page_count, encoder.encoded, said) == (MANY + 1, 0, [])
    assert index.vector_bytes == (MANY + 1) * 2 * 2


def test_indexes_are_listed_cleared_and_bounded(
    folder: Path, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for number in range(MANY):
        (other / f"{number}.txt").write_text(f"Note {number}.", encoding="utf-8")
    for place in (folder, other):
        opened(place, settings)[0].close()
    assert {index.places for index in list_indexes()} == {(str(folder),), (str(other),)}

    assert [index.places for index in clear_indexes([str(folder)])] == [(str(folder),)]
    assert [index.places for index in list_indexes()] == [(str(other),)]

    monkeypatch.setattr(kept_module, "MOST_BYTES", 1)
    opened(folder, settings)[0].close()
    assert [index.places for index in list_indexes()] == [(str(folder),)]
    assert clear_indexes()
    assert list(index_folder().iterdir()) == []
    assert len(list(folder.iterdir())) == MANY + 1


@pytest.mark.parametrize("written", ['"{}"', " '{}' "])
def test_quotes_are_no_part_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("CRAG_INDEX_DIR", written.format(tmp_path / "index"))
    assert index_folder() == tmp_path / "index"


def test_no_index_keeps_nothing(folder: Path, settings: Settings) -> None:
    index = open_index([str(folder)], settings, Topics(), print, keep=False)
    assert first_text(index, "who founded larkfield rowing club?").startswith("Larkfield")
    assert not index_folder().exists()
