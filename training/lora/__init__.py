"""Low-rank adapters (LoRA) of language models: tuned on examples or on preferences, resumably."""

COMPLETE = "complete.json"
"""Written into a checkpoint after everything else: one without it is of a run that was killed while it wrote."""
