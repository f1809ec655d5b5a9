"""The real evaluator's limits, which local runs keep too, and its variable."""

SECONDS_PER_QUERY = 30.0
"""The evaluator's limit since 2024-04-24; a batch of n gets n times that."""
STARTUP_SECONDS = 600.0
"""Time limit for importing and building an agent, as in the 2025 evaluator."""
MAX_BATCH_SIZE = 16
"""The evaluator accepts batch sizes from 1 to 16 (starter kit, docs/batch-prediction-interface.md)."""
GPU_MEMORY_GIB = 15.0
"""Usable memory of one of its T4, of 16 GB."""
GRAPH_VARIABLE = "CRAG_MOCK_API_URL"
"""The environment variable with the knowledge graph's address (tasks 2 and 3); not set in task 1."""
