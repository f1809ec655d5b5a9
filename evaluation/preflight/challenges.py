"""The challenges that a submission may be for; standard library only, so that it is there before an installation."""

CHALLENGES = {
    "task1": "meta-kdd-cup-24-crag-retrieval-summarization",
    "task2": "meta-kdd-cup-24-crag-knowledge-graph-and-web-retrieval",
    "task3": "meta-kdd-cup-24-crag-end-to-end-retrieval-augmented-generation",
}
"""Task -> `challenge_id` of aicrowd.json (2024 kit)."""
