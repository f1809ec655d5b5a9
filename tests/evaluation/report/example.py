"""A small finished run with everything that a report shows, hostile texts included."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crag.core.files import write_json
from crag.evaluation.results import summarise
from crag.evaluation.store import RESULTS, RunStore
from tests.evaluation import run_folders

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u2028&amp;"
SIGNATURE = {"preset": "own@0123", "data": "few.jsonl@4567", "judge": "rules@1", "seconds_per_query": "30"}


def record(number: int, verdict: str = "correct", **more: Any) -> dict[str, Any]:
    ours = {
        "query": f"what is number {number}?",
        "prediction": f"answer {number}",
        "reason": "number: both say 3",
        "interaction_id": f"id-{number}",
        "question_type": "simple",
        "static_or_dynamic": "static",
        "seconds": 2.0,
        "batch_seconds": 4.0,
        "batch_size": 2,
        "batch": number // 2,
        "answer_in_context": number % 3 == 0,
        "answer_rank": None if number % 3 else 1,
        "passages_with_answer": 0.0 if number % 3 else 1.0,
        "evidence_supports_answer": number % 3 == 0,
    }
    return run_folders.record(number, verdict, **{**ours, **more})


def trace(number: int, **more: Any) -> dict[str, Any]:
    return {
        "interaction_id": f"id-{number}",
        "occurrence": 0,
        "batch": number // 2,
        "query": f"what is number {number}?",
        "query_time": "03/05/2024, 23:18:31 PT",
        "route": {
            "domain": {"label": "movie", "probabilities": {"movie": 0.9, "music": 0.1}},
        },
        "calls": [f'get_number("{number}")'],
        "facts": [{"text": f"It is gold {number}.", "source": f'knowledge graph: get_number("{number}")'}],
        "pages_read": 1,
        "passages": [
            {
                "text": f"Some say answer {number}, others gold {number}, nobody gold {number}0.",
                "url": "https://numbers.example/page",
                "page_name": "All numbers",
                "page_rank": 0,
                "kind": "page",
                "start": 0,
                "end": 50,
                "scores": {"bm25": 1.25, "cross_encoder": 3.5},
            }
        ],
        "context": "",
        "prompts": {"answer": [{"role": "user", "content": f"The prompt of {number}"}]},
        "generations": {"answer": {"text": f"Generated {number}", "prompt_tokens": 9, "finish_reason": "stop"}},
        "candidates": [
            {"text": f"answer {number}", "source": "web", "features": {"answer_words": 2.0}, "probability": 0.75}
        ],
        "gates": [],
        "answer": {"text": f"answer {number}", "decision": "answered", "source": "web", "reason": "the model answered"},
        "evidence": {"sentence": f"Rest on {number}.", "source": "All numbers", "url": "https://numbers.example/page"},
        "events": [f"event of {number}"],
        "seconds": {"retrieve": 1.0, "generate": 3.0},
        "batch_size": 2,
        **more,
    }


FIRING = {
    "name": "expected score",
    "reason": "P(correct) is 0.10, not above 0.5",
    "answer": "i don't know",
    "withheld": "answer 1",
    "withheld_verdict": "incorrect",
}

RECORDS = [
    record(0),
    record(
        1, "missing", prediction="i don't know", reason='official: the answer contains "i don\'t know"', gates=[FIRING]
    ),
    record(2, "incorrect", reason="set: of 3 items the prediction lacks 2"),
    record(3, "unscored", query=HOSTILE, prediction=HOSTILE, answer=HOSTILE, domain=HOSTILE, reason=HOSTILE),
    record(4, occurrence=1, interaction_id="id-0", query="asked again"),
    record(5, "missing", timed_out=True, error="stack of the agent", prediction=""),
]
TRACES = [
    trace(0),
    trace(1, candidates=[{"text": "answer 1", "source": "web", "features": {}, "probability": 0.1}]),
    trace(2, candidates=[]),
    trace(
        3,
        query=HOSTILE,
        route={"domain": HOSTILE},
        calls=[HOSTILE],
        facts=[{"text": HOSTILE, "source": HOSTILE}],
        passages=[{"text": HOSTILE, "url": "javascript:document.title='owned'", "page_name": HOSTILE, "scores": {}}],
        prompts={HOSTILE: HOSTILE},
        generations={HOSTILE: HOSTILE},
        candidates=[{"text": HOSTILE, "source": HOSTILE, "probability": 0.5}],
        events=[HOSTILE],
        seconds={HOSTILE: 1.0},
        **{HOSTILE: HOSTILE},
    ),
    {
        "interaction_id": "id-0",
        "occurrence": 1,
        "batch": 2,
        "passages": "of another shape",
        "thoughts": [1],
    },
]


def write_run(
    folder: Path,
    records: Sequence[dict[str, Any]] = RECORDS,
    traces: Sequence[dict[str, Any]] = TRACES,
    signature: Mapping[str, Any] = SIGNATURE,
) -> Path:
    """The folder of a finished run, written as the evaluator writes it."""
    store = RunStore(folder, signature)
    store.update(batch_size=2)
    store.append(records, traces)
    write_json(folder / RESULTS, summarise(records, store.run.measured, signature))
    store.close()
    return folder
