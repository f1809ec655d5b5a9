from pathlib import Path

import pytest

from evaluation.preflight.findings import Level
from tests.evaluation.preflight.conftest import ROOT, Checked

GOOD = (ROOT / "Dockerfile").read_text()


def test_our_own_image_has_no_finding(checked: Checked) -> None:
    assert checked("dockerfile", ROOT).findings == []
    assert checked("docker-context", ROOT).findings == []


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
    told = [(finding.level, finding.problem) for finding in checked("dockerfile", tree).findings]
    assert any(found is level and problem in text for found, text in told), told


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("COPY apt.txt /tmp/apt.txt", "COPY apt*.txt /tmp/"),
        ("USER aicrowd\n", "USER 1001\n"),
    ],
)
def test_what_is_as_good(old: str, new: str, tree: Path, checked: Checked) -> None:
    assert old in GOOD
    (tree / "Dockerfile").write_text(GOOD.replace(old, new))
    assert not [finding for finding in checked("dockerfile", tree).findings if finding.place.file == "Dockerfile"]


def test_a_copied_file_that_the_build_does_not_see(tree: Path, checked: Checked) -> None:
    (tree / ".dockerignore").write_text("*.txt\n")
    places = [str(finding.place) for finding in checked("dockerfile", tree).findings]
    assert ".dockerignore:1" in places


def test_without_a_dockerfile_both_are_skipped(tmp_path: Path, checked: Checked) -> None:
    assert checked("dockerfile", tmp_path).skipped
    assert checked("docker-context", tmp_path).skipped
