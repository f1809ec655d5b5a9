"""One run of the command over the graph that ships with the project."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from training.api_pairs.__main__ import main
from training.api_pairs.graph import OWN_GRAPH
from training.api_pairs.pairs import Pair, read_pairs

QUESTIONS = Path(__file__).parent / "questions.jsonl"


def make(out: Path, *more: str, count: int = 130) -> int:
    """Run the command."""
    graph = ["--graph", str(OWN_GRAPH), "--questions", str(QUESTIONS)]
    return main([*graph, "--count", str(count), "--seed", "3", "--out", str(out), *more])


@pytest.fixture(scope="session")
def made_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    assert make(out) == 0
    return out


@pytest.fixture(scope="session")
def pairs(made_file: Path) -> Sequence[Pair]:
    return read_pairs(made_file)


@pytest.fixture(scope="session")
def sampled(pairs: Sequence[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair.source not in {"real", "bank"}]
