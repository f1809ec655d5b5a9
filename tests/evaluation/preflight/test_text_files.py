from pathlib import Path

import pytest

from tests.evaluation.preflight.conftest import ROOT, Checked


def tree_with(root: Path, name: str, text: str) -> Path:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)
    return root


@pytest.mark.parametrize("check", ["line-ends", "absolute-paths", "risky-calls"])
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
    assert checked("absolute-paths", tree).findings[0].place.file == "agents/presets/p.toml"
