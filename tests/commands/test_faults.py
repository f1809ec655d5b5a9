"""A fault of the input is one line that names it, and exit code 2: of every command."""

import runpy
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from crag.__main__ import main
from crag.commands.verbs import VERBS, VerbGroup
from tests.test_local_evaluation import dataset


def called(*words: str) -> int:
    """Run `python -m crag ...` in this process; its exit code. The first word is crag."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(action="ignore"):  # it is imported already
        patch.setattr(sys, "argv", list(words))
        with pytest.raises(SystemExit) as ended:
            runpy.run_module(words[0], run_name="__main__")
    assert isinstance(ended.value.code, int)
    return ended.value.code


EVALUATE = "crag evaluate --dataset {data} --preset scripted --output {new} --quiet"
NOTICES = ("the agent runs in this", "loading ")
"""How the lines begin that a command may print before its fault."""
FAULTS = [
    ("crag aks", "unknown command 'aks': did you mean crag ask? commands: evaluate, ask,"),
    ("crag train lroa", "unknown command 'lroa': did you mean crag train lora? commands: router, calibrate,"),
    # wrong arguments
    (
        "crag evaluate --prest scripted",
        "unrecognized arguments: --prest scripted: did you mean --preset? all options: ",
    ),
    (
        "crag graph serve --port 0 --hots=x",
        "unrecognized arguments: --hots=x: did you mean --host? all options: crag graph",
    ),
    ("crag compare a b c.txt --nonesuch", "unrecognized arguments: --nonesuch; all options: crag compare --help"),
    ("crag evaluate --limit 0", "argument --limit: must be a whole number of at least 1, found '0'"),
    ("crag evaluate --batch-size 17", "argument --batch-size: must be a whole number, 1 to 16, found '17'"),
    ("crag evaluate --seconds-per-query inf", "argument --seconds-per-query: must be a number"),
    ("crag evaluate --set answering.audit", "argument --set: must be KEY=VALUE in one line, found 'answering.audit'"),
    ("crag evaluate --set a=[1", "argument --set: the override 'a=[1' is not a line of TOML"),
    ("crag evaluate --kg-url foo", "argument --kg-url: must be http://HOST:PORT or https://HOST, found 'foo'"),
    ("crag evaluate --kg-url http://host:port", "argument --kg-url: must be http://HOST:PORT"),
    ("crag evaluate --progress fast", "argument --progress: must be one of bar, log, none, found 'fast'"),
    ("crag graph serve --port 65536", "argument --port: must be a whole number, 0 to 65535, found '65536'"),
    ("crag evaluate --split two", "argument --split: a split is a number such as 0, or any; found 'two'"),
    # what is not there, or not what it should be
    ("crag evaluate --dataset nowhere.jsonl", "nowhere.jsonl: there is no such file"),
    (f"{EVALUATE} --preset=", "argument --preset: a preset is required, found nothing"),
    (f"{EVALUATE} --preset Scriptd", "there is no preset 'Scriptd': did you mean scripted? shipped presets: cpu,"),
    (f"{EVALUATE} --preset nobody", "there is no preset 'nobody'; shipped presets:"),
    (f"{EVALUATE} --set answering.nonesuch=1", 'key "answering.nonesuch": unknown key; allowed keys: '),
    (f"{EVALUATE} --set answering.word_limit=0", "greater than or equal to 1 (found 0)"),
    (f"{EVALUATE} --output {{file}}", "{file}: cannot be written"),
    (f"{EVALUATE} --judge llm", "set OPENAI_API_KEY"),
    (f"{EVALUATE} --mock-kg {{new}}", "the mock knowledge graph did not start: {new}: no such directory"),
    (f"{EVALUATE} --agent nosuch:X", "agent nosuch:X: No module named 'nosuch', neither in this folder nor among"),
    (f"{EVALUATE} --agent nosuch", "agent nosuch: expected MODULE:CLASS or FILE.py:CLASS"),
    (f"{EVALUATE} --agent os:path", "agent os:path: 'path' is a module, expected a class"),
    (f"{EVALUATE} --agent local_evaluation:Nothing", "the module has no attribute 'Nothing'; it defines no class"),
    (f"{EVALUATE} --agent tests.evaluation.fake_agents:NoMethod", "'NoMethod'; it defines "),
    (f"{EVALUATE} --agent tests.evaluation.fake_agents:NoMethodAgent", "it has no method batch_generate_answer"),
    (f"{EVALUATE} --agent tests.evaluation.fake_agents:NoEngineAgent", "cannot start: pip install -r requirements.txt"),
    (f"{EVALUATE} --agent tests.evaluation.fake_agents:NoSuchModelAgent --in-process", "no model named 'x'; known: y"),
    ("crag ask who? --preset scripted --pages nowhere.html", "nowhere.html: no such file, folder or http address"),
    ("crag ask who? --preset scripted --pages {file}/x", "{file}/x: no such file, folder or http address"),
    (
        "crag ask who? --time yesterday",
        'argument --time: \'yesterday\' is not a time such as "03/05/2024, 23:18:31 PT", "2024-03-05T23:18:31", with Z',
    ),
    ("crag ask who? --kg-url nonsense", "argument --kg-url: must be http://HOST:PORT"),
    ("crag ask who built it? --why", "unrecognized arguments: built it?: put the question in quotes; all options: "),
    ("crag ask who --wyh", "unrecognized arguments: --wyh: did you mean --why? all options: crag ask --help"),
    ("crag inspect calls --in {data} --out - --resume", "--resume continues a file, not standard output"),
    ("crag compare a b --out -", "argument --out: must be a file: this command does not write it to standard output"),
    ("crag data tables --companies {file} --as-of yesterday --out {new}", "--as-of: must be a day such as 2024-03-01"),
    ("crag data tables --oscars {file} --as-of 2024-03-01 --out {new}", "--as-of needs --companies"),
    ("crag data tables --oscars {file} --credits {file} --out {new}", "--credits needs --films"),
    ("crag ask --file {file} who?", "give a question or --file, not both"),
    ("crag ask --file nowhere.txt", "--file nowhere.txt: cannot be read: No such file"),
    ("crag ask who? --preset scripted --mock-kg {new}", "the mock knowledge graph did not start: "),
    ("crag data fetch crag --to {file}/x", "crag_task_1_and_2_dev_v4.jsonl.bz2"),
    ("crag compare nowhere {new}", "nowhere: there is no such folder"),
    ("crag report nowhere", "nowhere: there is no such folder"),
    ("crag judge --in nowhere.jsonl --out {new}", "nowhere.jsonl"),
    ("crag judge --in -", "-: a pipe is not read, because questions are read more than once: write them to a file"),
    ("crag models fetch nobody", "nobody"),
    ("crag inspect pages nowhere.html", "nowhere.html: no such file, folder or http address"),
    ("crag inspect context --dataset nowhere.jsonl --preset scripted --out {new}", "nowhere.jsonl: there is no such"),
    ("crag inspect route --in nowhere.jsonl --out {new}", "nowhere.jsonl: there is no such file"),
    ("crag inspect calls --in nowhere.jsonl --out {new} --preset scripted", "nowhere.jsonl: there is no such file"),
    ("crag inspect context --dataset {file} --preset scripted --out {file}", "--out {file}: this file is an input"),
    ("crag inspect route --in {file} --out {file} --limit 1", "--out {file}: this file is an input"),
    ("crag inspect calls --in {file} --out {file} --overwrite", "--out {file}: this file is an input"),
    ("crag graph run x --domain movie --kg-url ftp://x", "argument --kg-url: must be http://HOST:PORT"),
    ("crag graph run x --domain movie", "--kg-url is missing, and CRAG_MOCK_API_URL is not set"),
    ("crag graph run x --domain movie --query-time noon", "'noon' is not a time such as \"03/05/2024, 23:18:31 PT\""),
    ("crag train calibrate nowhere --out {new}", "nowhere: there is no such folder"),
]


@pytest.mark.parametrize(("command", "named"), FAULTS, ids=[command for command, _ in FAULTS])
def test_a_fault_of_any_command_is_one_line_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, named: str
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "CRAG_MOCK_API_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("crag.evaluation.public_questions.POINTERS", "http://127.0.0.1:9")
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    places = {"data": dataset(tmp_path), "new": tmp_path / "new", "file": tmp_path / "file"}

    assert called(*(word.format(**places) for word in command.split())) == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    *lines_before, fault = captured.err.strip().splitlines()
    assert named.format(**places) in fault
    assert all(line.startswith(NOTICES) for line in lines_before), captured.err
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


def every_command() -> Iterator[str]:
    for name, verb in VERBS.items():
        yield name
        if isinstance(verb, VerbGroup):
            yield from (f"{name} {inner}" for inner in verb.verbs)


@pytest.mark.parametrize("command", list(every_command()))
def test_every_command_has_help_under_the_name_that_is_typed(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert called("crag", *command.split(), "--help") == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: crag {command} ") or command == "bench starter-kit"
    assert called("crag", "help", *command.split()) == 0
    assert capsys.readouterr().out == shown


def test_an_empty_question_loads_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", " ", "--preset", "scripted"]) == 2
    assert capsys.readouterr().err == "error: the question is empty\n"
