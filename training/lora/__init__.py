"""Low-rank adapters (LoRA) of language models: tuned on examples or on preferences, resumably."""
