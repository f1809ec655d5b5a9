"""Tunes low-rank adapters (LoRA) of language models on examples or preferences; runs can be resumed."""
