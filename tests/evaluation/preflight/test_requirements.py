import sys
from pathlib import Path

import pytest

from evaluation.preflight.checks import named, run_check
from evaluation.preflight.findings import Findings, Level
from evaluation.preflight.requirements import normalised, read_pins
from evaluation.preflight.subject import Subject
from tests.evaluation.preflight.conftest import ROOT, Checked


def test_our_own_lists_agree(checked: Checked) -> None:
    assert checked("pinned", ROOT).outcome.findings == ()
    assert checked("compatible", ROOT).outcome.findings == ()


@pytest.mark.parametrize(
    ("line", "package", "faulty"),
    [
        ("torch==2.10.0", "torch", False),
        ("Jinja2 == 3.1.6", None, True),
        ("uvicorn[standard]==0.54.0", "uvicorn", False),
        ("rank_bm25==0.2.2  # ranking", "rank-bm25", False),
        ("pywin32==311 ; sys_platform == 'win32'", "pywin32", False),
        ("torch", None, True),
        ("torch>=2", None, True),
        ("torch==2.*", None, True),
        ("git+https://example.org/x.git", None, True),
        ("--extra-index-url https://example.org", None, False),
        ("# torch", None, False),
    ],
)
def test_what_counts_as_an_exact_version(line: str, package: str | None, faulty: bool, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(line + "\n")
    found = Findings()
    assert list(read_pins(Subject(tmp_path), "requirements.txt", found)) == ([package] if package else [])
    assert bool(found.items) is faulty


def test_names_are_compared_as_pip_does() -> None:
    assert normalised("Sentence_Transformers") == normalised("sentence-transformers")


def tree_with(root: Path, requirements: str, constraints: str, code: str = "") -> Path:
    (root / "agents").mkdir()
    (root / "agents" / "code.py").write_text(code)
    (root / "requirements.txt").write_text(requirements)
    (root / "constraints.txt").write_text(constraints)
    return root


def test_twice_and_contradicting(tmp_path: Path, checked: Checked) -> None:
    tree_with(tmp_path, "a==1\nA==1\nb==1\nc==1\n", "a==1\nb==2\n")
    told = [(str(f.place), f.level) for f in checked("pinned", tmp_path).outcome.findings]
    assert ("requirements.txt:2", Level.ERROR) in told
    assert ("requirements.txt:3", Level.ERROR) in told
    assert ("constraints.txt", Level.WARNING) in told


def test_versions_are_compared_as_pip_does(tmp_path: Path, checked: Checked) -> None:
    tree_with(tmp_path, "a==26.3\nb==1.0\n", "a==26.3.0\nb==1.0.1\n")
    (finding,) = checked("pinned", tmp_path).outcome.findings
    assert "b==1.0, but constraints.txt:2 says 1.0.1" in finding.problem


def test_further_files_are_followed(tmp_path: Path, checked: Checked) -> None:
    tree_with(tmp_path, "-r more/other.txt\na==1\n", "a==1\nb==2\n", "import b\n")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "other.txt").write_text("b==1\n--requirement=../requirements.txt\n--requirement gone.txt\n")
    told = {(str(f.place), f.problem) for f in checked("pinned", tmp_path).outcome.findings}
    assert ("more/other.txt:1", "b==1, but constraints.txt:2 says 2") in told
    assert ("more/other.txt:3", "names more/gone.txt, which is not there") in told
    assert checked("imports-named", tmp_path).outcome.findings == ()


def test_imports_by_another_name_and_of_the_project_itself(tmp_path: Path, checked: Checked) -> None:
    code = "import json,bs4, agents.x as x\nfrom sklearn import svm\ndef f():\n    import yaml.loader as y\n"
    code += "if x: import lonely\n"
    tree_with(tmp_path, "beautifulsoup4==4\n", "scikit-learn==1\nbeautifulsoup4==4\n", code)
    told = {(f.level, f.problem.split(",")[0]) for f in checked("imports-named", tmp_path).outcome.findings}
    assert told == {(Level.WARNING, "imports sklearn"), (Level.ERROR, "imports yaml"), (Level.ERROR, "imports lonely")}


def test_pips_own_words_where_versions_cannot_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree_with(tmp_path, "a==1\n", "a==1\n")
    pip = tmp_path / "pip"
    pip.write_text("#!/bin/sh\necho 'ERROR: ResolutionImpossible: a and b' >&2\nexit 1\n")
    pip.chmod(0o755)
    assert run_check(named("resolve"), Subject(tmp_path)).outcome.skipped, "only when asked for"
    monkeypatch.setattr(sys, "executable", str(pip))
    report = run_check(named("resolve"), Subject(tmp_path, resolve=True))
    assert "ResolutionImpossible" in report.outcome.findings[0].problem
    pip.write_text("#!/bin/sh\nexit 0\n")
    assert run_check(named("resolve"), Subject(tmp_path, resolve=True)).outcome.findings == ()
