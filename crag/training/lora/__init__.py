"""Tunes low-rank adapters for local models: `crag train lora` and `crag train dpo`."""
