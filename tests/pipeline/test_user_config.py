"""The evaluator's interface, as the evaluator uses it."""

import os
import pkgutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from agents.user_config import UserAgent
from crag.engines.llm import EngineUnavailableError
from crag.evaluation.datasets import read_rows
from crag.settings import OVERRIDES_VARIABLE, PRESET_VARIABLE
from crag.weights.manifest import WeightsMissingError, locate
from tests.toml_text import toml_table

REPOSITORY = Path(__file__).parents[2]


def evaluate(model: Any, rows: Sequence[dict[str, Any]], tokenizer: Tokenizer) -> list[tuple[str, str]]:
    """The loop of the starter kit's evaluator: (answer as it is judged, as it was given) of each question."""
    size = model.get_batch_size()
    judged: list[tuple[str, str]] = []
    names = ("interaction_id", "query", "search_results", "query_time", "answer")

    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        batch = {name: [row[name] for row in some] for name in names}
        right = batch.pop("answer")
        given = model.batch_generate_answer(batch)
        for _, answer in zip(right, given, strict=True):
            ids = tokenizer.encode(answer, add_special_tokens=False).ids[:75]
            judged.append((tokenizer.decode(ids).strip(), answer))

    return judged


@pytest.mark.models
@pytest.mark.parametrize("name", ["models.user_config:UserModel", "agents.user_config:UserAgent"])
def test_a_loop_like_the_starter_kits_gets_an_answer_to_each_question_that_its_cut_leaves_whole(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        tokenizer = Tokenizer.from_file(str(locate("llama-2-tokenizer") / "tokenizer.json"))
    except WeightsMissingError as error:
        pytest.skip(str(error))

    monkeypatch.setenv(PRESET_VARIABLE, "scripted")
    replies = {"abba": "agnetha, björn, benny and anni-frid", "ticker": "DIS and so on " * 60}
    monkeypatch.setenv(OVERRIDES_VARIABLE, f"batch_size = 4\nlanguage_model.replies = {toml_table(replies)}")
    model = pkgutil.resolve_name(name)()
    judged = evaluate(model, list(read_rows(REPOSITORY / "data/sample/questions.jsonl", 6)), tokenizer)
    model.close()
    predictions = [prediction for prediction, _ in judged]

    assert predictions[2] == replies["abba"]
    assert predictions[3].startswith("DIS and so on DIS")
    assert all(cut == given for cut, given in judged)
    assert predictions[:2] + predictions[4:] == ["i don't know"] * 4
    assert len(model.last_traces) == 2, "the last batch is shorter"


def test_the_submission_never_falls_back_to_small_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PRESET_VARIABLE, raising=False)
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path))
    with pytest.raises((WeightsMissingError, EngineUnavailableError)):
        UserAgent()
    with pytest.raises(WeightsMissingError, match="llama-3-8b-instruct"):
        UserAgent(preset="db3_task1")


def test_import_is_quick_and_quiet_and_needs_no_network() -> None:
    """The evaluator imports the module in a clean process without a network; heavy libraries wait for construction."""
    program = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise OSError('no network')\n"
        "socket.socket.connect = refuse\n"
        "import agents.user_config\n"
        "heavy = {'torch', 'transformers', 'vllm', 'sentence_transformers'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=120, cwd=REPOSITORY, env=environment
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
