"""What agents meet at the real evaluator: its limits, which local runs keep too, and its variable."""

SECONDS_PER_QUERY = 30.0
"""The evaluator's limit since 2024-04-24; a batch of n has n times that."""
STARTUP_SECONDS = 600.0
"""How long importing and building an agent may take: what the 2025 evaluator gives."""
MAX_BATCH_SIZE = 16
"""The evaluator accepts batch sizes from 1 to 16 (starter kit, docs/batch-prediction-interface.md)."""
GPU_MEMORY_GIB = 15.0
"""What one of its T4 shows to programs, of 16 GB."""
GRAPH_VARIABLE = "CRAG_MOCK_API_URL"
"""The environment variable with the address of the knowledge graph (tasks 2 and 3); absent in task 1."""
