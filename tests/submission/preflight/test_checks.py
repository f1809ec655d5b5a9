"""Each fault that has lost a submission is found by its check, with a remedy; a clean tree passes."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from crag.commands.preflight import main
from crag.submission.preflight import CHALLENGES
from crag.submission.preflight.checks import CHECKS, run_check
from crag.submission.preflight.subject import Finding, Findings, Level, Subject
from tests.submission.preflight.conftest import ROOT, Checked, commit, git, replace

Plant = Callable[[Path], object]
PRESETS = sorted(path.stem for path in (ROOT / "crag" / "presets").glob("*.toml"))


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


def stored_outside_lfs(root: Path) -> None:
    (root / "models" / "weights" / "m").mkdir(parents=True)
    (root / "models" / "weights" / "m" / "model.safetensors").write_bytes(bytes(5_000))
    commit(root)  # no git-lfs is configured here: git stores the bytes themselves


POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 1000\n"
AGENT = "class UserAgent:\n    def get_batch_size(self): return 1\n    def batch_generate_answer(self, b): return []\n"
SCRIPTED = "crag/presets/scripted.toml"

FAULTS: dict[str, tuple[str, Plant, str]] = {
    "no GPU": ("aicrowd-json", json_field("gpu", False), '"gpu": true'),
    "more GPUs than there are": ("aicrowd-json", json_field("gpu_count", 8), "1 to 4"),
    "unknown challenge": ("aicrowd-json", json_field("challenge_id", "meta-kdd-cup-25"), "PRESET=scripted"),
    "placeholder author": ("aicrowd-json", json_field("authors", ["your-aicrowd-username"]), "user names"),
    "debug submission": ("aicrowd-json", json_field("debug", True), "submission that counts"),
    "broken aicrowd.json": ("aicrowd-json", written("aicrowd.json", "{"), "git checkout aicrowd.json"),
    "description with a byte order mark": (
        "aicrowd-json", changed("aicrowd.json", "{", "\N{BOM}{"), "UTF-8 without one",
    ),
    "challenge of another task than the preset": (
        "aicrowd-json", written("agents/active.toml", 'preset = "db3_task23"\n'), "make task2",
    ),
    "unknown key in the preset": ("preset", changed(SCRIPTED, "[web]", "[wep]"), "correct it"),
    "model on a server": ("preset", changed(SCRIPTED, '"scripted"', '"openai"\nmodel = "m"'), "vllm"),
    "change that is not committed": ("clean-tree", changed("apt.txt", "git", "git\ncurl"), "git commit"),
    "file that git does not know": ("clean-tree", lambda root: (root / "notes.txt").touch(), "git add"),
    "pointer instead of weights": ("lfs", written("models/weights/m/model.safetensors", POINTER), "git lfs pull"),
    "weights outside of Git LFS": ("lfs", stored_outside_lfs, "git lfs migrate import"),
    "large file outside of models": ("lfs", written("data/größe.csv", bytes(21_000_000)), "git lfs migrate import"),
    "no rule for weights": ("lfs", written(".gitattributes", "* text=auto eol=lf\n"), "filter=lfs"),
    "token": ("secrets", written("notes.txt", "first\nuse hf_" + "aB3" * 12), "revoke it"),
    "filled .env of PowerShell": ("secrets", written(".env", ("API_KEY=" + "x" * 8).encode("utf-16")), "revoke it"),
    "filled .env with a byte order mark": ("secrets", written(".env", "\N{BOM}API_KEY=" + "x" * 8), "revoke it"),
    "filled .env": ("secrets", written(".env", "# mine\nOPENAI_API_KEY=" + "x" * 8), "revoke it"),
    "secret that git does not know yet": (
        "secrets", lambda root: (root / "new.py").write_text(f"KEY = 'ghp_{'a1' * 18}'"), "revoke it",
    ),
    "import that only another package brings": (
        "imports-named", changed("requirements.txt", "beautifulsoup4==", "# "), "package of bs4",
    ),
    "comment where packages stand": ("apt-packages", changed("apt.txt", "gcc", "# the compiler\ngcc"), "comments"),
    "packages with commas": ("apt-packages", changed("apt.txt", "gcc", "gcc, make"), "commas"),
    "byte order mark before a package": ("apt-packages", written("apt.txt", "\N{BOM}git\r\n"), "byte order mark"),
    "no file of Debian packages": ("apt-packages", lambda root: (root / "apt.txt").unlink(), "git checkout"),
    "requirement with one sign of equality": (
        "imports-named", changed("requirements.txt", "lxml==", "lxml="), "NAME==VERSION",
    ),
    "pin that the lock lacks": ("imports-named", changed("requirements.txt", "lxml==", "lxml==1"), "make locks"),
    "import that prints": ("agent", written("agents/user_config.py", AGENT + "print('loading')\n"), "logging"),
    "agent without its method": ("agent", written("agents/user_config.py", "class UserAgent: pass\n"), "traceback"),
    "other class under the kit's name": (
        "agent", written("models/user_config.py", "class UserModel: pass\n"), "traceback",
    ),
    "kit's name that is missing": ("agent", written("models/user_config.py", ""), "traceback"),
}  # fmt: skip
ONLY_WARNINGS = {
    "placeholder author",
    "description with a byte order mark",
    "file that git does not know",
    "debug submission",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_and_its_remedy_reported(fault: str, tree: Path, checked: Checked) -> None:
    name, plant, remedy = FAULTS[fault]
    plant(tree)
    level = Level.WARNING if fault in ONLY_WARNINGS else Level.ERROR
    found = checked(name, tree).of(level)
    assert any(remedy in finding.remedy for finding in found), found


def test_a_description_that_is_missing_or_names_no_challenge(tree: Path, checked: Checked) -> None:
    json_field("challenge_id", "meta-kdd-cup-25")(tree)
    (unknown, *_) = checked("aicrowd-json", tree).of(Level.ERROR)
    assert unknown.problem.startswith("is 'meta-kdd-cup-25': known are meta-kdd-cup-24-")

    (tree / "aicrowd.json").unlink()
    assert [finding.problem for finding in checked("aicrowd-json", tree).of(Level.ERROR)] == ["is missing"]


def test_a_preset_of_ones_own_is_checked_by_its_path(tree: Path, checked: Checked) -> None:
    written("agents/active.toml", 'preset = "agents/own.toml"\n')(tree)
    found = checked("preset", tree).of(Level.ERROR)
    assert [finding.problem for finding in found] == ["the preset cannot be loaded: there is no file agents/own.toml"]
    written("agents/own.toml", 'extends = "scripted"\n')(tree)
    assert checked("preset", tree).of(Level.ERROR) == []


def test_a_clean_tree_passes(clean_tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(clean_tree)]) == 0
    shown = capsys.readouterr().out
    assert "0 error(s)" in shown
    assert all(re.search(rf"^{name} +(ok|warning|skipped)", shown, re.M) for name in CHECKS)
    assert "a batch of 16 in" in shown
    assert git(clean_tree, "status", "--porcelain") == "", "checking changes nothing"


def test_what_an_engine_compiles_beside_weights_is_not_pushed(tree: Path, checked: Checked) -> None:
    folder = tree / "models" / "weights" / "m" / "int8"
    folder.mkdir(parents=True)
    for name in ("adapters-1f.compiled", "2.blob"):
        (folder / name).touch()
    assert checked("clean-tree", tree).findings == []


def test_checks_that_are_all_skipped_are_no_success(clean_tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(clean_tree), "--skip", *CHECKS]) == 2
    assert capsys.readouterr().out.endswith("\nnothing was checked\n")


def test_a_secret_is_named_by_file_and_line_and_never_shown(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    token = "hf_" + "aB3" * 12
    written("notes.txt", f"first\nuse {token}\n")(tree)
    assert main(["--root", str(tree), "--skip", *(name for name in CHECKS if name != "secrets")]) == 1
    shown = capsys.readouterr().out
    assert "ERROR [secrets] notes.txt:2: has a Hugging Face token" in shown
    assert token[:8] not in shown
    assert f"{len(CHECKS) - 1} check(s) skipped: do not push it" in shown


@pytest.mark.parametrize("check", ["secrets", "imports-named"])
def test_the_project_itself_has_none_of_these(check: str, checked: Checked) -> None:
    report = checked(check, ROOT)
    assert (report.findings, report.skipped) == ([], None)


def test_wrong_arguments_give_exit_code_2_and_the_list_has_what_each_check_demands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--root", str(tmp_path)]) == 2
    with pytest.raises(SystemExit, match="2"):
        main(["--skip", "everything"])
    capsys.readouterr()
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines() if len(line) > 36] == list(CHECKS)


def test_what_needs_git_is_skipped_with_the_reason_where_git_cannot_be_asked(
    clean_tree: Path, tmp_path: Path, checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("clean-tree", "lfs", "secrets"):
        assert "the repository's root is" in (checked(name, clean_tree / "agents").skipped or "")
        assert "git" in (checked(name, tmp_path).skipped or "")
    monkeypatch.setenv("PATH", "/nowhere")
    assert "git cannot be run" in (checked("lfs", clean_tree).skipped or "")


@pytest.mark.parametrize("error", [IndexError, subprocess.TimeoutExpired])
def test_no_check_ends_the_others(error: Callable[..., Exception], clean_tree: Path) -> None:
    def stumbles(subject: Subject) -> Findings:
        yield Finding(Level.WARNING, "a.py", "seen before")
        raise error("over this file", 1)

    report = run_check("stumbles", Subject(clean_tree), stumbles)
    assert [finding.level for finding in report.findings] == [Level.WARNING, Level.ERROR]
    assert "over this file" in report.findings[1].problem
    assert "--skip stumbles" in report.findings[1].remedy


@pytest.mark.parametrize("preset", PRESETS)
def test_the_shipped_presets_have_no_error_of_their_own(preset: str, tree: Path, checked: Checked) -> None:
    task = "task2" if "task23" in preset else "task1"
    json_field("challenge_id", CHALLENGES[task])(tree)
    errors = [
        finding for name in ("preset", "aicrowd-json") for finding in checked(name, tree, preset=preset).of(Level.ERROR)
    ]
    assert ["uses a server" in finding.problem for finding in errors] == [True] * (preset == "endpoint")


@pytest.mark.parametrize(
    ("check", "file", "old", "new", "asked", "problem"),
    [
        ("preset", "db3_task1", 'dtype = "float16"\ndevice = "auto"', 'dtype = "bfloat16"', {}, "bfloat16"),
        ("aicrowd-json", "aicrowd.json", '"gpu_count": 4', '"gpu_count": 2', {}, "submission uses 4 GPUs"),
        ("aicrowd-json", "submission", "", "", {"task": "task3"}, "names task1, but submission is to be"),
        ("preset", "db3_task1", "", "", {"task": "task3"}, "the graph of task3 is not used"),
        ("memory", "weknow", "gpu_memory_utilization = 0.8", "gpu_memory_utilization = 0.95", {}, ""),
        ("memory", "weknow", 'device = "cuda:1"', 'device = "cuda:4"', {}, "GPU 4, but there are only 4"),
    ],
)
def test_what_disturbs_the_evaluator_or_does_not_fit(
    check: str, file: str, old: str, new: str, asked: dict[str, str], problem: str, tree: Path, checked: Checked
) -> None:
    preset = file if file in PRESETS else "submission"
    before = {finding.problem for finding in checked(check, tree, preset=preset).findings}
    replace(tree / (f"crag/presets/{file}.toml" if file in PRESETS else file), old, new)
    after = {finding.problem for finding in checked(check, tree, preset=preset, **asked).findings}
    assert any(problem in new for new in after - before), after


def test_what_stands_in_for_parts_of_ones_own_is_said(tree: Path, checked: Checked) -> None:
    own = 'extends = "db3_task1"\nanswering.confidence.model = "portable"\n'
    for name, more in (("small", ""), ("full", 'public_data.tables = "models/public"\n')):
        (tree / f"crag/presets/{name}.toml").write_text(own + more)
        found = {f.place.rpartition(" ")[2] for f in checked("preset", tree, preset=name).of(Level.WARNING)}
        assert found >= {"answering.confidence.model"}
        assert ("public_data.tables" in found) is (name == "small")


def test_memory_is_not_asked_of_a_preset_for_a_cpu(tree: Path, checked: Checked) -> None:
    assert "runs on a CPU" in str(checked("memory", tree, preset="cpu").skipped)


def test_a_hook_of_another_repository_does_not_hide_the_tree(
    clean_tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "--quiet", "other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/other-index")
    assert "aicrowd.json" in Subject(clean_tree).tracked
