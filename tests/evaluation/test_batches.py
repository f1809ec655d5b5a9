"""The agent sees what the evaluator shows, and nothing else."""

from typing import Any

from evaluation.batches import RowKey, evaluator_batch, in_batches


def row(name: str, **more: Any) -> dict[str, Any]:
    return {"interaction_id": name, "query": f"q {name}", "alt_ans": [], **more}


def test_batches_keep_the_order_and_the_last_is_shorter() -> None:
    batches = list(in_batches((row(str(number)) for number in range(5)), 2))
    assert [[question.key.interaction_id for question in batch] for batch in batches] == [["0", "1"], ["2", "3"], ["4"]]
    assert [batch[0].batch for batch in batches] == [0, 1, 2]


def test_rows_are_taken_only_when_needed() -> None:
    taken = []

    def rows() -> Any:
        for number in range(100):
            taken.append(number)
            yield row(str(number))

    next(in_batches(rows(), 4))
    assert taken == [0, 1, 2, 3]


def test_equal_ids_stay_apart() -> None:
    (batch,) = in_batches([row("a"), row("b"), row("a")], 16)
    assert [question.key for question in batch] == [RowKey("a", 0), RowKey("b", 0), RowKey("a", 1)]


def test_answers_and_labels_are_withheld() -> None:
    page = {"page_name": "n", "page_url": "u", "page_snippet": "s", "page_result": "r", "page_last_modified": ""}
    full = row(
        "a",
        query_time="t",
        answer="secret",
        domain="movie",
        question_type="simple",
        static_or_dynamic="static",
        split=0,
        search_results=[{**page, "relevant": True}],
    )
    (batch,) = in_batches([full], 1)
    assert evaluator_batch(batch) == {
        "interaction_id": ["a"],
        "query": ["q a"],
        "search_results": [[page]],
        "query_time": ["t"],
    }
    assert batch[0].golds == ("secret",)
    assert batch[0].labels == {"domain": "movie", "question_type": "simple", "static_or_dynamic": "static"}


def test_what_a_row_lacks_is_empty() -> None:
    (batch,) = in_batches([row("a")], 1)
    assert evaluator_batch(batch)["search_results"] == [[]]
    assert evaluator_batch(batch)["query_time"] == [""]
    assert batch[0].golds == ()
