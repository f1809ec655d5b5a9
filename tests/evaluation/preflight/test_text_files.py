from pathlib import Path

import pytest

from evaluation.preflight.subject import Subject
from evaluation.preflight.text_files import absolute_paths, line_ends, risky_calls
from tests.evaluation.preflight.conftest import ROOT


def tree_with(root: Path, name: str, text: str) -> Subject:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)
    return Subject(root)


def test_the_project_itself_has_none_of_these() -> None:
    for check in (line_ends, absolute_paths, risky_calls):
        assert check(Subject(ROOT)).findings == (), check.__name__


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = '/home/ada/w'\n", True),
        ("x = f'/root/{1}'\n", True),
        ("x = open(r'D:\\models')\n", True),
        ("x = 'file:///home/ada/w'\n", False),
        ('def f():\n    """Reads /home/ada/w."""\n', False),
        ("# /home/ada/w\n", False),
        ("x = 'models/home/w'\n", False),
        ("x = 'https://example.org/home/page'\n", False),
    ],
)
def test_what_counts_as_an_absolute_path(text: str, found: bool, tmp_path: Path) -> None:
    assert bool(absolute_paths(tree_with(tmp_path, "agents/a.py", text)).findings) is found


def test_a_path_in_a_preset_has_its_line(tmp_path: Path) -> None:
    subject = tree_with(tmp_path, "agents/presets/p.toml", '[a]\n\n[a.b]\nmodel = "/root/weights"\n')
    assert str(absolute_paths(subject).findings[0].place) == "agents/presets/p.toml:4"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("model.eval()\n", False),
        ("ast.literal_eval('1')\n", False),
        ("exec('x')\n", True),
        ("load(trust_remote_code=True)\n", True),
        ("load(trust_remote_code=False)\n", False),
        ("m.start_multi_process_pool()\n", True),
    ],
)
def test_what_counts_as_risky(text: str, found: bool, tmp_path: Path) -> None:
    assert bool(risky_calls(tree_with(tmp_path, "agents/a.py", text)).findings) is found
