"""The charts of a run as files of their own."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from crag.commands.report import main
from crag.core.files import DatasetError
from crag.evaluation.report.pictures import write_pictures
from crag.evaluation.report.run_page import write_report
from tests.evaluation.report.example import record, trace, write_run

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["score_over_threshold.svg", "reliability.svg", "seconds_by_stage.svg"]


def marks(path: Path) -> list[ET.Element]:
    """What is drawn, without style and background."""
    root = ET.parse(path).getroot()  # noqa: S314 - our own file
    assert root.tag == f"{SVG}svg"
    style, background, *rest = root
    assert style.tag == f"{SVG}style"
    assert background.get("class") == "background"
    return rest


def test_each_chart_of_the_report_is_a_file_that_a_browser_can_draw(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    paths = write_pictures(run, tmp_path / "made" / "pictures")
    assert [path.name for path in paths] == NAMES
    assert all(marks(path) for path in paths)

    # The lines are those of the report.
    report = write_report(run).read_text(encoding="utf-8")
    for path in paths[:2]:
        drawn = [mark.get("d") for mark in marks(path) if mark.tag == f"{SVG}path"]
        assert drawn
        assert all(f'd="{line}"' in report for line in drawn)


def test_seconds_are_drawn_where_p_correct_is_unknown(tmp_path: Path) -> None:
    batch = [trace(number, candidates=[]) for number in range(2)]
    run = write_run(tmp_path / "run", [record(0), record(1)], batch)
    (path,) = write_pictures(run, tmp_path)
    assert path.name == NAMES[-1]
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"\d\.\d\d s(?=<)", text) == ["0.50 s", "1.50 s"]


def test_the_command_prints_the_paths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(tmp_path / "run")
    assert main([str(run), "--pictures", str(tmp_path / "pictures")]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [str(tmp_path / "pictures" / name) for name in NAMES]


def test_a_run_without_anything_to_draw_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(tmp_path / "run", [record(0)], [])
    main([str(run), "--pictures", str(tmp_path / "pictures")])
    fault = f"no pictures: the traces of {run} have neither P(correct) nor seconds of stages\n"
    assert capsys.readouterr().err == fault


def test_a_file_in_the_way_is_an_error_that_names_it(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    (tmp_path / "pictures").write_text("", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"score_over_threshold\.svg: cannot be written"):
        write_pictures(run, tmp_path / "pictures")
