"""The commands of docs/scale.md: their options exist and their settings load. Nothing is run."""

import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.settings import OpenAIEngine, VllmEngine, load_settings
from evaluation import cli, merge
from mock_api.__main__ import main as mock_api
from tests.evaluation.guides import commands

GUIDE = Path(__file__).parents[2] / "docs/scale.md"
PLACES_OF_VLLMS_OPTIONS = ("vllm.entrypoints.launchers.cli_args", "vllm.entrypoints.openai.cli_args")
"""They moved between versions."""


EVALUATIONS = commands(GUIDE, "python local_evaluation.py")


@pytest.mark.parametrize("words", EVALUATIONS, ids=" ".join)
def test_an_evaluation(words: list[str]) -> None:
    options = cli._parser().parse_args(words)
    settings = load_settings(options.preset, options.set)
    model = settings.language_model
    if isinstance(model, VllmEngine) and model.tensor_parallel_size == 1:
        assert model.distributed_executor == "uni", "one card needs no Ray"
        assert settings.dense_encoder is not None
        assert settings.cross_encoder is not None
        assert settings.dense_encoder.device == settings.cross_encoder.device == "cuda:0"
    if isinstance(model, OpenAIEngine):
        assert model.base_url_variable == "CRAG_LLM_URL"
        assert "export CRAG_LLM_URL=" in GUIDE.read_text(encoding="utf-8")


def test_every_shard_is_there_and_they_are_merged() -> None:
    shards = [options for words in EVALUATIONS if (options := cli._parser().parse_args(words)).shard]
    assert {str(options.shard) for options in shards} == {"1/4", "2/4", "3/4", "4/4"}
    (words,) = commands(GUIDE, "python -m evaluation.merge")
    assert merge._parser().parse_args(words).folders == [options.output for options in shards]


def test_the_graph_server(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = re.findall(r"`python -m mock_api ([^`]*)`", GUIDE.read_text(encoding="utf-8"))
    with pytest.raises(SystemExit, match="0"):
        mock_api([*shlex.split(line), "--help"])
    reported = capsys.readouterr().out
    assert all(word in reported for word in shlex.split(line) if word.startswith("--"))


@pytest.mark.vllm
@pytest.mark.parametrize("words", commands(GUIDE, "vllm serve"), ids=" ".join)
def test_a_server(words: list[str]) -> None:
    model, *options = words
    parser = vllm_parser()
    parsed = parser.parse_args(["--model", model, *[option for option in options if option != "--headless"]])
    assert parsed.structured_outputs_config.backend == "guidance"
    assert "--headless" in parser._option_string_actions


def vllm_parser() -> Any:
    pytest.importorskip("vllm", reason="`make test-vllm` runs this")
    utilities = importlib.import_module("vllm.utils.argparse_utils")
    return next(possible_parsers())(utilities.FlexibleArgumentParser())


def possible_parsers() -> Iterator[Any]:
    for place in PLACES_OF_VLLMS_OPTIONS:
        try:
            yield importlib.import_module(place).make_arg_parser
        except ModuleNotFoundError:
            continue
