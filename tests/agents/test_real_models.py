"""The cpu preset with real weights, end to end on the shipped sample; a smaller language model stands in."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.common.queries import BATCH_KEYS
from agents.settings import PRESETS
from agents.user_config import UserAgent
from evaluation.datasets import read_rows
from models.manifest import WeightsMissingError

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "questions.jsonl"
pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserAgent]:
    text = (PRESETS / "cpu.toml").read_text(encoding="utf-8")
    assert 'model = "qwen2.5-coder-1.5b-instruct"' in text
    text = "\n".join(line for line in text.splitlines() if "adapter" not in line)  # they are of the other model
    path = tmp_path_factory.mktemp("presets") / "small.toml"
    path.write_text(text.replace("qwen2.5-coder-1.5b-instruct", "smollm2-135m-instruct"), encoding="utf-8")
    try:
        built = UserAgent(preset=path)
    except WeightsMissingError as error:
        pytest.skip(str(error))
    yield built
    built.close()


def batch_of(size: int) -> dict[str, list[Any]]:
    rows = list(read_rows(SAMPLE, size))
    return {key: [row[key] for row in rows] for key in BATCH_KEYS}


def test_real_models_answer_a_batch_in_time_with_complete_traces(agent: UserAgent) -> None:
    batch = batch_of(4)
    started = time.monotonic()
    answers = agent.batch_generate_answer(batch)
    assert time.monotonic() - started < 4 * 30
    assert len(answers) == 4
    assert all(answer and "\n" not in answer for answer in answers)
    for trace in agent.last_traces:
        record = json.loads(json.dumps(trace.to_dict()))
        assert record["pages_read"] > 0
        assert record["generations"]["answer"]["completion_tokens"] > 0
        assert record["generations"]["answer"]["mean_log_probability"] < 0
        assert all({"bm25", "fusion", "cross_encoder"} <= set(passage["scores"]) for passage in record["passages"])
        scores = [passage["scores"]["cross_encoder"] for passage in record["passages"]]
        assert scores == sorted(scores, reverse=True)


def test_a_page_stuck_in_the_parser_costs_nothing_else(agent: UserAgent) -> None:
    """100,000 nested elements keep a parser busy for minutes unless they are capped or its process is killed."""
    batch = batch_of(3)
    agent.batch_generate_answer({key: column[:1] for key, column in batch.items()})
    alone = agent.last_traces[0]
    hostile = dict.fromkeys(("page_name", "page_url", "page_snippet", "page_last_modified"), "")
    hostile["page_result"] = "<div>" * 100_000 + "<table>" * 100_000 + "text"
    batch["search_results"][1] = [hostile] * 50
    started = time.monotonic()
    answers = agent.batch_generate_answer(batch)
    assert time.monotonic() - started < 3 * 30
    with_it = agent.last_traces[0]  # in int8 a text may differ by a near tie, what the model reads may not
    assert with_it.context == alone.context
    assert with_it.generations["answer"].completion_tokens > 0
    assert len(answers) == 3
