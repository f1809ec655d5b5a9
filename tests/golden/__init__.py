"""Golden traces: what the presets do with the shipped sample, frozen. On vLLM or a server they do the same.

`python -m tests.golden` writes the files anew; a commit that changes one says why. The language model replays the calls
in calls.json and draws its answers from a short list by a hash of the prompt; encoders count words. So a golden trace
shows which steps ran, with which inputs and effects, and nothing about the quality of any model.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from crag.core.contracts import Classification, Route, Trace
from crag.engines.llm import GenerationRequest
from crag.settings import ROUTE_CLASSES
from tests.papers.pipeline import Says, pipeline, text_of

FOLDER = Path(__file__).parent
SAMPLE = FOLDER.parents[1] / "data" / "sample"
PRESETS = ("cpu", "db3_task1", "db3_task23", "nec", "submission", "weknow", "scripted")
Row = dict[str, Any]


@cache
def sample() -> list[Row]:
    """The shipped questions with their pages, as the evaluator hands them over, and their labels."""
    lines = (SAMPLE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows: list[Row] = [json.loads(line) for line in lines]
    for row in rows:
        for result in row["search_results"]:
            result["page_result"] = (SAMPLE / result.pop("page_result_file")).read_text(encoding="utf-8")
    return rows


class LabelledRoutes:
    """A router that gives each question its labels of the sample; how surely depends on a hash of the question."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = {row["query"]: row for row in rows}

    def check_weights(self) -> None: ...

    def warm_up(self) -> None: ...

    def close(self) -> None: ...

    def route(self, queries: Sequence[Any], deadline: object) -> list[Route]:
        return [self._route(self._rows[query.text]) for query in queries]

    @staticmethod
    def _route(row: Row) -> Route:
        fields = {}
        for field, classes in ROUTE_CLASSES.items():
            share = (0.45, 0.7, 0.95)[_number(row["query"] + field) % 3]
            rest = (1 - share) / (len(classes) - 1)
            probabilities = {name: share if name == row[field] else rest for name in classes}
            fields[field] = Classification(row[field], probabilities)
        return Route(**fields)


def _number(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


def replies(rows: Sequence[Row]) -> Says:
    """The frozen language model: labels to a router, recorded calls to a writer, one of eight answers to the rest."""
    calls: dict[str, str] = json.loads((FOLDER / "calls.json").read_text(encoding="utf-8"))

    def says(request: GenerationRequest) -> str:
        text = text_of(request)
        row = max(rows, key=lambda row: text.rfind(row["query"]))
        answer, chance = str(row["answer"]), _number(text) % 8
        if request.exact_turns:
            # A tuned writer: the domain, then the calls
            return f"{row['domain']}\n{calls[row['interaction_id']]}"
        if "<doc" not in text and "get_" in text:
            return calls[row["interaction_id"]]
        if "<doc" not in text:
            return f"{row['domain']}, {50 + chance * 7}%, {row['static_or_dynamic']}"
        sure = ("high", "high", "medium", "low")[chance % 4]
        if request.max_tokens == 4:
            return sure
        options = (
            answer,
            "i don't know",
            f"{answer}.",
            "invalid question",
            "no",
            "17 + 4",
            f"Correct. {answer}",
            "Correct",
        )
        return f"{options[chance]}\nConfidence: {sure}" if "Confidence: high" in text else options[chance]

    return says


def traces(preset: str, graph: str) -> list[Row]:
    """What the preset does with the sample, as the files hold it."""
    return [frozen(trace) for trace in answered(preset, graph)]


def answered(preset: str, graph: str | None, *more: str) -> list[Trace]:
    """What the preset, with `more` changes, does with the sample, in one batch; `graph` is the shipped graph's URL."""
    rows = sample()
    fields = ("interaction_id", "query", "search_results", "query_time")
    changes = ("deadline.seconds_per_query=600", *more)
    with pipeline(preset, replies(rows), *changes, route=LabelledRoutes(rows), graph=graph) as built:  # type: ignore[arg-type]
        return built.agent.answer_batch({field: [row[field] for row in rows] for field in fields})[1]


def frozen(trace: Trace) -> Row:
    """What of a trace must not change. Long texts are hashed; prose for readers and seconds are left out."""
    data = trace.to_dict()
    answer = data["answer"]
    return {
        "query": data["query"],
        "answer": [answer["text"], answer["decision"], answer["source"]],
        "evidence": short(data["evidence"]),
        "graph": [data["graph_state"], *data["calls"]],
        "facts": [short(f"{fact['source']}: {fact['text']}") for fact in data["facts"]],
        "pages_read": data["pages_read"],
        "passages": [f"{short(p['text'])} {p['kind']} {scores(p['scores'])}" for p in data["passages"]],
        "context": short(data["context"]),
        "models": {key: [short(prompt), data["generations"][key]["text"]] for key, prompt in data["prompts"].items()},
        "candidates": [[c["text"], c["source"], rounded(c["probability"])] for c in data["candidates"]],
        "gates": [[gate["name"], gate["answer"], gate["withheld"]] for gate in data["gates"]],
        "events": len(data["events"]),
    }


def short(value: object) -> str:
    """Eight digits that change where the value does; empty for nothing."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:8] if value else ""


def scores(found: dict[str, float]) -> str:
    return " ".join(f"{name}={value:.3f}" for name, value in found.items())


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """The file of a preset, one question a line."""
    yield from (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
