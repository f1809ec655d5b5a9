from pathlib import Path

import pytest

from evaluation.preflight.findings import CheckReport, Level
from evaluation.preflight.image import read_pins
from evaluation.preflight.subject import Subject
from tests.evaluation.preflight.conftest import ROOT, Checked

GOOD = (ROOT / "Dockerfile").read_text()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("Dockerfile", "apt.txt", "requirements.txt", "constraints.txt", ".dockerignore"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "problem", "level"),
    [
        ("HF_HUB_OFFLINE=1", "HF_HUB_OFFLINE=0", "HF_HUB_OFFLINE", Level.WARNING),
        ("LANG=en_US.UTF-8", "LANG=C", "UTF-8 locale", Level.WARNING),
        ("WORKDIR /home/aicrowd", "", "WORKDIR", Level.WARNING),
        ("USER aicrowd\n", "", "runs as root", Level.ERROR),
        ("--constraint /tmp/requirements/constraints.txt", "", "constraints.txt", Level.ERROR),
        ('"--help"]', '"--help", "&&", "pip install x"]', "pip install", Level.ERROR),
    ],
)
def test_faults_of_the_dockerfile(old: str, new: str, problem: str, level: Level, tree: Path, checked: Checked) -> None:
    assert old in GOOD
    (tree / "Dockerfile").write_text(GOOD.replace(old, new))
    problems = [(finding.level, finding.problem) for finding in checked("dockerfile", tree).findings]
    assert any(found is level and problem in text for found, text in problems), problems
    (tree / "Dockerfile").write_text(GOOD.replace("USER aicrowd\n", "USER 1001\n"))
    assert checked("dockerfile", tree).findings == [], "the user may be named by its number"


def test_without_a_dockerfile_its_context_is_skipped(tmp_path: Path, checked: Checked) -> None:
    assert checked("docker-context", tmp_path).skipped


@pytest.mark.parametrize(
    ("line", "package", "faulty"),
    [
        ("Jinja2 == 3.1.6", None, True),
        ("uvicorn[standard]==0.54.0", "uvicorn", False),
        ("rank_bm25==0.2.2  # ranking", "rank-bm25", False),
        ("pywin32==311 ; sys_platform == 'win32'", "pywin32", False),
        ("torch>=2", None, True),
        ("torch==2.*", None, True),
        ("git+https://example.org/x.git", None, True),
        ("--extra-index-url https://example.org", None, False),
    ],
)
def test_what_counts_as_an_exact_version(line: str, package: str | None, faulty: bool, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(line + "\n")
    found = CheckReport("pinned")
    assert list(read_pins(Subject(tmp_path), "requirements.txt", found)) == ([package] if package else [])
    assert bool(found.findings) is faulty


def test_contradicting_and_missing(tmp_path: Path, checked: Checked) -> None:
    (tmp_path / "requirements.txt").write_text("a_b==1\nb==1\nc==1\n")
    (tmp_path / "constraints.txt").write_text("A-B==1\nb==2\n")
    found = [(finding.place, finding.level) for finding in checked("pinned", tmp_path).findings]
    assert found == [("requirements.txt:2", Level.ERROR), ("constraints.txt", Level.WARNING)]
