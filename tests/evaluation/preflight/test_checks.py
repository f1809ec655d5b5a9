"""Each fault that has lost a submission is found by its check, with a remedy; a clean tree passes."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.preflight.__main__ import CHECKS, main, run_check
from evaluation.preflight.findings import CheckReport, Level
from evaluation.preflight.subject import Subject
from tests.evaluation.preflight.conftest import ROOT, Checked, commit, git, replace

Plant = Callable[[Path], object]


def json_field(name: str, value: object) -> Plant:
    def plant(root: Path) -> None:
        description = json.loads((root / "aicrowd.json").read_text())
        (root / "aicrowd.json").write_text(json.dumps(description | {name: value}))

    return plant


def written(name: str, content: str | bytes) -> Plant:
    def plant(root: Path) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        git(root, "add", name)  # what is in the index counts as committed for all checks but that of the clean tree

    return plant


def changed(name: str, old: str, new: str) -> Plant:
    return lambda root: replace(root / name, old, new)


def lightweight_tag(root: Path) -> None:
    git(root, "tag", "--delete", "submission-1")
    git(root, "tag", "submission-1")


def windows_line_ends(root: Path) -> None:
    (root / "apt.txt").write_bytes((root / "apt.txt").read_bytes().replace(b"\n", b"\r\n"))


def stored_outside_lfs(root: Path) -> None:
    (root / "models" / "weights" / "m").mkdir(parents=True)
    (root / "models" / "weights" / "m" / "model.safetensors").write_bytes(bytes(5_000))
    commit(root)  # no git-lfs is configured here: git stores the bytes themselves


POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 1000\n"
AGENT = "class UserAgent:\n    def get_batch_size(self): return 1\n    def batch_generate_answer(self, b): return []\n"

FAULTS: dict[str, tuple[str, Plant, str]] = {
    "no GPU": ("gpu", json_field("gpu", False), '"gpu": true'),
    "more GPUs than there are": ("gpu", json_field("gpu_count", 8), "1 to 4"),
    "unknown challenge": ("challenge", json_field("challenge_id", "meta-kdd-cup-25"), "PRESET=scripted"),
    "misspelt challenge": (
        "challenge",
        json_field("challenge_id", "meta-kdd-cup-24-crag-knowledge-graph-and-web-retreival"),
        "make task2 PRESET=scripted",
    ),
    "token": ("secrets", written("notes.txt", "first\nuse hf_" + "aB3" * 12), "revoke it"),
    "private key": ("secrets", written("deploy", f"-----BEGIN OPENSSH {'PRIVATE'} KEY-----\n"), "revoke it"),
    "filled .env": ("secrets", written(".env", "# mine\nOPENAI_API_KEY=" + "x" * 8), "revoke it"),
    "secret that git does not know yet": (
        "secrets", lambda root: (root / "new.py").write_text(f"KEY = 'ghp_{'a1' * 18}'"), "revoke it",
    ),
    "no Dockerfile": ("dockerfile", lambda root: (root / "Dockerfile").unlink(), "git checkout HEAD"),
    "requirement from git": (
        "pinned", written("requirements.txt", "tool @ git+https://example.org/tool@main\n"), "PACKAGE==VERSION",
    ),
    "large file outside of models": ("lfs", written("data/large.csv", bytes(6_000_000)), "git lfs migrate import"),
    "challenge of another task than the preset": (
        "challenge", written("agents/presets/active.toml", 'preset = "db3_task23"\n'), "make task2",
    ),
    "placeholder author": ("aicrowd-json", json_field("authors", ["your-aicrowd-username"]), "user names"),
    "number as text": ("aicrowd-json", json_field("gpu_count", "4"), "without quotes"),
    "broken aicrowd.json": ("aicrowd-json", written("aicrowd.json", "{"), "make task1"),
    "unknown key in the preset": (
        "preset", changed("agents/presets/scripted.toml", "[web]", "[wep]"), "correct the key",
    ),
    "model on a server": (
        "preset", changed("agents/presets/scripted.toml", '"scripted"', '"openai"\nmodel = "m"'), "vllm",
    ),
    "change that is not committed": ("clean-tree", changed("apt.txt", "git", "git\ncurl"), "git commit"),
    "lightweight tag": ("tag", lightweight_tag, "git tag -a submission-1"),
    "pointer instead of weights": ("lfs", written("models/weights/m/model.safetensors", POINTER), "git lfs pull"),
    "weights outside of Git LFS": ("lfs", stored_outside_lfs, "git lfs migrate import"),
    "no rule for weights": ("lfs", written(".gitattributes", "* text=auto eol=lf\n"), "filter=lfs"),
    "carriage returns in apt.txt": ("line-ends", windows_line_ends, "sed -i 's/\\r$//' apt.txt"),
    "byte order mark": ("line-ends", written("requirements.txt", b"\xef\xbb\xbftorch==2.10.0\n"), "sed -i"),
    "absolute path": (
        "absolute-paths", written("agents/extra.py", "PLACE = '/home/ada/models'\n"), "relative to the repository",
    ),
    "eval": ("risky-calls", written("agents/extra.py", "x = eval('1 + 1')\n"), "without"),
    "versions that contradict": ("pinned", changed("constraints.txt", "peft==0.21.2", "peft==0.20.0"), "same version"),
    "import without requirement": ("imports-named", written("agents/extra.py", "import flask\n"), "add flask"),
    "engine that the image does not have": (
        "imports-named",
        changed("agents/presets/scripted.toml", '"scripted"', '"openvino"\nmodel = "m"'),
        "add openvino",
    ),
    "code kept from the image": (
        "docker-context", changed(".dockerignore", "models/weights", "models/**"), "not the code",
    ),
    "tables kept from the image": ("docker-context", changed(".dockerignore", "**/*.pyc", "**/*.csv"), "not the code"),
    "import that fails": ("import", written("agents/user_config.py", "import nowhere_to_be_found\n"), "traceback"),
    "import that prints": ("import", written("agents/user_config.py", AGENT + "print('loading')\n"), "logging"),
    "import that asks the network": (
        "import",
        written("agents/user_config.py", AGENT + "import socket\nsocket.create_connection(('192.0.2.1', 80), 1)\n"),
        "ship the file",
    ),
    "agent without its method": ("import", written("agents/user_config.py", "class UserAgent: pass\n"), "define"),
}  # fmt: skip


ONLY_WARNINGS = {"placeholder author", "no Dockerfile"}
"""What has not lost a submission; a fresh clone has it, and may be rehearsed."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_and_its_remedy_reported(
    fault: str, tree: Path, checked: Checked, clean_problems: Callable[[str], set[str]]
) -> None:
    name, plant, remedy = FAULTS[fault]
    plant(tree)
    new = [finding for finding in checked(name, tree).findings if finding.problem not in clean_problems(name)]
    level = Level.WARNING if fault in ONLY_WARNINGS else Level.ERROR
    assert any(finding.level is level and remedy in finding.remedy for finding in new), new


def test_a_secret_is_named_by_file_and_line_and_never_shown(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    token = "hf_" + "aB3" * 12
    written("notes.txt", f"first\nuse {token}\n")(tree)
    assert main(["--root", str(tree), "--skip", *(name for name in CHECKS if name != "secrets")]) == 1
    shown = capsys.readouterr().out
    assert "ERROR [secrets] notes.txt:2: has a Hugging Face token" in shown
    assert token[:8] not in shown


def test_nothing_of_the_projects_own_is_taken_for_a_secret(checked: Checked) -> None:
    report = checked("secrets", ROOT)
    assert report.findings == []
    assert not report.note.startswith("0 ")


def test_equal_findings_are_one(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = AGENT.replace("return []", "return ['two\\nlines'] * len(b['query'])").replace("return 1", "return 16")
    written("agents/user_config.py", wrong)(tree)
    only = [name for name in CHECKS if name != "batch"]
    assert main(["--root", str(tree), "--skip", *only]) == 1
    said = capsys.readouterr()
    (line,) = [line for line in said.out.splitlines() if "several lines" in line]
    assert line.endswith("(17 times)")
    assert "1 finding" not in said.out
    assert "checking batch ..." in said.err.splitlines(), "progress without a terminal"
    assert "  batch 1: 16 questions ..." in said.err.splitlines()


def test_a_clean_tree_passes(clean_tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(clean_tree)]) == 0
    shown = capsys.readouterr().out
    assert "0 error(s)" in shown
    assert "ERROR" not in shown
    assert all(name in shown for name in CHECKS)
    assert "a batch of 16 in" in shown
    assert git(clean_tree, "status", "--porcelain") == "", "checking changes nothing"


def test_one_error_gives_exit_code_1_and_the_report_as_json(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    json_field("gpu", value=False)(tree)
    left_out = ["import", "batch", "absolute-paths", "risky-calls", "imports-named", "clean-tree"]
    assert main(["--root", str(tree), "--json", "--skip", *left_out]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["errors"] == 1
    checks = {check["check"]: check for check in report["checks"]}
    assert list(checks) == list(CHECKS)
    assert {name for name, check in checks.items() if check["skipped"] == "skipped with --skip"} == {*left_out}
    assert (checks["gpu"]["findings"][0]["file"], checks["gpu"]["findings"][0]["field"]) == ("aicrowd.json", "gpu")


def test_wrong_arguments_give_exit_code_2_and_the_list_has_what_each_check_demands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--root", str(tmp_path)]) == 2
    with pytest.raises(SystemExit, match="2"):
        main(["--skip", "everything"])
    capsys.readouterr()
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines() if len(line) > 36] == list(CHECKS)


def test_without_a_repository_what_needs_git_is_skipped_with_the_reason(
    clean_tree: Path, tmp_path: Path, checked: Checked
) -> None:
    root = tmp_path / "copy"
    root.mkdir()
    for name in ("agents", "aicrowd.json", "models"):
        (root / name).symlink_to(clean_tree / name)
    for name in ("clean-tree", "tag", "lfs", "history-size"):
        skipped = checked(name, root).skipped
        assert skipped, name
        assert "git" in skipped or "repository" in skipped
    assert checked("gpu", root).errors == 0


@pytest.mark.parametrize("error", [IndexError, re.error, OSError])
def test_no_check_ends_the_others(error: type[Exception], clean_tree: Path) -> None:
    def stumbles(subject: Subject, found: CheckReport) -> None:
        raise error("over this file")

    report = run_check("stumbles", Subject(clean_tree), stumbles)
    assert report.errors == 1
    assert "over this file" in report.findings[0].problem
    assert "--skip stumbles" in report.findings[0].remedy
