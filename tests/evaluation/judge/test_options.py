"""The arguments that choose a judge."""

import argparse
from pathlib import Path

import pytest

from evaluation.judge import JudgeUnavailableError, add_judge_arguments, cost_line, judge_from, make_judge
from evaluation.judge.llm import Prices


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_judge_arguments(parser)
    return parser.parse_args(arguments)


def test_the_rules_need_nothing() -> None:
    judge = judge_from(parsed())
    assert judge.name == "rules"
    assert cost_line(judge) is None


def test_a_presets_model_judges(tmp_path: Path) -> None:
    arguments = parsed("--judge", "llm", "--judge-preset", "scripted", "--judge-cache", str(tmp_path / "c"))
    judge = judge_from(arguments)
    assert judge.name == "llm"
    assert judge.version.startswith("1:scripted:crag-")
    assert (cost_line(judge) or "").startswith("judge: 1 requests")
    assert (tmp_path / "c").is_file()


def test_environment_and_options_name_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    llm = ("--judge", "llm", "--judge-cache", "none")
    monkeypatch.delenv("EVALUATION_MODEL_NAME", raising=False)
    assert ":gpt-4-0125-preview:" in judge_from(parsed(*llm), check=False).version
    monkeypatch.setenv("EVALUATION_MODEL_NAME", "theirs")
    assert ":theirs:" in judge_from(parsed(*llm), check=False).version
    chosen = judge_from(parsed(*llm, "--judge-model", "ours", "--judge-rubric", "db3"), check=False)
    assert ":ours:db3-" in chosen.version


@pytest.mark.parametrize("argument", ["--judge-model", "--judge-url", "--judge-preset"])
def test_a_model_that_would_not_be_asked(argument: str) -> None:
    with pytest.raises(JudgeUnavailableError, match=f"{argument} has no effect without --judge llm"):
        judge_from(parsed(argument, "cpu"))


def test_a_scripts_verdicts_are_kept_only_where_a_file_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    judge_from(parsed("--judge", "llm", "--judge-preset", "scripted"))
    assert not [*tmp_path.iterdir()]


def test_an_unknown_preset() -> None:
    with pytest.raises(JudgeUnavailableError, match="no preset 'none-such'"):
        judge_from(parsed("--judge", "llm", "--judge-preset", "none-such"))


def test_an_unknown_judge() -> None:
    with pytest.raises(ValueError, match="rules, llm"):
        make_judge("coin")


def test_prices() -> None:
    assert parsed("--judge-prices", "2.5,10").judge_prices == Prices(2.5, 10.0)


@pytest.mark.parametrize("value", ["2.5", "a,b", "-1,2", "nan,1"])
def test_bad_prices(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(f"--judge-prices={value}")
    assert "price" in capsys.readouterr().err
