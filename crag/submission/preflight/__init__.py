"""Checks for everything known to have lost submissions: `crag preflight`."""

CHALLENGES = {
    "task1": "meta-kdd-cup-24-crag-retrieval-summarization",
    "task2": "meta-kdd-cup-24-crag-knowledge-graph-and-web-retrieval",
    "task3": "meta-kdd-cup-24-crag-end-to-end-retrieval-augmented-generation",
}
"""Task -> `challenge_id` of aicrowd.json (2024 kit). Read before an installation: standard library only."""
