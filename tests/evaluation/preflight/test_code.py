from pathlib import Path

import pytest

from evaluation.preflight.findings import Level
from tests.evaluation.preflight.conftest import ROOT, Checked


def tree_with(root: Path, name: str, text: str) -> Path:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    "check", ["line-ends", "absolute-paths", "risky-calls", "pinned", "dockerfile", "docker-context"]
)
def test_the_project_itself_has_none_of_these(check: str, checked: Checked) -> None:
    assert checked(check, ROOT).findings == []


@pytest.mark.parametrize(
    ("check", "text", "found"),
    [
        ("absolute-paths", "x = '/home/ada/w'\n", True),
        ("absolute-paths", "x = f'/root/{1}'\n", True),
        ("absolute-paths", "x = open(r'D:\\models')\n", True),
        ("absolute-paths", "x = 'file:///home/ada/w'\n", False),
        ("absolute-paths", 'def f():\n    """Reads /home/ada/w."""\n', False),
        ("absolute-paths", "# /home/ada/w\n", False),
        ("absolute-paths", "x = 'models/home/w'\n", False),
        ("risky-calls", "model.eval()\n", False),
        ("risky-calls", "ast.literal_eval('1')\n", False),
        ("risky-calls", "exec('x')\n", True),
        ("risky-calls", "load(trust_remote_code=True)\n", True),
        ("risky-calls", "load(trust_remote_code=False)\n", False),
        ("risky-calls", "m.start_multi_process_pool()\n", True),
    ],
)
def test_what_counts(check: str, text: str, found: bool, tmp_path: Path, checked: Checked) -> None:
    assert bool(checked(check, tree_with(tmp_path, "agents/a.py", text)).findings) is found


def test_a_path_in_a_preset(tmp_path: Path, checked: Checked) -> None:
    tree = tree_with(tmp_path, "agents/presets/p.toml", '[a]\n\n[a.b]\nmodel = "/root/weights"\n')
    assert checked("absolute-paths", tree).findings[0].file == "agents/presets/p.toml"


def test_imports_by_another_name_and_of_the_project_itself(tmp_path: Path, checked: Checked) -> None:
    code = "import json,bs4, agents.x as x\nfrom sklearn import svm\ndef f():\n    import yaml.loader as y\n"
    code += "if x: import lonely\n"
    tree_with(tmp_path, "agents/code.py", code)
    tree_with(tmp_path, "requirements.txt", "beautifulsoup4==4\n")
    tree_with(tmp_path, "constraints.txt", "scikit-learn==1\nbeautifulsoup4==4\n")
    found = {(f.level, f.problem.split(",")[0]) for f in checked("imports-named", tmp_path).findings}
    assert found == {(Level.WARNING, "imports sklearn"), (Level.ERROR, "imports yaml"), (Level.ERROR, "imports lonely")}
