"""The list of docs/training.md, line by line: from files in the official formats to a submission that is checked."""

import bz2
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crag.core.files import read_jsonl
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.settings import ScriptedEngine, load_settings, needed_weights
from crag.submission.stand_in import make_stand_ins
from crag.training.adapters import BASE_PRESETS
from crag.weights.manifest import WeightsMissingError, locate
from tests.engines.llm.llm_server import serve
from tests.mock_api.official.write_official import write_official
from tests.submission.preflight.conftest import commit, git, linked

pytestmark = pytest.mark.models

ROOT = Path(__file__).parents[2]
ELSEWHERE = re.compile(
    r"(ON|PUBLIC)=|source |hf |(GIT_\S+ )?git (-C|clone|lfs)"
    r"|.*(-m venv|crag data fetch|crag models fetch|/pip)\b"
)
"""What the test sets, and what needs a network: it has made what these get."""
FILMS = {"jaws": "1975-06-20", "alien": "1979-05-25"}
"""Two films, because kg_answerer asks about each through a writer that was tuned on the other. They are in different
folds of two."""
CALLS = {film: f'get_movie("{film}")["release_date"]\nget_movie("{film}")["title"]' for film in FILMS}
"""Two values: one alone would be the answer, without the model."""
STRONG = {'"prediction"': '{"accuracy": true, "score": 1}'} | {f"when was {film}": text for film, text in CALLS.items()}
"""Part of the last turn -> what the server says, as judge and as labeller."""
OVERFITTED = "--set learning_rate=0.02 --set epochs=60 --set accumulation=1 --set adapter.dropout=0.0"
"""On purpose, so that random weights write the calls."""
ROUTER = 'router={engine="encoder",classifiers=["cpu"]}'
"""Random weights name no domain, and the prompt of the writer depends on it."""
SHORT = "--set knowledge_graph.writer.examples=1 --set knowledge_graph.writer.schema_in_prompt=false"
"""A tenth of the prompt to tune on, five times."""


def documented() -> Iterator[str]:
    """The commands of the list, without what is elsewhere."""
    page = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```\n(ON=.*?)^```", page, re.MULTILINE | re.DOTALL)
    yield from (line for line in block.splitlines() if not ELSEWHERE.match(line))


def question(number: int, split: int) -> dict[str, Any]:
    """A row of CRAG's public file."""
    film, day = list(FILMS.items())[number % 2]
    page = {"page_name": film, "page_url": f"http://p/{number}", "page_snippet": film, "page_last_modified": ""}
    html = f"<html><body><p>{film} came to the cinemas on {day}, says page {number}.</p></body></html>"
    return {
        "interaction_id": f"q{number}", "query_time": f"03/{number + 1:02}/2024, 10:00:00 PT", "domain": "movie",
        "question_type": "simple", "static_or_dynamic": "static", "query": f"when was {film} released, part {number}?",
        "answer": day, "alt_ans": [], "split": split, "search_results": [page | {"page_result": html}] * 5,
    }  # fmt: skip


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as git has it, with what the skipped commands would have got."""
    for name in ("llama-3-tokenizer", "llama-2-tokenizer", "all-minilm-l6-v2"):
        try:
            locate(name)
        except WeightsMissingError as error:
            pytest.skip(str(error))

    pytest.importorskip("pandas")
    root = tmp_path_factory.mktemp("public") / "submission"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        linked(str(ROOT / name), str(root / name))

    rows = [question(number, split=int(number > 3)) for number in range(6)]
    (root / "data/crag").mkdir()
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (root / "data/crag/crag_task_1_and_2_dev_v4.jsonl.bz2").write_bytes(bz2.compress(lines.encode()))
    write_official(ROOT / "crag/mock_api/graph", root.parent / "CRAG/mock_api/cragkg")
    make_stand_ins(load_settings("db3_task23", ["tuned=false", ROUTER]).model_dump(), root.parent / "weights")
    git(root, "init", "--quiet")
    git(root, "config", "user.name", "Tester")
    git(root, "config", "user.email", "tester@example.org")
    commit(root)
    return root


def run(command: str, checkout: Path, url: str) -> str:
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "CRAG_MODELS_DIR": f"{checkout.parent}/weights",
        "OMP_NUM_THREADS": "1",  # tiny models: several threads only wait for each other
        "ON": f"--set device=cpu --set {ROUTER} {SHORT}",
        "PUBLIC": "data/crag/crag_task_1_and_2_dev_v4.jsonl.bz2",
        "JUDGE": f"--judge llm --context-check llm --judge-url {url} --judge-model strong --judge-cache none",
        "TUNE": OVERFITTED,
        "MAX_STEPS": "14",
    }
    words = ["bash", "-c", f'crag() {{ python -m crag "$@"; }}\n{command}']
    done = subprocess.run(words, cwd=checkout, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == (1 if "preflight" in command else 0), f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_list_runs_from_public_files_to_the_checked_submission(checkout: Path) -> None:
    with serve(ScriptedLanguageModel(ScriptedEngine(engine="scripted", replies=STRONG)), {"strong": None}) as url:
        for line in documented():
            stronger = f" --url {url} --model strong --attempts 1" if " label-calls " in line else ""
            command = line.replace("make preflight", "crag preflight --skip lfs imports-named")
            checks = run(command + stronger, checkout, url)

    committed = git(checkout, "ls-files", "models/adapters/submission").split()
    files = ("adapter_config.json", "adapter_model.safetensors", "losses.jsonl", "run_card.json")
    folder = "models/adapters/submission"
    assert sorted(committed) == sorted(f"{folder}/{name}/{file}" for name in BASE_PRESETS for file in files)

    labelled = [row.data["calls"] for row in read_jsonl(checkout / "results/calls.jsonl")]
    assert labelled == [calls.split("\n") for calls in CALLS.values()] * 2

    for trace in read_jsonl(checkout / "results/task2/traces.jsonl"):
        assert trace.data["generations"]["calls"]["text"] in CALLS.values(), "the preset starts with what was tuned"
        assert any(day in trace.data["facts"][0]["text"] for day in FILMS.values())

    for part, film in enumerate(FILMS, start=1):
        work = checkout / f"results/training/submission/kg_answerer/part{part}"
        asked = [row.data for row in read_jsonl(work / "questions.jsonl")]
        assert [film in row["query"] for row in asked] == [True, True]
        assert not any("search_results" in row for row in asked), "gigabytes that no writer reads"
        card = json.loads((work / "kg_writer/run_card.json").read_text(encoding="utf-8"))
        assert card["metrics"]["held_out_examples"] == 2
        for trace in read_jsonl(work / "graph_answers/traces.jsonl"):
            assert trace.data["generations"]["calls"]["text"] != CALLS[film], "the writer knows only the other film"

    assert re.search(r"weights +ERROR +\d model\(s\); tuned: kg_writer, kg_answerer, web_answerer", checks)

    wanted = needed_weights(load_settings("submission", []), repository=checkout).models
    assert set(re.findall(r"models/weights/([\w.-]+), as git would push it", checks)) == set(wanted)
    assert set(re.findall(r"ERROR \[([a-z-]+)\]", checks)) == {"weights"}, "what is left are the weights of Llama"
