from pathlib import Path

import pytest

from evaluation.preflight.findings import CheckReport, Level
from evaluation.preflight.requirements import normalised, read_pins
from evaluation.preflight.subject import Subject
from tests.evaluation.preflight.conftest import ROOT, Checked


def test_our_own_lists_agree(checked: Checked) -> None:
    assert checked("pinned", ROOT).findings == []


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
    found = CheckReport("pinned")
    assert list(read_pins(Subject(tmp_path), "requirements.txt", found)) == ([package] if package else [])
    assert bool(found.findings) is faulty


def test_names_are_compared_as_pip_does() -> None:
    assert normalised("Sentence_Transformers") == normalised("sentence-transformers")


def tree_with(root: Path, requirements: str, constraints: str, code: str = "") -> Path:
    (root / "agents").mkdir()
    (root / "agents" / "code.py").write_text(code)
    (root / "requirements.txt").write_text(requirements)
    (root / "constraints.txt").write_text(constraints)
    return root


def test_contradicting_and_missing(tmp_path: Path, checked: Checked) -> None:
    tree_with(tmp_path, "a==1\nb==1\nc==1\n", "a==1\nb==2\n")
    found = [(str(f.place), f.level) for f in checked("pinned", tmp_path).findings]
    assert found == [("requirements.txt:2", Level.ERROR), ("constraints.txt", Level.WARNING)]


def test_imports_by_another_name_and_of_the_project_itself(tmp_path: Path, checked: Checked) -> None:
    code = "import json,bs4, agents.x as x\nfrom sklearn import svm\ndef f():\n    import yaml.loader as y\n"
    code += "if x: import lonely\n"
    tree_with(tmp_path, "beautifulsoup4==4\n", "scikit-learn==1\nbeautifulsoup4==4\n", code)
    told = {(f.level, f.problem.split(",")[0]) for f in checked("imports-named", tmp_path).findings}
    assert told == {(Level.WARNING, "imports sklearn"), (Level.ERROR, "imports yaml"), (Level.ERROR, "imports lonely")}
